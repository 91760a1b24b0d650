package article

import (
	"encoding/json"
	"strings"
)

// linked is what the JSON-LD of a page says about the article.
type linked struct {
	headline, description, date string
	image                       string
	keywords                    []string
	persons, groups             []string // names of authors
}

// Bounds of the JSON-LD that is read.
const (
	maxLD      = 512 << 10
	maxLDDepth = 12
)

// readLD reads the scripts of a page. What is not well formed is left out.
func readLD(scripts [][]byte) linked {
	var l linked
	for _, s := range scripts {
		var doc any
		if len(s) <= maxLD && json.Unmarshal(s, &doc) == nil {
			l.find(doc, 0)
		}
	}
	return l
}

// find looks for the article in lists and graphs; the first one counts.
func (l *linked) find(v any, depth int) {
	if depth > maxLDDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			l.find(x, depth+1)
		}
	case map[string]any:
		if isArticle(v["@type"]) {
			l.take(v)
			return
		}
		for _, key := range [...]string{"@graph", "mainEntity", "mainEntityOfPage", "hasPart"} {
			if x, ok := v[key]; ok {
				l.find(x, depth+1)
			}
		}
	}
}

func isArticle(t any) bool {
	switch t := t.(type) {
	case string:
		return strings.HasSuffix(t, "Article") || strings.HasSuffix(t, "Posting") || t == "Report" || t == "Recipe" || t == "Review" || t == "WebPage"
	case []any:
		for _, x := range t {
			if isArticle(x) {
				return true
			}
		}
	}
	return false
}

func (l *linked) take(v map[string]any) {
	set := func(field *string, keys ...string) {
		for _, k := range keys {
			if s, ok := v[k].(string); ok && *field == "" {
				*field = clean(s)
			}
		}
	}
	set(&l.headline, "headline")
	set(&l.description, "description")
	set(&l.date, "datePublished", "dateCreated")
	l.image = address(v["image"])
	switch k := v["keywords"].(type) {
	case string:
		l.keywords = []string{k}
	case []any:
		for _, x := range k[:min(len(k), maxValues)] {
			if s, ok := x.(string); ok {
				l.keywords = append(l.keywords, s)
			}
		}
	}
	if len(l.persons)+len(l.groups) == 0 {
		l.authors(v["author"], 0)
	}
}

func (l *linked) authors(v any, depth int) {
	switch v := v.(type) {
	case string:
		l.persons = append(l.persons, clean(v))
	case []any:
		for _, x := range v {
			if depth < maxLDDepth {
				l.authors(x, depth+1)
			}
		}
	case map[string]any:
		name, _ := v["name"].(string)
		if t, _ := v["@type"].(string); t == "Organization" || strings.HasSuffix(t, "Organization") {
			l.groups = append(l.groups, clean(name))
		} else {
			l.persons = append(l.persons, clean(name))
		}
	}
}

// address returns the URL of an image: a text, an object, or the first of a
// list.
func address(v any) string {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		if len(v) > 0 {
			if _, list := v[0].([]any); !list {
				return address(v[0])
			}
		}
	case map[string]any:
		if s, ok := v["url"].(string); ok {
			return clean(s)
		}
		s, _ := v["contentUrl"].(string)
		return clean(s)
	}
	return ""
}
