package render

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// ownGroup puts the browser into a process group of its own, and has the kernel
// kill it when the crawler dies, however that happens.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup ends what is left of the browser's processes.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL) // an error says that none is left
}

// privateMemory returns the bytes that the process and all below it have to
// themselves: shared pages of the program would count once for each.
func privateMemory(pid int) int64 {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	parents := map[int]int{}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			parents[id] = parentOf(id)
		}
	}
	total := int64(0)
	for id := range parents {
		for p, steps := id, 0; p > 1 && steps < 16; p, steps = parents[p], steps+1 {
			if p == pid {
				total += privateOf(id)
				break
			}
		}
	}
	return total
}

// parentOf reads the fourth field of /proc/PID/stat; the second is a name in
// brackets that may hold anything.
func parentOf(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}

// privateOf returns resident less shared memory, from /proc/PID/statm.
func privateOf(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(fields[1], 10, 64)
	common, _ := strconv.ParseInt(fields[2], 10, 64)
	return (resident - common) * int64(os.Getpagesize())
}
