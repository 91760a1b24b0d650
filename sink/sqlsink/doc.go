// Package sqlsink stores records in a SQL database: SQLite in a file, without a
// server, PostgreSQL, MySQL or MariaDB.
//
//	sqlite:FILE                                     modernc.org/sqlite, no cgo
//	postgres://USER[:PASSWORD]@HOST[:PORT]/DB[?…]   jackc/pgx; its parameters, and PGPASSWORD, ~/.pgpass
//	mysql://USER[:PASSWORD]@HOST[:PORT]/DB[?…]      go-sql-driver; its parameters; ?socket=PATH
//
// One table, named by ?table= (pages), has one row for each visit and one column
// for each field of a Record. Its primary key is (url_md5, visit), and a batch is
// one transaction of upserts, so that a record that comes twice is there once.
//
//	octopus_schema: table name -> version      which tables are ours, and how new they are
//	pages:          url_md5, visit, url, …     see docs/reference/outputs.md
//
// A table is made when it is missing. Of a table that an older octopus made the
// version is raised step by step, and columns that it lacks are added; what is in
// it stays. One that a newer octopus made, or somebody else, is refused.
//
// The sink connects when it first writes, and again after an error. Waiting and
// trying again are the outbox's part; a write that gets no answer within
// Options.Timeout counts as failed.
package sqlsink
