// Package stats counts what a crawl does, hour by hour and day by day, for each
// board and class of page.
//
// A Book is told each accepted outcome and each new URL by the frontier, and
// puts its rows into the commit that the outcome itself goes into. So a row is
// as durable as what it counts, and a crash or a repeated outcome counts
// nothing twice and forgets nothing. Read returns the rows of any store, also
// while a Book writes it.
//
//	key     prefix | span 'h' or 'd' | number of the hour or day since 1970, UTC, 4 bytes | board | 0 | class
//	value   version | counter, count | counter, count | …            (uvarints; zeros are left out)
//
// Counters may be added without a new version: a reader skips those it does not
// know. Hours are kept for Options.Hours, days for Options.Days; a row takes
// about 60 bytes, so a year of days and a month of hours of 100 boards with two
// classes each is about 13 MB.
package stats
