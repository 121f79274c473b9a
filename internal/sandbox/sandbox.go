// Package sandbox takes rights away from the process that calls it, for good:
// those of root ([User.Become]), and, with Landlock (Linux 5.13), all use of
// files and of the network but what it names ([Enter]). It is of use to any
// server that has opened its listeners and from then on only reads a few
// directories.
//
// Do not use it in a program that starts others, or that opens connections: it
// cannot any more.
//
// What Landlock does not see stays possible: to stat names anywhere, to use
// what is open already, to open sockets that are not TCP (UDP from ABI 10 on is
// forbidden too; MPTCP is not seen by any), and to listen anew with those.
package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Paths is what may still be used of the file system. The names must exist; a
// directory stands for all that is below it, whatever it is called later.
type Paths struct {
	Read   []string // files may be read, directories listed
	Append []string // files may be written and made, not read or removed
}

// The rights of Paths. None of them runs a program, makes a directory, a link
// or a device, or moves a file from one directory to another.
const (
	canRead   = ll.AccessFSReadFile | ll.AccessFSReadDir
	canAppend = ll.AccessFSWriteFile | ll.AccessFSMakeReg
	ofFiles   = ll.AccessFSReadFile | ll.AccessFSWriteFile // what a file can grant
)

// Landlock ABIs in which more can be forbidden (landlock(7), Kernel ABI).
const (
	abiTCP     = 4  // TCP: bind and connect
	abiSignals = 6  // signals and abstract sockets of other processes
	abiUDP     = 10 // UDP
)

// Holds says what was forbidden.
type Holds struct {
	ABI int // of the kernel's Landlock; 0 if there is none: nothing was
}

// Files says whether all use of files beside Paths is forbidden.
func (h Holds) Files() bool { return h.ABI > 0 }

// TCP says whether connecting, and listening anew, is forbidden.
func (h Holds) TCP() bool { return h.ABI >= abiTCP }

// Full says whether all is forbidden that gophd asks for.
func (h Holds) Full() bool { return h.Files() && h.TCP() }

// LogValue tells in a log what holds.
func (h Holds) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("landlock_abi", h.ABI), slog.Bool("files", h.Files()), slog.Bool("tcp", h.TCP()),
		slog.Bool("udp", h.ABI >= abiUDP), slog.Bool("signals", h.ABI >= abiSignals))
}

// Available returns what Enter would hold on this kernel.
func Available() Holds {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return Holds{}
	}
	return Holds{abi}
}

// Enter forbids the whole process, all threads, all use of files beside p and
// of new TCP connections, as far as the kernel can, and says how far. It cannot
// be undone. If it fails, nothing is forbidden.
func Enter(p Paths) (Holds, error) {
	_, _ = time.Now().Zone() // read once, late, from /usr/share/zoneinfo
	rules, err := p.rules()
	if err != nil {
		return Holds{}, err
	}
	if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
		return Holds{}, fmt.Errorf("entering the sandbox: %w", err)
	}
	return Available(), nil
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
			rules = append(rules, landlock.PathAccess(granted, name))
		}
	}
	add(canRead, p.Read)
	add(canAppend, p.Append)
	return rules, failed
}
