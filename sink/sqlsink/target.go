package sqlsink

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	my "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// target is what an address names.
type target struct {
	dialect *dialect
	name    string // the address without secrets
	table   string
	open    func() (*sql.DB, error) // connects to nothing yet
}

var tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// longestTable leaves room for the suffix of an index's name, of which
// PostgreSQL reads 63 characters.
const longestTable = 48

// parse reads an address. Its errors show no password: those of net/url and of
// the drivers, which may quote the whole, are left out.
func parse(address string) (target, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	if scheme == "sqlite" {
		return parseSQLite(rest)
	}
	u, err := url.Parse(address)
	if err != nil {
		return target{}, errors.New("is no URL; write SCHEME://USER:PASSWORD@HOST:PORT/DATABASE, other characters of a password than letters and digits as %XX")
	}
	q := u.Query()
	t, err := newTarget(&url.URL{Scheme: u.Scheme, User: user(u), Host: u.Host, Path: u.Path}, q)
	if err != nil {
		return t, err
	}
	if strings.Trim(u.Path, "/") == "" {
		return t, fmt.Errorf("names no database; write %s://USER:PASSWORD@HOST:PORT/DATABASE", scheme)
	}
	switch scheme {
	case "postgres", "postgresql":
		u.RawQuery = q.Encode()
		return t.postgres(u.String())
	case "mysql", "mariadb":
		return t.mysql(u, q)
	}
	return t, fmt.Errorf("scheme %q is not known; use sqlite, postgres or mysql", scheme)
}

func user(u *url.URL) *url.Userinfo {
	if u.User == nil {
		return nil
	}
	return url.User(u.User.Username())
}

// newTarget takes the table out of the parameters q.
func newTarget(bare *url.URL, q url.Values) (target, error) {
	t := target{table: "pages", name: bare.String()}
	if q.Has("table") {
		t.table = q.Get("table")
		t.name += "?table=" + t.table
	}
	q.Del("table")
	if !tableName.MatchString(t.table) || len(t.table) > longestTable {
		return t, fmt.Errorf("table %q: use letters, digits and _, or SCHEMA.TABLE, at most %d characters", t.table, longestTable)
	}
	return t, nil
}

// names returns the names of parameters: a value may be a password.
func names(q url.Values) []string { return slices.Sorted(maps.Keys(q)) }

// parseSQLite reads FILE or FILE?table=NAME. The journal is a write-ahead log,
// so that others read meanwhile, and synced with each commit: what the outbox
// counts as delivered survives a power cut.
func parseSQLite(rest string) (target, error) {
	file, query, _ := strings.Cut(rest, "?")
	q, err := url.ParseQuery(query)
	if err != nil || file == "" {
		return target{}, fmt.Errorf("%q names no file; write sqlite:FILE", rest)
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return target{}, err
	}
	t, err := newTarget(&url.URL{Scheme: "sqlite", Opaque: abs}, q)
	if err == nil && len(q) > 0 {
		err = fmt.Errorf("parameters %q are not known; ?table=NAME is the only one", names(q))
	}
	if err != nil {
		return t, err
	}
	dsn := "file:" + (&url.URL{Path: abs}).EscapedPath() +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate"
	t.dialect, t.open = sqlite, func() (*sql.DB, error) { return sql.Open("sqlite", dsn) }
	return t, nil
}

func (t target) postgres(dsn string) (target, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return t, fmt.Errorf("is no address of a PostgreSQL database: %w", errors.Unwrap(err))
	}
	t.dialect, t.open = postgres, func() (*sql.DB, error) { return stdlib.OpenDB(*config), nil }
	return t, nil
}

func (t target) mysql(u *url.URL, q url.Values) (target, error) {
	socket := q.Get("socket")
	q.Del("socket")
	config, err := my.ParseDSN("/?" + q.Encode())
	if err != nil {
		return t, fmt.Errorf("parameters %q: %w", names(q), err)
	}
	config.Net, config.Addr = "tcp", u.Host
	if u.Port() == "" {
		config.Addr = u.Hostname() + ":3306"
	}
	if socket != "" {
		config.Net, config.Addr = "unix", socket
	}
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.DBName = strings.Trim(u.Path, "/")
	config.Logger = &my.NopLogger{} // the errors are returned too
	t.dialect = mysql
	t.open = func() (*sql.DB, error) {
		connector, err := my.NewConnector(config)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(connector), nil
	}
	return t, nil
}
