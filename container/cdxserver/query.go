package cdxserver

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/warc"
)

// fields are the names of the values of a capture, in the order of the answer.
var fields = []string{"urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename"}

// aliases are what the CDX server of the Internet Archive calls these fields.
var aliases = map[string]string{"original": "url", "mimetype": "mime", "statuscode": "status"}

// parameters are those that are understood.
var parameters = []string{"url", "matchType", "from", "to", "closest", "limit", "sort", "filter", "fl", "fields", "output"}

// query is what a request to /cdx asks for.
type query struct {
	urls     []octopus.URL // of an exact match
	from, to string        // timestamps, inclusive; as many digits as were given
	closest  *period       // sort by distance to it
	limit    int           // 0: all
	reverse  bool
	filters  []filter
	fl       []string
	output   string // json, text, or empty for CDXJ lines

	// span of SURT keys for the other matches: first <= key < last.
	first, last string
}

// filter is [!][=|~]field:expression: contains, equals, or matches from the
// beginning.
type filter struct {
	field string
	not   bool
	match func(string) bool
}

func parseQuery(v url.Values) (*query, error) {
	q := &query{from: v.Get("from"), to: v.Get("to"), output: v.Get("output"), fl: fields}
	for name := range v {
		if !slices.Contains(parameters, name) {
			return nil, fmt.Errorf("parameter %q is not supported; there are %s", name, strings.Join(parameters, ", "))
		}
	}
	for _, stamp := range []string{q.from, q.to} {
		if strings.Trim(stamp, "0123456789") != "" || len(stamp) > 14 {
			return nil, fmt.Errorf("timestamp %q: want up to 14 digits", stamp)
		}
	}
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("limit %q: want a number from 1", text)
		}
		q.limit = n
	}
	if err := q.parseSort(v.Get("sort"), v.Get("closest")); err != nil {
		return nil, err
	}
	for _, text := range v["filter"] {
		f, err := parseFilter(text)
		if err != nil {
			return nil, err
		}
		q.filters = append(q.filters, f)
	}
	if err := q.parseOutput(cmp.Or(v.Get("fl"), v.Get("fields"))); err != nil {
		return nil, err
	}
	return q, q.parseURL(v.Get("url"), v.Get("matchType"))
}

// parseOutput understands the form of the answer, and which fields are in it.
func (q *query) parseOutput(fl string) error {
	switch q.output {
	case "", "json", "text":
	default:
		return fmt.Errorf("output %q: want json or text, or none for CDXJ lines", q.output)
	}
	if fl == "" {
		return nil
	}
	q.output, q.fl = cmp.Or(q.output, "text"), nil
	for name := range strings.SplitSeq(fl, ",") {
		field, ok := fieldOf(name)
		if !ok {
			return fmt.Errorf("fl: no field %q; there are %s", name, strings.Join(fields, ", "))
		}
		q.fl = append(q.fl, field)
	}
	return nil
}

func (q *query) parseSort(sort, closest string) error {
	switch sort {
	case "", "default":
	case "reverse":
		q.reverse = true
	case "closest":
	default:
		return fmt.Errorf("sort %q: want default, reverse or closest", sort)
	}
	if closest == "" {
		if sort == "closest" {
			return fmt.Errorf("sort=closest needs closest=TIMESTAMP")
		}
		return nil
	}
	p, err := parsePeriod(closest)
	if err == nil && !q.reverse {
		q.closest = &p
	}
	return err
}

// period is what a timestamp means, from its first moment to its last.
type period struct{ first, last time.Time }

func parsePeriod(stamp string) (p period, err error) {
	p.first, p.last, err = warc.ParseStamp(stamp)
	return p, err
}

// distance is 0 for what lies in the period.
func (p period) distance(t time.Time) time.Duration {
	return max(0, p.first.Sub(t), t.Sub(p.last))
}

