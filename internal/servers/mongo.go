package servers

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// MongoServer is a server of MongoDB's protocol. It asks for no password.
type MongoServer struct {
	process
	URL  string // with the database octopus
	Addr string // host:port on loopback; the same after a restart
}

// MongoDB starts FerretDB, which this builds from a module of its own; after the
// first time Go's build cache has it.
func MongoDB(t testing.TB) *MongoServer {
	t.Helper()
	addr := freeAddr(t)
	s := &MongoServer{process: process{t: t, program: ferretDB(t), args: []string{addr, t.TempDir()}}, URL: "mongodb://" + addr + "/octopus", Addr: addr}
	s.ready = func() error { return listens(addr) }
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// ferretDB builds the server into the user's cache, and returns where it is. A
// machine that cannot get its modules has none.
func ferretDB(t testing.TB) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	program := filepath.Join(cache, "octopus-tests", "ferretdb")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join(filepath.Dir(here), "ferretdb")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("build FerretDB: %v\n%s", err, out)
		}
		t.Skipf("FerretDB cannot be built here: %v\n%.500s", err, out)
	}
	return program
}
