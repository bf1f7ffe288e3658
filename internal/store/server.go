package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/internal/store/migrate"
	"cordelia/internal/store/notify"
	"cordelia/internal/store/postgres"
	"cordelia/schemas"
)

// server is the engine PostgreSQL: a database that the processes of many machines share.
//
// Its write transactions begin with a lock of the whole database, so that writers are serial
// across nodes as they are across the processes that share a file: what a write transaction
// has read holds until it commits. Those of WriteConcurrent share that lock. Reads take none.
type server struct {
	rw, ro  *sql.DB
	dialect dialect
	solo    *postgres.Solo // of a store that is to be alone
	dial    *postgres.Connector
	clocked Clock
	living  *postgres.Living
	lasting context.Context // of its connections
	drop    func()          // ends them
}

const (
	// serverPoll is how often a watching node looks for commits whose notification was lost.
	serverPoll = time.Second
	// pooledPoll is how often one looks that gets no notifications: the time that an event
	// takes to another node.
	pooledPoll = 250 * time.Millisecond
)

// writeKey is the advisory lock that a write transaction takes: "cordelia" in letters.
const writeKey = "7165071307693648225"

// lastKey is the lock of the exchange that commits beside others.
const lastKey = "7165071307693648226"

// serverDialect is PostgreSQL's way to say it. The lock comes first, so that every statement
// behind it sees what the transaction before committed.
var serverDialect = dialect{
	begin:      []string{"BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_advisory_xact_lock(" + writeKey + ")"},
	read:       "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	concurrent: []string{"BEGIN ISOLATION LEVEL READ COMMITTED"},
	// The agent's lock comes first: a transaction that waits for it must not hold the shared one meanwhile.
	afterAgent: "SELECT pg_advisory_xact_lock(hashtextextended(?, 1)), pg_advisory_xact_lock_shared(" + writeKey + ")",
	last:       "SELECT pg_advisory_xact_lock(" + lastKey + ")",
	// All that is in progress counts: what commits last need not have begun last.
	data:    "SELECT hashtextextended(pg_current_snapshot()::text, 0)",
	tables:  `SELECT count(to_regclass(?))`,
	act:     actBySetting,
	load:    copyRows,
	analyze: "ANALYZE",
	broken:  postgres.Broken,
	later:   postgres.Deferred,
	flush:   postgres.Flush,
	ahead:   postgres.Ahead,
}

// newServer reads the address. Unless the store is to be alone, the first connection is made when it is
// needed.
func newServer(ctx context.Context, o Options) (engine, error) {
	set, now := (*postgres.Clock)(nil), o.Clock
	if _, machine := o.Clock.(SystemClock); machine {
		set = &postgres.Clock{Machine: o.Clock}
		now = set
	}
	s := &server{clocked: now}
	s.lasting, s.drop = context.WithCancel(context.Background())
	read, err := postgres.NewConnector(o.URL, postgres.Kind{ReadOnly: true, Alone: o.Alone, Direct: o.Direct,
		Clock: set, Lasting: s.lasting})
	if err != nil {
		return nil, err
	}
	write, err := postgres.NewConnector(o.URL, postgres.Kind{Wait: o.Wait, Relaxed: o.Durability == Relaxed,
		Alone: o.Alone, Direct: o.Direct, Clock: set, Lasting: s.lasting})
	if err != nil {
		return nil, err
	}
	words := serverDialect
	if write.Pooled() { // no session has the settings: transactions do
		words.begin = slices.Insert(slices.Clone(words.begin), 1, write.Local())
		words.concurrent = slices.Insert(slices.Clone(words.concurrent), 1, write.Local())
		words.ask = "BEGIN READ ONLY"
	}
	s.rw, s.ro = sql.OpenDB(write), sql.OpenDB(read)
	s.dialect, s.dial, s.living = words, write, postgres.NewLiving(write)
	if o.Alone {
		if err := s.isolate(ctx); err != nil {
			s.close() //nolint:errcheck // the first error tells
			return nil, classify(err)
		}
	}
	return s, nil
}

// CheckAddress refuses an address that no database can be opened at.
func CheckAddress(address string) error {
	if address == "" {
		return nil
	}
	_, err := postgres.NewConnector(address, postgres.Kind{})
	return err
}

