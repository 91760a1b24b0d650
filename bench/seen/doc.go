// Command seen measures octopus's memory of met URLs beside other ways to
// remember them, in one run: the figures of docs/performance.md.
//
//	seen [-only bloom,texts,exact,sieve,window,redis] [-scale F] [-absent N] [-plot FILE.svg]
//
//	bloom   50 M keys into 200 MB, beside bits-and-blooms/bloom with k = 8 and k = 22
//	texts   50 M URL texts, MD5 included, on one core
//	exact   40 M offers of 20 M keys, beside Go's map
//	sieve   20 M offers of 10 M keys with late answers, beside a tuned Pebble
//	window  600 M keys over three daily windows at 1e-4; -plot draws what they take
//	redis   30 M keys over three daily windows in a redis-server of its own, beside
//	        its sets, and beside one command for each hash
//
// -scale multiplies all sizes. The unit is CPU-seconds (of the thread, where one
// thread does all; else of the process), so that other work on the machine does
// not count; memory that others use slows it all the same. Keys are made outside
// of what is measured. One JSON object per line.
package main
