package webtest_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octopus/internal/webtest"
)

var hrefs = regexp.MustCompile(`(?:href="|<loc>http://news.test|<link>http://news.test)(/[^"<]*)`)

// reader is a simple crawler of a news site: it reads all lists each period, and
// articles as they appear.
type reader struct {
	site *webtest.News
	seen map[string]bool
}

func (r *reader) get(path string) string {
	w := httptest.NewRecorder()
	r.site.ServeHTTP(w, httptest.NewRequest("GET", "http://news.test"+path, nil))
	return w.Body.String()
}

// round reads all lists, and what is new in them.
func (r *reader) round() {
	lists := []string{"/", "/sitemap.xml", "/sitemap-news.xml"}
	met := map[string]bool{"/": true, "/sitemap.xml": true, "/sitemap-news.xml": true}
	for len(lists) > 0 {
		body := r.get(lists[0])
		lists = lists[1:]
		for _, m := range hrefs.FindAllStringSubmatch(body, -1) {
			path := m[1]
			if met[path] || r.seen[path] {
				continue
			}
			if met[path] = true; strings.HasSuffix(path, ".html") {
				r.seen[path] = true
				r.get(path)
			} else {
				lists = append(lists, path)
			}
		}
	}
}

// TestNews: a reader who comes each hour gets it all; the report sees what is
// wrong with one who does not.
func TestNews(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pause time.Duration
		twice bool
		check func(v *webtest.NewsReport) bool
	}{
		{"each hour", time.Hour, false, func(v *webtest.NewsReport) bool {
			return v.Articles > 100 && v.Captured == v.Articles && v.Missed == nil && v.Repeated == nil &&
				v.Median > 20*time.Minute && v.Slowest <= time.Hour && v.Oldest == time.Hour && v.Requests <= v.Needed
		}},
		{"each 20 minutes", 20 * time.Minute, false, func(v *webtest.NewsReport) bool {
			return v.Captured == v.Articles && v.Median < 20*time.Minute && v.Requests > 2*v.Needed
		}},
		{"each day", 24 * time.Hour, false, func(v *webtest.NewsReport) bool {
			return len(v.Missed) > 0 && v.Oldest == 24*time.Hour && v.Median > 2*time.Hour
		}},
		{"twice", time.Hour, true, func(v *webtest.NewsReport) bool {
			return len(v.Repeated) > 100 && v.Captured < v.Articles
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r := &reader{webtest.NewNews(webtest.NewsOptions{Seed: 2, Start: start, Days: 3}), map[string]bool{}}
				for time.Since(start) < 3*24*time.Hour {
					r.round()
					if tt.twice {
						clear(r.seen)
					}
					time.Sleep(tt.pause)
				}
				if v := r.site.Check(time.Now(), time.Hour); !tt.check(v) {
					t.Errorf("%s", v)
				}
			})
		})
	}
}
