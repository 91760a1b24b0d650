package classify

import "strings"

// urlFeatures fills in what the URL tells.
func urlFeatures(v *[features]float64, url string) {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		v[noURL] = 1
		return
	}
	_, path, _ := strings.Cut(rest, "/")
	path, query, _ := strings.Cut(strings.ToLower(path), "?")
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	last := ""
	if n := len(segments); n > 0 {
		last = segments[n-1]
	}
	v[urlDepth] = logn(len(segments))
	v[urlRoot] = truth(last == "" || strings.HasPrefix(last, "index.") || strings.HasPrefix(last, "default."))
	v[urlSlug] = logn(words(last))
	v[urlPlural] = truth(words(last) <= 3 && strings.HasSuffix(last, "s") && !strings.HasSuffix(last, "ss") && !strings.Contains(last, "."))
	v[urlDigits] = truth(digits(path+"?"+query) >= 5 || dated4(segments))
	v[urlList] = truth(listWord(segments) || listQuery(query))
	v[urlPage] = truth(strings.Contains(last, ".") && v[urlRoot] == 0)
}

// words counts the words of a slug, "of-this-kind".
func words(slug string) int {
	return len(strings.FieldsFunc(slug, func(r rune) bool { return r == '-' || r == '_' || r == '+' || r == '.' }))
}

// digits returns the length of the longest run of digits, dashes and slashes
// between them left out: "2024/05/06" has eight.
func digits(s string) int {
	best, run := 0, 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			run++
			best = max(best, run)
		case c != '-' && c != '/':
			run = 0
		}
	}
	return best
}

// dated4 reports whether a segment is a year.
func dated4(segments []string) bool {
	for _, s := range segments {
		if len(s) == 4 && (strings.HasPrefix(s, "19") || strings.HasPrefix(s, "20")) && digits(s) == 4 {
			return true
		}
	}
	return false
}

// listWord reports whether a segment is a word by which sites call their lists.
func listWord(segments []string) bool {
	for i, s := range segments {
		switch s {
		case "category", "categories", "cat", "tag", "tags", "topic", "topics", "list", "lists", "archive", "archives",
			"search", "page", "browse", "collections", "collection", "channel", "section", "latest", "all", "directory",
			"explore", "shop", "products", "author", "authors", "index", "catalog", "catalogue", "listing", "listings":
			return true
		case "news", "blog", "articles", "stories":
			if i == len(segments)-1 {
				return true
			}
		}
		if name, _, ok := strings.Cut(s, "."); ok && (strings.HasPrefix(name, "list") || strings.HasPrefix(name, "index")) {
			return true
		}
	}
	return false
}

// listQuery reports whether a query asks for a page of a list or a search.
func listQuery(query string) bool {
	for pair := range strings.SplitSeq(query, "&") {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "page", "p", "q", "query", "search", "sort", "order", "category", "cat", "tag", "offset", "start", "filter", "keyword":
			return true
		}
	}
	return false
}
