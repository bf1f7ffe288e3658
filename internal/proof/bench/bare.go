//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cordelia/internal/store"
)

// bare is a database of the node's own schema, written with nothing but
// prepared statements: what any program pays for the same rows on disk.
type bare struct {
	db    *sql.DB
	conn  *sql.Conn
	lock  *os.File
	stmts map[string]*sql.Stmt
	notes *notes
	n     int
}

const (
	bareItem = `INSERT INTO items(id, type, owner, author, visibility, group_id, scope, version, data, name, tags,
		confidence, source,
			provenance, thread, content_hash, terms, tokens, created_at, updated_at)
		VALUES (?, 'learning', ?, ?, 'group', 'team', 1, 1, ?, ?, '[]', 500, 'agent', ?, ?, ?, ?, 29, ?, ?) RETURNING n`
	bareWords = `INSERT INTO items_fts(rowid, entries) VALUES (?, ?)`
	bareBands = `INSERT INTO item_bands(scope, band, item) SELECT 1, j.value, ? FROM json_each(?) j`
	bareCount = `UPDATE scopes SET items = items + 1 WHERE n = 1`
	bareLast  = `SELECT coalesce(max(seq), 0) + 1 FROM audit`
	bareAudit = `INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash)
		VALUES (?, ?, ?, '[]', 'memory_write_warm', ?, 'allowed', ?, ?)`
	bareDetail = `INSERT INTO audit_details(seq, salt, detail) VALUES (?, ?, ?)`
	bareHead   = `INSERT INTO streams(name, head) VALUES ('g/team', 1) ON CONFLICT(name) DO UPDATE
		SET head = streams.head + 1 RETURNING head`
	bareEvent = `INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at)
		VALUES ('g/team', ?, ?, 'memory.written', ?, 'team', ?, '{}', ?)`
)

var bareOwner = strings.Repeat("ab", 32)

// openBare opens the database at path, with the node's schema, durability and
// lock.
func openBare(path string, seed uint64) (*bare, error) {
	st, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		return nil, err
	}
	if err := st.Close(); err != nil {
		return nil, err
	}
	b := &bare{stmts: map[string]*sql.Stmt{}, notes: newNotes(seed)}
	if b.lock, err = os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	b.db, err = sql.Open("sqlite", "file:"+filepath.ToSlash(path)+
		"?_pragma=busy_timeout(10000)&_pragma=cache_size(-4096)&_pragma=journal_mode(WAL)"+
		"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=recursive_triggers(1)"+
		"&_pragma=journal_size_limit(67108864)&_pragma=temp_store(MEMORY)&_dqs=0&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	if b.conn, err = b.db.Conn(context.Background()); err != nil {
		return nil, err
	}
	for _, setup := range []string{
		`INSERT INTO scopes(n, visibility, ref) VALUES (1, 'group', 'team') ON CONFLICT DO NOTHING`,
		`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key, enc_binding,
			status, status_by, status_at, created_at)
			VALUES ('` + bareOwner + `', 'human', '` + bareOwner + `', 0, 'bare', 'bare', x'', x'', x'', 'active', 'node', 0, 0) ON CONFLICT DO NOTHING`,
	} {
		if _, err := b.conn.ExecContext(context.Background(), setup); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *bare) stmt(text string) (*sql.Stmt, error) {
	if s := b.stmts[text]; s != nil {
		return s, nil
	}
	s, err := b.conn.PrepareContext(context.Background(), text)
	if err == nil {
		b.stmts[text] = s
	}
	return s, err
}

func (b *bare) exec(text string, args ...any) error {
	s, err := b.stmt(text)
	if err == nil {
		_, err = s.Exec(args...)
	}
	return err
}

func (b *bare) number(text string, args ...any) (n int64, err error) {
	s, err := b.stmt(text)
	if err == nil {
		err = s.QueryRow(args...).Scan(&n)
	}
	return n, err
}

// bareRow is a row made before the clock starts.
type bareRow struct {
	id, data, name, provenance, thread, terms, entries, bands, detail, payload string
	hash                                                                       []byte
}

