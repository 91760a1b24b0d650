package node_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"octopus/node"
)

// TestSurplusLinks: links beyond those that are taken from one page are counted.
func TestSurplusLinks(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		var page strings.Builder
		for i := range 20_007 {
			fmt.Fprintf(&page, "<a href=http://elsewhere.test/%d>x</a>", i)
		}
		fmt.Fprint(w, page.String())
	}))
	defer s.Close()
	sum := run(t, config(t), node.Options{}, s.URL+"/")
	if sum.Skipped["surplus"] != 7 || sum.Skipped["scope"] != 20_000 {
		t.Errorf("skipped %v, want 7 surplus of 20,007 links", sum.Skipped)
	}
}
