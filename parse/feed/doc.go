// Package feed reads the lists of URLs that sites publish: sitemaps (urlset,
// index, plain text), RSS 0.9 to 2.0, Atom and JSON Feed.
//
// The reader streams, expands no entities but those of XML and HTML, and bounds
// everything: bytes, nesting and entries. A list that breaks off or is not well
// formed yields what came before the fault.
package feed
