package e2e_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

var (
	metric = regexp.MustCompile(`\b(gophd|go|process)_[a-z_]+`)
	choice = regexp.MustCompile(`\b(reason|outcome|state|severity)=~?"([a-z_|]+)"`)
)

// offered are the metrics of a real gophd, in its sandbox, and what their labels
// are: name="value".
func offered(t *testing.T) map[string]bool {
	t.Helper()
	d := harness.Start(t, "-root", t.TempDir(), "-metrics", "127.0.0.1:0")
	_, url, _ := strings.Cut(d.WaitLog(`"metrics"`), `"url":"`)
	url, _, _ = strings.Cut(url, `"`)
	d.WaitLog(`"scanned"`)
	names := map[string]bool{}
	d.Until("the first reload is counted", func() bool {
		for _, name := range scrape(t, url) {
			names[name] = true
		}
		return names["gophd_last_reload_timestamp_seconds"]
	})
	return names
}

func scrape(t *testing.T, url string) (names []string) {
	t.Helper()
	resp, err := http.Get(url)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", resp.Status, err, text)
	}
	for line := range strings.Lines(string(text)) {
		short := strings.HasPrefix(line, "process_cpu_") // a process that has just started may have used less than a tick
		if strings.HasPrefix(line, "process_") && strings.HasSuffix(line, " 0\n") && !short {
			t.Errorf("%s has no value", line)
		}
		if line[0] != '#' {
			names = append(names, metric.FindString(line), choice.FindString(line))
		}
	}
	return names
}

func TestEveryMetricExists(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the numbers of the process are Linux's")
	}
	names := offered(t)
	used := 0
	for _, name := range []string{"gophd.rules.yml", "gophd.dashboard.json"} {
		for _, expr := range expressions(t, name) {
			for _, m := range metric.FindAllString(expr, -1) {
				if used++; !names[m] {
					t.Errorf("%s: gophd has no %s", name, m)
				}
			}
			for _, m := range choice.FindAllStringSubmatch(expr, -1) {
				for value := range strings.SplitSeq(m[2], "|") {
					if label := m[1] + `="` + value + `"`; !names[label] {
						t.Errorf("%s: gophd has no label %s", name, label)
					}
				}
			}
		}
	}
	if used < 20 {
		t.Errorf("only %d uses of metrics were found", used)
	}
}

// expressions are the queries in a file, of YAML or JSON.
func expressions(t *testing.T, name string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/monitoring", name))
	must(t, err)
	for _, m := range regexp.MustCompile(`\bexpr"?: *(.*)`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.ReplaceAll(m[1], `\"`, `"`))
	}
	return all
}