// Place names where the state is, without the words of its address: "" for a file, else two
// numbers, of the server's name and port and the database's, and of the database itself, which
// all its addresses and its standbys share. The second one is left out where the role may not
// know it.
func (s *Store) Place(ctx context.Context) (place string, err error) {
	server, is := s.engine.(*server)
	if !is {
		return "", nil
	}
	err = s.Read(ctx, func(tx *Tx) error {
		place = short(server.dial.Place())
		var known bool
		if err := tx.QueryRow(mayIdentify).Scan(&known); err != nil || !known {
			return err
		}
		var database string
		err := tx.QueryRow(selectIdentity).Scan(&database)
		place += "-" + short(database)
		return err
	})
	return place, err
}

const (
	mayIdentify    = `SELECT has_function_privilege('pg_control_system()', 'EXECUTE')`
	selectIdentity = `SELECT c.system_identifier::text || '/' || d.oid::text
		FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()`
)

// short is a number of eight letters for a text.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// HasPassword reports whether the address of a server's database holds a password.
func HasPassword(address string) bool { return postgres.HasPassword(address) }

func (s *server) reader(ctx context.Context) (*conn, error) {
	return newConn(ctx, s.ro, &s.dialect)
}

func (s *server) writer(ctx context.Context) (*conn, error) {
	return newConn(ctx, s.rw, &s.dialect)
}

// isolate refuses a database that others use, and keeps them from connecting until it is closed.
func (s *server) isolate(ctx context.Context) error {
	solo, others, err := postgres.TakeSolo(ctx, s.dial)
	if err == nil && solo == nil {
		err = errOthers(others)
	}
	s.solo = solo
	return err
}

// isolated fails if another process may have connected to the database since isolate.
func (s *server) isolated(tx *Tx) error {
	if err := s.solo.Lasts(tx.ctx); err != nil {
		return err
	}
	var others int
	if err := tx.QueryRow(postgres.Others).Scan(&others); err != nil {
		return fmt.Errorf("look for other nodes: %w", err)
	}
	if others > 0 {
		return errOthers(others)
	}
	return nil
}

// guard does nothing: the triggers are part of the schema.
func (s *server) guard(context.Context, *conn) error { return nil }

// inspect does nothing: a server is inspected when a connection is made.
func (s *server) inspect(*conn) error { return nil }

// schema asks the catalogue's rows: a look-up by name may answer what held before this
// transaction waited for the lock.
func (s *server) schema(c *conn) (int, error) {
	return migrate.VersionIf(c.c, `SELECT count(*) FROM pg_catalog.pg_tables
		WHERE tablename = 'schema_version' AND schemaname = ANY (current_schemas(false))`)
}

func (s *server) migrations() ([]migrate.Migration, error) { return postgres.Migrations() }

func (s *server) lock() writeLock { return noLock{} }

func (s *server) sharing() bool { return true }

func (s *server) committed(*conn, int) {}

func (s *server) clock() Clock { return s.clocked }

func (s *server) notifier() notifier {
	open := func() (notify.Versions, error) {
		v, err := openVersions(s)
		if set, is := s.clocked.(*postgres.Clock); is && err == nil {
			return clockedVersions{v, set}, nil
		}
		return v, err
	}
	if s.dial.Pooled() {
		return notify.Polling(pooledPoll, open)
	}
	return notify.With(postgres.NewSignals(s.dial), serverPoll, open)
}

// process gives no name behind a pooler: no lock lasts as long as the process there.
func (s *server) process() (string, error) {
	if s.dial.Pooled() {
		return "", nil
	}
	return s.living.Own()
}

func (s *server) ended(process string) bool { return !s.dial.Pooled() && s.living.Ended(process) }

func (s *server) close() error {
	s.living.Close()
	err := errors.Join(s.ro.Close(), s.rw.Close())
	if s.solo != nil {
		err = errors.Join(err, s.solo.Close())
	}
	return err
}

// clockedVersions sets the clock with each look for commits, for the machine's may drift or
// be set.
type clockedVersions struct {
	versions
	clock *postgres.Clock
}

func (v clockedVersions) Version() (n int64, err error) {
	asked := v.clock.Machine.Now()
	var micros int64
	if err := v.conn.c.QueryRowContext(context.Background(), v.conn.dialect.data+", "+postgres.Micros).
		Scan(&n, &micros); err != nil {
		return 0, err
	}
	v.clock.Set(asked, micros)
	return n, nil
}

// noLock stands for the lock that BEGIN takes.
type noLock struct{}

func (noLock) Take() error  { return nil }
func (noLock) Release()     {}
func (noLock) Close() error { return nil }

// actBySetting names the owners in a setting that ends with the transaction: a session's
// would be handed on with its connection.
func actBySetting(t *Tx, owners []schemas.EntityID) error {
	return t.Send(`SELECT set_config('cordelia.acting', ?, true)`, strings.Join(schemas.Strings(owners), " "))
}
