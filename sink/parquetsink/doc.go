// Package parquetsink stores records in a folder of Parquet files, the form in
// which tools for analysis keep tables: DuckDB, Spark, pandas read the folder.
//
//	DIR/part-00000001.parquet      at most 20,000 records or 32 MiB of JSON each
//	DIR/part-00000002.parquet      written as a whole, then renamed into place
//
// A Parquet file ends with its index, so it cannot be appended to; and small
// ones are slow to read. So the sink lets the outbox gather records, and each
// Write is one finished file. The number of the next file is remembered with the
// place in the outbox: a file with that number or a later one is of a write that
// a crash cut, and is removed.
package parquetsink
