package scan_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"octopus/parse/scan"
)

// benchPage is a page of about 20 KB with 40 links, the unit that crawlers are
// compared by.
func benchPage() []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>A page &amp; its links</title>\n")
	b.WriteString("<link rel=\"canonical\" href=\"/p/1\"><style>p{margin:0}</style></head><body><div class=\"main\" id=\"top\">\n")
	for i := range 40 {
		fmt.Fprintf(&b, "<p class=\"para\">%s <a class=\"link\" href=\"/section/%d/page-%d.html\">link number %d</a>.</p>\n",
			strings.Repeat("lorem ipsum dolor sit amet, ", 15), i%7, i, i)
	}
	b.WriteString("</div></body></html>")
	return b.Bytes()
}

func BenchmarkScan(b *testing.B) {
	page := benchPage()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	var p scan.Page
	for b.Loop() {
		p.Scan(page)
	}
}

// BenchmarkTokenizer is the yardstick: the tokenizer of x/net, doing nothing
// but find the links.
func BenchmarkTokenizer(b *testing.B) {
	page := benchPage()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		z := html.NewTokenizer(bytes.NewReader(page))
		for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
			if n, more := z.TagName(); tt == html.StartTagToken && len(n) == 1 && n[0] == 'a' {
				for more {
					_, _, more = z.TagAttr()
				}
			}
		}
	}
}

// BenchmarkReal scans the pages of the shared test data one after the other.
func BenchmarkReal(b *testing.B) {
	var all [][]byte
	size := 0
	pages(b, func(_ string, body []byte) {
		all = append(all, body)
		size += len(body)
	})
	if len(all) == 0 {
		b.Skip("no pages on this machine")
	}
	b.SetBytes(int64(size))
	var p scan.Page
	for b.Loop() {
		for _, body := range all {
			p.Scan(body)
		}
	}
}
