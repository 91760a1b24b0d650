// Package simhash makes 64-bit fingerprints of texts that are close, in bits,
// where the texts are close (M. Charikar, Similarity estimation techniques from
// rounding algorithms, 2002; used on the web by Manku, Jain and Das Sarma,
// Detecting near-duplicates for web crawling, 2007).
//
// The features are three words in a row, of the beginnings of the pieces of text
// that a page is made of: a paragraph is told from another by its first line, and
// reading all of it would cost more than reading the page. A word is a run of letters and digits,
// ASCII without regard to case; a Chinese, Japanese or Korean character is a
// word of its own. The value depends on nothing but the words, and may be
// stored.
package simhash
