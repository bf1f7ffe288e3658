package store

import (
	"context"
	"iter"

	"cordelia/internal/store/migrate"
	"cordelia/schemas"
)

// engine is the database that a Store keeps its state in: a SQLite file (file) or a
// PostgreSQL server's database (server). Nothing above this package knows which.
type engine interface {
	// reader opens a connection that cannot write.
	reader(ctx context.Context) (*conn, error)
	// writer opens the connection for writing.
	writer(ctx context.Context) (*conn, error)
	// guard arms INV-SOVEREIGN on the writing connection, once there is a schema.
	guard(ctx context.Context, c *conn) error
	// inspect refuses a database that cannot hold the state safely.
	inspect(c *conn) error
	// schema is the version of the newest migration in the database, 0 if it is empty.
	schema(c *conn) (int, error)
	// migrations are all that this binary knows.
	migrations() ([]migrate.Migration, error)
	// lock is held while this process writes.
	lock() writeLock
	// sharing reports whether write transactions can run beside each other.
	sharing() bool
	// committed runs after a commit of so many writes, when all callers have their answer.
	committed(c *conn, writes int)
	notifier() notifier
	// clock is what transactions read.
	clock() Clock
	// process names this process's use of the database; ended asks about another's.
	process() (string, error)
	ended(process string) bool
	close() error
}

// dialect is what an engine says in its own words.
type dialect struct {
	begin      []string // the statements that begin a write transaction
	read       string   // the one that begins a read
	concurrent []string // the statements that begin a write transaction beside others
	afterAgent string   // the one behind it, which waits for others of the agent in ? and then for those that run alone
	last       string   // the one that keeps others from committing, until the transaction ends
	ask        string   // the one that begins a question outside of a read, "" if none does
	data       string   // the query for a number that moves with other connections' commits
	shrink     string   // gives back memory, "" if there is nothing to give back
	tables     string   // the query that counts the tables of a name
	analyze    string   // has the engine count what its tables hold, for its plans; "" if it does not
	// act tells the database whose sovereign rows the transaction may change, in place of t.acting.
	act func(t *Tx, owners []schemas.EntityID) error
	// load inserts many rows into a table.
	load func(t *Tx, into table, rows iter.Seq2[[]any, error]) error
	// version numbers what a connection last read; nil if the engine cannot say.
	version func(c *conn) (uint32, error)
	broken  func(driver any) bool // whether a connection is lost for good; nil = never
	// later is the context of statements whose answer nothing needs. Those that the engine has
	// not yet sent flush sends; nil if it sends each at once.
	later context.Context
	flush func(driver any) error
	// ahead is the context of a query that is going to be made; nil if that gains nothing.
	ahead context.Context
}
