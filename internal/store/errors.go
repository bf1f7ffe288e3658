package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/internal/store/postgres"
	"cordelia/schemas"
)

// ErrNoRows is what a Row's Scan returns when nothing matched.
var ErrNoRows = sql.ErrNoRows

// driverCode is SQLite's extended result code, 0 if err is not the driver's.
func driverCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// IsUnique reports whether err is a violated UNIQUE or PRIMARY KEY constraint.
func IsUnique(err error) bool {
	switch driverCode(err) {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return true
	}
	return err != nil && postgres.FaultOf(err) == postgres.Unique
}

// classify turns a driver error into one the caller can act on; errors that
// already say what they are pass through.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var known *schemas.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return schemas.Errorf(schemas.CodeBusy, "the operation was given up before it finished; nothing was written").
			Try("repeat the call").Because(err)
	}
	if err, ok := classifyServer(err); ok {
		return err
	}
	unavailable := func(msg, hint string) error {
		return schemas.Errorf(schemas.CodeUnavailable, "%s; nothing was written", msg).Try("%s", hint).Because(err)
	}
	code := driverCode(err)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		code = sqlite3.SQLITE_FULL
	case errors.Is(err, syscall.EIO):
		code = sqlite3.SQLITE_IOERR
	}
	if code == sqlite3.SQLITE_IOERR_SHMSIZE { // the log's index cannot grow
		code = sqlite3.SQLITE_FULL
	}
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return unavailable("the disk is full", "free some space, then repeat the call; no restart is needed")
	case sqlite3.SQLITE_IOERR:
		return unavailable("the disk reported an error", "repeat the call; if it happens again, run: cordelia doctor")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return schemas.Errorf(schemas.CodeBusy, "another process held the database for too long; nothing was written").
			Try("repeat the call; if it happens again, run: cordelia doctor").Because(err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return unavailable("the database is damaged",
			"run: cordelia doctor, then: cordelia restore FILE, from a backup")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return unavailable("the database file cannot be written",
			"check the owner and mode of the home folder: cordelia doctor")
	}
	return err
}

// errNotOwner refuses a database whose tables are those of schema have and must be made or changed,
// by a role that may not do that.
func errNotOwner(have int, err error) error {
	what := fmt.Sprintf("the tables in the database are of schema %d, and this program needs %d", have, SchemaVersion())
	if have == 0 {
		what = "the database has no tables of cordelia yet"
	}
	return schemas.Errorf(schemas.CodeUnavailable, "%s; this role may not make them", what).
		Try("start cordelia once as the role that owns the tables, then as this one (%s)", rolesPage).Because(err)
}

// rolesPage is the chapter about the rights of the database's roles.
const rolesPage = "docs/scale.md, Roles in the database"

// classifyServer is classify for the errors of a PostgreSQL server; false for others.
func classifyServer(err error) (error, bool) {
	unavailable := func(msg, hint string) (error, bool) {
		return schemas.Errorf(schemas.CodeUnavailable, "%s; nothing was written", msg).Try("%s", hint).Because(err), true
	}
	switch postgres.FaultOf(err) {
	case postgres.Foreign:
		return err, false
	case postgres.Busy, postgres.Crossed:
		return schemas.Errorf(schemas.CodeBusy, "another node held the database for too long; nothing was written").
			Try("repeat the call; if it happens again, look for a stopped node").Because(err), true
	case postgres.Full:
		return unavailable("the disk of the database server is full", "free some space there, then repeat the call")
	case postgres.ReadOnly:
		return unavailable("the database server takes no writes: it is a standby, or was set to read only",
			"connect to the primary server")
	case postgres.Denied:
		return unavailable("the role in the database's address may not do that",
			"give it its rights ("+rolesPage+"), or connect as the role that owns the tables")
	case postgres.Untrusted:
		return unavailable("the database server runs, and there is no connection to it that TLS protects as the "+
			"address asks", "name its authority (sslrootcert=FILE of the address) and the name that stands in its "+
			"certificate, or turn TLS on at the server (ssl = on)")
	case postgres.Refused:
		return unavailable("the database server refuses the user: the password is missing or wrong, or the server's "+
			"pg_hba.conf does not let this machine in",
			"put the password into ~/.pgpass (mode 0600; PGPASSFILE names another file) or CORDELIA_DB")
	case postgres.Absent:
		return unavailable("the server has no database of that name",
			"make it there: createdb -E UTF8 -T template0 NAME; or correct the address")
	case postgres.Pooler:
		return unavailable("a pooler stands before the database server, and the address does not say so",
			"add pooler=transaction to the address, as in postgres://user@host:6432/database?pooler=transaction")
	case postgres.Lost:
		return unavailable("the database server cannot be reached",
			"see that it runs and that its address is right (pg_isready), then repeat the call")
	case postgres.CutOff:
		return unavailable("the connection to the database server was lost",
			"repeat the call; if it fails again, see that the server runs (pg_isready)")
	case postgres.Unkept:
		return schemas.Invalidf("a text holds the character NUL, or bytes that are no UTF-8; nothing was written").
			Try("leave them out").Because(err), true
	case postgres.NoSchema:
		return unavailable("the search_path of the address, or of its role, names no schema that there is",
			"take it out, or make the schema: CREATE SCHEMA NAME")
	case postgres.Damaged:
		return unavailable("the database is damaged", "look at the server's log, and restore a backup")
	}
	return err, true
}
