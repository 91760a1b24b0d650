package servers

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// process is a server's process, started and ended many times. Its methods fail
// the test on error.
type process struct {
	t       testing.TB
	program string
	args    []string
	as      *syscall.Credential // nil: as the test
	ready   func() error        // nil once the server answers
	polite  syscall.Signal      // asks the server to end; 0 is SIGTERM
	log     lockedBuffer

	cmd    *exec.Cmd     // nil while stopped
	exited chan struct{} // closed when cmd is gone
}

// Start starts the server after Stop or Kill, and waits until it answers. One
// that ends before, because what is left of a killed one is in its way, is
// started again.
func (p *process) Start() {
	p.t.Helper()
	p.launch()
	await(p.t, func() error {
		select {
		case <-p.exited:
			p.launch()
			return errors.New("it ended")
		default:
			return p.ready()
		}
	}, &p.log)
}

func (p *process) launch() {
	p.t.Helper()
	cmd := exec.Command(p.program, p.args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = &p.log, &p.log, os.TempDir()
	dieWithParent(cmd)
	cmd.SysProcAttr.Credential = p.as
	if err := cmd.Start(); err != nil {
		p.t.Fatalf("start %s: %v", p.program, err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the status of a signalled process says nothing
	}()
	p.cmd, p.exited = cmd, exited
}

// Stop asks the server to end, as a service manager does, and returns once the
// process is gone.
func (p *process) Stop() {
	if p.polite == 0 {
		p.polite = syscall.SIGTERM
	}
	p.end(p.polite)
}

// Kill ends the server at once, as kill -9 does. Stopped ones stay so.
func (p *process) Kill() { p.end(syscall.SIGKILL) }

func (p *process) end(sig syscall.Signal) {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(sig)             // it may have ended by itself
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // it may be paused
	<-p.exited
	p.cmd = nil
}

// Pause stops the server in its tracks, as a machine that hangs: it keeps its
// connections and answers nothing. Resume lets it go on.
func (p *process) Pause() { p.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (p *process) Resume() { p.signal(syscall.SIGCONT) }

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a command that prepares a server.
func run(t testing.TB, as *syscall.Credential, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = os.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// find returns where a program is, also outside the PATH: Debian keeps those of
// PostgreSQL in a folder of their version.
func find(t testing.TB, program, pkg string, folders ...string) string {
	t.Helper()
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	for _, pattern := range folders {
		found, _ := filepath.Glob(filepath.Join(pattern, program)) // an error is one of the pattern
		if len(found) > 0 {
			return slices.Max(found)
		}
	}
	missing(t, program, pkg)
	return ""
}

// systemUser returns the credentials of a system user where the test runs as
// root, as which database servers refuse to run, and gives that user dir.
func systemUser(t testing.TB, name, dir string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, errU := strconv.Atoi(u.Uid)
	gid, errG := strconv.Atoi(u.Gid)
	err = errors.Join(errU, errG, os.Chown(dir, uid, gid))
	for d := dir; strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		err = errors.Join(err, os.Chmod(d, 0o755)) // the way there
	}
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// port returns the port of an address.
func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr) // the address is ours
	return p
}
