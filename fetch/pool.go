package fetch

import "math/bits"

const (
	minShift   = 13      // smallest buffer: 8 KiB
	maxShift   = 20      // largest buffer kept: 1 MiB
	classBytes = 2 << 20 // memory kept idle per size
)

// buffers keeps buffers of bodies for reuse, by size: powers of two from 8 KiB
// to 1 MiB, at most 2 MiB of each, 16 MiB in all. A channel per size, rather
// than a sync.Pool, makes that bound exact and a slice storable without an
// allocation.
type buffers [maxShift - minShift + 1]chan []byte

func newBuffers() *buffers {
	var b buffers
	for i := range b {
		b[i] = make(chan []byte, classBytes>>(minShift+i))
	}
	return &b
}

// get returns an empty buffer with room for n bytes at least.
func (b *buffers) get(n int) []byte {
	shift := max(bits.Len(uint(n-1)), minShift)
	if shift > maxShift {
		return make([]byte, 0, n)
	}
	select {
	case buf := <-b[shift-minShift]:
		return buf
	default:
		return make([]byte, 0, 1<<shift)
	}
}

// put takes a buffer back. What is not of a kept size, or one too many, is left
// to the garbage collector.
func (b *buffers) put(buf []byte) {
	size := cap(buf)
	if size < 1<<minShift || size > 1<<maxShift || size&(size-1) != 0 {
		return
	}
	select {
	case b[bits.Len(uint(size))-1-minShift] <- buf[:0]:
	default:
	}
}

// grow returns a larger buffer with the bytes of buf, and takes buf back. It
// grows by four, so that all the copies together are a third of the body.
func (b *buffers) grow(buf []byte, limit int) []byte {
	larger := append(b.get(min(4*cap(buf), limit)), buf...)
	b.put(buf)
	return larger
}
