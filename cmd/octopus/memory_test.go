package main

import (
	"os"
	"runtime/debug"
	"testing"

	"octopus/node"
)

func TestCgroupLimit(t *testing.T) {
	files := map[string]string{
		"/sys/fs/cgroup/memory.max":         "max\n",
		"/sys/fs/cgroup/a/memory.max":       "2000\n",
		"/sys/fs/cgroup/a/b/memory.max":     "3000\n",
		"/sys/fs/cgroup/a/small/memory.max": "500\n",

		"/sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
		"/sys/fs/cgroup/memory/old/memory.limit_in_bytes": "700\n",
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
	for self, want := range map[string]int64{"0::/a/b\n": 2000, "0::/a/small": 500, "1:cpu:/x\n0::/a/b\n": 2000, "0::/": 0, "1:memory:/a": 0, "4:memory:/old/x\n0::/\n": 700, "4:cpu,memory:/old\n0::/a/small\n": 500, "4:memory:/": 0, "": 0, "0::/gone": 0} {
		if got := cgroupLimit(self, read); got != want {
			t.Errorf("cgroup %q: limit %d, want %d", self, got, want)
		}
	}
}

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	l := &loaded{Config: node.DefaultConfig()}
	l.Memory = 3 << 30
	restore := newApp(nil, nil, nil, nil).limitMemory(l)
	if got := debug.SetMemoryLimit(-1); got != 3<<30 {
		t.Errorf("the limit is %d, want %d", got, 3<<30)
	}
	restore()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit afterwards is %d, want %d", got, before)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	percent := func() int { p := debug.SetGCPercent(77); debug.SetGCPercent(p); return p }
	restore = newApp(nil, nil, nil, nil).limitMemory(l)
	if got := percent(); got != gcPercent {
		t.Errorf("the heap may grow by %d %%, want %d", got, gcPercent)
	}
	if restore(); percent() != 77 {
		t.Errorf("the heap may grow by %d %% afterwards, want 77", percent())
	}
	newApp(nil, nil, nil, []string{"GOGC=30"}).tuneGC()
	if percent() != 77 {
		t.Error("GOGC is overruled")
	}
	l.Memory = 0
	newApp(nil, nil, nil, []string{"GOMEMLIMIT=1GiB"}).limitMemory(l)()
	if l.Memory != 0 {
		t.Errorf("GOMEMLIMIT is overruled: %d", l.Memory)
	}
}
