package server

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gophd/gophd/internal/treetest"
)

func addr4(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

func TestBlocks(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1::",
		"2001:db8:1:1ff::1": "2001:db8:1:100::", "fe80::1%lo": "fe80::",
		"fc00:dead:beef:4dad::7:1": "fc00:dead:beef:4dad::7:1",
		"fc00:dead:beef:4dae::7:1": "fc00:dead:beef:4d00::", // of Tor, and not
	} {
		if got := Block(netip.MustParseAddr(in)); got.String() != want {
			t.Errorf("block of %s is %s, want %s", in, got, want)
		}
	}
	if Block(netip.Addr{}).IsValid() {
		t.Error("no address has a block")
	}
}

// everyOne returns a draw that picks all connections in turn.
func everyOne() func(int) int {
	next := 0
	return func(n int) int {
		next = (next + 1) % n
		return next
	}
}

// A room is a limiter whose connections have names.
type room struct {
	limiter
	t   *testing.T
	cut []string // the evicted ones
}

// enter acquires a slot for a connection of an address.
func (r *room) enter(name string, a int, state connState, want refusal) *slot {
	r.t.Helper()
	s := &slot{state: state, evict: func() { r.cut = append(r.cut, name) }}
	if why := r.acquire(addr4(a), s); why != want {
		r.t.Fatalf("%s: %v, want %v", name, why, want)
	}
	return s
}

// wantCut fails unless these were evicted, in this order.
func (r *room) wantCut(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.cut, want) {
		r.t.Errorf("evicted: %q, want %q", r.cut, want)
	}
}

func TestFullServerMakesRoom(t *testing.T) {
	g := &room{t: t, limiter: limiter{total: 7, perBlock: 4, pick: everyOne()}}
	g.enter("oldest", 9, reading, admitted)
	for i, state := range []connState{writing, reading, reading, writing} {
		g.enter(fmt.Sprintf("a%d", i), 1, state, admitted)
	}
	g.enter("fifth of an address", 1, reading, tooManyOfBlock)
	for i := range 7 {
		g.enter(fmt.Sprintf("b%d", i), 2+i, writing, admitted)
	}
	// The address with the most goes down to one connection, silent ones first; then the silent
	// one of all goes, and the oldest.
	g.wantCut("a1", "a2", "a0", "oldest", "a3")
	g.enter("one that has as many as any", 3, reading, tooMany)

	// No address gets more silent connections than another has, but any may replace its own.
	g = &room{t: t, limiter: limiter{total: 4, perBlock: 4, pick: everyOne()}}
	for i, a := range []int{1, 2, 1, 2} {
		g.enter(fmt.Sprintf("c%d", i), a, reading, admitted)
	}
	g.enter("third of an address", 2, reading, tooMany)
	g.enter("in place of its own", 1, reading, admitted)
	g.enter("of a new address", 3, reading, admitted)
	g.wantCut("c0", "c1")
}

// An evicted client is counted and logged, unless it has its reply.
func TestMadeRoomIsTold(t *testing.T) {
	var log treetest.Log
	srv := &Server{MaxConns: 2, MaxConnsPerIP: -1, Log: log.Logger()}
	srv.limited().limiter.pick = everyOne()
	r := srv.newRun(t.Context(), t.Context(), nil)
	for i, state := range []connState{reading, lingering, reading, reading} {
		_, server := net.Pipe()
		c := &conn{socket: &socket{Conn: server}, remote: netip.AddrPortFrom(addr4(i), 1)}
		if why := r.admit(c, state); why != admitted {
			t.Fatal(i, why)
		}
	}
	counts := srv.Counts()
	told := strings.Count(log.String(), `remote=10.0.0.0 reason=evicted`)
	if told != 1 || counts.Refused[madeRoom.Error()] != 1 || len(counts.Refusers) != 1 {
		t.Errorf("%+v, %d times in the log:\n%s", counts, told, &log)
	}
}

