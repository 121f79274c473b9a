package sandbox

import (
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wipeEnvironment overwrites the environment in the memory of this process: the block
// that the kernel has made, which /proc shows, and Go's copy of each variable. It
// leaves the copies of variables that Go and gophd still use.
func wipeEnvironment() {
	if stat, err := os.ReadFile("/proc/self/stat"); err == nil {
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from the third on
		if len(fields) > 51-3 {
			start, _ := strconv.ParseUint(fields[50-3], 10, 64)
			end, _ := strconv.ParseUint(fields[51-3], 10, 64)
			wipe(uintptr(start), int(end-start))
		}
	}
	for _, v := range os.Environ() {
		if !inUse(v) {
			wipe(uintptr(unsafe.Pointer(unsafe.StringData(v))), len(v))
		}
	}
}

func inUse(variable string) bool {
	for _, begins := range []string{"GO", "TZ=", "NOTIFY_SOCKET="} {
		if strings.HasPrefix(variable, begins) {
			return true
		}
	}
	return false
}

// wipe overwrites memory of this process with a system call, which fails without a
// fault if the memory is not mapped.
func wipe(at uintptr, n int) {
	if n <= 0 {
		return
	}
	zeros := make([]byte, n)
	from := unix.Iovec{Base: &zeros[0]}
	from.SetLen(n)
	_, _ = unix.ProcessVMWritev(os.Getpid(), []unix.Iovec{from}, []unix.RemoteIovec{{Base: at, Len: n}}, 0)
}
