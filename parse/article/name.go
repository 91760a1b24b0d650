package article

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// What stands around a name where a template prints it.
var (
	beforeName = regexp.MustCompile(`(?i)^(?:(?:written|posted|published|words|text|story|beitrag|artikel) (?:by|von)|by|von|par|por|door|author|autor|autorin|auteur|作者|记者|記者|文)(?:[:：/]\s*|\s+)`)
	behindName = regexp.MustCompile(`(?i)\s*(?:[|•·–—(\[]|\s-\s|-\s*\d|\d{1,2}[./]\d|(?:19|20)\d\d| on (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)| (?:at|in|on)$|\s(?:january|february|march|april|june|july|august|september|october|november|december)\b).*$`)
)

// notNames are words that templates and libraries give for a name.
var notNames = map[string]bool{"admin": true, "administrator": true, "posted": true, "name": true, "by": true, "von": true, "user": true, "human": true, "author": true, "authors": true, "autor": true, "editor": true,
	"guest": true, "anonymous": true, "unknown": true, "null": true, "undefined": true, "none": true, "root": true, "january": true, "april": true, "may": true, "june": true, "august": true, "february": true, "march": true, "july": true, "october": true, "november": true, "december": true,
	"september": true}

// cleanName takes from a byline what is no name.
func cleanName(s string) string {
	s = strings.Trim(clean(s), " ,;'\"“”‘’")
	s = beforeName.ReplaceAllString(s, "")
	if cut := strings.Trim(behindName.ReplaceAllString(s, ""), " ,;:'\""); cut != "" {
		s = cut
	}
	return s
}

// isName drops what sites put where an author belongs: profile URLs, sentences.
func isName(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= 120 && !strings.Contains(s, "://") && !strings.ContainsAny(s, "{}<>@") && !notNames[strings.ToLower(s)]
}
