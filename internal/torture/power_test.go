//go:build linux

package torture_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"octopus/internal/webtest"
)

// disk is an ext4 file system in a file, whose power can be cut.
type disk struct {
	t            *testing.T
	image, mount string
	mounted      bool
}

const diskBytes = 512 << 20 // sparse

// newDisk makes and mounts a file system, or skips the test.
func newDisk(t *testing.T) *disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("power cuts need root, to mount a file system")
	}
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		if mkfs = "/usr/sbin/mkfs.ext4"; exec.Command(mkfs, "-V").Run() != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("power cuts need mkfs.ext4 (package e2fsprogs), which scripts/test installs")
			}
			t.Skip("power cuts need mkfs.ext4 (package e2fsprogs)")
		}
	}
	dir := t.TempDir()
	d := &disk{t: t, image: filepath.Join(dir, "disk.img"), mount: filepath.Join(dir, "mnt")}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, diskBytes); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs, "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", mkfs, err, out)
	}
	if err := os.Mkdir(d.mount, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.off)
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput(); err != nil {
		t.Skipf("power cuts need loop mounts: %v: %s", err, out)
	}
	d.mounted = true
	if err := d.mayCut(); err != nil {
		t.Skipf("power cuts need the shutdown ioctl of ext4: %v", err)
	}
	return d
}

// mayCut cuts the fresh file system once, to see whether the kernel can.
func (d *disk) mayCut() error {
	err := d.cut()
	d.off()
	d.on()
	return err
}

// cut loses everything that is not synced, at once, as a power cut does.
func (d *disk) cut() error {
	const (
		shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
		noFlush  = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
	)
	f, err := os.Open(d.mount)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetPointerInt(int(f.Fd()), shutdown, noFlush)
}

// off unmounts. It waits for the last file to be closed by a dying process.
func (d *disk) off() {
	if !d.mounted {
		return
	}
	var err error
	for range 100 {
		if err = unix.Unmount(d.mount, 0); err != unix.EBUSY {
			break
		}
		<-time.After(20 * time.Millisecond)
	}
	if err != nil {
		d.t.Errorf("unmount %s: %v", d.mount, err)
		return
	}
	d.mounted = false
}

// on mounts again: the journal is replayed, as after a reboot.
func (d *disk) on() {
	d.t.Helper()
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput(); err != nil {
		d.t.Fatalf("mount after a cut: %v\n%s", err, out)
	}
	d.mounted = true
}

// outage crawls until the power was cut a number of times, or the crawl ended.
func (c *crawl) outage(d *disk, cuts int, life func() time.Duration) {
	c.t.Helper()
	for c.crashes < cuts {
		ended := c.start(life(), func(*os.Process) {
			if err := d.cut(); err != nil {
				c.t.Fatalf("cut the power: %v", err)
			}
		})
		if ended {
			return
		}
		d.off()
		d.on()
	}
}

// TestPower cuts the power at random moments, -cuts times, and judges as
// TestKill does.
func TestPower(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 2))
	web := newWeb(t, webOptions())
	var recovery []time.Duration
	for crawls, total := 1, 0; total < *cutCount; crawls++ {
		d := newDisk(t)
		c := newCrawl(t, web, d.mount, rng)
		c.outage(d, *cutCount-total, c.life)
		c.finish()
		v := c.check()
		d.off()
		total += c.crashes
		recovery = append(recovery, c.recovery...)
		t.Logf("crawl %d: %d cuts (%d in all), %d of %d pages, %d requests, %d fetched again (%.2f per cut), smallest gap %v",
			crawls, c.crashes, total, v.Found, v.Reachable, v.Requests, len(v.Refetched), float64(len(v.Refetched))/float64(max(c.crashes, 1)), v.SmallestGap)
	}
	t.Logf("from start to first request: median %v, p99 %v", percentile(recovery, 50), percentile(recovery, 99))
}

// TestPowerControl cuts the power of a crawler that never waits for the disk:
// the judge must find something wrong.
func TestPowerControl(t *testing.T) {
	web := newWeb(t, webOptions())
	d := newDisk(t)
	broken := runUnsynced(t, web, d)
	if broken == "" {
		t.Fatal("a crawl without syncs lost nothing in power cuts: the harness proves nothing")
	}
	t.Logf("without syncs, as it must be: %s", broken)
}

// runUnsynced returns what the judge found wrong with a crawl without syncs. A
// store that cannot be opened any more counts.
func runUnsynced(t *testing.T, web *webtest.Web, d *disk) (broken string) {
	c := newCrawl(t, web, d.mount, rand.New(rand.NewPCG(*seed, 3)))
	c.env = []string{"OCTOPUS_TEST_NOSYNC=1"}
	c.tolerant = true
	c.outage(d, 3, func() time.Duration { return longest }) // long enough to have much to lose
	if c.broken == "" {
		c.finish()
	}
	if c.broken != "" {
		return c.broken
	}
	v := c.judge()
	return strings.Join(v.problems[:min(len(v.problems), 3)], "\n")
}
