// Package parse turns a fetched page into what the crawl needs: the links it
// offers and the record the sinks get.
//
//	bytes --charset--> UTF-8 --scan--> links, metadata, counts --classify--> kind
//	                              \--article--> text, Markdown   (only where asked for)
//
// The crawl's own path is one pass over the bytes and builds no tree (package
// parse/scan). A tree is built only for [Options.Text] and [Options.Markdown],
// for [Parser.Inspect], [Text] and [Markdown].
//
// Nothing here does I/O or reads a clock. All of it takes hostile input: every
// result is bounded by the limits in [Options], and the time by the length of
// the page.
package parse
