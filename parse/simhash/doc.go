// Package simhash makes 64-bit fingerprints of texts that are close, in bits,
// where the texts are close (M. Charikar, Similarity estimation techniques from
// rounding algorithms, 2002; used on the web by Manku, Jain and Das Sarma,
// Detecting near-duplicates for web crawling, 2007).
package simhash
