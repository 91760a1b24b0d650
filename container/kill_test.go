package container_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"octopus"
	"octopus/container"
)

// killDir is set in the process that TestKill starts and kills.
const killDir = "OCTOPUS_TEST_KILL_DIR"

// TestKillChild is not a test: it is what TestKill kills. It stores pages
// without end and prints the number of each once it is acknowledged.
func TestKillChild(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("only run by TestKill")
	}
	var from int
	fmt.Sscan(os.Getenv("OCTOPUS_TEST_KILL_FROM"), &from)
	c := open(t, container.Options{Dir: dir, SegmentBytes: 300_000, IndexMemory: int64(from % 2 * 4096)}) // in memory and on disk
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := from + g; ; i += 4 {
				put(t, c, container.Entry{Page: killPage(t, i)})
				fmt.Printf("stored %d\n", i)
			}
		})
	}
	wg.Wait()
}

func killURL(i int) string  { return fmt.Sprintf("http://h%d.example/%d", i%7, i) }
func killBody(i int) string { return strings.Repeat(fmt.Sprintf("page %d ", i/10*10), 200) } // tens are alike

func killPage(t testing.TB, i int) *octopus.Page {
	return page(t, killURL(i), killBody(i), start.Add(time.Duration(i)*time.Millisecond))
}

// TestKill kills a process that stores pages, again and again in one directory,
// and looks for every page that it acknowledged. Every 50 kills it begins anew, or
// a campaign would spend its time on looking.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	stored, kills := 0, scale(4)
	for done := 0; done < kills; done += 50 {
		stored += killOften(t, min(50, kills-done), rng)
		t.Logf("%d kills, %d pages acknowledged, none lost or wrong", min(done+50, kills), stored)
	}
}

// killOften returns the number of pages that were acknowledged.
func killOften(t *testing.T, cycles int, rng *rand.Rand) int {
	dir := t.TempDir()
	stored := map[int]bool{}
	from := 0
	for cycle := range cycles {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
		cmd.Env = append(os.Environ(), killDir+"="+dir, fmt.Sprintf("OCTOPUS_TEST_KILL_FROM=%d", from))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, last := bufio.NewScanner(out), 1+rng.IntN(150)
		for n := 0; lines.Scan(); n++ {
			var i int
			if _, err := fmt.Sscanf(lines.Text(), "stored %d", &i); err != nil {
				t.Fatalf("child: %s", lines.Text())
			}
			stored[i], from = true, max(from, i+1)
			if n == last {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		c := open(t, container.Options{Dir: dir, SegmentBytes: 300_000})
		if d := c.Damage(); len(d) > 0 {
			t.Fatal(d)
		}
		for i := range stored {
			wantBody(t, c, killURL(i), killBody(i))
		}
		if rep, err := c.Verify(context.Background(), nil); err != nil || len(rep.Errors) > 0 {
			t.Fatalf("cycle %d: %v, %v", cycle, rep.Errors, err)
		}
		closed(t, c)
	}
	check(t, dir)
	return len(stored)
}
