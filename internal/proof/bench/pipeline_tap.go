//go:build unix

package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// records are the messages that the rows of tasks, rounds, subtasks and seats tell
// there must have been, of tasks that were all accepted.
const records = `
	SELECT 'TaskSpec', count(*) FROM tasks
	UNION ALL SELECT 'DispatchManifest', count(*) FROM task_rounds
	UNION ALL SELECT 'SubTask', count(*) FROM subtasks
	UNION ALL SELECT 'ExecutionResult', count(*) FROM task_seats s JOIN work_items w ON w.n = s.item
	WHERE s.role = 'R3' AND w.state = 'done'
	UNION ALL SELECT 'SubTaskOutcome', count(*) FROM subtasks WHERE state IN ('matched', 'failed')
	UNION ALL SELECT 'MergeReport', count(*) FROM task_seats s JOIN work_items w ON w.n = s.item WHERE s.role = 'R4b'
	AND w.state = 'done'
	UNION ALL SELECT 'FinalResult', count(*) FROM tasks WHERE state = 'accepted'
	UNION ALL SELECT 'MemoryEntry', count(*) FROM lessons`

const (
	messages = `SELECT m.id, m.record, m.sender, m.receiver, m.actor, m.message, t.id FROM task_messages m
		JOIN tasks t ON t.n = m.task ORDER BY m.n`
	tap = `SELECT a.target, d.detail FROM audit a JOIN audit_details d ON d.seq = a.seq
		WHERE a.target LIKE 'message/%' ORDER BY a.seq`
)

// tapped checks what happened against the messages on record, and those against the
// audit record: each is there once, in order, with the hash of its words.
func (u *bureau) tapped() error {
	db, err := u.n.read()
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	found, sent, err := compareTap(db)
	if err != nil {
		return err
	}
	expected := map[string]int{}
	if err := each(db, records, func(scan func(...any) error) error {
		var record string
		var n int
		err := scan(&record, &n)
		expected[record] = n
		return err
	}); err != nil {
		return err
	}
	sent -= found["Constraints"] // of memory, for each seat of a planner or a merger there was any for
	total := 0
	for record, n := range expected {
		if total += n; found[record] != n {
			return fmt.Errorf("there are %d messages %s on record, and %d in what happened", found[record], record, n)
		}
	}
	if total != sent || total == 0 {
		return fmt.Errorf("there are %d messages on record, and %d in what happened", sent, total)
	}
	return nil
}

// compareTap counts messages by record while it checks each against its audit entry.
func compareTap(db *sql.DB) (found map[string]int, sent int, err error) {
	type entry struct{ id, hash, record, from, to, actor, task string }
	var entries []entry
	if err := each(db, tap, func(scan func(...any) error) error {
		var target, detail string
		if err := scan(&target, &detail); err != nil {
			return err
		}
		var d struct{ SHA256, Record, From, To, Actor, Task string }
		err := json.Unmarshal([]byte(detail), &d)
		entries = append(entries, entry{target, d.SHA256, d.Record, d.From, d.To, d.Actor, d.Task})
		return err
	}); err != nil {
		return nil, 0, err
	}
	found = map[string]int{}
	err = each(db, messages, func(scan func(...any) error) error {
		var m entry
		var words string
		if err := scan(&m.id, &m.record, &m.from, &m.to, &m.actor, &words, &m.task); err != nil {
			return err
		}
		sum := sha256.Sum256([]byte(words))
		if m.id, m.hash = "message/"+m.id, hex.EncodeToString(sum[:]); sent >= len(entries) || entries[sent] != m {
			return fmt.Errorf("message %d, %s, is not in the audit record as it is", sent+1, m.record)
		}
		sent++
		found[m.record]++
		return nil
	})
	if err == nil && sent != len(entries) {
		err = fmt.Errorf("the audit record tells of %d messages, and there are %d", len(entries), sent)
	}
	return found, sent, err
}

// each calls f with every row of a query.
func each(db *sql.DB, query string, f func(scan func(...any) error) error) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read to its end
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
