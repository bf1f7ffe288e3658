package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "cordelia/internal/store" // the driver that opens a copy of the database
)

// verified is what cordelia audit verify finds.
type verified struct {
	Entries int64
	Damage  []struct {
		Kind        string
		From, Until int64
		What        string
	}
}

// tamper changes one entry of a copy of the audit log, as who has the file can, and
// has the copy verified.
func (s *stage) tamper(ctx context.Context) error {
	var sound verified
	if _, err := s.command(ctx, &sound, 0, "audit", "verify"); err != nil {
		return err
	}
	if err := check(sound.Entries > 0 && len(sound.Damage) == 0, "the record is sound: %+v", sound); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("cordelia audit verify: %d entries, each with the hash of the one before", sound.Entries),
		"Everything you saw is in the audit log, written with the change itself.")
	copied := filepath.Join(s.Folder, "copy.db")
	if _, err := s.command(ctx, nil, 0, "backup", copied); err != nil {
		return err
	}
	entry, words, err := s.forge(ctx, copied)
	if err != nil {
		return err
	}
	s.prove(words, "Somebody takes a copy and rewrites with SQL who found gull wrong. The log refuses changes …")
	s.prove(strings.Replace(forgeActor, "?", fmt.Sprint(entry), 1), "… but who has the file can take that guard out.")
	var found verified
	complaint, err := s.command(ctx, &found, 1, "audit", "verify", "--db", copied)
	if err != nil {
		return err
	}
	if err := check(len(found.Damage) > 0 && found.Damage[0].Kind == "changed" && found.Damage[0].From == entry,
		"the change of entry %d is found: %+v", entry, found.Damage); err != nil {
		return err
	}
	s.prove(firstLine(complaint), "It is caught, with its place:")
	s.step.Facts = object{"entries": sound.Entries, "entry": entry, "kind": found.Damage[0].Kind,
		"from": found.Damage[0].From, "what": found.Damage[0].What}
	s.step.Shown = fmt.Sprintf("%d entries; entry %d %s, and found", sound.Entries, entry, found.Damage[0].Kind)
	return nil
}

// forge changes the newest verdict in the audit log of a database file. words are
// those in which the file refuses it as long as its guard is in place.
func (s *stage) forge(ctx context.Context, path string) (entry int64, words string, err error) {
	// Escaped: no character of a folder's name may act as a parameter.
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath())
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.QueryRowContext(ctx, selectVerdict).Scan(&entry); err != nil {
		return 0, "", fmt.Errorf("read the audit log: %w", err)
	}
	_, guarded := db.ExecContext(ctx, forgeActor, entry)
	if err := check(guarded != nil, "the audit log refuses changes"); err != nil {
		return 0, "", err
	}
	for _, q := range []struct {
		text string
		args []any
	}{{dropGuard, nil}, {forgeActor, []any{entry}}} {
		if _, err := db.ExecContext(ctx, q.text, q.args...); err != nil {
			return 0, "", fmt.Errorf("forge: %w", err)
		}
	}
	return entry, guarded.Error(), nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
