package torture_test

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"
	_ "modernc.org/sqlite"
)

// outputs are the files beside the JSON lines that each crawl writes, with what
// reads the "URL visit" of their records.
var outputs = map[string]func(path string) ([]string, error){
	"pages.csv":     readCSV,
	"pages.parquet": readParquet,
	"pages.sqlite":  readSQLite,
}

// outputArgs are the flags that ask for the outputs in dir.
func outputArgs(dir string) []string {
	args := []string{"--extract", "none"}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		args = append(args, "-o", filepath.Join(dir, name))
	}
	return args
}

// checkOutputs wants each record of the JSON lines once in every output.
func (v *verdict) checkOutputs(dir string, want []string) {
	slices.Sort(want)
	for name, read := range outputs {
		got, err := read(filepath.Join(dir, name))
		if err != nil {
			v.blame("%s: %v", name, err)
			continue
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			v.blame("%s has %d records (%d distinct), the JSON lines %d", name, len(got), len(slices.Compact(slices.Clone(got))), len(want))
		}
	}
}

func readCSV(path string) (names []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%d rows: %w", len(rows), err)
	}
	url, visit := slices.Index(rows[0], "url"), slices.Index(rows[0], "visit")
	for _, row := range rows[1:] {
		names = append(names, row[url]+" "+row[visit])
	}
	return names, nil
}

func readParquet(path string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(path, "*.parquet"))
	if err != nil {
		return nil, err
	}
	type row struct {
		URL   string `parquet:"url"`
		Visit int64  `parquet:"visit"`
	}
	for _, file := range files {
		rows, err := parquet.ReadFile[row](file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, r := range rows {
			names = append(names, fmt.Sprint(r.URL, " ", r.Visit))
		}
	}
	return names, nil
}

func readSQLite(path string) (names []string, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var ok string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&ok); err != nil || ok != "ok" {
		return nil, fmt.Errorf("integrity check: %s %w", ok, err)
	}
	rows, err := db.Query("SELECT url || ' ' || visit FROM pages")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
