package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"cordelia/schemas"
)

// Oldest is the first release of PostgreSQL that is tested.
const Oldest = 15

// Connector opens connections to one database, of one kind: reading or writing.
type Connector struct {
	config *pgconn.Config
	pooled bool

	alone, direct bool // see Kind

	local []setting // of each transaction behind a pooler, which gives no session to set them in
	clock *Clock    // is set by each new connection; nil = none is

	lasting context.Context // see Kind
}

// setting is a parameter of the server with its value.
type setting struct{ name, value string }

// Kind of a connection.
type Kind struct {
	ReadOnly bool
	Wait     time.Duration // for a lock, 0 = without limit
	Relaxed  bool          // a commit is acknowledged before it is on disk
	Alone    bool          // of a process that has the database to itself: see Solo
	Direct   bool          // refuses a pooler; Alone does, too
	Clock    *Clock        // is set by each new connection; nil = none is

	Lasting context.Context // ends its connections, and all that waits for them; nil = nothing does
}

// application is the name under which the server lists the connections of nodes.
const application = "cordelia"

// Others counts the connections of nodes to the database.
const Others = `SELECT count(*) FROM pg_stat_activity
	WHERE datname = current_database() AND application_name = '` + application + `'`

// pooler is the parameter of an address that says which one stands before the server;
// transactions are all that it hands on.
const (
	pooler       = "pooler"
	transactions = "transaction"
)

// NewConnector reads a connection string (postgres://… or key=value). Passwords come from
// PGPASSFILE, a service file or the string; an error never shows it.
//
// With pooler=transaction nothing rests on a session: no LISTEN, no lock or setting beyond a
// transaction, no statement with a name.
func NewConnector(url string, kind Kind) (*Connector, error) {
	config, err := pgconn.ParseConfig(url)
	if err == nil && foreign(url) {
		err = errors.New("a scheme that is not PostgreSQL's")
	}
	if err != nil {
		return nil, unreadable(err)
	}
	c := &Connector{config: config, alone: kind.Alone, direct: kind.Direct || kind.Alone, clock: kind.Clock}
	if c.lasting = kind.Lasting; c.lasting != nil {
		config.DialFunc = lasting(c.lasting, config.DialFunc)
	}
	set := config.RuntimeParams
	switch mode, named := set[pooler]; {
	case named && mode != transactions:
		return nil, schemas.Invalidf("the database's address names an unknown kind of pooler").
			Try("write pooler=transaction, or leave pooler out where the address is the server's own")
	case named && c.direct:
		return nil, errBlind()
	case named:
		c.pooled = true
		delete(set, pooler)
	}
	set["application_name"] = application
	if kind.Wait > 0 && !kind.Alone { // a node that is cut off amid a write must not hold the lock of all writes
		c.set("idle_in_transaction_session_timeout", strconv.FormatInt(kind.Wait.Milliseconds()/2, 10))
	}
	if kind.Alone {
		set["application_name"] = application + " alone"
		// The limits of a role are not for what is done alone, which may take long.
		set["idle_in_transaction_session_timeout"], set["statement_timeout"] = "0", "0"
	}
	if !c.pooled { // a session that only holds a lock keeps it, and loses it soon when its machine is gone
		set["idle_session_timeout"] = "0"
		set["tcp_keepalives_idle"], set["tcp_keepalives_interval"], set["tcp_keepalives_count"] = "10", "5", "4"
	}
	if kind.ReadOnly && !c.pooled { // which says it in each transaction
		// Afterwards: an address with target_session_attrs=read-write would refuse each server.
		config.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error {
			return pg.Exec(ctx, "SET default_transaction_read_only = on").Close()
		}
	}
	// Also of readers, who wait without limit: a pooler refuses settings of a session, and is found
	// out before anything is set in one that is not the node's own.
	c.set("lock_timeout", strconv.FormatInt(kind.Wait.Milliseconds(), 10))
	// A plan stays as long as its connection. One that was made while a table was small must not
	// read the whole of it when it has grown: each statement has an index to go by, as in SQLite.
	// Compiling what such a plan is said to cost would take longer than the statement.
	// Behind a pooler each statement is planned anew.
	if !c.pooled {
		set["enable_seqscan"], set["jit"] = "off", "off"
	}
	if kind.Relaxed {
		c.set("synchronous_commit", "off")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler { // cancels, and keeps the connection
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 5 * time.Second}
	}
	return c, nil
}

// hasty gives a connector whose connections are lost when what they wait for is given up. One
// that waits for a notification has nothing under way that could be cancelled instead: a process
// would wait five seconds for it when it ends.
func (c *Connector) hasty() *Connector {
	h := *c
	h.config = c.config.Copy()
	h.config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	return &h
}

// ended reports whether its connections were ended.
func (c *Connector) ended() bool { return c.lasting != nil && c.lasting.Err() != nil }

// errBlind refuses what has to run alone, behind a pooler.
func errBlind() error {
	return schemas.Errorf(schemas.CodeUnavailable, "this command refuses to run beside other nodes, and behind "+
		"a pooler it cannot see them").Try("give it the server's own address, without pooler=transaction")
}

