package torture_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var (
	killCount = flag.Int("kills", 50, "SIGKILLs of TestKill")
	cutCount  = flag.Int("cuts", 5, "power cuts of TestPower")
	seed      = flag.Uint64("seed", 1, "of the web and of the moments of crashes")
	program   = flag.String("octopus", "", "test this binary; default: cmd/octopus, built without cgo, as it is shipped")
	keep      = flag.String("keep", "", "leave the files of a failed crawl in this directory")
)

var binary string // the octopus under test

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "octopus-torture-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary = *program; binary != "" {
		return m.Run()
	}
	binary = filepath.Join(dir, "octopus")
	build := exec.Command("go", "build", "-o", binary, "octopus/cmd/octopus")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build cmd/octopus: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
