package bench

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// googleCopies is how often the file is repeated for google's program, so that
// its start and end do not count.
const googleCopies = 100

// benchmarkGoogle measures google/robotstxt, which is C++, by its own program:
// GOOGLE_ROBOTS names the binary that its README makes (with libabsl-dev, say).
// It reads one file and answers one question, so it is asked about a file of 100
// copies, and about an empty one; the difference is 100 first questions. That
// holds reading the file from the page cache, too.
func benchmarkGoogle(b *testing.B, file, path string) {
	program := os.Getenv("GOOGLE_ROBOTS")
	if program == "" {
		b.Skip("GOOGLE_ROBOTS does not name google's program")
	}
	asking := func(copies int) func() time.Duration {
		name := filepath.Join(b.TempDir(), "robots.txt")
		f, err := os.Create(name)
		for range copies {
			_, werr := f.WriteString(file + "\n")
			err = errors.Join(err, werr)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			b.Fatal(err)
		}
		return func() time.Duration {
			cmd := exec.Command(program, name, agent, "http://example.org"+path)
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); err != nil &&
				(!errors.As(err, &exit) || exit.ExitCode() != 1) {
				b.Fatal(err) // 1 is "disallowed"
			}
			return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
	}
	whole, empty := asking(googleCopies), asking(0)
	var spent time.Duration
	for b.Loop() {
		spent += whole() - empty()
	}
	b.ReportMetric(float64(spent)/float64(b.N)/googleCopies, "cpu-ns/op")
}
