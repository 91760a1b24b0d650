package parse

import "octopus"

// IsHTML reports whether Parse would read the page as HTML: an answer with a
// body that is neither a redirect nor an error, of that type by its header or
// its first bytes.
func IsHTML(page *octopus.Page) bool {
	if page.Err != nil || page.Location != "" || page.Status < 200 || page.Status > 299 || len(page.Body) == 0 {
		return false
	}
	return formOf(mediaType(page.Header.Get("Content-Type"), page.Body), page, page.Body) == html
}
