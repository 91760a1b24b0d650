package servers_test

import (
	"net"
	"testing"

	"octopus/internal/servers"
)

func TestSQLServers(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *servers.SQLServer{"PostgreSQL": servers.Postgres, "MariaDB": servers.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.Kill()
			if conn, err := net.Dial("tcp", s.Addr); err == nil {
				conn.Close()
				t.Error("somebody answers after Kill")
			}
			s.Start()
			s.Pause()
			s.Resume()
			s.Stop()
			s.Start()
		})
	}
}
