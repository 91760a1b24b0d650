package main

import (
	"net"
	"os"
	"testing"
	"time"
)

// unavailable skips a test whose real parts cannot be had on this machine; in
// CI, where they must be there, it fails.
func unavailable(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// waitFor returns once something listens on the address.
func waitFor(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			conn.Close()
			return
		}
		<-time.After(20 * time.Millisecond)
	}
	t.Fatalf("nothing listens on %s", address)
}
