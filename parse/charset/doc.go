// Package charset finds out in which character set a page is written and
// brings it to UTF-8.
//
// Names are those of the WHATWG Encoding Standard (package htmlindex). The
// order of evidence differs from the standard in one point, which repairs more
// pages than all detectors together: a body that is valid UTF-8 and not plain
// ASCII is UTF-8, whatever its labels say. After that come
//
//	byte order mark > Content-Type header > meta in the page > look of the bytes
//
// and the search for a meta declaration does not stop after 1,024 bytes.
package charset
