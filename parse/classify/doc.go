// Package classify tells navigation pages (lists of links that are visited
// again) from data pages (articles, fetched once) by what one pass over the
// bytes and the URL show; no tree is needed.
package classify
