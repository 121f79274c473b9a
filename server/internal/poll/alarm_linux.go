package poll

import (
	"time"

	"golang.org/x/sys/unix"
)

// The alarm ends the wait of the loop that leads, when a connection's time is
// over or something else is due. It is the read deadline of the epoll instance.

// lateness is how long after its deadline a connection may be closed: so many
// are closed at once, and an idle server sleeps.
const lateness = 100 * time.Millisecond

func (p *Poller) wakeUp() {
	p.woken = true
	p.ring(time.Now())
}

// sleep returns when there is an event, the alarm rings, or the Poller is over.
func (p *Poller) sleep(now time.Time, wait func(fd uintptr) bool) error {
	p.mu.Lock()
	if !p.alarm.IsZero() && !p.alarm.After(now) { // it has rung
		p.alarm = time.Time{}
		_ = p.file.SetReadDeadline(time.Time{})
		p.setAlarm()
	}
	woken := p.woken
	p.woken = false
	p.mu.Unlock()
	if woken {
		return nil
	}
	return p.raw.Read(wait)
}

// setAlarm sets the alarm for the next deadline.
func (p *Poller) setAlarm() {
	for s := range p.queues {
		if c := p.queues[s].first; c != nil {
			if s == int(closing) {
				p.ring(c.deadline.Add(grace))
			} else {
				p.ring(p.due(c).Add(lateness))
			}
		}
	}
	if !p.paused.IsZero() {
		p.ring(p.paused)
	}
	if !p.stopped.IsZero() && p.listener != nil {
		p.ring(p.stopped.Add(stragglers))
	}
}

// due returns when the time of a connection is over.
func (p *Poller) due(c *Conn) time.Time {
	if !p.stopped.IsZero() && p.last.Before(c.deadline) {
		return p.last
	}
	return c.deadline
}

// Pause accepts nothing for some time.
func (p *Poller) Pause(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == nil {
		return // its descriptor may be another's
	}
	p.paused = time.Now().Add(d)
	_ = p.control(unix.EPOLL_CTL_MOD, p.fd, 0)
	p.ring(p.paused)
}

// resume accepts again after a pause.
func (p *Poller) resume(now time.Time) {
	if !p.paused.IsZero() && !now.Before(p.paused) {
		p.paused = time.Time{}
		if p.listener != nil {
			_ = p.control(unix.EPOLL_CTL_MOD, p.fd, unix.EPOLLIN)
		}
	}
}

// ring makes the wait end at the given time at the latest.
func (p *Poller) ring(at time.Time) {
	if p.over || !p.alarm.IsZero() && !at.Before(p.alarm) {
		return
	}
	p.alarm = at
	_ = p.file.SetReadDeadline(at)
}
