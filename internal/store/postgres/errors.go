package postgres

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Fault is what kind of error a statement met.
type Fault int

const (
	Other     Fault = iota
	Unique          // a UNIQUE or PRIMARY KEY constraint
	Crossed         // a deadlock, or a check that what others did meanwhile has changed
	Busy            // a lock was held for too long, or the server has no connection left
	Full            // its disk
	ReadOnly        // a standby
	Denied          // the role lacks a right
	Lost            // no connection is made, or the server is starting or stopping
	CutOff          // a connection was lost while it was in use
	Damaged         // its data
	Untrusted       // no connection by TLS that the address asks for
	Refused         // the server does not let the user in
	Absent          // there is no such database
	Pooler          // the address is a pooler's, and does not say so
	Unkept          // text that the server cannot keep: NUL, or bytes that are not UTF-8
	NoSchema        // the search_path names none that there is
	NoTable         // there is none of that name
	Unlike          // a table of that name has other columns, or of other types
	Foreign         // not an error of PostgreSQL
)

// ofPooler are PgBouncer's words for what it refuses: it has one code for all.
var ofPooler = map[string]Fault{
	"unsupported startup parameter":  Pooler,
	"no such database":               Absent,
	"no such user":                   Refused,
	"password authentication failed": Refused,
	"SASL authentication failed":     Refused,
}

// withoutTLS reports whether it was for want of TLS that no connection was made. Where the address
// does not ask for TLS the last try was made without it, and says what was in the way.
func withoutTLS(e *pgconn.ConnectError) bool {
	err := e.Unwrap()
	if tries, ok := err.(interface{ Unwrap() []error }); ok && !asksForTLS(e.Config) { //nolint:errorlint // as joined
		all := tries.Unwrap()
		err = all[len(all)-1]
	}
	return unverified(err) || strings.Contains(err.Error(), "server refused TLS connection")
}

// asksForTLS reports whether all tries to connect are by TLS.
func asksForTLS(c *pgconn.Config) bool {
	return c.TLSConfig != nil &&
		!slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil })
}

// unverified reports whether err is of a server's certificate, checked with its name or without.
func unverified(err error) bool {
	var named *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &named) || errors.As(err, &authority) || errors.As(err, &invalid)
}

// cutOff is an error by which a connection was lost, whose words are those of the network.
type cutOff struct{ error }

// Unwrap gives the error of the network.
func (e cutOff) Unwrap() error { return e.error }

// marked marks an error by which a connection was lost. Its words alone do not tell: a file that
// ends too early is an unexpected EOF, too.
func marked(pg *pgconn.PgConn, err error) error {
	if err == nil || !pg.IsClosed() {
		return err
	}
	return cutOff{err}
}

// FaultOf is the kind of err.
func FaultOf(err error) Fault {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		var connecting *pgconn.ConnectError
		var lost cutOff
		switch {
		case !errors.As(err, &connecting) && errors.As(err, &lost):
			return CutOff
		case connecting == nil:
			return Foreign
		case withoutTLS(connecting):
			return Untrusted
		}
		return Lost
	}
	for words, fault := range ofPooler {
		if strings.Contains(pg.Message, words) {
			return fault
		}
	}
	if strings.HasPrefix(pg.Code, "08") { // of a pooler, too, which has no session to give
		return Lost
	}
	switch pg.Code {
	case "23505":
		return Unique
	case "40P01", "40001", "22012":
		return Crossed
	case "55P03", "53300", "57014":
		return Busy
	case "53100":
		return Full
	case "25006":
		return ReadOnly
	case "42501":
		return Denied
	case "57P01", "57P02", "57P03":
		return Lost
	case "28P01", "28000":
		return Refused
	case "3D000":
		return Absent
	case "3F000":
		return NoSchema
	case "42P01":
		return NoTable
	case "42703", "42804", "42883", "22P02":
		return Unlike
	case "22021", "22P05":
		return Unkept
	case "XX001", "XX002":
		return Damaged
	}
	return Other
}
