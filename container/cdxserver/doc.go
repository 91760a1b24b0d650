// Package cdxserver answers the questions that replay tools ask an archive, over
// HTTP, from a container:
//
//	/cdx?url=URL&…                    which captures are there: CDX server API
//	/web/{timestamp}id_/{url}         the capture nearest to a time, as it came
//
// The parameters of /cdx are those of pywb's CDX server: url (with the wildcards
// *.host and prefix*), matchType, from, to, closest, limit, sort, filter, fl or
// fields, output=json|text. Any other is refused.
// An exact match is answered from the container at once. The others need a
// sorted index, which the first such request makes in a temporary file; it
// holds the versions of that time.
package cdxserver
