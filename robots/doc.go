// Package robots reads robots.txt and answers whether a URL may be fetched:
// RFC 9309, with the answers of Google's parser where the RFC leaves room
// (frequent typos, missing colons, line lengths, "index.html").
//
//	file := robots.Parse(text)
//	group := file.For("octopus")
//	if v := group.Check("/private/a.html"); !v.Allowed {
//		fmt.Println(v.Line, v.Rule) // 2 Disallow: /private/
//	}
//
// [Policy] says what holds when robots.txt was not found, or could not be had:
// [Policy.Next] is a pure function of the policy before and the answer.
//
// The longest matching pattern decides, in bytes; at equal length Allow wins.
// "*" stands for any bytes, a "$" at the end for the end. Comparison is by byte,
// after percent-escapes of the pattern were put in upper case and non-ASCII
// bytes escaped; [Normalize] does the same to a URL.
//
// The package imports the standard library only and does no I/O. Files and
// groups never change once made: they may be used by many goroutines at once.
package robots
