// Command bench measures octopus and other crawlers on the same synthetic web,
// on the same machine, in the same run. It is a module of its own so that the
// peers are no dependencies of the product.
//
//	bench [flags]     run the cases, print one JSON object per line
//	bench serve …     the web (octopus/internal/benchweb) in a process of its own
//	bench colly …     Colly, a Go crawler, as a process to be measured
//	bench least …     the least program that crawls the site: the physical limit
//	bench stages FILE a CPU profile by stage
//	bench flame FILE  a CPU profile as a flame graph in SVG
//
// The unit is client CPU-seconds (user and system, as wait4 tells) per 1,000
// distinct pages; it holds on a machine that others use too, pages per second do
// not. Completeness and duplicates are the server's count. ../docs/performance.md
// tells the method and the results; scripts/bench builds and runs all.
package main
