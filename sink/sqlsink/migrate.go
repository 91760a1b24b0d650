package sqlsink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// version is the layout of a table made now. A table of version n is brought to
// n+1 by migrations[n]. Columns that Record gained need no migration.
const version = 1

// migrations are the statements that raise a table by one version. A crash may
// cut them short, and two processes may run them at once, so each does nothing
// where it was done.
var migrations = [version]func(d *dialect, table string) []string{
	(*dialect).create,
}

// versions is the table of the tables that are ours.
const versions = "octopus_schema"

// migrate makes the table, or brings it to this version.
func (s *Sink) migrate(ctx context.Context) error {
	have, err := s.version(ctx)
	if err != nil {
		return err
	}
	if have > version {
		return fmt.Errorf("table %s has version %d, from a newer octopus; this one knows %d: use the newer one, or another table with ?table=NAME", s.table, have, version)
	}
	for ; have < version; have++ {
		for _, statement := range migrations[have](s.dialect, s.table) {
			if _, err := s.db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("table %s: %w", s.table, err)
			}
		}
		if _, err := s.db.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET version = %d WHERE name = %s AND version < %d",
			versions, have+1, s.dialect.param(1), have+1), s.table); err != nil {
			return err
		}
	}
	return s.addColumns(ctx)
}

// version returns the version of the table, 0 where it is to be made. The row
// that says so is there before the table: a table without it is not ours.
func (s *Sink) version(ctx context.Context) (v int, err error) {
	d := s.dialect
	if _, err := s.db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (name VARCHAR(255) NOT NULL PRIMARY KEY, version INTEGER NOT NULL)", versions)); err != nil {
		return 0, err
	}
	err = s.db.QueryRowContext(ctx, fmt.Sprintf("SELECT version FROM %s WHERE name = %s", versions, d.param(1)), s.table).Scan(&v)
	if !errors.Is(err, sql.ErrNoRows) {
		return v, err
	}
	if names, err := s.existing(ctx); err == nil {
		return 0, fmt.Errorf("table %s is there and octopus did not make it (its columns: %s, …); name another with ?table=NAME", s.table, names[0])
	} else if err := ctx.Err(); err != nil {
		return 0, err
	}
	_, err = s.db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (name, version) VALUES (%s, 0)", versions, d.param(1)), s.table)
	return 0, err
}

// existing returns the names of the table's columns; an error says that there
// is no table.
func (s *Sink) existing(ctx context.Context) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, fmt.Sprintf("SELECT * FROM %s WHERE 1 = 0", s.dialect.name(s.table)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return rows.Columns()
}

// addColumns adds the columns that Record has gained since the table was made.
func (s *Sink) addColumns(ctx context.Context) error {
	names, err := s.existing(ctx)
	if err != nil {
		return err
	}
	for _, c := range s.columns {
		if slices.ContainsFunc(names, func(name string) bool { return name == c.Name }) {
			continue
		}
		if _, err := s.db.ExecContext(ctx, s.dialect.add(s.table, c)); err != nil {
			return fmt.Errorf("table %s: add column %s: %w", s.table, c.Name, err)
		}
	}
	return nil
}
