//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// plainIndex is a plain full-text index of the same texts: their words and an audience,
// searched for the best by bm25.
type plainIndex struct {
	db    *sql.DB
	query *sql.Stmt
}

const (
	plainTable = `CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(scope, body, content = '',
		contentless_delete = 1, tokenize = 'ascii')`
	plainInsert = `INSERT INTO texts(rowid, scope, body) VALUES (?, 's1', ?)`
	plainQuery  = `SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 200`
)

// plain gives a part the index of the texts that store has at the same size.
func (b *bench) plain(size int) (*plainIndex, error) {
	folder, err := b.template("plain", "index", size, func(folder string, at, until int) error {
		db, err := openPlain(folder)
		if err != nil {
			return err
		}
		return errors.Join(growPlain(db, newNotes(uint64(until)), at, until), db.Close())
	})
	if err != nil {
		return nil, err
	}
	db, err := openPlain(folder) // only read, so it needs no copy
	if err != nil {
		return nil, err
	}
	query, err := db.Prepare(plainQuery)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &plainIndex{db, query}, nil
}

func openPlain(folder string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(folder, "plain.db"))+
		"?_pragma=journal_mode(WAL)&_pragma=cache_size(-4096)&_dqs=0")
}

// growPlain adds the texts that fill writes into the node.
func growPlain(db *sql.DB, texts *notes, from, until int) error {
	if _, err := db.Exec(plainTable); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing to undo once committed
	insert, err := tx.Prepare(plainInsert)
	if err != nil {
		return err
	}
	for n := from; n < until; n++ {
		if _, err := insert.Exec(n+1, texts.content(n)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (x *plainIndex) close() { x.db.Close() } //nolint:errcheck // only read

// ask finds the best texts that hold any of words.
func (x *plainIndex) ask(words []string) error {
	rows, err := x.query.QueryContext(context.Background(),
		fmt.Sprintf(`scope : "s1" AND body : (%s)`, strings.Join(words, " OR ")))
	if err != nil {
		return err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
	}
	return rows.Close()
}

// times asks count questions, one at a time, and gives how long each took.
func (x *plainIndex) times(count int, words func() []string) (latencies, error) {
	var list latencies
	for range count {
		asked := words()
		start := time.Now()
		if err := x.ask(asked); err != nil {
			return nil, err
		}
		list = append(list, time.Since(start))
	}
	return list, nil
}
