package article

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// Bounds of what is taken from meta elements of one name, and of tags.
const (
	maxValues = 50
	maxTags   = 30
	maxTag    = 60 // characters: longer ones are sentences
)

// images prefers what the page names for others, then the first picture of the
// article that is no icon.
func (h *head) images() []candidate {
	return []candidate{
		{clean(h.scan.Content("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail", "image")), "meta"},
		{h.ld.image, "json-ld"}, {h.picture(), "article"},
	}
}

// picture returns the first picture between the first kept block and the last.
func (h *head) picture() string {
	first, last := slices.Index(h.keep, true), len(h.keep)-1
	for last >= 0 && !h.keep[last] {
		last--
	}
	for _, img := range h.page.images {
		if first >= 0 && img.before >= first && img.before <= last+1 {
			if src := source(img.node); src != "" {
				return src
			}
		}
	}
	return ""
}

// source returns the address of an image that is large enough to show
// something, as far as its element tells.
func source(n *html.Node) string {
	for _, size := range [...]string{attr(n, "width"), attr(n, "height")} {
		if px, err := strconv.Atoi(strings.TrimSuffix(size, "px")); err == nil && px < 100 {
			return ""
		}
	}
	for _, key := range [...]string{"data-src", "data-original", "data-lazy-src", "src"} {
		if src := strings.TrimSpace(attr(n, key)); src != "" && !strings.HasPrefix(src, "data:") {
			return src
		}
	}
	return ""
}

// tags are the words that the page files the article under.
func (h *head) tags() []string {
	all := h.contents("article:tag")
	for _, list := range [][]string{h.ld.keywords, h.contents("news_keywords"), h.contents("keywords"), h.meta.Tags, h.tagLinks()} {
		if len(all) == 0 {
			all = list
		}
	}
	var out []string
	for _, list := range all {
		for _, t := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(",;，、；|", r) }) {
			if t = clean(t); t != "" && len([]rune(t)) <= maxTag && len(out) < maxTags && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// tagLinks are the texts of links that say they lead to a tag.
func (h *head) tagLinks() (all []string) {
	for _, n := range h.page.tagged {
		all = append(all, nodeText(n))
	}
	return all
}