// After any sequence of connections no limit is exceeded, and when all are released there is
// room for as many as at first.
func TestLimiterKeepsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := limiter{total: rapid.IntRange(1, 12).Draw(t, "total"),
			perBlock: rapid.IntRange(1, 6).Draw(t, "per block")}
		open := map[*slot]netip.Addr{}
		enter := func(a netip.Addr, state connState) {
			s := &slot{state: state, many: a == addr4(6)}
			s.evict = func() { delete(open, s) }
			if g.acquire(a, s) == admitted {
				open[s] = a
			}
			counts := map[netip.Addr]int{}
			for _, b := range open {
				if counts[b]++; b != addr4(6) && counts[b] > g.perBlock {
					t.Fatalf("%d connections of one address, at most %d", counts[b], g.perBlock)
				}
			}
			if len(open) > g.total {
				t.Fatalf("%d connections, at most %d", len(open), g.total)
			}
		}
		leave := func(most int) {
			for s := range open {
				if most--; most < 0 {
					break
				}
				s.setState(connState(rapid.IntRange(0, 2).Draw(t, "phase")))
				s.release()
				s.release()
				delete(open, s)
			}
		}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 6).Draw(t, "what"); {
			case what == 0:
				had := len(open)
				if n := g.evictIdle(2); len(open) != had-n {
					t.Fatalf("%d spared, %d gone", n, had-len(open))
				}
			case what > 2:
				enter(addr4(rapid.IntRange(1, 6).Draw(t, "address")),
					connState(rapid.IntRange(0, 2).Draw(t, "state")))
			default:
				leave(1)
			}
		}
		leave(len(open))
		for i := range g.total {
			enter(addr4(10+i), writing)
		}
		if len(open) != g.total {
			t.Fatalf("room for %d, at first for %d", len(open), g.total)
		}
	})
}

// A flood of addresses neither grows a table without bound nor fills the log.
func TestTablesAreBounded(t *testing.T) {
	r, now := newRates(1, 5), time.Now()
	var seen onceAMinute
	lines := 0
	for i := range 2 * maxBuckets {
		r.take(addr4(i), now)
		lines += seen.add(addr4(i), now)
		if n := len(r.full); i == maxBuckets && n != maxBuckets*15/16 {
			t.Errorf("%d buckets when there was no room", n)
		}
	}
	if len(r.full) > maxBuckets || len(seen.now)+len(seen.before) > maxLogged ||
		lines > maxLogged {
		t.Errorf("%d buckets, %d told, %d lines", len(r.full),
			len(seen.now)+len(seen.before), lines)
	}
	now = now.Add(2 * time.Minute)
	if seen.add(addr4(1), now) != 1 {
		t.Error("a minute later nothing is told")
	}
}

// The zone of a link-local proxy is ignored.
func TestTrustsWithoutZone(t *testing.T) {
	s := &Server{TrustProxy: []netip.Prefix{netip.MustParsePrefix("fe80::/64")}}
	for a, want := range map[string]bool{"fe80::1%eth0": true, "fe80::1": true,
		"fe80:1::1%eth0": false, "2001:db8::1": false} {
		if s.trusts(netip.MustParseAddr(a)) != want {
			t.Errorf("%s is trusted: %v", a, !want)
		}
	}
}

// TestWhoTricklesGrowsOld: further bytes do not make a connection younger, so it is evicted
// first. A connection with more descriptors takes more places.
func TestWhoTricklesGrowsOld(t *testing.T) {
	l := &room{t: t, limiter: limiter{total: 4, perBlock: 4, pick: everyOne()}}
	trickles := l.enter("trickles", 1, reading, admitted)
	l.enter("silent", 1, reading, admitted)
	trickles.setState(reading)
	two := l.enter("HTTP/2", 2, reading, admitted)
	two.reserve(2)
	if n, _ := l.connections(); n != 5 {
		t.Errorf("%d places", n)
	}
	l.enter("newcomer", 3, reading, admitted)
	l.wantCut("trickles")
	two.release()
	if n, _ := l.connections(); n != 2 {
		t.Errorf("%d places are left", n)
	}
}

// However many addresses attack a full server, it cuts at most one reply in a hundred. A fifth
// of the honest clients gets a reply that takes 400 times as long as its request; each has
// twenty hostile connections beside it.
func TestFullServerKeepsReplies(t *testing.T) {
	for _, attackers := range []int{40, 500, 65536} {
		rng := rand.New(rand.NewPCG(1, 2))
		l := &limiter{total: 512, perBlock: 32, pick: rng.IntN}
		due := map[int][]func(){}
		honest, early, cut := 0, 0, 0
		for now := range 40_000 {
			for _, f := range due[now] {
				f()
			}
			delete(due, now)
			s := &slot{state: reading}
			if rng.IntN(21) > 0 {
				s.evict = s.release
				if l.acquire(addr4(rng.IntN(attackers)), s) == admitted {
					due[now+10_000] = append(due[now+10_000], s.release)
				}
				continue
			}
			s.evict = func() {
				if s.state == writing {
					cut++
				} else {
					early++
				}
				s.release()
			}
			honest++
			if l.acquire(addr4(1<<20+honest), s) != admitted {
				early++
				continue
			}
			long := rng.IntN(5) == 0
			due[now+50] = append(due[now+50], func() {
				if s.at < 0 {
					return
				}
				if !long {
					s.release()
					return
				}
				s.setState(writing)
				due[now+20_050] = append(due[now+20_050], s.release)
			})
		}
		if cut > honest/100 || early > honest/100 {
			t.Errorf("%d addresses: of %d clients %d were refused before their request, %d in their reply", attackers, honest, early, cut)
		}
	}
}
