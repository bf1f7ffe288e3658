package ops

import (
	"errors"

	"cordelia/internal/store"
)

const (
	selectRecorded = `SELECT tool, request_hash, result FROM idempotency WHERE entity_id = ? AND key = ?`
	insertRecorded = `INSERT INTO idempotency(entity_id, key, tool, request_hash, result, at)
		VALUES (?, ?, ?, ?, ?, ?)`

	countStale   = `SELECT count(*) FROM (SELECT 1 FROM idempotency WHERE at < ? LIMIT 1) AS stale`
	dropRecorded = `DELETE FROM idempotency WHERE at < ?`
)

func noRows(err error) bool { return errors.Is(err, store.ErrNoRows) }
