package postgres

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Fault is what kind of error a statement met.
type Fault int

const (
	Other    Fault = iota
	Unique         // a UNIQUE or PRIMARY KEY constraint
	Busy           // a lock was held for too long, or the server has no connection left
	Full           // its disk
	ReadOnly       // a standby, or the role may not write
	Lost           // the connection, or the server is starting or stopping
	Damaged        // its data
	Refused        // the server does not let the user in
	Absent         // there is no such database
	Pooler         // the address is a pooler's, and does not say so
	Unkept         // text that the server cannot keep: NUL, or bytes that are not UTF-8
	Foreign        // not an error of PostgreSQL
)

// FaultOf is the kind of err.
func FaultOf(err error) Fault {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		var connecting *pgconn.ConnectError
		if errors.As(err, &connecting) {
			return Lost
		}
		return Foreign
	}
	if strings.Contains(pg.Message, "unsupported startup parameter") { // PgBouncer's words: it has no code of its own
		return Pooler
	}
	if strings.HasPrefix(pg.Code, "08") { // of a pooler, too, which has no session to give
		return Lost
	}
	switch pg.Code {
	case "23505":
		return Unique
	case "55P03", "40P01", "53300", "57014":
		return Busy
	case "53100":
		return Full
	case "25006", "42501":
		return ReadOnly
	case "57P01", "57P02", "57P03":
		return Lost
	case "28P01", "28000":
		return Refused
	case "3D000":
		return Absent
	case "22021", "22P05":
		return Unkept
	case "XX001", "XX002":
		return Damaged
	}
	return Other
}
