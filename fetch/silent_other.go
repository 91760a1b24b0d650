//go:build !unix

package fetch

import "net"

// silent cannot be told here; a connection that is not shows with its next
// request.
func silent(*net.TCPConn) bool { return true }
