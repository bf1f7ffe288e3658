package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"cordelia/schemas"
)

// inUse is the advisory lock that tells whether nodes use the database: each of their sessions
// shares it, and a process that is to be alone takes it whole. Behind a pooler no lock lasts as long
// as a session.
const inUse = "7165071307693648227"

// How long one waits for the sessions of processes that have just ended, and how often it looks.
const (
	endingWait  = 2 * time.Second
	endingEvery = 50 * time.Millisecond
)

// shareLock shares it for as long as the session lasts. A role that may take no lock may write
// nothing either.
func shareLock(ctx context.Context, pg *pgconn.PgConn) error {
	for began := time.Now(); ; time.Sleep(endingEvery) {
		shared, err := value(ctx, pg, "SELECT pg_try_advisory_lock_shared("+inUse+")")
		if FaultOf(err) == Denied {
			return nil
		}
		if err != nil || shared == "t" {
			return err
		}
		if time.Since(began) > endingWait {
			return schemas.Errorf(schemas.CodeUnavailable, "the database is being replaced or moved").
				Try("repeat the call when that has finished")
		}
	}
}

// InsertMoved notes at what time the state was moved to another database. LockCounters makes each node that
// looks for that wait until the transaction ends.
const (
	InsertMoved  = `INSERT INTO counters(name, value) VALUES ('moved', ?) ON CONFLICT DO NOTHING`
	LockCounters = `LOCK TABLE counters IN ACCESS EXCLUSIVE MODE`
	selectMoved  = `SELECT coalesce(max(value), 0) FROM counters WHERE name = 'moved'`
)

// ErrMoved is the cause where a database is refused whose state was moved to another one.
var ErrMoved = errors.New("postgres: the state was moved to another database")

// refuseMoved refuses such a database, also to a node that was cut off meanwhile.
func refuseMoved(ctx context.Context, pg *pgconn.PgConn) error {
	text, err := value(ctx, pg, selectMoved)
	switch FaultOf(err) {
	case NoTable: // the database is new
		return nil
	case Unlike: // it is another program's, which the look at its schema says
		return nil
	}
	if err != nil || text == "0" {
		return err
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("read when the state was moved: %w", err)
	}
	return schemas.Errorf(schemas.CodeUnavailable, "the state of this database was moved to another one on %s",
		time.UnixMicro(micros).UTC().Format("2006-01-02 15:04 UTC")).
		Try("name the other database in CORDELIA_DB or the setting database; where it was moved to a file, name " +
			"none: no --db, no CORDELIA_DB, and no setting (cordelia config set database '' takes it out)").
		Because(ErrMoved)
}

// Solo keeps other nodes from connecting to the database.
type Solo struct{ pg *pgconn.PgConn }

// TakeSolo takes the lock whole, until the Solo is closed. If other nodes use the database it gives none,
// and how many connections they have. Nodes of earlier versions, and those behind a pooler, take no lock:
// they are only counted.
func TakeSolo(ctx context.Context, dial *Connector) (s *Solo, others int, err error) {
	pg, err := dial.Dial(ctx)
	if err != nil {
		return nil, 0, err
	}
	for began := time.Now(); ; time.Sleep(endingEvery) {
		taken, err := value(ctx, pg, "SELECT pg_try_advisory_lock("+inUse+")")
		if err == nil {
			others, err = count(ctx, pg)
		}
		if err == nil && taken == "t" && others == 0 {
			return &Solo{pg}, 0, nil
		}
		if err == nil && taken == "t" { // the nodes that were counted may have to connect again
			_, err = value(ctx, pg, "SELECT pg_advisory_unlock("+inUse+")")
		}
		if err != nil || time.Since(began) > endingWait {
			pg.Close(context.Background()) //nolint:errcheck // the first error tells
			return nil, max(1, others), err
		}
	}
}

func count(ctx context.Context, pg *pgconn.PgConn) (int, error) {
	text, err := value(ctx, pg, Others)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// Lasts fails if the connection was lost, and others may have connected since.
func (s *Solo) Lasts(ctx context.Context) error {
	if _, err := value(ctx, s.pg, "SELECT 1"); err != nil {
		return fmt.Errorf("have the database alone: %w", marked(s.pg, err))
	}
	return nil
}

// Close lets others connect.
func (s *Solo) Close() error { return s.pg.Close(context.Background()) }

// value runs a query that answers with one value.
func value(ctx context.Context, pg *pgconn.PgConn, query string) (string, error) {
	answers, err := pg.Exec(ctx, query).ReadAll()
	if err != nil {
		return "", err
	}
	return string(answers[0].Rows[0][0]), nil
}
