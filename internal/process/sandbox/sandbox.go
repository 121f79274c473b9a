// Package sandbox takes rights away from the calling process for good.
// [Identity.Become] drops root's rights. [Enter] forbids all use of files and of the
// network except the given [Paths], with Landlock (Linux 5.13), and all system calls
// that serving does not need, with seccomp(2) (amd64, arm64). It is of use to any
// server that has opened its listeners and from then on only reads a few directories.
//
// Do not use it in a program that starts others, or that opens connections: it cannot
// any more. Where the kernel has seccomp, the process can create no socket except Unix
// sockets for Paths.Connect; Landlock alone does not see sockets that are not TCP (UDP
// from ABI 10 on), nor TCP Fast Open. The process can still stat any name, and use its
// open files.
package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Paths lists the files that may still be used. The names must exist; a
// directory stands for all that is below it, whatever it is called later.
type Paths struct {
	Read    []string // files may be read, directories listed
	Append  []string // files may be written and made, not read or removed
	Keep    []string // files may be read, written, made, cut and removed: a database
	Connect []string // Unix sockets, or directories of them, may be connected to
}

// The rights of Paths. None of them runs a program, makes a directory, a link
// or a device, or moves a file from one directory to another.
const (
	canRead   = ll.AccessFSReadFile | ll.AccessFSReadDir
	canAppend = ll.AccessFSWriteFile | ll.AccessFSMakeReg
	canKeep   = canRead | canAppend | ll.AccessFSTruncate | ll.AccessFSRemoveFile
	ofFiles   = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSResolveUnix // what a file can grant
)

// Landlock ABIs in which more can be forbidden (landlock(7), Kernel ABI).
const (
	abiTruncate = 3 // cutting files off
	abiTCP      = 4 // TCP: bind and connect
	abiSignals  = 6 // signals and abstract sockets of other processes
	abiUnix     = 9 // connecting to Unix sockets by their names
)

// Holds says which restrictions are in force.
type Holds struct {
	ABI   int  // of the kernel's Landlock; 0 if there is none
	Calls bool // system calls are filtered

	connects bool // connect(2) is allowed, for Unix sockets
}

// Files reports whether all use of files outside Paths is forbidden.
func (h Holds) Files() bool { return h.ABI > 0 }

// TCP reports whether the process can neither connect nor listen again, not even with
// an accepted connection. If it may connect to Unix sockets, the filter must allow
// connect(2) for any socket, and only Landlock forbids TCP.
func (h Holds) TCP() bool { return h.Calls && (!h.connects || h.ABI >= abiTCP) }

// Full reports whether files and system calls are restricted as gophd asks for.
func (h Holds) Full() bool { return h.Files() && h.Calls }

// LogValue returns what holds, for a log.
func (h Holds) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("landlock_abi", h.ABI), slog.Bool("files", h.Files()), slog.Bool("tcp", h.TCP()),
		slog.Bool("udp", h.Calls), slog.Bool("signals", h.ABI >= abiSignals || h.Calls), slog.Bool("calls", h.Calls))
}

// Available returns what Enter would hold on this kernel.
func Available() Holds {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		abi = 0
	}
	return Holds{ABI: min(abi, Newest.ABI), Calls: filtersCalls()}
}

// Newest is the newest Landlock that is asked for. Tests ask for older ones.
var Newest = struct {
	ABI    int
	Config landlock.Config
}{11, landlock.V11}

// Enter forbids the whole process, all threads, all use of files outside p, new
// sockets, other programs and other processes, as far as the kernel can, and returns
// how far. It cannot be undone. The environment is emptied. If Landlock fails, nothing is
// forbidden.
func Enter(p Paths) (Holds, error) {
	_, _ = time.Now().Zone() // read once, late, from /usr/share/zoneinfo
	rules, err := p.rules()
	if err != nil {
		return Holds{}, err
	}
	holds := Available()
	holds.connects = len(p.Connect) > 0
	if err := Newest.Config.BestEffort().Restrict(rules...); err != nil {
		return Holds{}, fmt.Errorf("entering the sandbox: %w", err)
	}
	os.Clearenv()
	if holds.Calls {
		if err := filterCalls(mode{connects: holds.connects, stores: len(p.Keep) > 0}); err != nil {
			return Holds{ABI: holds.ABI}, fmt.Errorf("entering the sandbox: %w", err)
		}
	}
	return holds, nil
}

func (p Paths) rules() ([]landlock.Rule, error) {
	var rules []landlock.Rule
	var failed error
	add := func(can landlock.AccessFSSet, names []string) {
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("entering the sandbox: %w", err))
				continue
			}
			granted := can
			if !info.IsDir() {
				granted &= ofFiles
			}
			if Newest.ABI < abiTruncate {
				granted &^= ll.AccessFSTruncate
			}
			if Newest.ABI < abiUnix {
				granted &^= ll.AccessFSResolveUnix
			}
			if granted == 0 {
				continue // it cannot be forbidden, either
			}
			rules = append(rules, landlock.PathAccess(granted, name))
		}
	}
	add(canRead, p.Read)
	add(canAppend, p.Append)
	add(canKeep, p.Keep)
	add(ll.AccessFSResolveUnix, p.Connect)
	return rules, failed
}

// Tree returns what must be readable so that dir can be read: dir, and nothing
// around it. Only if dir is a symbolic link whose target lies below the directory
// of the link (current -> releases/7), that directory is readable as a whole, so
// that the link can be turned to another target later.
//
// A root that is exchanged by renaming another directory to its name needs more:
// see Around.
func Tree(dir string) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding what lies around %s: %w", dir, err)
	}
	paths := []string{abs}
	holder := filepath.Dir(abs)
	info, err := os.Lstat(abs)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || holder == "/" {
		return paths, nil
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return paths, nil
	}
	if realHolder, err := filepath.EvalSymlinks(holder); err == nil && strings.HasPrefix(real, realHolder+"/") {
		paths = append(paths, holder)
	}
	return paths, nil
}

// Around returns the directories that hold a file or directory, and its target if a
// symbolic link leads there, without /. If they are readable, the file can be read even
// after it was replaced.
func Around(name string) []string {
	dirs := []string{filepath.Dir(name)}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(dir)
		return dir == "/" || err != nil
	})
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