func (b *bare) row() bareRow {
	b.n++
	random := make([]byte, 128)
	rand.Read(random) //nolint:errcheck // never fails since Go 1.24
	words := append(b.notes.words(28), fmt.Sprintf("n%dk", b.n))
	text := strings.Join(words, " ")
	id := hex.EncodeToString(random[:16])
	hash := hex.EncodeToString(random[16:48])
	marshal := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil { // of strings
			panic(err)
		}
		return string(raw)
	}
	bands := make([]int64, 8)
	for i := range bands {
		// no two the same
		bands[i] = int64(random[48+i])<<48 | int64(random[56+i])<<40 | int64(random[64+i])<<32 | int64(b.n)<<3 | int64(
			i)
	}
	return bareRow{
		id: id, name: text[:120], thread: fmt.Sprintf("session %d", b.n/50), terms: text,
		data: marshal(map[string]string{"type": "insight", "content": text,
			"source_session": fmt.Sprintf("session %d", b.n/50)}),
		provenance: marshal(map[string]any{"author": bareOwner, "source": "agent", "content_hash": hash,
			"signature": random[64:],
			"signed_by": bareOwner, "at": "2026-11-20T00:00:00.000000Z"}),
		entries: "s1m s1mtlearning s1ma" + id[:16] + " s1md202611 s1w" + strings.Join(words, " s1w") + " s1g" +
			strings.Join(triples(words), " s1g"),
		bands: marshal(bands),
		detail: marshal(map[string]any{"type": "learning", "version": 1, "group": "team", "visibility": "group",
			"content_hash": hash}),
		payload: marshal(map[string]string{"item_id": id, "type": "learning", "group_id": "team"}), hash: random[16:48],
	}
}

// triples are the distinct letter triples of words.
func triples(words []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, w := range words {
		w = "0" + w + "0"
		for i := range len(w) - 2 {
			if g := w[i : i+3]; len(w) >= 6 && !seen[g] {
				seen[g] = true
				out = append(out, g)
			}
		}
	}
	return out
}

// commit runs write in a transaction, behind the lock.
func (b *bare) commit(write func() error) error {
	if err := syscall.Flock(int(b.lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	defer syscall.Flock(int(b.lock.Fd()), syscall.LOCK_UN) //nolint:errcheck // cannot fail on an open descriptor
	if err := b.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	return b.exec("COMMIT")
}

// write writes the rows of one item in a transaction of their own.
func (b *bare) write(r bareRow) error { return b.commit(func() error { return b.insert(r) }) }

func (b *bare) insert(r bareRow) error {
	now := time.Now().UnixMicro()
	n, err := b.number(bareItem, r.id, bareOwner, bareOwner, r.data, r.name, r.provenance, r.thread, r.hash, r.terms,
		now, now)
	if err != nil {
		return err
	}
	last, err := b.number(bareLast)
	if err != nil {
		return err
	}
	head, err := b.number(bareHead)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		text string
		args []any
	}{
		{bareWords, []any{n, r.entries}},
		{bareBands, []any{n, r.bands}},
		{bareCount, nil},
		{bareAudit, []any{last, now, bareOwner, "item/" + r.id, r.hash, r.hash}},
		{bareDetail, []any{last, r.hash[:16], r.detail}},
		{bareEvent, []any{head, r.id, bareOwner, r.payload, now}},
	} {
		if err := b.exec(step.text, step.args...); err != nil {
			return fmt.Errorf("%s: %w", step.text, err)
		}
	}
	return nil
}

// fill writes count rows, many to a transaction.
func (b *bare) fill(count int) error {
	for count > 0 {
		if err := b.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		for range min(count, 1000) {
			if err := b.insert(b.row()); err != nil {
				return err
			}
			count--
		}
		if err := b.exec("COMMIT"); err != nil {
			return err
		}
	}
	return nil
}

// times writes n rows one at a time and gives how long each took.
func (b *bare) times(n int) (latencies, error) {
	list := make(latencies, 0, n)
	for range n {
		r := b.row()
		start := time.Now()
		if err := b.write(r); err != nil {
			return nil, err
		}
		list = append(list, time.Since(start))
	}
	return list, nil
}

func (b *bare) close() error {
	for _, s := range b.stmts {
		s.Close() //nolint:errcheck // the connection goes next
	}
	b.conn.Close() //nolint:errcheck // the database goes next
	b.lock.Close() //nolint:errcheck // not held
	return b.db.Close()
}
