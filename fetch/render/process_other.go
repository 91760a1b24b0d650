//go:build !linux

package render

import "os/exec"

// Elsewhere the browser ends when its pipe to the crawler breaks, and memory is
// not measured.

func ownGroup(*exec.Cmd)      {}
func killGroup(int)           {}
func privateMemory(int) int64 { return 0 }
