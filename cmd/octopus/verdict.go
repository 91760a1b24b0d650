package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"octopus"
	"octopus/internal/webtest"
)

// readFound reads the records of a crawl from a JSONL file.
func readFound(file string) ([]webtest.Found, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var found []webtest.Found
	for lines := json.NewDecoder(bufio.NewReader(f)); lines.More(); {
		var r octopus.Record
		if err := lines.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		found = append(found, webtest.Found{URL: r.URL, Status: r.Status, Digest: r.Digest, Title: r.Title, Kind: r.Kind})
	}
	return found, nil
}

// maxShown is how many URLs of one kind of difference are printed.
const maxShown = 10

// verdict prints how a crawl compares with the truth, on standard error like
// all that is said about a crawl; any difference is an error.
func (a *app) verdict(r *webtest.Report) error {
	mismatch := 0
	for _, check := range []struct {
		what string
		bad  []string
	}{
		{"missing", r.Missing},
		{"not in the truth", r.Unexpected},
		{"more than one record", r.Twice},
		{"another status", r.WrongStatus},
		{"another content", r.WrongDigest},
		{"another title", r.WrongTitle},
		{"fetched again", r.Refetched},
		{"host delay not kept", r.TooFast},
		{"Retry-After not kept", r.TooSoon},
		{"asked before robots.txt", r.NoRobots},
		{"forbidden by robots.txt", r.Forbidden},
	} {
		if len(check.bad) == 0 {
			continue
		}
		mismatch++
		fmt.Fprintf(a.stderr, "%s: %d\n", check.what, len(check.bad))
		for _, text := range check.bad[:min(len(check.bad), maxShown)] {
			fmt.Fprintf(a.stderr, "  %s\n", printable(text))
		}
	}
	a.note("truth: pages found %s / %s reachable, duplicates %d, requests %s", grouped(int64(r.Found)), grouped(int64(r.Reachable)), len(r.Twice), grouped(int64(r.Requests)))
	if r.Kinds > 0 {
		a.note("  navigation and article pages told apart: %s of %s", grouped(int64(r.KindsRight)), grouped(int64(r.Kinds)))
	}
	a.note("  politeness: smallest pause %s at %s, %s asked for", r.SmallestGap.Round(time.Millisecond), r.SmallestHost, demoDelay)
	if mismatch > 0 {
		return errors.New("the crawl differs from the truth")
	}
	a.note("  %s", a.paint(32, "everything matches"))
	return nil
}
