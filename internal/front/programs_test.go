package front

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/treetest"
)

// TestProgramsOnEveryFront: what a program says of its reply, by a header of CGI or a
// status line of Gemini, holds on each front in that front's way.
func TestProgramsOnEveryFront(t *testing.T) {
	outputs := map[string]string{
		"plain":    "only text\n",
		"png":      "Content-Type: image/png\r\n\r\n\x89PNG",
		"gemtext":  "Content-type: text/gemini\n\n# Head\n=> /a.txt A\n",
		"html":     "Content-Type: text/html; charset=utf-8\n\n<script>alert(1)</script>\n",
		"url":      "Location: https://e.example/x\n\n",
		"path":     "Status: 302 Found\nLocation: ../a.txt\n\n",
		"forever":  "Status: 301 Moved\nLocation: /a.txt\n\n",
		"control":  "Location: /a%0d%0aSet-Cookie:x\n\n",
		"slashes":  "Location: /%2fevil.example/\n\n",
		"missing":  "Status: 404 Not Found\n\nno\n",
		"20":       "20 text/gemini\r\n# Guests\n",
		"10":       "10 Your name?\r\n",
		"30":       "30 gemini://e.example/x\r\n",
		"31":       "31 /a.txt\n",
		"60":       "60 A certificate, please\r\n",
		"51":       "51 gone\r\n",
		"song":     "10 green bottles\nhanging on the wall\n",
		"no media": "20 and more\n",
		"far off":  "30 days has September\n",
		"badtype":  "Content-Type: nonsense\n\ntext\n",
		"longest":  "Location: /" + strings.Repeat("x", 1023) + "\n\n",
	}
	h := &hole{files: map[string]string{"a.txt": "A text.\n", "app/x": "x"}}
	socket := treetest.FastCGI(t, func(env map[string]string, out io.Writer) byte {
		name := strings.Trim(env["PATH_INFO"], "/")
		if text, ok := outputs[name]; ok {
			_, _ = io.WriteString(out, text)
		} else {
			_, _ = fmt.Fprintf(out, "info %s", env["PATH_INFO"])
		}
		return 0
	})
	rule, err := programs.ParseRule("/app=" + socket)
	treetest.Must(t, err)
	h.before = []answer.Source{&programs.Programs{Rules: []programs.Mapping{rule}}}
	h.serve(t)

	const (
		notFound = "Not found: nothing here has that name"
		failed   = "The program failed"
		plain    = "text/plain; charset=utf-8"
	)
	// What each front answers: of Gemini, Spartan and HTTP the status with what belongs to it,
	// then the body.
	for _, c := range []struct{ path, gopher, gemini, spartan, nex, http string }{
		{"plain", "only text\n", "20 " + plain + "|only text\n", "2 " + plain + "|only text\n",
			"only text\n", "200 " + plain + "|only text\n"},
		{"png", "\x89PNG", "20 image/png|\x89PNG", "2 image/png|\x89PNG", "\x89PNG",
			"200 image/png|\x89PNG"},
		{"gemtext", "# Head\n=> /a.txt A\n", "20 text/gemini|# Head\n=> /a.txt A\n",
			"2 text/gemini|# Head\n=> /a.txt A\n", "# Head\n=> /a.txt A\n",
			"200 text/gemini|# Head\n=> /a.txt A\n"},
		{"html", "<script>alert(1)</script>\n",
			"20 text/html; charset=utf-8|<script>alert(1)</script>\n",
			"2 text/html; charset=utf-8|<script>alert(1)</script>\n",
			"<script>alert(1)</script>\n", "200 " + plain + "|<script>alert(1)</script>\n"},
		{"url", "hhttps://e.example/x\tURL:https://e.example/x\th\t70\r\n.\r\n",
			"30 https://e.example/x|", "2 text/gemini; charset=utf-8|=> https://e.example/x\n",
			"=> https://e.example/x\n", "302 https://e.example/x|"},
		{"path", "0/a.txt\t/a.txt\th\t70\r\n.\r\n", "30 gemini://h/a.txt|", "3 /a.txt|",
			"=> /a.txt\n", "302 /a.txt|"},
		{"forever", "0/a.txt\t/a.txt\th\t70\r\n.\r\n", "31 gemini://h/a.txt|", "3 /a.txt|",
			"=> /a.txt\n", "301 /a.txt|"},
		{"control", "3" + failed + "\t\terror.host\t1\r\n.\r\n", "50 " + failed + "|",
			"5 " + failed + "|", failed + "\n", "500 |"},
		{"slashes", "1/evil.example/\t/evil.example/\th\t70\r\n.\r\n",
			"30 gemini://h/evil.example/|", "3 /evil.example/|", "=> /evil.example/\n",
			"302 /evil.example/|"},
		{"missing", "3" + notFound + "\t\terror.host\t1\r\n.\r\n", "51 " + notFound + "|",
			"4 " + notFound + "|", notFound + "\n", "404 |"},
		{"20", "# Guests\n", "20 text/gemini|# Guests\n", "2 text/gemini|# Guests\n", "# Guests\n",
			"200 text/gemini|# Guests\n"},
		{"10", "10 Your name?\r\n", "10 Your name?|", "2 " + plain + "|10 Your name?\r\n",
			"10 Your name?\r\n", "200 " + plain + "|10 Your name?\r\n"},
		{"30", "hgemini://e.example/x\tURL:gemini://e.example/x\th\t70\r\n.\r\n",
			"30 gemini://e.example/x|", "2 text/gemini; charset=utf-8|=> gemini://e.example/x\n",
			"=> gemini://e.example/x\n", "302 gemini://e.example/x|"},
		{"31", "0/a.txt\t/a.txt\th\t70\r\n.\r\n", "31 gemini://h/a.txt|", "3 /a.txt|",
			"=> /a.txt\n", "301 /a.txt|"},
		{"60", "60 A certificate, please\r\n", "60 A certificate, please|",
			"2 " + plain + "|60 A certificate, please\r\n", "60 A certificate, please\r\n",
			"200 " + plain + "|60 A certificate, please\r\n"},
		{"51", "51 gone\r\n", "51 gone|", "2 " + plain + "|51 gone\r\n", "51 gone\r\n",
			"200 " + plain + "|51 gone\r\n"},
		{"song", outputs["song"], "10 green bottles|", "2 " + plain + "|" + outputs["song"],
			outputs["song"], "200 " + plain + "|" + outputs["song"]},
		{"no%20media", outputs["no media"], "20 " + plain + "|" + outputs["no media"],
			"2 " + plain + "|" + outputs["no media"], outputs["no media"],
			"200 " + plain + "|" + outputs["no media"]},
		{"far%20off", outputs["far off"], "20 " + plain + "|" + outputs["far off"],
			"2 " + plain + "|" + outputs["far off"], outputs["far off"],
			"200 " + plain + "|" + outputs["far off"]},
		{"badtype", "text\n", "20 " + plain + "|text\n", "2 " + plain + "|text\n", "text\n",
			"200 " + plain + "|text\n"},
		{"dir/", "info /dir/", "20 " + plain + "|info /dir/", "2 " + plain + "|info /dir/",
			"info /dir/", "200 " + plain + "|info /dir/"},
	} {
		path := "/app/" + c.path
		for front, want := range map[string]string{"gopher": c.gopher, "gemini": c.gemini,
			"spartan": c.spartan, "nex": c.nex, "http": c.http} {
			if got := h.said(front, path); got != want {
				t.Errorf("%s %s:\n%q, want\n%q", front, path, got, want)
			}
		}
	}
	if got, want := h.said("gemini", "/app/longest"), "59 The URL has more than 1024 bytes, escaped|"; got != want {
		t.Errorf("a redirect to a URL that no client can send: %q, want %q", got, want)
	}
	if page := h.exchange("http",
		"GET /app/html HTTP/1.0\r\nHost: h\r\nAccept: text/html\r\n\r\n"); strings.Contains(page,
		"<script") || !strings.Contains(page, "&lt;script&gt;") {
		t.Errorf("the page of a program that writes HTML:\n%s", page)
	}
	if page := h.exchange("http",
		"GET /app/gemtext HTTP/1.0\r\nHost: h\r\nAccept: text/html\r\n\r\n"); !strings.Contains(page, `<a href="/a.txt"`) || !strings.Contains(page, "<h1>Head</h1>") || strings.Contains(page, "<h2>") {
		t.Errorf("the page of a program that writes gemtext:\n%s", page)
	}
}

// said returns the reply of a front: where it has a status, that with the media type or the
// place it leads to, then the body.
func (h *hole) said(front, path string) string {
	h.t.Helper()
	if front != "http" {
		r := h.ask(front, path)
		if r.Head == "" {
			return r.Body
		}
		return r.Head + "|" + r.Body
	}
	head, body, _ := strings.Cut(h.exchange(front,
		"GET "+path+" HTTP/1.0\r\nHost: h\r\n\r\n"), "\r\n\r\n")
	status, fields, _ := strings.Cut(head, "\r\n")
	status = strings.Fields(status)[1]
	for field := range strings.SplitSeq(fields, "\r\n") {
		name, value, _ := strings.Cut(field, ": ")
		isWanted := name == "Content-Type" && status == "200" || name == "Location"
		if isWanted {
			return status + " " + value + "|" + body
		}
	}
	return status + " |"
}
