package frontiertest

import (
	"crypto/md5"
	"net/url"
	"strings"

	"octopus"
)

// URL returns the octopus.URL of a text that is canonical already: its site is
// the last two labels of the host, its key as octopus.Key describes it.
func URL(text string) octopus.URL {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	p, err := url.Parse(text)
	if err != nil || p.Hostname() == "" {
		panic("frontiertest: no URL: " + text)
	}
	if p.Path == "" {
		p.Path = "/"
	}
	u := octopus.URL{Text: p.String(), Host: p.Hostname(), Site: p.Hostname()}
	if labels := strings.Split(u.Host, "."); len(labels) > 2 {
		u.Site = strings.Join(labels[len(labels)-2:], ".")
	}
	site, host, all := md5.Sum([]byte(u.Site)), md5.Sum([]byte(u.Host)), md5.Sum([]byte(u.Text))
	copy(u.Key[:4], site[:])
	copy(u.Key[4:8], host[:])
	copy(u.Key[8:], all[:])
	return u
}

// Link returns a link to URL(text) at a depth.
func Link(text string, depth int) octopus.Link {
	return octopus.Link{URL: URL(text), Kind: octopus.Anchor, Depth: depth}
}

// Always is true; it serves as Relink in the options of all frontiers.
func Always() bool { return true }
