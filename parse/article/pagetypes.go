package article

import (
	"bytes"
	"strings"

	"octopus/parse/scan"
)

// typeWidth is how many kinds of page are looked for.
const typeWidth = 5

// Signs of the kind of a page: in its JSON-LD, the classes of its body, and its
// URL.
var (
	ldTypes   = [typeWidth][]string{{`"Product"`, `"ProductGroup"`}, {"DiscussionForumPosting", "QAPage"}, {"CollectionPage", "ItemList", "SearchResultsPage"}, {"Article\"", "BlogPosting", `"Report"`}, {"TechArticle", "APIReference", "SoftwareSourceCode"}}
	bodyWords = [typeWidth][]string{{"product"}, {"forum", "topic", "thread", "viewtopic", "question"}, {"archive", "category", "listing", "search", "home", "collection"}, {"single", "post", "article"}, {"docs", "documentation", "wiki"}}
	urlWords  = [typeWidth][]string{{"/product", "/p/", "/shop/", "/item", "/dp/", "/buy"}, {"forum", "/t/", "thread", "topic", "question", "community", "discuss", "viewtopic", "bbs", "reddit."}, {"/category", "/categories", "/collection", "/tag/", "/search", "/list", "/c/", "/archive", "/topics/"}, {"/20", "/news", "/blog", "/article", "/story"}, {"/doc", "/guide", "/reference", "/manual", "/api", "/wiki", "developer", "/help", "/tutorial", "readthedocs"}}
)

// typesOf returns how many of the three places point at each kind.
func typesOf(s *scan.Page, url string) (out [typeWidth]float32) {
	body, url := strings.ToLower(s.BodyClass()), strings.ToLower(url)
	og := strings.ToLower(s.Content("og:type"))
	for k := range out {
		ld := false
		for _, doc := range s.LD {
			for _, w := range ldTypes[k] {
				ld = ld || bytes.Contains(doc, []byte(w))
			}
		}
		out[k] = 2*bit(ld) + bit(containsAny(body, bodyWords[k])) + bit(containsAny(url, urlWords[k]))
	}
	out[0] += 2 * bit(strings.HasPrefix(og, "product"))
	out[3] += bit(og == "article")
	return out
}

func cjkChars(s string) (n int) {
	for _, r := range s {
		if isCJK(r) {
			n++
		}
	}
	return n
}
