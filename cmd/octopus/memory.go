package main

import (
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"octopus/node"
)

// Where cgroups are mounted, version 2 and the memory controller of version 1.
const (
	cgroups       = "/sys/fs/cgroup"
	memoryCgroups = "/sys/fs/cgroup/memory"
)

// gcPercent is how much the heap may grow between two collections, in percent of
// what is alive. Half of the usual costs a crawl 4 % more CPU and saves a fifth of
// its memory (docs/performance.md).
const gcPercent = 50

// tuneGC sets gcPercent, unless GOGC is given. It returns what sets it back.
func (a *app) tuneGC() (restore func()) {
	if a.env["GOGC"] != "" {
		return func() {}
	}
	before := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(before) }
}

// limitMemory tunes the garbage collector, and sets its limit from the
// configuration, or from the cgroup where that says nothing and GOMEMLIMIT
// neither. It returns what sets both back.
func (a *app) limitMemory(l *loaded) (restore func()) {
	restoreGC := a.tuneGC()
	if l.Memory == 0 && a.env["GOMEMLIMIT"] == "" {
		self, _ := os.ReadFile("/proc/self/cgroup")
		l.Memory = node.Size(cgroupLimit(string(self), os.ReadFile) / 10 * 9)
	}
	if l.Memory == 0 {
		return restoreGC
	}
	before := debug.SetMemoryLimit(int64(l.Memory))
	return func() { debug.SetMemoryLimit(before); restoreGC() }
}

// cgroupLimit returns the smallest memory limit on the way from the process' own
// cgroup, which self (/proc/self/cgroup) names, to the root; 0 where there is
// none. Both versions of cgroups may be there at once.
func cgroupLimit(self string, read func(string) ([]byte, error)) int64 {
	least := int64(noLimit)
	for line := range strings.Lines(self) { // number:controllers:directory
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0" && parts[1] == "":
			least = min(least, leastOf(cgroups, parts[2], "memory.max", read))
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			least = min(least, leastOf(memoryCgroups, parts[2], "memory.limit_in_bytes", read))
		}
	}
	if least == noLimit {
		return 0
	}
	return least
}

// noLimit is what version 1 of cgroups has for "no limit", but for the size of a
// page, and far above any memory.
const noLimit = 1 << 60

// leastOf returns the smallest number in the files of a name from dir up to the
// root.
func leastOf(root, dir, name string, read func(string) ([]byte, error)) int64 {
	least := int64(noLimit)
	for dir = path.Clean("/" + dir); ; dir = path.Dir(dir) {
		text, err := read(path.Join(root, dir, name))
		if n, errNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && errNumber == nil {
			least = min(least, n)
		}
		if dir == "/" {
			return least
		}
	}
}
