package benchweb

import (
	"math"
	"strconv"
	"strings"
)

const (
	fanout     = 16  // children of a page in its host's tree, and of a host in the tree of hosts
	paragraphs = 512 // texts that pages are put together from
	power      = 3   // of the law that random targets follow: page N*u^3 for a uniform u
)

// rng is SplitMix64 (Steele, Lea, Flood 2014): a few instructions a number, and
// any start value will do.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) below(n int) int { return int(r.next() % uint64(n)) }
func (r *rng) unit() float64   { return float64(r.next()>>11) / (1 << 53) }
func (r *rng) normal() float64 {
	return math.Sqrt(-2*math.Log(1-r.unit())) * math.Cos(2*math.Pi*r.unit())
}
func (r *rng) power(n int) int  { u := r.unit(); return int(float64(n) * math.Pow(u, power)) }
func (s *site) total() int      { return s.opt.Hosts * s.opt.Pages }
func (s *site) rng(id int) *rng { r := rng(s.opt.Seed<<32 + uint64(id)); return &r }

// site writes pages. A page is numbered host*Pages + n. It is not changed once
// made.
type site struct {
	opt    Options
	port   string
	scheme string
	text   [paragraphs]string
}

func newSite(opt Options, port int) *site {
	s := &site{opt: opt, port: ":" + strconv.Itoa(port), scheme: "http://"}
	if opt.TLS {
		s.scheme = "https://"
	}
	r := rng(opt.Seed + 1)
	phrases := phrases(&r, vocabulary(&r))
	for i := range s.text {
		var b []byte
		for range 10 + r.below(40) {
			b = append(append(b, phrases[r.power(len(phrases))]...), ' ')
		}
		s.text[i] = string(b)
	}
	return s
}

// vocabulary makes words of one to five syllables.
func vocabulary(r *rng) []string {
	const first, second = "bcdfghklmnprstvw", "aeiouy"
	words := make([]string, 6000)
	for i := range words {
		var b []byte
		for range 1 + r.below(5) {
			b = append(b, first[r.below(len(first))], second[r.below(len(second))])
			if r.below(3) == 0 {
				b = append(b, first[r.below(len(first))])
			}
		}
		words[i] = string(b)
	}
	return words
}

// phrases makes sequences of one to five words; that they come again is what
// compressors live on, here as in prose: gzip makes a third of a page.
func phrases(r *rng, words []string) []string {
	list := make([]string, 5000)
	for i := range list {
		for range 1 + r.below(5) {
			list[i] += words[r.power(len(words))] + " "
		}
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// appendPage appends the HTML of page id.
func (s *site) appendPage(b []byte, id int) []byte {
	r := s.rng(id)
	host, n := id/s.opt.Pages, id%s.opt.Pages
	mean := math.Log(float64(s.opt.Size)) - 0.125 // of the logarithm: sigma 0.5
	size := len(b) + min(max(int(math.Exp(mean+0.5*r.normal())), 1000), 1<<19)
	b = append(b, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page `...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, ` of host `...)
	b = strconv.AppendInt(b, int64(host), 10)
	b = append(b, `</title><meta name="description" content="One of many pages"></head><body><ul class="nav">`...)
	links := s.opt.Links/2 + r.below(s.opt.Links+1)
	b, kids := s.appendChildren(b, host, n)
	links = max(links-kids, 1)
	b = append(b, "</ul>\n"...)
	for each := max((size-len(b))/links, 1); len(b) < size || links > 0; {
		b = append(append(append(b, "<p>"...), s.text[r.below(paragraphs)]...), "</p>\n"...)
		for ; links > 0 && size-len(b) < links*each; links-- {
			b = s.appendRandom(b, host, r)
		}
	}
	return append(b, "</body></html>\n"...)
}

// appendChildren appends the links of the two trees and returns their number.
func (s *site) appendChildren(b []byte, host, n int) ([]byte, int) {
	count := 0
	for c := n*fanout + 1; c <= (n+1)*fanout && c < s.opt.Pages; c++ {
		b = s.appendLink(append(b, "<li>"...), host, host, c, false)
		count++
	}
	for c := host*fanout + 1; n == 0 && c <= (host+1)*fanout && c < s.opt.Hosts; c++ {
		b = s.appendLink(append(b, "<li>"...), host, c, 0, false)
		count++
	}
	return b, count
}

// appendRandom appends a link to a page by the power law.
func (s *site) appendRandom(b []byte, host int, r *rng) []byte {
	if s.opt.Hosts > 1 && (s.opt.Pages == 1 || r.below(5) == 0) {
		id := r.power(s.total())
		return s.appendLink(b, host, id/s.opt.Pages, id%s.opt.Pages, true)
	}
	return s.appendLink(b, host, host, r.power(s.opt.Pages), r.below(4) == 0)
}

// appendLink appends a link from a page of host from to page n of host to;
// absolute is whether it names a host that it need not name.
func (s *site) appendLink(b []byte, from, to, n int, absolute bool) []byte {
	b = append(b, `<a href="`...)
	if absolute || from != to {
		b = s.appendOrigin(b, to)
	}
	b = append(appendPath(b, n), `">see page `...)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "</a>\n"...)
}

func appendPath(b []byte, n int) []byte {
	if n == 0 {
		return append(b, '/')
	}
	return strconv.AppendInt(append(b, "/p/"...), int64(n), 10)
}

func (s *site) appendOrigin(b []byte, host int) []byte {
	b = append(b, s.scheme...)
	if s.opt.Names {
		b = append(strconv.AppendInt(append(b, 'h'), int64(host), 10), ".test"...)
	} else {
		b = address(host).AppendTo(b)
	}
	return append(b, s.port...)
}
