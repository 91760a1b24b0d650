// Package mongosink stores records in MongoDB, or a server that speaks its
// protocol.
//
//	mongodb://[USER:PASSWORD@]HOST[:PORT][,HOST…]/DB[?…]     parameters of the official driver
//	mongodb+srv://…                                          hosts from DNS
//
// One collection, named by ?table= (pages), has one document for each visit:
//
//	_id: "<MD5 of the URL>-<visit>", v: 1, url: "…", fetched_at: Date, links: […] …
//
// with the fields of a Record under their names in JSON. A document is replaced
// as a whole, by its _id, so a record that comes twice is there once. There are
// indexes on url and fetched_at. Documents need no migration: a field that
// Record gains is in those written from then on.
//
// A write counts when the server has it in its journal, and, of several servers,
// most of them.
package mongosink
