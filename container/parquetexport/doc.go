// Package parquetexport writes the index of a container as a Parquet file with
// the columns of Common Crawl's columnar index, so that queries written for that
// one run on ours.
//
// One row for each version, sorted by url_surtkey and fetch_time. Columns whose
// values the container does not know (languages, the detected type) are absent.
// Source: https://github.com/commoncrawl/cc-index-table, schema of cc-index-table.
package parquetexport
