package dns

import (
	"net"
	"os"
	"time"

	mdns "github.com/miekg/dns"
)

// Options tunes a Resolver. The zero value works on any Unix machine.
type Options struct {
	// Servers are the recursive resolvers to ask, HOST:PORT or HOST (port 53),
	// in order of preference. Default: the nameservers of /etc/resolv.conf, or
	// 127.0.0.1:53 where that names none.
	Servers []string

	// Hosts is the hosts file; its names are answered from it, without a
	// question. It is read once. Default "/etc/hosts"; "-" reads none. A file
	// that cannot be read counts as empty.
	Hosts string

	// MinTTL is the least time an answer is kept. Default 60 s; negative means
	// none, so that a TTL of 0 asks again each time (for tests).
	MinTTL time.Duration

	// MaxTTL is the longest time an answer is kept. Default 24 h.
	MaxTTL time.Duration

	// NegativeTTL is the longest time to remember that a name does not exist or
	// has no address; the zone's SOA may shorten it, down to MinTTL. Default 5
	// min.
	NegativeTTL time.Duration

	// FailureTTL is the time to remember that no server gave a usable answer
	// (RFC 9520 asks for 1 s at least). Default 5 s; negative means none.
	FailureTTL time.Duration

	// TryTimeout bounds one question to one server. Default 2 s. A look-up asks
	// every server twice at most, so it ends after 4 × TryTimeout × servers at
	// the latest, alias chains apart, and after 15 × TryTimeout in any case.
	TryTimeout time.Duration

	// MaxEntries bounds the cache. Default 65,536 names (about 25 MB).
	MaxEntries int

	// Now is the clock of the cache. Default time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.MinTTL = defaulted(o.MinTTL, time.Minute)
	o.MaxTTL = defaulted(o.MaxTTL, 24*time.Hour)
	o.NegativeTTL = defaulted(o.NegativeTTL, 5*time.Minute)
	o.FailureTTL = defaulted(o.FailureTTL, 5*time.Second)
	o.TryTimeout = defaulted(o.TryTimeout, 2*time.Second)
	if o.MaxEntries <= 0 {
		o.MaxEntries = 1 << 16
	}
	if o.Hosts == "" {
		o.Hosts = "/etc/hosts"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if len(o.Servers) == 0 {
		o.Servers = systemServers("/etc/resolv.conf")
	}
	servers := make([]string, len(o.Servers))
	for i, s := range o.Servers {
		servers[i] = withPort(s)
	}
	o.Servers = servers
	return o
}

// defaulted returns d, def where d is zero, and 0 where d is negative.
func defaulted(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return max(d, 0)
}

// systemServers reads the nameservers of a resolv.conf; like the C library it
// falls back to the local machine.
func systemServers(path string) []string {
	conf, err := mdns.ClientConfigFromFile(path)
	if err != nil || len(conf.Servers) == 0 {
		return []string{"127.0.0.1:53"}
	}
	return conf.Servers
}

// withPort adds port 53 where server names none.
func withPort(server string) string {
	if _, _, err := net.SplitHostPort(server); err == nil {
		return server
	}
	return net.JoinHostPort(server, "53")
}

// readHosts returns the names of the hosts file at path.
func readHosts(path string) hosts {
	if path == "-" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseHosts(f)
}
