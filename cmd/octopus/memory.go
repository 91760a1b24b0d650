package main

import (
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"octopus/node"
)

// cgroups is where cgroup v2 is mounted.
const cgroups = "/sys/fs/cgroup"

// limitMemory sets the garbage collector's limit from the configuration, or from
// the cgroup where that says nothing and GOMEMLIMIT neither. It returns what
// sets it back.
func (a *app) limitMemory(l *loaded) (restore func()) {
	if l.Memory == 0 && a.env["GOMEMLIMIT"] == "" {
		self, _ := os.ReadFile("/proc/self/cgroup")
		l.Memory = node.Size(cgroupLimit(string(self), os.ReadFile) / 10 * 9)
	}
	if l.Memory == 0 {
		return func() {}
	}
	before := debug.SetMemoryLimit(int64(l.Memory))
	return func() { debug.SetMemoryLimit(before) }
}

// cgroupLimit returns the smallest memory.max on the way from the process' own
// cgroup, which self (/proc/self/cgroup) names, to the root; 0 where there is
// none.
func cgroupLimit(self string, read func(string) ([]byte, error)) int64 {
	var dir string
	for line := range strings.Lines(self) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			dir = rest
		}
	}
	if dir == "" {
		return 0
	}
	least := int64(math.MaxInt64)
	for dir = path.Clean("/" + dir); ; dir = path.Dir(dir) {
		text, err := read(path.Join(cgroups, dir, "memory.max"))
		if n, errNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && errNumber == nil {
			least = min(least, n)
		}
		if dir == "/" {
			break
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}
