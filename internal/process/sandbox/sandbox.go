// Package sandbox gives up privileges of the calling process for good. [Identity.Become]
// drops root. [Enter] restricts files and the network to the given [Paths], with Landlock
// (Linux 5.13), and system calls to those that serving needs, with seccomp(2) (amd64, arm64).
// It suits servers that have opened their listeners and then only read a few directories.
//
// After Enter the process cannot start programs or open connections. With seccomp it can
// create no sockets except Unix sockets for Paths.Connect. Landlock alone does not cover TCP
// Fast Open and sockets other than TCP (UDP from ABI 10 on). The process can still stat any
// name, and use its open files.
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

// Paths lists the files that remain accessible. They must exist. A directory includes
// everything below it, also after a rename.
type Paths struct {
	Read    []string // read files and list directories
	Append  []string // create and write files
	Keep    []string // create, read, write, truncate and remove files, such as a database
	Connect []string // connect to Unix sockets
}

// The rights of Paths. None allows running programs, creating directories, links or devices,
// or moving files between directories.
const (
	canRead   = ll.AccessFSReadFile | ll.AccessFSReadDir
	canAppend = ll.AccessFSWriteFile | ll.AccessFSMakeReg
	canKeep   = canRead | canAppend | ll.AccessFSTruncate | ll.AccessFSRemoveFile
	ofFiles   = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSResolveUnix // what a file can grant
)

// The Landlock ABIs that can restrict more (landlock(7), Kernel ABI).
const (
	abiTCP     = 4 // TCP: bind and connect
	abiSignals = 6 // signals and abstract sockets of other processes
)

// Holds describes the restrictions in force.
type Holds struct {
	ABI   int  // Landlock ABI of the kernel, or 0
	Calls bool // seccomp filters system calls

	connects bool // connect(2) is allowed, for Unix sockets
}

// Files reports whether files outside Paths are inaccessible.
func (h Holds) Files() bool { return h.ABI > 0 }

// TCP reports whether the process can neither connect nor listen over TCP. If it may connect to
// Unix sockets, seccomp must allow connect(2), and only Landlock can forbid TCP.
func (h Holds) TCP() bool { return h.Calls && (!h.connects || h.ABI >= abiTCP) }

// Full reports whether both files and system calls are restricted.
func (h Holds) Full() bool { return h.Files() && h.Calls }

// LogValue implements slog.LogValuer.
func (h Holds) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("landlock_abi", h.ABI), slog.Bool("files", h.Files()),
		slog.Bool("tcp", h.TCP()),
		slog.Bool("udp", h.Calls), slog.Bool("signals", h.ABI >= abiSignals || h.Calls),
		slog.Bool("calls", h.Calls))
}

// Available returns the restrictions that Enter would apply on this kernel.
func Available() Holds {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		abi = 0
	}
	return Holds{ABI: min(abi, Newest.ABI), Calls: filtersCalls()}
}

// Newest is the newest Landlock ABI that Enter uses. Tests set older ones.
var Newest = struct {
	ABI    int
	Config landlock.Config
}{11, landlock.V11}

// Enter restricts all threads of the process: no files outside p, no new sockets, programs or
// access to other processes, as far as the kernel supports it. It returns what is in force. It
// cannot be undone. It also clears the environment. If Landlock fails, nothing is restricted.
func Enter(p Paths) (Holds, error) {
	_, _ = time.Now().Zone() // loads the time zone, which is inaccessible later
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
			granted := can & Newest.Config.HandledAccessFS
			if !info.IsDir() {
				granted &= ofFiles
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

// Tree returns the paths that must be readable to serve dir: dir itself. If dir is a symbolic
// link to a target below the link's directory (current -> releases/7), it is that directory, so
// that the link can be changed later. To replace dir by renaming another directory, Around is
// needed.
func Tree(dir string) []string {
	abs, _ := filepath.Abs(dir)
	holder := filepath.Dir(abs)
	if info, err := os.Lstat(abs); err != nil || info.Mode()&os.ModeSymlink == 0 || holder == "/" {
		return []string{abs}
	}
	real, err := filepath.EvalSymlinks(abs)
	realHolder, holderErr := filepath.EvalSymlinks(holder)
	if err == nil && holderErr == nil && strings.HasPrefix(real, realHolder+"/") {
		return []string{abs, holder}
	}
	return []string{abs}
}

// Around returns the directories that contain a file or directory and, if it is a symbolic
// link, its target, except /. If they are readable, the file can be read after it was replaced.
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
