// Package canon turns text into canonical URLs: the one place where octopus
// decides which spellings are the same page.
//
// The canonical form is the serialization of the URL Standard (WHATWG,
// https://url.spec.whatwg.org/), the one browsers use: surrounding space and
// inner tabs and newlines go, backslashes become slashes, the host is
// lower-case ASCII (IDNA, UTS 46), IPv4 addresses in any spelling are dotted
// decimal, default ports go, dot segments are resolved, what must be
// percent-encoded is. It differs in four points, all of them on purpose:
//
//   - only http and https URLs are taken;
//   - the fragment is dropped: it names a place in a page, not a page;
//   - user name and password are dropped: they do not belong into keys, logs and
//     archives;
//   - text longer than [MaxLen] is refused, and so is what only makes a parser
//     slow ([ErrOdd]).
//
// Percent-encoded bytes are otherwise left as they are: %7e, %7E and ~ are three
// URLs to the standard and to many servers. Query parameters keep their order.
// A trailing dot of the host stays in the text, as the standard has it, but not
// in URL.Host: both spellings share keys' host part, politeness and scope.
//
// Plain URLs, which are nearly all, are recognised by one pass over their bytes
// (fast.go); everything else goes to the full parser of
// github.com/nlnwa/whatwg-url (standard.go). A fuzz test holds the two equal.
//
// Nothing here does I/O. All functions may be called by many goroutines at once;
// a [Base] belongs to one.
package canon
