package fetch

import (
	"net"
	"sync"
	"time"
)

// bucket holds all connections of a Fetcher to a number of bytes per second.
// What was received is paid for afterwards: a read that leaves the bucket in
// debt returns once its share is paid off, and so the sender is held up by TCP's
// own flow control. Readers are served in the order they came.
type bucket struct {
	rate float64 // bytes per second

	mu   sync.Mutex
	paid time.Time // guarded by mu: everything received so far is paid for at this time
}

// burst is how much of a pause may be made up for: the bytes of this time come
// without a wait after a rest.
const burst = 100 * time.Millisecond

// spend books n bytes and returns how long to wait for them.
func (b *bucket) spend(now time.Time, n int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if earliest := now.Add(-burst); b.paid.Before(earliest) {
		b.paid = earliest
	}
	b.paid = b.paid.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	return b.paid.Sub(now)
}

// Bounds of one read, in bytes: small enough that many connections get their
// share in turn, large enough to be worth a call.
const (
	minRead = 512
	maxRead = 16 << 10
)

// step is the largest read: a sixteenth of a second's bytes.
func (b *bucket) step() int { return int(min(max(b.rate/16, minRead), maxRead)) }

// metered is a connection that pays for what it receives.
type metered struct {
	net.Conn
	bucket *bucket

	mu       sync.Mutex
	deadline time.Time     // guarded by mu: no Read waits longer; zero for no end
	moved    chan struct{} // guarded by mu: closed, and made anew, when deadline moves
}

func (b *bucket) meter(c net.Conn) net.Conn {
	if b == nil {
		return c
	}
	return &metered{Conn: c, bucket: b, moved: make(chan struct{})}
}

// Read reads a little, and waits until it is paid for, or its deadline has come:
// then the next one fails.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p[:min(len(p), m.bucket.step())])
	if wait := m.bucket.spend(time.Now(), n); n > 0 && wait > 0 {
		m.wait(time.Now().Add(wait))
	}
	return n, err
}

// wait returns at end, or at the deadline if that comes first.
func (m *metered) wait(end time.Time) {
	for {
		m.mu.Lock()
		until, moved := end, m.moved
		if !m.deadline.IsZero() && m.deadline.Before(end) {
			until = m.deadline
		}
		m.mu.Unlock()
		timer := time.NewTimer(time.Until(until))
		select {
		case <-timer.C:
			return
		case <-moved:
			timer.Stop()
		}
	}
}

func (m *metered) move(deadline time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deadline = deadline
	close(m.moved)
	m.moved = make(chan struct{})
}

// SetDeadline holds for the wait of a Read, too.
func (m *metered) SetDeadline(t time.Time) error {
	m.move(t)
	return m.Conn.SetDeadline(t)
}

// SetReadDeadline holds for the wait of a Read, too.
func (m *metered) SetReadDeadline(t time.Time) error {
	m.move(t)
	return m.Conn.SetReadDeadline(t)
}

// Close closes the connection and ends the wait of a Read.
func (m *metered) Close() error {
	m.move(past)
	return m.Conn.Close()
}
