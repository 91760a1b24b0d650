package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Password is that of the user octopus in SQL servers. It needs escaping in a
// URL, so that whoever forgets that fails.
const Password = "s3cret/@:%"

// escaped is Password in a URL.
const escaped = "s3cret%2F%40%3A%25"

// SQLServer is a server with a user "octopus" and an empty database "octopus"
// that belongs to it.
type SQLServer struct {
	process
	URL  string // with the password
	Addr string // host:port on loopback; the same after a restart
}

// Postgres starts a PostgreSQL server, which logs in with a password.
func Postgres(t testing.TB) *SQLServer {
	t.Helper()
	const folders = "/usr/lib/postgresql/*/bin"
	initdb := find(t, "initdb", "postgresql", folders)
	dir := t.TempDir()
	as := systemUser(t, "postgres", dir)
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(Password), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	run(t, as, initdb, "-D", data, "-U", "octopus", "--auth=scram-sha-256", "--pwfile="+secret, "-E", "UTF8", "--locale=C", "--no-sync")
	s := newSQL(t, "postgres", find(t, "postgres", "postgresql", folders))
	s.as = as
	s.polite = syscall.SIGINT // SIGTERM waits for all clients to leave
	// Locks and sockets stay out of /run, which may be another's.
	s.args = []string{"-D", data, "-p", port(s.Addr), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "shared_buffers=16MB"}
	s.ready = func() error { return startup(s.Addr, postgresStartup, 'R') }
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// MariaDB starts a MariaDB server.
func MariaDB(t testing.TB) *SQLServer {
	t.Helper()
	install := find(t, "mariadb-install-db", "mariadb-server")
	s := newSQL(t, "mysql", find(t, "mariadbd", "mariadb-server", "/usr/sbin"))
	dir := t.TempDir()
	s.as = systemUser(t, "mysql", dir)
	data := filepath.Join(dir, "data")
	run(t, s.as, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	first := filepath.Join(dir, "init.sql")
	text := fmt.Sprintf("CREATE DATABASE IF NOT EXISTS octopus;\nCREATE USER IF NOT EXISTS octopus@127.0.0.1 IDENTIFIED BY '%s';\nGRANT ALL ON octopus.* TO octopus@127.0.0.1;\n", Password)
	if err := os.WriteFile(first, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.args = []string{"--no-defaults", "--datadir=" + data, "--port=" + port(s.Addr), "--bind-address=127.0.0.1", "--skip-name-resolve",
		"--socket=" + filepath.Join(dir, "s"), "--pid-file=" + filepath.Join(dir, "pid"), "--init-file=" + first, "--innodb-buffer-pool-size=32M"}
	s.ready = func() error { return startup(s.Addr, nil, 10) }
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

func newSQL(t testing.TB, scheme, program string) *SQLServer {
	addr := freeAddr(t)
	return &SQLServer{process: process{t: t, program: program}, Addr: addr, URL: fmt.Sprintf("%s://octopus:%s@%s/%s", scheme, escaped, addr, database[scheme])}
}

// database is the name of the empty database by scheme. PostgreSQL makes one by
// itself.
var database = map[string]string{"postgres": "postgres", "mysql": "octopus"}