// parseURL understands the wildcards and computes the span of keys.
func (q *query) parseURL(text, matchType string) error {
	if rest, ok := strings.CutPrefix(text, "*."); ok && matchType == "" {
		text, matchType = rest, "domain"
	} else if rest, ok := strings.CutSuffix(text, "*"); ok && matchType == "" {
		text, matchType = rest, "prefix"
	}
	if text == "" && matchType == "prefix" { // everything
		q.last = "\xff"
		return nil
	}
	if text == "" {
		return fmt.Errorf("url is missing")
	}
	u, _, err := parseURL(text)
	if err != nil {
		return err
	}
	key := canon.SURT(u)
	host, _, _ := strings.Cut(key, ")")
	switch matchType {
	case "", "exact":
		q.urls = spellings(u)
	case "prefix":
		if slash := strings.HasSuffix(text, "/"); slash && !strings.HasSuffix(key, "/") {
			key += "/" // SURT drops it, but a/ is no prefix of ab
		}
		q.first, q.last = key, after(key)
	case "host":
		q.first, q.last = host+")", after(host+")")
	case "domain":
		q.first, q.last = host+")", after(host+",") // the host itself, since ')' < ',', and all below it
	default:
		return fmt.Errorf("matchType %q: want exact, prefix, host or domain", matchType)
	}
	return nil
}

// parseURL reads a URL and tells whether it came bare, without a scheme.
func parseURL(text string) (u octopus.URL, bare bool, err error) {
	scheme, _, ok := strings.Cut(text, ":/")
	if bare = !ok || strings.ContainsAny(scheme, "/?"); bare { // a query may hold URLs
		text = "http://" + text
	}
	u, err = canon.Parse(text)
	return u, bare, err
}

// spellings returns the URLs that the container is asked for where an index has
// the key of u: http and https, with www. and a last slash and without. Those of
// another port have another key.
func spellings(u octopus.URL) (all []octopus.URL) {
	_, rest, _ := strings.Cut(u.Text, "://")
	path, query, ask := strings.Cut(strings.TrimPrefix(rest, "www."), "?")
	if ask {
		query = "?" + query
	}
	path = strings.TrimSuffix(path, "/")
	for _, start := range []string{"http://", "http://www.", "https://", "https://www."} {
		for _, end := range []string{"", "/"} {
			v, err := canon.Parse(start + path + end + query)
			if err == nil && canon.SURT(v) == canon.SURT(u) && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// after returns the least text that is greater than all that begin with prefix.
func after(prefix string) string {
	return prefix[:len(prefix)-1] + string(rune(prefix[len(prefix)-1]+1))
}

// fieldOf returns the field that has a name or an alias.
func fieldOf(name string) (field string, ok bool) {
	field = cmp.Or(aliases[name], name)
	return field, slices.Contains(fields, field)
}

func parseFilter(text string) (f filter, err error) {
	rest, not := strings.CutPrefix(text, "!")
	f.not = not
	kind := ""
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "~") {
		kind, rest = rest[:1], rest[1:]
	}
	name, want, colon := strings.Cut(rest, ":")
	var ok bool
	if f.field, ok = fieldOf(name); !ok || !colon {
		return f, fmt.Errorf("filter %q: want [!][=|~]field:expression with a field of %s", text, strings.Join(fields, ", "))
	}
	switch kind {
	case "=":
		f.match = func(s string) bool { return s == want }
	case "~":
		re, err := regexp.Compile("^(?:" + want + ")")
		if err != nil {
			return f, fmt.Errorf("filter %q: %w", text, err)
		}
		f.match = re.MatchString
	default:
		f.match = func(s string) bool { return strings.Contains(s, want) }
	}
	return f, nil
}

// takes tells whether a capture passes times and filters.
func (q *query) takes(c *warc.CDX) bool {
	stamp := c.Time.UTC().Format(stampLayout)
	if stamp[:len(q.from)] < q.from || stamp[:len(q.to)] > q.to {
		return false
	}
	for _, f := range q.filters {
		if f.match(value(c, f.field)) == f.not {
			return false
		}
	}
	return true
}

// stampLayout is the layout of a timestamp, 14 digits.
const stampLayout = "20060102150405"

// value returns a field of a capture as text.
func value(c *warc.CDX, field string) string {
	switch field {
	case "urlkey":
		return c.SURT
	case "timestamp":
		return c.Time.UTC().Format(stampLayout)
	case "url":
		return c.URL
	case "mime":
		return c.MIME
	case "status":
		if c.Status == 0 {
			return "-"
		}
		return strconv.Itoa(c.Status)
	case "digest":
		return strings.TrimPrefix(c.Digest, "sha1:")
	case "length":
		return strconv.FormatInt(c.Length, 10)
	case "offset":
		return strconv.FormatInt(c.Offset, 10)
	}
	return c.Filename
}
