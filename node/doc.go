// Package node assembles a process: it is the only package that knows every
// implementation. Config says what to build; Open builds it; Crawl, the
// library's face, crawls from a Go program.
//
// A node starts its parts in the order of the data flow and stops them from the
// source: leasing ends first, then requests under way, then the commits, then
// the sender of the sinks, and the stores last. Cutting that short at any point
// is safe; it only repeats work.
package node
