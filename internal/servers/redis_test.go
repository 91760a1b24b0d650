package servers_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"octopus/internal/servers"
)

// ask sends one command and returns the first line of the answer, and the
// second of a bulk answer.
func ask(t *testing.T, addr, command string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s\r\n", command)
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	if err == nil && line[0] == '$' && line[1] != '-' {
		line, err = r.ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestRedis(t *testing.T) {
	s := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	ask(t, s.Addr, "SET a 1")
	s.Restart()
	if got := ask(t, s.Addr, "GET a"); got != "1" {
		t.Errorf("after a restart a is %q, want 1", got)
	}
	s.RestartEmpty()
	if got := ask(t, s.Addr, "GET a"); got != "$-1" {
		t.Errorf("after a restart without data a is %q", got)
	}
	s.Stop()
	if conn, err := net.Dial("tcp", s.Addr); err == nil {
		conn.Close()
		t.Error("somebody answers after Stop")
	}
	s.Start()
	ask(t, s.Addr, "PING")
}
