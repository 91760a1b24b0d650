package main

import (
	"os"
	"runtime"
	"strings"
)

// host is the first line of output: where the figures come from.
type host struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Load   string `json:"load"` // average when the run began: others at work make pages/s worthless
}

func machine() host {
	h := host{Cores: runtime.NumCPU(), Go: runtime.Version()}
	for _, line := range strings.Split(read("/proc/cpuinfo"), "\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			h.CPU = strings.TrimSpace(value)
			break
		}
	}
	h.Kernel = read("/proc/sys/kernel/osrelease")
	h.Load, _, _ = strings.Cut(read("/proc/loadavg"), " ")
	return h
}

// read returns a file's text; what cannot be read is not told.
func read(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}
