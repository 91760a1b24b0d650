// Package manners says how a crawler behaves towards a host: what an answer
// means for its URL and for its host, how long a host in trouble is left alone,
// when a failed request is made again, when robots.txt is asked for again, when a
// page comes due again, and which URLs look like an endless URL space.
// All of it is pure: values in, values out. Every frontier keeps the same
// manners, whatever it keeps them in.
package manners
