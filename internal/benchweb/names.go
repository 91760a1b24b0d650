package benchweb

import (
	"encoding/binary"
	"net"
)

// startNames answers questions for names on a loopback port.
func (s *Server) startNames() (err error) {
	if s.names, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		return err
	}
	s.serving.Go(func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := s.names.ReadFrom(buf)
			if err != nil {
				return // closed
			}
			if answer := s.site.resolve(buf[:n]); answer != nil {
				s.names.WriteTo(answer, from) // who does not get it asks again
			}
		}
	})
	return nil
}

// resolve answers a DNS message (RFC 1035, section 4) of one question: A of a
// host with its address, others with no answer or "no such name". It returns
// nil for what is no question.
func (s *site) resolve(q []byte) []byte {
	const header, typeA = 12, 1
	if len(q) < header+5 || q[2]&0x80 != 0 || binary.BigEndian.Uint16(q[4:]) != 1 {
		return nil
	}
	name, end := "", header
	for end < len(q) && q[end] != 0 {
		next := end + 1 + int(q[end])
		if next > len(q) {
			return nil
		}
		if name != "" {
			name += "."
		}
		name += string(q[end+1 : next])
		end = next
	}
	if end+5 > len(q) {
		return nil
	}
	out := append([]byte(nil), q[:end+5]...) // without additional records
	out[2], out[3] = 0x84|q[2]&1, 0x80       // an answer, authoritative
	copy(out[6:12], make([]byte, 6))
	host := s.hostOf(name)
	if host < 0 {
		out[3] |= 3
		return out
	}
	if binary.BigEndian.Uint16(q[end+1:]) != typeA {
		return out
	}
	out[7] = 1
	ip := address(host).As4()
	out = append(out, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0x0e, 0x10, 0, 4) // the name again, IN, an hour
	return append(out, ip[:]...)
}
