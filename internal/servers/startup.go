package servers

import (
	"fmt"
	"net"
	"time"
)

// postgresStartup is the first message of a client of PostgreSQL's protocol 3.0:
// length, version, user, end.
var postgresStartup = []byte("\x00\x00\x00\x16\x00\x03\x00\x00user\x00octopus\x00\x00")

// startup says hello to a server and wants an answer that has the byte want
// where the kind of message stands: in PostgreSQL the first, 'R' for "log in",
// in MySQL, which speaks first, the fifth, the protocol version. While it starts
// PostgreSQL answers 'E', and MySQL does not listen.
func startup(addr string, hello []byte, want byte) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	answer := make([]byte, 5)
	if _, err := conn.Read(answer); err != nil {
		return err
	}
	at := 0
	if hello == nil {
		at = 4
	}
	if answer[at] != want {
		return fmt.Errorf("the server answers %q", answer)
	}
	return nil
}

// listens connects and leaves.
func listens(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}
