// Package article takes the main content out of an HTML page: text, Markdown,
// title, author, date, description and language.
//
//	tree --libraries--> three opinions --+
//	  \----cut----> blocks of text ------+--> features --forest--> odds --> best set of blocks
//
// Three libraries (trafilatura, readability, DOM distiller) say what they take
// for the article. Each is best on other pages, so none is believed: their
// opinions are features of every block, beside its own shape, its place, the
// heading above it, how often its template and its text repeat, and what its
// words and the names of the classes around it meant on other sites. A forest
// of boosted trees tells the odds of each block, and the set of blocks with the
// greatest expected F1 is kept, every text once. The forest and the two
// lexicons lie in content.model; train_test.go makes them and measures them on
// sites they were not trained on. docs/extraction.md has the figures.
//
// It costs about a thousand times the scan of package parse/scan, so the crawl
// calls it only where somebody wants text. Hostile pages are bounded: over a
// size, a number of nodes or a nesting no tree is built, and the plain text of
// the page is the answer.
package article
