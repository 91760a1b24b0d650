// Package article takes the main content out of an HTML page: text, Markdown,
// title, author, date, description and language.
//
// It builds a tree and costs some hundred times the scan of package
// parse/scan, so the crawl calls it only where somebody wants text. Hostile
// pages are bounded: over a size or a nesting no tree is built, and the plain
// text of the page is the answer.
package article
