//go:build linux

package hostile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/test/e2e/harness"
)

// reader is a polite client, who asks a hundred times a second and is
// content with nothing but the right bytes.
type reader struct {
	m    *longRun
	rand *rand.Rand
	from string

	answers []answer
	bytes   int64
	oldest  time.Duration // how long a text was given out that had been replaced
}

// answer is a request that was answered well.
type answer struct{ at, took time.Duration }

const (
	readerRate = 100              // requests a second
	maxRest    = 10 * time.Second // how long a directory rests at most after its changes cost much
	maxWait    = 8 * time.Second  // how long an answer may take while everything breaks
	// staleness is how old a text may be: a root that is exchanged while there are no
	// descriptors, for 3.3 s, is served a second after there are some.
	staleness = 6 * time.Second
)

func newReader(m *longRun, i int) *reader {
	return &reader{m: m, rand: rand.New(rand.NewPCG(uint64(i), 7)),
		from: fmt.Sprintf("127.3.0.%d", 1+i)}
}

func (r *reader) read(ctx context.Context) {
	tick := time.NewTicker(time.Second / readerRate)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.one(r.pick())
		}
	}
}

// kind is what is asked for.
type kind struct {
	weight int
	tls    bool
	// ask returns a selector, and a function that reports whether a reply is right.
	ask func(r *reader) (selector string, check func([]byte) error)
}

var kinds = []kind{
	{weight: 36, ask: (*reader).text},
	{weight: 4, tls: true, ask: (*reader).text},
	{weight: 16, ask: (*reader).living},
	{weight: 8, ask: (*reader).menu},
	{weight: 8, ask: (*reader).listing},
	{weight: 6, ask: (*reader).large},
	{weight: 1, tls: true, ask: (*reader).large},
	{weight: 8, ask: (*reader).miss},
	{weight: 6, ask: (*reader).robots},
	{weight: 6, ask: (*reader).growing},
	{weight: 1, ask: (*reader).status},
}

func (r *reader) pick() kind {
	sum := 0
	for _, k := range kinds {
		sum += k.weight
	}
	n := r.rand.IntN(sum)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("the weights do not add up")
}

// one asks for one thing.
func (r *reader) one(k kind) {
	var conf *tls.Config
	if k.tls {
		conf = harness.AnyCert("")
	}
	selector, check := k.ask(r)
	began := time.Now()
	got, err := harness.Exchange(r.from, r.m.Addr, selector, conf)
	took := time.Since(began)
	late := errors.Is(err, os.ErrDeadlineExceeded) || took > maxWait
	silent := errors.Is(err, syscall.ECONNRESET) && len(got) == 0 // and made room where there were no descriptors
	if silent && errors.Is(err, harness.ErrLate) || (late || silent) && r.m.stoodStill(began) {
		return
	}
	if err != nil {
		r.m.fault("%s (TLS: %v) was lost after %v and %d bytes: %v", selector, k.tls,
			took, len(got), err)
		return
	}
	if err := check(got); err != nil {
		r.m.fault("%s (TLS: %v) got %d bytes, %.80q: %v", selector, k.tls, len(got), got, err)
		return
	}
	if took > maxWait {
		r.m.fault("%s took %v", selector, took)
	}
	r.bytes += int64(len(got))
	r.answers = append(r.answers, answer{began.Sub(r.m.began), took})
}

// same checks the hash of a reply.
func same(want [sha256.Size]byte) func([]byte) error {
	return func(got []byte) error {
		if sha256.Sum256(got) != want {
			return errors.New("another hash")
		}
		return nil
	}
}

func (r *reader) text() (string, func([]byte) error) {
	i := r.rand.IntN(texts)
	dir := []string{"texts", "texts", "texts", "linked"}[r.rand.IntN(4)] // linked is a link to texts
	return fmt.Sprintf("/%s/%03d.txt", dir, i), same(sha256.Sum256(textOf(i)))
}

func (r *reader) large() (string, func([]byte) error) {
	i := r.rand.IntN(larges)
	return fmt.Sprintf("/large/%d.bin", i), same(sha256.Sum256(largeOf(i)))
}

func (r *reader) menu() (string, func([]byte) error) {
	return "/menu/", same(sha256.Sum256(menuOf(r.m.Addr, false)))
}

func (r *reader) listing() (string, func([]byte) error) {
	return "/texts/", same(sha256.Sum256(menuOf(r.m.Addr, true)))
}

// miss asks now for a name that was asked for before, now for a new one.
func (r *reader) miss() (string, func([]byte) error) {
	return fmt.Sprintf("/no/such/%d", r.rand.IntN(2)*r.rand.Int()),
		same(sha256.Sum256([]byte("3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n")))
}

// robots checks what is true of robots.txt at any time.
func (r *reader) robots() (string, func([]byte) error) {
	return "robots.txt", func(got []byte) error {
		if robots.Parse(robots.RFC9309, got).Allowed("mybot",
			strings.TrimPrefix(denied, "Disallow: ")+"/x") {
			return fmt.Errorf("what is always denied is not: %q", got)
		}
		return nil
	}
}

func (r *reader) status() (string, func([]byte) error) {
	return "/server-status", func(got []byte) error {
		if !bytes.HasPrefix(got, []byte("gophd ")) || !bytes.Contains(got, []byte("Reloads")) {
			return errors.New("no status")
		}
		return nil
	}
}

// living asks for a text that is replaced again and again: it must be one of
// them, whole, and not an old one.
func (r *reader) living() (string, func([]byte) error) {
	i, asked := r.rand.IntN(livings), time.Now()
	return fmt.Sprintf("/living/%d.txt", i), func(got []byte) error {
		version, ok := versionOf(got)
		if !ok {
			return errors.New("no version, or not a whole one")
		}
		age := r.m.content.age(i, version, asked)
		r.oldest = max(r.oldest, age)
		if age > staleness {
			return fmt.Errorf("version %d was replaced %v before", version, age)
		}
		return nil
	}
}

// growing asks for a text that is written to without pause.
func (r *reader) growing() (string, func([]byte) error) {
	return "/growing/log.txt", func(got []byte) error {
		if !bytes.HasPrefix(growth(), got) {
			return errors.New("not what was written")
		}
		return nil
	}
}
