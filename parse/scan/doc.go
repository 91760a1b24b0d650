// Package scan reads an HTML page in one pass over its bytes and builds no
// tree: references, metadata, and the counts by which pages are told apart.
//
// It follows the tokenizer of the HTML Standard (section 13.2.5): quotes, the
// three ways a comment ends, the escaped states of scripts, elements whose text
// is no markup, and CDATA inside svg and math. Where the standard's tree
// builder would switch the tokenizer, it does as a browser without scripting:
// the content of noscript is markup.
//
// The input is UTF-8 (package parse/charset), the time linear in its length,
// and the results are bounded by the Max constants.
package scan
