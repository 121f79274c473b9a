package systemd

import (
	"os"
	"strconv"
	"strings"

	"github.com/gophd/gophd/diag"
)

// InUnit reports whether systemd started this process as a service.
func InUnit() bool {
	pid, ok := os.LookupEnv("SYSTEMD_EXEC_PID") // since version 248
	return os.Getenv("INVOCATION_ID") != "" && (!ok || pid == strconv.Itoa(os.Getpid()))
}

// Activate returns the commands that install a drop-in of the package (examples/systemd).
func Activate(name string) string {
	from := "/usr/share/gophd/systemd/gophd-" + name + ".conf"
	to := "/etc/systemd/system/gophd.service.d"
	if local := "/usr/local" + strings.TrimPrefix(from, "/usr"); exists(local) && !exists(from) {
		from = local // of make install
	}
	return diag.Command("mkdir", "-p", to) + " && " + diag.Command("cp", from, to+"/") + " && " +
		diag.Command("systemctl", "daemon-reload") + " && " +
		diag.Command("systemctl", "restart", "gophd")
}

// Hidden reports whether ProtectHome=yes of a unit hides an absolute path.
func Hidden(path string) bool {
	for _, dir := range []string{"/home/", "/root/", "/run/user/"} {
		if strings.HasPrefix(path+"/", dir) {
			return true
		}
	}
	return false
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
