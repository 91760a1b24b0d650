//go:build !linux && !darwin

package node

import "time"

// cpuTime cannot tell here.
func cpuTime() time.Duration { return 0 }

// freeBytes cannot tell here.
func freeBytes(string) (int64, bool) { return 0, false }
