package benchweb

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// peak returns the peak resident memory of a running process in bytes, or 0.
func peak(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("VmHWM:"))
	field, _, _ := bytes.Cut(rest, []byte("kB"))
	kb, _ := strconv.ParseInt(string(bytes.TrimSpace(field)), 10, 64)
	return kb << 10
}
