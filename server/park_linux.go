package server

import (
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/selector"
)

// lot is where connections wait that have nothing for us to do: silent ones
// for their request, answered ones for the client to close. They cost a file
// descriptor and a table entry, no goroutine and no buffer.
//
// It is an epoll instance of our own, which itself is watched by the runtime's
// poller, and one goroutine. All tickets of a kind have the same time-out, so
// each kind's deadlines are in the order of arrival and a queue holds them.
type lot struct {
	wake    func(fd int, t ticket, buf []byte) // a silent connection has something to read; owns fd
	expired func(t ticket)                     // a silent connection was closed at its deadline; must not block

	file   *os.File // the epoll instance
	epoll  int
	mu     sync.Mutex
	closed bool
	parked map[int32]ticket
	queues [2][]due // by ticket.lingers
	alarm  *time.Timer
	rings  time.Time // when alarm does; zero: not
	done   chan struct{}
}

// ticket is what is known of a parked connection.
type ticket struct {
	from     netip.AddrPort
	accepted time.Time
	deadline time.Time
	lingers  bool   // was answered: what it sends is thrown away
	head     []byte // of its request, if a part has come
	again    bool   // was parked before, with the same deadline
	stay     *stay
}

type due struct {
	fd       int32
	deadline time.Time
}

func newLot(wake func(int, ticket, []byte), expired func(ticket)) (*lot, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that os.NewFile hands it to the poller
		closeFD(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	l := &lot{
		wake: wake, expired: expired, file: os.NewFile(uintptr(fd), "epoll"), epoll: fd,
		parked: map[int32]ticket{}, done: make(chan struct{}),
	}
	l.alarm = time.AfterFunc(time.Hour, l.expire)
	raw, err := l.file.SyscallConn()
	if err != nil {
		_ = l.file.Close()
		return nil, err
	}
	go l.run(raw)
	return l, nil
}

// events: told once, then armed again or taken out.
const events = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT

// park takes over fd until it can be read or its deadline has come.
func (l *lot) park(fd int, t ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ev := unix.EpollEvent{Events: events, Fd: int32(fd)}
	late := t.again && !t.deadline.After(time.Now()) // then it does not stand in the queue any more
	if l.closed || late || t.stay.gone() || unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &ev) != nil {
		closeFD(fd)
		t.stay.leave()
		return
	}
	l.parked[int32(fd)] = t
	if t.again { // it still stands in the queue
		return
	}
	q := &l.queues[queue(t.lingers)]
	*q = append(*q, due{int32(fd), t.deadline})
	l.arm(time.Now())
}

func queue(lingers bool) int {
	if lingers {
		return 1
	}
	return 0
}

// lateness is how long after its deadline a connection may be closed: so many
// are closed at once, and an idle server sleeps.
const lateness = 100 * time.Millisecond

// arm sets the alarm for the next deadline.
func (l *lot) arm(now time.Time) {
	for _, q := range l.queues {
		if len(q) > 0 && (l.rings.IsZero() || q[0].deadline.Before(l.rings)) {
			l.rings = q[0].deadline
			l.alarm.Reset(max(l.rings.Sub(now), 0) + lateness)
		}
	}
}

// run hands on what can be read, until the lot is closed.
func (l *lot) run(raw syscall.RawConn) {
	defer close(l.done)
	var ready [64]unix.EpollEvent
	buf := make([]byte, selector.MaxRequest)
	for {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			var errno error
			n, errno = unix.EpollWait(int(fd), ready[:], 0)
			return errno == nil && n > 0
		})
		if err != nil {
			return
		}
		for _, ev := range ready[:n] {
			l.ready(ev.Fd, buf)
		}
	}
}

func (l *lot) ready(fd int32, buf []byte) {
	l.mu.Lock()
	t, ok := l.parked[fd]
	stays := ok && t.lingers && !drained(int(fd), buf)
	if stays {
		ev := unix.EpollEvent{Events: events, Fd: fd}
		_ = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_MOD, int(fd), &ev)
	} else if ok {
		delete(l.parked, fd)
		t.stay.leave()
		_ = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, int(fd), nil)
	}
	l.mu.Unlock()
	switch {
	case !ok || stays:
	case t.lingers:
		closeFD(int(fd))
	default:
		l.wake(int(fd), t, buf)
	}
}

// drained throws away what the client has sent, and says whether it has closed.
func drained(fd int, buf []byte) bool {
	for range 16 {
		n, errno := recv(fd, buf)
		if errno == unix.EAGAIN {
			return false
		}
		if errno != 0 || n == 0 {
			return true
		}
	}
	return false
}

// expire closes the connections whose time is over. An entry of a queue whose
// connection has left, or is another one by now, is only dropped.
func (l *lot) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for i := range l.queues {
		q := l.queues[i]
		for len(q) > 0 && !q[0].deadline.After(now) {
			if t, ok := l.parked[q[0].fd]; ok && t.deadline.Equal(q[0].deadline) {
				delete(l.parked, q[0].fd)
				t.stay.leave()
				closeFD(int(q[0].fd))
				if !t.lingers {
					l.expired(t)
				}
			}
			q = q[1:]
		}
		if len(q) == 0 {
			q = nil
		}
		l.queues[i] = q
	}
	l.rings = time.Time{}
	if !l.closed {
		l.arm(now)
	}
}

// evict closes a connection that has to make room, unless it has left.
func (l *lot) evict(fd int, s *stay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t, ok := l.parked[int32(fd)]; ok && t.stay == s {
		delete(l.parked, int32(fd))
		closeFD(fd)
	}
}

// settle waits until no silent connection is left, at most so long.
func (l *lot) settle(atMost time.Duration) {
	for end := time.Now().Add(atMost); l.silent() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

func (l *lot) silent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.parked {
		if !t.lingers {
			return true
		}
	}
	return false
}

// close ends the waiting: silent connections are closed at once, lingering
// ones have had their reply and are closed too.
func (l *lot) close() {
	l.mu.Lock()
	l.closed = true
	for fd, t := range l.parked {
		closeFD(int(fd))
		t.stay.leave()
	}
	clear(l.parked)
	l.mu.Unlock()
	l.alarm.Stop()
	_ = l.file.Close()
	<-l.done
}
