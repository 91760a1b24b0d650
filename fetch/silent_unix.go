//go:build unix

package fetch

import (
	"net"
	"syscall"
)

// silent reports whether a connection is open and has nothing to read. It does
// not wait.
func silent(c *net.TCPConn) (ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		ok = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	})
	return ok && err == nil
}
