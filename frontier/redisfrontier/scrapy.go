package redisfrontier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"octopus"
	"octopus/canon"
	"octopus/internal/redisx"
)

// importStep is the number of start URLs that are read and added at once.
const importStep = 1000

// ImportStartURLs adds the members of a Redis key that Scrapy-Redis starts from,
// such as spider:start_urls: a list, a set or a sorted set of URLs, or of JSON
// objects with url and method. The key is left as it is, so that the import may
// be repeated. n is the number of URLs that were queued. Members that are no URLs
// are passed over; the error names the first ten.
func (f *Frontier) ImportStartURLs(ctx context.Context, key string) (n int, err error) {
	kind, err := f.client.Type(ctx, key).Result()
	if err != nil {
		return 0, fmt.Errorf("redisfrontier: import %s: %w", key, redisx.Explain(err))
	}
	var bad []error
	take := func(texts []string) error {
		var links []octopus.Link
		for _, text := range texts {
			l, err := startLink(text)
			if err == nil {
				links = append(links, l)
			} else if len(bad) < 10 {
				bad = append(bad, fmt.Errorf("member %q: %w", text, err))
			}
		}
		verdicts, err := f.Add(ctx, links)
		for _, v := range verdicts {
			if v.Code == octopus.Queued {
				n++
			}
		}
		return err
	}
	if err := f.readStartURLs(ctx, key, kind, take); err != nil {
		return n, fmt.Errorf("redisfrontier: import %s: %w", key, err)
	}
	if len(bad) > 0 {
		return n, fmt.Errorf("redisfrontier: import %s: %w", key, errors.Join(bad...))
	}
	return n, nil
}

// readStartURLs gives the members of a key to take, a part at a time.
func (f *Frontier) readStartURLs(ctx context.Context, key, kind string, take func([]string) error) error {
	switch kind {
	case "list", "zset":
		for at := int64(0); ; at += importStep {
			read := f.client.LRange
			if kind == "zset" {
				read = f.client.ZRange
			}
			texts, err := read(ctx, key, at, at+importStep-1).Result()
			if err != nil || len(texts) == 0 {
				return redisx.Explain(err)
			}
			if err := take(texts); err != nil {
				return err
			}
		}
	case "set":
		var cursor uint64
		for {
			texts, next, err := f.client.SScan(ctx, key, cursor, "", importStep).Result()
			if err != nil {
				return redisx.Explain(err)
			}
			if err := take(texts); err != nil {
				return err
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	case "none":
		return errors.New("there is no such key")
	}
	return fmt.Errorf("it is a %s: want a list, a set or a sorted set", kind)
}

// startLink reads a URL, or a JSON object with url and method.
func startLink(text string) (octopus.Link, error) {
	var request struct{ URL, Method string }
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if err := json.Unmarshal([]byte(text), &request); err != nil {
			return octopus.Link{}, err
		}
	}
	u, err := canon.Parse(cmp.Or(request.URL, text))
	if err != nil {
		return octopus.Link{}, err
	}
	l := octopus.Link{URL: u, Kind: octopus.Entry}
	if m := strings.ToUpper(request.Method); m != "" && m != "GET" {
		l.Method = m
		l.URL.Key = canon.Key(u, m, nil)
	}
	return l, nil
}
