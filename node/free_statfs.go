//go:build linux || darwin

package node

import "syscall"

// freeBytes returns what a process without privileges may still write on the
// disk of dir; ok is false where that cannot be told.
func freeBytes(dir string) (free int64, ok bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
