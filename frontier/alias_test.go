package frontier_test

import (
	"fmt"
	"slices"
	"testing"

	"octopus"
	"octopus/canon"
	"octopus/frontier"
	"octopus/frontier/frontiertest"
	"octopus/kv"
)

// TestMergeRequests: the key of what moves is that of its new request, method and
// body included, and a seen set learns it.
func TestMergeRequests(t *testing.T) {
	for name, seen := range map[string]frontier.Seen{"records": nil, "seen": new(frontiertest.Seen)} {
		t.Run(name, func(t *testing.T) {
			opt := plain(kv.NewMemory())
			opt.Seen = seen
			f, err := frontier.Open(opt)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			search := func(host, body string) octopus.Link {
				l := frontiertest.Link(host+"/search", 1)
				l.Method, l.Body = "POST", []byte(body)
				l.URL.Key = canon.Key(l.URL, l.Method, l.Body)
				return l
			}
			add := func(want string, links ...octopus.Link) {
				t.Helper()
				if v, err := f.Add(t.Context(), links); fmt.Sprint(v, err) != want+" <nil>" {
					t.Fatalf("%v, %v, want %s", v, err, want)
				}
			}
			add("[{queued } {queued } {queued } {queued }]", search("a.test", "q=1"), search("www.a.test", "q=1"), search("www.a.test", "q=2"), frontiertest.Link("www.a.test/search", 1))
			if n, err := f.Merge(t.Context(), frontiertest.URL("www.a.test"), frontiertest.URL("a.test")); n != 3 || err != nil {
				t.Fatal(n, err)
			}
			add("[{known } {known } {queued }]", search("www.a.test", "q=2"), search("a.test", "q=2"), search("www.a.test", "q=3"))
			var got []string
			for len(got) < 4 {
				leases, err := f.Lease(now(), 9)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range leases {
					if l.Link.URL.Key != canon.Key(frontiertest.URL(l.Link.URL.Text), l.Link.Method, l.Link.Body) {
						t.Errorf("%s %s %s has the key of another request", l.Link.Method, l.Link.URL, l.Link.Body)
					}
					got = append(got, l.Link.URL.Host+" "+string(l.Link.Body))
					if _, err := f.Done(t.Context(), []octopus.Outcome{{Lease: l, Status: 200}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			slices.Sort(got)
			if want := "[a.test  a.test q=1 a.test q=2 a.test q=3]"; fmt.Sprint(got) != want || f.Counts().Queued != 0 {
				t.Errorf("fetched %v, want %s; %+v", got, want, f.Counts())
			}
		})
	}
}
