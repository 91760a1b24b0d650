package seen

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise asks the kernel to back the words of a large filter with huge pages:
// each look-up reads a line anywhere, and the processor's table of pages covers a
// few megabytes of small ones. A kernel that has none goes on with small pages.
func advise(words []uint64) {
	if len(words) < 1<<20 {
		return
	}
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words)), unix.MADV_HUGEPAGE)
}
