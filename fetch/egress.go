package fetch

import (
	"context"
	"net"
)

// Dial opens a connection to address, HOST:PORT, as the Fetcher does for its own
// requests: the same resolver, guard, time-out and share of the bandwidth. It is
// for what speaks HTTP by itself, such as a browser. Its errors are of type
// *octopus.Error.
func (f *Fetcher) Dial(ctx context.Context, address string) (net.Conn, error) {
	return f.dialer.dial(ctx, "tcp", address)
}
