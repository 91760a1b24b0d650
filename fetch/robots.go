package fetch

import (
	"bytes"
	"context"
	"fmt"

	"octopus"
	"octopus/canon"
)

const (
	maxRobots    = 512 << 10 // bytes kept of robots.txt; RFC 9309 asks for 500 KiB at least
	maxRobotHops = 5         // redirects followed from it
)

// robots fetches robots.txt of the authority of the lease's URL and follows its
// redirects: each one through the guarded dialer, all of them within
// Options.RobotsTimeout.
func (f *Fetcher) robots(ctx context.Context, p *octopus.Page) {
	c := f.newCall(ctx, p, f.opt.RobotsTimeout, min(maxRobots, f.opt.MaxBody))
	defer c.end()
	u, err := target(p.Lease.Link.URL.Text)
	if err != nil {
		p.Err = failure(octopus.KindOther, err)
		return
	}
	text := fmt.Sprintf("%s://%s/robots.txt", u.Scheme, u.Host)
	for hop := 0; ; hop++ {
		if u, err = target(text); err != nil { // a redirect out of the web
			return
		}
		p.Status, p.Header, p.Location = 0, nil, ""
		if p.Err = c.do(get(u, f.header)); p.Err != nil || !Redirects(p.Status) {
			keep := bytes.Clone(p.Body) // the rules are kept, and much smaller than the buffer
			f.Recycle(p)
			p.Body = keep
			return
		}
		f.Recycle(p) // of a redirect only the target counts
		p.Truncated = ""
		if hop == maxRobotHops || p.Location == "" {
			return
		}
		if text, err = follow(text, p.Location); err != nil {
			return
		}
	}
}

// follow resolves a Location against the URL it was got from.
func follow(base, location string) (string, error) {
	b, err := canon.Parse(base)
	if err != nil {
		return "", err
	}
	u, err := canon.Resolve(b, location)
	return u.Text, err
}
