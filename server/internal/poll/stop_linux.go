package poll

import (
	"time"

	"golang.org/x/sys/unix"
)

// Stop begins the end. Connections in the listener's queue are still accepted, unless
// the listener is shared, but no later ones; those without a request are closed after
// atMost. Next returns io.EOF when none is left, or after Close.
func (p *Poller) Stop(atMost time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped.IsZero() || p.over {
		return
	}
	if !p.Shared {
		holdNewcomers(p.fd)
	}
	p.stopped = time.Now()
	p.last = p.stopped.Add(atMost)
	p.wakeUp()
}

// stragglers is how long after Stop a handshake that was under way gets to end.
const stragglers = 50 * time.Millisecond

// holdNewcomers lets the kernel drop requests for a new connection. The client repeats
// its request after a second, and reaches the next server, or is refused if there is
// none. If the listener were just closed, connections that arrive between the last
// accept and the close would be reset.
func holdNewcomers(listener int) {
	const flags, syn, all = 13, 0x02, 0xffff // of the TCP header (RFC 9293 section 3.1)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: all},
	}
	_ = unix.SetsockoptSockFprog(listener, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
}

// Close ends the Poller: it closes the connections it holds, and Next returns io.EOF.
func (p *Poller) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wakeUp()
	p.over = true
}

// ends closes the listener when its time has come, and everything when nothing is
// left, or Close was called; it reports whether that was so.
func (l *Loop) ends(now time.Time) bool {
	p := l.p
	p.resume(now)
	if p.stopped.IsZero() && !p.over {
		return false
	}
	if p.listener != nil && !p.Shared && !p.final && !now.Before(p.stopped.Add(stragglers)) {
		p.final, p.backlog = true, true
	}
	if p.listener != nil && (p.over || p.Shared || p.drained) {
		_ = p.control(unix.EPOLL_CTL_DEL, p.fd, 0)
		_ = p.listener.Close()
		p.listener, p.backlog = nil, false
	}
	if p.listener != nil || p.open > 0 && !p.over {
		return false
	}
	p.over = true
	for s := range p.queues {
		for c := p.queues[s].first; c != nil; c = p.queues[s].first {
			if !c.held { // it is closed when it gets back from its loop
				c.queue.remove(c)
				continue
			}
			p.close(c)
			if c.Owner != nil {
				l.ended = append(l.ended, c)
			}
		}
	}
	_ = p.file.Close()
	return true
}
