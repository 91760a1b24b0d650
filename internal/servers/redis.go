package servers

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// RedisServer is a redis-server of its own. Its methods fail the test on error.
type RedisServer struct {
	process
	Addr string // host:port on loopback; the same after Restart
	Dir  string // its working directory: dump.rdb, appendonlydir
}

// Redis starts a redis-server that keeps nothing on disk unless extra arguments,
// as on its command line, say otherwise: Redis(t, "--appendonly", "yes").
func Redis(t testing.TB, extra ...string) *RedisServer {
	t.Helper()
	s := &RedisServer{process: process{t: t, program: find(t, "redis-server", "redis-server")}, Dir: t.TempDir(), Addr: freeAddr(t)}
	s.ready = func() error { return ping(s.Addr) }
	s.args = append([]string{
		"--port", port(s.Addr), "--bind", "127.0.0.1", "--dir", s.Dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no",
	}, extra...)
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// URL returns redis://host:port.
func (s *RedisServer) URL() string { return "redis://" + s.Addr }

// Restart kills the server and starts it on what is on its disk.
func (s *RedisServer) Restart() {
	s.t.Helper()
	s.Kill()
	s.Start()
}

// RestartEmpty kills the server and starts it without its data.
func (s *RedisServer) RestartEmpty() {
	s.t.Helper()
	s.Kill()
	for _, name := range []string{"dump.rdb", "appendonlydir"} {
		if err := os.RemoveAll(filepath.Join(s.Dir, name)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.Start()
}

// ping sends PING and wants PONG.
func ping(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer := make([]byte, 7)
	if _, err := conn.Read(answer); err != nil {
		return err
	}
	if string(answer[:5]) != "+PONG" {
		return fmt.Errorf("PING is answered %q", answer) // LOADING, for one
	}
	return nil
}

// missing skips the test, or fails it in continuous integration.
func missing(t testing.TB, program, pkg string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed; `make test` installs Debian's %s", program, pkg)
	}
	t.Skipf("%s is not installed: apt-get install %s", program, pkg)
}

// freeAddr returns a loopback address that nobody listens on now.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// await calls ready until it succeeds; after a minute it fails the test with log.
func await(t testing.TB, ready func() error, log *lockedBuffer) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("server does not come up: %v\n%s", err, log.String())
		}
		<-tick.C
	}
}

// lockedBuffer is a bytes.Buffer for a process that writes while tests read.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Await calls ready until it returns nil; after a minute it fails the test with the
// last error.
func Await(t testing.TB, ready func() error) {
	t.Helper()
	await(t, ready, &lockedBuffer{})
}
