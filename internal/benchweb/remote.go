package benchweb

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// Hello is what a server in a process of its own says first.
type Hello struct {
	Entry    string `json:"entry"`              // where a crawl starts
	Resolver string `json:"resolver,omitempty"` // name server, with Options.Names
	CA       []byte `json:"ca,omitempty"`       // PEM, with Options.TLS
}

// Control lets the process at the other end of a pipe look at s: it writes a
// Hello, then for every line "stats" or "reset" a Stats, which "reset" takes
// before it sets the counters to zero. It returns when in ends.
func (s *Server) Control(in io.Reader, out io.Writer) error {
	enc := json.NewEncoder(out)
	if err := enc.Encode(Hello{s.Entry(), s.Resolver(), s.CA()}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		st := s.Stats()
		if lines.Text() == "reset" {
			s.Reset()
		}
		if err := enc.Encode(st); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Remote is a Server in a process of its own, so that its work is not measured
// as the crawler's. For one goroutine.
type Remote struct {
	Hello
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// Spawn starts cmd, which must call Control on its standard input and output.
// The server ends with Close, or when this process does.
func Spawn(cmd *exec.Cmd) (*Remote, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &Remote{cmd: cmd, in: in, out: json.NewDecoder(out)}
	if err := r.out.Decode(&r.Hello); err != nil {
		return nil, errors.Join(fmt.Errorf("benchweb: the server did not start: %w", err), r.Close())
	}
	return r, nil
}

// Reset returns what the server has seen since the last Reset, and forgets it.
func (r *Remote) Reset() (st Stats, err error) {
	if _, err = io.WriteString(r.in, "reset\n"); err != nil {
		return st, err
	}
	return st, r.out.Decode(&st)
}

// Close ends the server.
func (r *Remote) Close() error {
	err := r.in.Close()
	return errors.Join(err, r.cmd.Wait())
}

// Usage is what a finished process took.
type Usage struct {
	Wall time.Duration
	CPU  time.Duration // user and system, with children that were waited for
	RSS  int64         // peak resident memory in bytes
}

// Measure runs cmd and says what it took. The kernel counts in the peak the
// memory of the parent at the fork; so where the process says its own peak in
// /proc, that is taken, up to the last look, 20 ms before its end at most.
func Measure(cmd *exec.Cmd) (u Usage, err error) {
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return u, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case err = <-done:
			running = false
		case <-tick.C:
			u.RSS = max(u.RSS, status(cmd.Process.Pid, "VmHWM"))
		}
	}
	u.Wall = time.Since(start)
	st := cmd.ProcessState
	u.CPU = st.UserTime() + st.SystemTime()
	if ru, ok := st.SysUsage().(*syscall.Rusage); ok && u.RSS == 0 {
		u.RSS = int64(ru.Maxrss) << 10
	}
	return u, err
}
