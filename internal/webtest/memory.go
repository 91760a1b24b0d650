package webtest

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// Memory is a network without a system below: whatever address is dialled, the
// listener answers. In a bubble of testing/synctest its connections let virtual
// time pass, which sockets do not.
type Memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewMemory returns a network with one listener, the Memory itself.
func NewMemory() *Memory {
	return &Memory{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// LookupNetIP says that every name is 127.0.0.1.
func (*Memory) LookupNetIP(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
}

// Dial connects to the listener.
func (m *Memory) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	server, client := net.Pipe()
	select {
	case m.conns <- memoryConn{server, ap}:
		return memoryConn{client, ap}, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial; connections stay.
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (m *Memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// memoryConn is one end of a connection to an address.
type memoryConn struct {
	net.Conn
	to netip.AddrPort
}

func (c memoryConn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.to) }
func (c memoryConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.to) }
