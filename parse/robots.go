package parse

import (
	"slices"
	"strings"
)

// productToken returns the part of a user agent that robots rules name:
// "octopus" of "octopus/1.0 (+https://…)".
func productToken(agent string) string {
	if i := strings.IndexAny(agent, "/ ("); i >= 0 {
		agent = agent[:i]
	}
	if agent == "" {
		return DefaultAgent
	}
	return strings.ToLower(agent)
}

// headerDirectives returns the directives of X-Robots-Tag headers that concern
// agent, in lower case. A directive applies to everybody, or to the agent whose
// name, with a colon, stands before it in the same header.
func headerDirectives(values []string, agent string) []string {
	var out []string
	for _, v := range values {
		mine := true
		for part := range strings.SplitSeq(strings.ToLower(v), ",") {
			part = strings.TrimSpace(part)
			if name, rest, ok := strings.Cut(part, ":"); ok && !hasValue(name) {
				name = strings.TrimSpace(name)
				mine = name == agent || name == "robots" || name == "*"
				part = strings.TrimSpace(rest)
			}
			if mine {
				out = addDirective(out, part)
			}
		}
	}
	return out
}

// hasValue reports whether a directive is written with a colon of its own, so
// that the word before it is no agent.
func hasValue(directive string) bool {
	switch strings.TrimSpace(directive) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	// The time in the date of unavailable_after has colons too.
	return strings.ContainsAny(directive, "0123456789")
}

// addMeta adds the directives of a robots meta element's content.
func addMeta(out []string, content string) []string {
	for part := range strings.SplitSeq(strings.ToLower(content), ",") {
		out = addDirective(out, strings.TrimSpace(part))
	}
	return out
}

// maxDirectives bounds what a page can make a record grow by.
const maxDirectives = 32

func addDirective(out []string, d string) []string {
	if d == "" || len(d) > 100 || len(out) >= maxDirectives || slices.Contains(out, d) {
		return out
	}
	return append(out, d)
}

// nofollow reports whether the directives forbid to follow the page's links.
func nofollow(directives []string) bool {
	return slices.Contains(directives, "nofollow") || slices.Contains(directives, "none")
}
