package robotscmd

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/nomatch"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/site"
)

// checked is the JSON output of check.
type checked struct {
	Reports []policy.Report `json:"reports"`
	Readers policy.Matrix   `json:"readers"`
	Bytes   int             `json:"bytes"`
	Rules   int             `json:"rules"`
	differs []byte          // from the file of a server
	all     bool            // notices are shown, too
}

// Check reports on the annotations and proves the file; exit status 1 if
// there is an error, an unnamed leak or another file on the server.
func (c *Command) Check(ctx context.Context) error {
	snap, err := c.readRoot(ctx)
	if err == nil {
		err = c.atMost(1)
	}
	if err != nil {
		return err
	}
	result := check(snap)
	result.all = c.Verbose
	if len(c.Args) > 0 {
		a, err := c.fetchRobots(ctx, c.Args[0])
		if err != nil {
			return err
		}
		served := a.File.AppendTo(nil)
		theirs := a.File.Sitemaps()
		lacks := slices.ContainsFunc(robots.Parse(readers.RFC9309, snap.Robots).Sitemaps(),
			func(url string) bool { // one of -sitemap is of localhost in snap
				return !strings.HasPrefix(url, "gopher://localhost/") && !slices.Contains(theirs, url)
			})
		if !c.Serve.Sitemap || lacks ||
			daemon.WithoutSitemaps(served) != daemon.WithoutSitemaps(snap.Robots) {
			result.against(served, snap, c.Args[0])
		}
	}
	return c.print(result, result.String(), !result.bad())
}

// check collects the reports and counts of the compiled robots.txt.
func check(snap *site.Snapshot) *checked {
	k := &checked{
		Reports: append([]policy.Report{}, nomatch.Reports(snap)...),
		Readers: snap.Compiled.Proof(),
	}
	k.measure(snap.Compiled.File())
	k.unnamed(snap.Compiled.Unproven())
	return k
}

func (k *checked) measure(file []byte) {
	k.Bytes, k.Rules = len(file), 0
	for _, g := range robots.Parse(readers.RFC9309, file).Groups() {
		k.Rules += len(g.Rules)
	}
}

// unnamed makes one report for each reader with leaks that no other names.
func (k *checked) unnamed(leaks []policy.Leak) {
	for _, row := range k.Readers {
		r := policy.NewReport(policy.CodeUnnamedLeak, "", 0,
			"the file lets this reader in where the policy denies it")
		r.Readers = append(r.Readers, row.Name)
		for _, l := range leaks {
			if l.Reader == row.Name {
				r.Leaks = append(r.Leaks, l.Selector)
			}
		}
		if len(r.Leaks) > 0 {
			k.Reports = append(k.Reports, r)
		}
	}
}

// against compares with the file of a server, and proves that one.
func (k *checked) against(served []byte, snap *site.Snapshot, target string) {
	if bytes.Equal(served, snap.Robots) {
		return
	}
	lines := bytes.ReplaceAll(served, []byte("\r\n"), []byte("\n"))
	if k.differs = diff.Diff("served", lines, "-root", snap.Robots); k.differs == nil {
		k.differs = []byte("only the line ends differ\n")
	}
	r := policy.NewReport(policy.CodeDiffers, target, 0,
		fmt.Sprintf("the server has another robots.txt: %d bytes, of -root %d", len(served),
			len(snap.Robots)))
	matrix, leaks := snap.Compiled.Prove(served)
	k.Readers = matrix
	k.measure(served)
	for _, l := range leaks {
		r.Leaks, r.Readers = append(r.Leaks, l.Selector), append(r.Readers, l.Reader)
	}
	slices.Sort(r.Leaks)
	slices.Sort(r.Readers)
	r.Leaks, r.Readers = slices.Compact(r.Leaks), slices.Compact(r.Readers)
	k.Reports = append(k.Reports, r)
}

func (k *checked) bad() bool {
	return slices.ContainsFunc(k.Reports, func(r policy.Report) bool {
		return r.Severity == diag.Error
	})
}

// String returns the reports, the difference and the matrix.
func (k *checked) String() string {
	var b strings.Builder
	b.WriteString(reportsText(k.Reports, k.all))
	b.Write(k.differs)
	fmt.Fprintf(&b, "%-20s %9s %9s %11s\n", "reader", "rules", "leaks", "over-blocks")
	for _, row := range k.Readers {
		fmt.Fprintf(&b, "%-20s %9d %9d %11d\n", row.Name, row.Rules, row.Leaks, row.OverBlocks)
	}
	fmt.Fprintf(&b, "robots.txt: %d bytes, %d rules\n", k.Bytes, k.Rules)
	return b.String()
}
