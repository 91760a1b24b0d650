package frontier

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"octopus"
)

// rich is what the last page of a URL said of itself.
type rich struct {
	mime, charset    string
	kind             string // nav, data or other
	author, abstract string
	ip               netip.Addr // that answered
}

// abstractBytes bounds an abstract.
const abstractBytes = 200

// richOf takes it from an outcome.
func richOf(o *octopus.Outcome) rich {
	r := rich{ip: o.IP.Unmap()}
	if rec := o.Record; rec != nil {
		r.mime, r.charset, r.kind, r.author = rec.MIME, rec.Charset, rec.Kind, cutText(rec.Author, abstractBytes/2)
		r.abstract = abstractOf(rec)
	}
	return r
}

// abstractOf returns the page's own summary, or the first sentences of its
// article.
func abstractOf(rec *octopus.Record) string {
	if s := strings.Join(strings.Fields(cutText(rec.Description, 4*abstractBytes)), " "); s != "" {
		return cutText(s, abstractBytes)
	}
	s := cutText(strings.Join(strings.Fields(cutText(rec.Text, 4*abstractBytes)), " "), abstractBytes)
	end := 0
	for i, c := range s {
		if next := i + utf8.RuneLen(c); strings.ContainsRune("。！？", c) || strings.ContainsRune(".!?", c) && (next == len(s) || s[next] == ' ') {
			end = next
		}
	}
	if end > 0 {
		return s[:end]
	}
	return s
}

// cutText returns at most n bytes of s, whole runes only.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// encode appends the fields.
//
//	| MIME | charset | kind | author | abstract | IP |
func (r *rich) encode(w *writer) {
	for _, s := range []string{r.mime, r.charset, r.kind, r.author, r.abstract} {
		w.string(s)
	}
	ip, _ := r.ip.MarshalBinary()
	w.string(string(ip))
}

func (r *rich) decode(in *reader) {
	for _, s := range []*string{&r.mime, &r.charset, &r.kind, &r.author, &r.abstract} {
		*s = in.string()
	}
	if r.ip.UnmarshalBinary([]byte(in.string())) != nil {
		in.err = errTruncated
	}
}

// facts appends what it says, in reading order; text is the URL, h its host.
func (r *rich) facts(l *factList, text, host string) {
	l.addIf(r.mime != "", "type", strings.Join(words(r.kind, r.mime), ", "))
	l.addIf(r.charset != "", "charset", r.charset)
	l.addIf(r.author != "", "author", r.author)
	l.addIf(r.abstract != "", "abstract", r.abstract)
	if r.ip.IsValid() {
		l.addIf(host != "", "URL by IP", strings.Replace(text, "://"+octopus.HostInURL(host), "://"+ipHost(r.ip), 1))
	}
}

// ipHost writes an address as a URL has it.
func ipHost(ip netip.Addr) string {
	if ip.Is6() {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

// words returns those that are not empty.
func words(all ...string) (some []string) {
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}
