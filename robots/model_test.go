package robots_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
)

// recorded is what programs made of a file: for each agent a digit for each
// selector: 1 if it may be fetched, - if the program was not asked.
type recorded struct {
	Robots    string
	Agents    []string
	Selectors []string
	Decisions map[string][]string
}

// programs reads testdata/programs.jsonl, whose first line names the programs.
func programs(t *testing.T) []recorded {
	t.Helper()
	f, err := os.Open("testdata/programs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var list []recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// TestModelsAgainstPrograms holds the models against decisions of the programs
// that they stand for.
func TestModelsAgainstPrograms(t *testing.T) {
	recorded := programs(t)
	for model, name := range map[string]string{"google": "google", "google-raw": "google-raw", "first-match": "cpython", "gopher-mcp": "gopher-mcp"} {
		m := modelNamed(t, model)
		asked, wrong := 0, 0
		for _, r := range recorded {
			for a, row := range r.Decisions[name] {
				allows := m.Read([]byte(r.Robots), r.Agents[a])
				for i, want := range row {
					if want == '-' {
						continue
					}
					asked++
					if got := allows(r.Selectors[i]); got != (want == '1') {
						if wrong++; wrong < 6 {
							t.Errorf("%s as %s: %q is allowed: %t, the program says otherwise\n%s", m.Name, r.Agents[a], r.Selectors[i], got, strings.ReplaceAll(r.Robots, "\n", "\n\t"))
						}
					}
				}
			}
		}
		if asked < 5000 || wrong > 0 {
			t.Errorf("%s: %d of %d decisions are wrong", m.Name, wrong, asked)
		}
	}
}

func modelNamed(t *testing.T, name string) robots.Model {
	t.Helper()
	i := slices.IndexFunc(robots.Models(), func(m robots.Model) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no model is called %q", name)
	}
	return robots.Models()[i]
}

// TestModelsAgainstDialects holds the models that stand for a dialect against the
// matcher of that dialect.
func TestModelsAgainstDialects(t *testing.T) {
	for model, d := range map[string]robots.Dialect{
		"gopher-strict": robots.GopherStrict, "veronica2": robots.Veronica2, "rfc9309-raw": robots.RFC9309, "1994": robots.Standard1994,
	} {
		m := modelNamed(t, model)
		for _, r := range programs(t) {
			f := robots.Parse(d, []byte(r.Robots))
			for _, agent := range r.Agents {
				if m.Agent != "" {
					agent = m.Agent
				}
				allows := m.Read([]byte(r.Robots), agent)
				for _, sel := range r.Selectors {
					if d == robots.Standard1994 && sel == "" {
						continue // a path of the web
					}
					if got, want := allows(sel), f.Allowed(agent, sel); got != want {
						t.Errorf("%s as %s: %q is allowed: %t, the dialect says %t\n%s", model, agent, sel, got, want, r.Robots)
					}
				}
			}
		}
	}
}
