//go:build linux || darwin

package node

import (
	"syscall"
	"time"
)

// cpuTime returns what the process has used of the processors, system time
// included.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// freeBytes returns what a process without privileges may still write on the
// disk of dir; ok is false where that cannot be told.
func freeBytes(dir string) (free int64, ok bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
