package main

import (
	"bufio"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"octopus"
	"octopus/canon"
)

// entries turns the arguments of a crawl into absolute URLs, each checked; "-"
// stands for the lines of standard input.
func (a *app) entries(args []string) ([]string, error) {
	var urls []string
	for _, arg := range args {
		lines := []string{arg}
		if arg == "-" {
			var err error
			if lines, err = a.stdinLines(); err != nil {
				return nil, err
			}
		}
		for _, line := range lines {
			u, err := a.entry(line)
			if err != nil {
				return nil, usage(fmt.Errorf("bad %w", err))
			}
			urls = append(urls, u)
		}
	}
	return urls, nil
}

// stdinLines returns the lines of standard input that are neither empty nor
// comments.
func (a *app) stdinLines() ([]string, error) {
	var lines []string
	in := bufio.NewScanner(a.stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if line := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff")); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, in.Err()
}

// entry checks one URL. A bare host name gets a scheme, with a note.
func (a *app) entry(text string) (string, error) {
	if !strings.Contains(text, "://") && text != "" && !hasScheme(text) && text[0] != '.' && text[0] != '/' {
		full := "https://" + text
		if u, err := url.Parse(full); err == nil && isLoopback(u.Hostname()) {
			full = "http://" + text
		}
		a.note("note: %s has no scheme, taking %s", text, full)
		text = full
	}
	u, err := canon.Parse(text)
	if err != nil {
		return "", err
	}
	return u.Text, nil
}

// hasScheme tells mailto:x from a host with a port.
func hasScheme(text string) bool {
	before, after, found := strings.Cut(text, ":")
	isPort := after == "" || after[0] >= '0' && after[0] <= '9'
	return found && !isPort && !strings.ContainsAny(before, "./[")
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// contact finds a web or mail address in a user agent.
var contact = regexp.MustCompile(`https?://[^\s()]+\.|[^\s@()<>]+@[^\s@()<>]+\.[^\s@()<>]+|mailto:`)

// checkContact asks for an address in the user agent before a crawl that may
// meet people who never heard of it: more than one public host, or a scope
// that leaves the entry's host.
func checkContact(l *loaded, entries []string, boards []octopus.Board) error {
	wide := leavesHost(l.Crawl.Scope)
	for _, b := range boards {
		wide = wide || leavesHost(b.Scope)
		entries = slices.Concat(entries, b.Entry)
	}
	hosts := map[string]bool{}
	for _, e := range entries {
		if u, err := canon.Parse(e); err == nil && !private(l, u.Host) {
			hosts[u.Host] = true
		}
	}
	if len(hosts) == 0 || (len(hosts) == 1 && !wide) || contact.MatchString(l.UserAgent) {
		return nil
	}
	what := fmt.Sprintf("of %d hosts", len(hosts))
	if wide {
		what = "that leaves the hosts of its entries"
	}
	return usage(fmt.Errorf("a crawl %s needs a contact in --user-agent, so that the sites can reach you: --user-agent %q",
		what, l.UserAgent+" (+https://your.site/bot; you@your.site)"))
}

func leavesHost(s octopus.Scope) bool { return s == octopus.ScopeAny || s == octopus.ScopeDomain }

// private tells whether a host is nobody else's: on loopback, below a top level
// domain that RFC 6761 reserves, or any host while the only resolvers and an
// allowed network are on loopback, which is a test bed.
func private(l *loaded, host string) bool {
	for _, tld := range []string{"test", "example", "invalid", "localhost"} {
		if host == tld || strings.HasSuffix(host, "."+tld) {
			return true
		}
	}
	return isLoopback(host) || testBed(l)
}

func testBed(l *loaded) bool {
	for _, r := range l.Fetcher.Resolver {
		if addr, err := netip.ParseAddrPort(r); err != nil || !addr.Addr().IsLoopback() {
			return false
		}
	}
	for _, n := range l.Fetcher.AllowNet {
		if p, err := netip.ParsePrefix(n); err == nil && p.Addr().IsLoopback() {
			return len(l.Fetcher.Resolver) > 0
		}
	}
	return false
}
