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
	closed chan struct{} // closed by Close, and ends the wait of a Read
	once   sync.Once
}

func (b *bucket) meter(c net.Conn) net.Conn {
	if b == nil {
		return c
	}
	return &metered{Conn: c, bucket: b, closed: make(chan struct{})}
}

// Read reads a little, and waits until it is paid for.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p[:min(len(p), m.bucket.step())])
	if wait := m.bucket.spend(time.Now(), n); n > 0 && wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-m.closed:
		}
	}
	return n, err
}

// Close closes the connection and ends the wait of a Read.
func (m *metered) Close() error {
	m.once.Do(func() { close(m.closed) })
	return m.Conn.Close()
}
