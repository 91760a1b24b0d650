package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// holderOf says in words which process has the store of dir locked, with a space
// in front; it is empty where that cannot be told. It reads /proc/locks: to open
// the lock file, as F_GETLK needs, would give up a lock of this process.
func holderOf(dir string) string {
	info, err := os.Stat(filepath.Join(dir, "kv", "LOCK"))
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(locks)) {
		// 1: POSIX ADVISORY WRITE 4711 fe:00:131152 0 EOF
		if f := strings.Fields(line); len(f) > 5 && strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
			return fmt.Sprintf(" (process %s%s)", f[4], command(f[4]))
		}
	}
	return ""
}

// command returns the command line of a process, with a colon in front.
func command(pid string) string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err != nil || len(text) == 0 {
		return ""
	}
	line := strings.TrimRight(strings.ReplaceAll(string(text), "\x00", " "), " ")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:60]) + "…"
	}
	return ": " + line
}
