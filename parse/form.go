package parse

import (
	"bytes"
	"net/http"
	"strings"

	"octopus"
	"octopus/parse/charset"
	"octopus/parse/classify"
	"octopus/parse/feed"
)

// form says how a body is read.
type form uint8

const (
	binary     form = iota // not at all
	html                   // as a page
	list                   // as a sitemap or feed
	lines                  // as a sitemap of lines
	packedList             // as a sitemap, once unpacked
)

const kindOther = classify.Other

// mediaType returns the type of a body in lower case, without parameters; the
// first bytes tell where the header does not.
func mediaType(contentType string, body []byte) string {
	t := typeOf(contentType) // a wrong parameter does not spoil the type in front of it
	if !strings.Contains(t, "/") || t == "application/unknown" || t == "unknown/unknown" {
		if len(body) == 0 {
			return ""
		}
		t = typeOf(http.DetectContentType(body))
	}
	return t
}

func typeOf(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// formOf decides by media type, by what the body looks like, and by whether the
// URL was met as a sitemap.
func formOf(media string, page *octopus.Page, body []byte) form {
	sitemap := page.Lease.Link.Kind == octopus.Sitemap
	switch media {
	case "text/html", "application/xhtml+xml":
		if sitemap && feed.Look(body) != feed.None {
			return list // served with the wrong type, but asked for as a list
		}
		return html
	case "text/plain":
		if feed.Look(body) != feed.None {
			return list
		}
		if sitemap {
			return lines
		}
		return binary
	}
	switch {
	case isGzip(media, body) && (sitemap || strings.HasSuffix(strings.ToLower(page.URL().Text), ".xml.gz")):
		return packedList
	case strings.HasSuffix(media, "xml"):
		if feed.Look(body) != feed.None || !bytes.Contains(body[:min(len(body), 4096)], []byte("<html")) {
			return list
		}
		return html
	case media == "application/feed+json", media == "application/json" && feed.Look(body) == feed.JSON:
		return list
	}
	return binary
}

func isGzip(media string, body []byte) bool {
	return bytes.HasPrefix(body, []byte("\x1F\x8B")) &&
		(strings.Contains(media, "gzip") || media == "application/octet-stream" || strings.HasSuffix(media, "xml"))
}

func gunzip(body []byte) []byte { return feed.Gunzip(body) }

func toUTF8(body []byte, contentType string) ([]byte, string) {
	return charset.ToUTF8(body, contentType)
}