// errSession refuses an address that sets what lasts as long as a session, behind a pooler. The
// pooler names it.
func errSession(err error) error {
	var fault *pgconn.PgError
	name := "a setting"
	if errors.As(err, &fault) {
		name = fault.Message[strings.LastIndex(fault.Message, " ")+1:]
	}
	return schemas.Errorf(schemas.CodeUnavailable, "the database's address sets %s for its session, and a pooler "+
		"gives no session; nothing was written", name).
		Try("take it out of the address; ALTER ROLE NAME SET … keeps a setting for a role").Because(err)
}

// unreadable refuses an address; nothing of it is shown, for it may hold a password.
func unreadable(err error) error {
	refusal := schemas.Invalidf("the database's address cannot be read").
		Try("write it as postgres://user@host:5432/database")
	var file *fs.PathError
	switch text := err.Error(); {
	case errors.As(err, &file):
		refusal = schemas.Invalidf("the database's address names the file %s, which cannot be read", file.Path).
			Try("correct sslrootcert, sslcert and sslkey of the address, or the file's owner and mode")
	case strings.Contains(text, "sslmode is invalid"):
		refusal = schemas.Invalidf("the database's address has an sslmode that there is not").
			Expecting("disable, allow, prefer, require, verify-ca or verify-full").
			Try("correct it; over a network take verify-full")
	case strings.Contains(text, "failed to configure TLS"):
		refusal = schemas.Invalidf("the certificates that the database's address names cannot be used").
			Try("see that sslrootcert, sslcert and sslkey name files of the form PEM")
	}
	return refusal.Because(errors.New("parse connection string"))
}

// set gives a parameter of the server a value: in the session, or in each transaction.
func (c *Connector) set(name, value string) {
	if c.pooled {
		c.local = append(c.local, setting{name, value})
	} else {
		c.config.RuntimeParams[name] = value
	}
}

// Place names the first server of the address and the database there.
func (c *Connector) Place() string {
	return fmt.Sprintf("%s:%d/%s", c.config.Host, c.config.Port, c.config.Database)
}

// Pooled reports whether a pooler hands each transaction another session.
func (c *Connector) Pooled() bool { return c.pooled }

// Local is the statement that a transaction begins with, "" if it needs none.
func (c *Connector) Local() string {
	if len(c.local) == 0 {
		return ""
	}
	calls := make([]string, len(c.local))
	for i, s := range c.local {
		calls[i] = "set_config('" + s.name + "', '" + s.value + "', true)"
	}
	return "SELECT " + strings.Join(calls, ", ")
}

// HasPassword reports whether a connection string itself holds a password.
func HasPassword(address string) bool {
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		_, has := u.User.Password()
		return has || u.Query().Has("password") || u.Query().Has("sslpassword")
	}
	return passwords.MatchString(address)
}

// passwords finds one, also in an address that cannot be read otherwise.
var passwords = regexp.MustCompile(`(?i)password\s*=|://[^/@]*:.*@`)

// scheme is how an address begins that is no list of settings.
var scheme = regexp.MustCompile(`^\s*[A-Za-z][A-Za-z0-9+.-]*://`)

// foreign reports whether an address is of something else, which would be read as settings.
func foreign(address string) bool {
	return scheme.MatchString(address) && !strings.HasPrefix(address, "postgres://") &&
		!strings.HasPrefix(address, "postgresql://")
}

// Connect implements driver.Connector.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	pg, err := c.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{dial: c, pg: pg, statements: map[string]*pgconn.StatementDescription{}}, nil
}

// Dial opens a connection and checks the server.
func (c *Connector) Dial(ctx context.Context) (*pgconn.PgConn, error) {
	pg, err := pgconn.ConnectConfig(ctx, c.config)
	switch found := FaultOf(err) == Pooler; {
	case found && c.direct:
		return nil, errBlind()
	case found && c.pooled:
		return nil, errSession(err)
	}
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	err = inspect(pg)
	if err == nil && !c.alone && !c.pooled {
		err = shareLock(ctx, pg)
	}
	if err == nil {
		err = refuseMoved(ctx, pg)
	}
	if err == nil && c.clock != nil {
		err = c.clock.ask(ctx, pg)
	}
	if err != nil {
		err = marked(pg, err)
		pg.Close(context.Background()) //nolint:errcheck // the first error tells
		return nil, err
	}
	return pg, nil
}

// inspect refuses a server that this package is not for.
func inspect(pg *pgconn.PgConn) error {
	var major int
	if _, err := fmt.Sscanf(pg.ParameterStatus("server_version"), "%d", &major); err == nil && major < Oldest {
		return schemas.Errorf(schemas.CodeUnavailable, "the server is PostgreSQL %d; cordelia needs %d or newer", major,
			Oldest).Try("upgrade the database server")
	}
	if encoding := pg.ParameterStatus("server_encoding"); encoding != "UTF8" {
		return schemas.Errorf(schemas.CodeUnavailable, "the database's encoding is %s; cordelia needs UTF8", encoding).
			Try("make a database for it: createdb -E UTF8 -T template0 cordelia")
	}
	return nil
}

// Driver implements driver.Connector.
func (c *Connector) Driver() driver.Driver { return opener{} }

// opener is the driver that nothing is opened by: the store uses a Connector.
type opener struct{}

// Open implements driver.Driver.
func (opener) Open(string) (driver.Conn, error) {
	return nil, errors.New("postgres: open by a connector")
}
