package node

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"os"
	"time"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

// MoveOptions of Move. One of the two databases is the file of the home.
type MoveOptions struct {
	From, To string // addresses of a PostgreSQL database; "" = the file of the home
	DryRun   bool
	Ask      func() ([]byte, error) // for the passphrase of the person's key
	Clock    store.Clock
	// as of Config
	CheckpointDirs []string
}

// MoveReport says what a move did, or with DryRun would do.
type MoveReport struct {
	From         string               `json:"from"`
	To           string               `json:"to"`
	Tables       []store.TableContent `json:"tables,omitempty"`
	AuditEntries int64                `json:"audit_entries"`
	AuditLast    string               `json:"audit_last"`        // base64 of the last hash
	Kept         string               `json:"kept,omitempty"`    // the new name of the file that was moved
	Already      bool                 `json:"already,omitempty"` // a move before had copied all
	DryRun       bool                 `json:"dry_run,omitempty"`
}

// Rows is how many rows were copied.
func (r MoveReport) Rows() (n int64) {
	for _, t := range r.Tables {
		n += t.Rows
	}
	return n
}

// moveAction and moveTarget are the audit entry of a move, the last one in the old database.
const (
	moveAction = "migrate"
	moveTarget = "database"
)

// ServerPlace is how a report names a PostgreSQL database, whose address is not shown.
const ServerPlace = "PostgreSQL"

// Move copies the whole state of the home's file into an empty PostgreSQL database, or back
// into the home, where there is no file. All rows arrive in one transaction or none: their
// number and a hash over them is compared for each table, and the audit record is verified.
// Then the old database is closed for use, for what is revoked from then on would still
// hold in it. After a kill the same call goes on. Only the person may do it, while no other
// process uses the databases.
//
// Errors: CodeBusy when other processes use a database; CodeConflict when the target is not
// empty; CodeUnavailable when a row does not arrive as it is.
func Move(ctx context.Context, home Home, o MoveOptions) (r MoveReport, err error) {
	if o.Clock == nil {
		o.Clock = store.SystemClock{}
	}
	m := moving{home: home, o: o, out: MoveReport{From: home.placeOf(o.From), To: home.placeOf(o.To), DryRun: o.DryRun}}
	f, err := keys.LoadFile(home.HumanKey(), o.Ask)
	if err != nil {
		return m.out, err
	}
	m.person = f
	defer f.Identity.Erase()
	if m.from, err = store.Open(ctx, m.options(o.From, home.Database())); err != nil {
		return m.out, err
	}
	defer func() { err = errors.Join(err, m.from.Close()) }() // again is harmless
	if err := m.from.Read(ctx, m.inspect); err != nil || o.DryRun {
		if err == nil {
			err = m.wouldFit(ctx)
		}
		return m.out, err
	}
	if o.To == "" {
		return m.out, m.intoFile(ctx)
	}
	return m.out, m.intoServer(ctx)
}

func (h Home) placeOf(address string) string {
	if address == "" {
		return h.Database()
	}
	return ServerPlace
}

// Moved gives the file that a move into a server's database put aside, and when; "" if there is none.
func (h Home) Moved() (kept string, at time.Time) { return store.Moved(h.Database()) }

// moving is one move under way.
type moving struct {
	home   Home
	o      MoveOptions
	person keys.File
	from   *store.Store
	out    MoveReport
}

func (m *moving) options(address, path string) store.Options {
	if address != "" {
		path = ""
	}
	return store.Options{URL: address, Path: path, Clock: m.o.Clock, Alone: !m.o.DryRun, Direct: true}
}

// inspect refuses another's database and a record that does not verify.
func (m *moving) inspect(tx *store.Tx) error {
	all, err := standings(tx)
	if err != nil {
		return err
	}
	known := false
	for _, s := range all {
		known = known || s.human && s.node == "" && string(s.public) == string(m.person.Identity.PublicKey())
	}
	if !known {
		return schemas.Deniedf("%s is not the key of the person whose state is in %s", m.home.HumanKey(), m.out.From).
			Try("run the command in the home with that person's keys, or name it with --home")
	}
	if m.o.DryRun && m.o.To != "" {
		if err := store.Kept(tx); err != nil {
			return err
		}
	}
	return m.verify(tx)
}

func (m *moving) verify(tx *store.Tx) error {
	entries, last, err := verifyAudit(tx)
	m.out.AuditEntries, m.out.AuditLast = entries, base64.StdEncoding.EncodeToString(last)
	return err
}

// wouldFit refuses a target that a move would refuse.
func (m *moving) wouldFit(ctx context.Context) error {
	if m.o.To == "" {
		return m.freePlace()
	}
	vacant, err := m.vacant(ctx)
	if vacant || err != nil {
		return err
	}
	to, err := store.Open(ctx, m.options(m.o.To, ""))
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // only read
	empty, err := m.look(ctx, to)
	m.out.Already = err == nil && !empty
	return err
}

// vacant reports whether the server's database that is the target has no table. It refuses one
// from which a state was moved away.
func (m *moving) vacant(ctx context.Context) (bool, error) {
	vacant, err := store.Vacant(ctx, m.options(m.o.To, ""))
	if errors.Is(err, store.ErrMoved) {
		return false, schemas.Conflictf("the target is not empty: it holds a state that was moved away from it; " +
			"nothing was written").Try("make a new, empty database, and name that; this one stays as it is").Because(err)
	}
	return vacant, err
}

func (m *moving) freePlace() error {
	if _, err := os.Lstat(m.home.Database()); !errors.Is(err, os.ErrNotExist) {
		return schemas.Conflictf("%s exists already; nothing was written", m.home.Database()).
			Try("rename it, or name another home with --home")
	}
	return nil
}

// look reports whether the target is empty. One that is not must hold what a move that was
// killed before its end had copied.
func (m *moving) look(ctx context.Context, to *store.Store) (empty bool, err error) {
	err = m.from.Read(ctx, func(from *store.Tx) error {
		return to.Read(ctx, func(target *store.Tx) error {
			if empty, err = store.Empty(target, from); err != nil || empty {
				return err
			}
			if m.out.Tables, err = store.Same(from, target); schemas.CodeOf(err) == schemas.CodeConflict {
				next := "name an empty database; this one stays as it is"
				if m.o.To == "" {
					next = "rename " + m.home.Database() + ", which is not what the database holds now, then " +
						"repeat the command"
				}
				return schemas.Conflictf("the target is not empty, and does not hold what was to be copied (%s); "+
					"nothing was written", err).Try("%s", next).Because(err)
			}
			return err
		})
	})
	return empty, err
}

// intoServer copies the file into the server's database and retires the file.
func (m *moving) intoServer(ctx context.Context) error {
	if _, err := m.vacant(ctx); err != nil {
		return err
	}
	to, err := store.Open(ctx, m.options(m.o.To, ""))
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // what was written is acknowledged
	if err := m.copyInto(ctx, to); err != nil {
		return err
	}
	if m.out.Kept, err = m.from.Retire(); err == nil {
		unsigned(m.home.signServer(ctx, to, m.o.CheckpointDirs))
	}
	return err
}

// unsigned logs that what was moved has no checkpoint: the next process signs one.
func unsigned(err error) {
	if err != nil {
		slog.Warn("audit checkpoint", "err", err)
	}
}

// intoFile copies the server's database into a file beside the home's place for it, gives it
// the name, and closes the server's database for use.
func (m *moving) intoFile(ctx context.Context) error {
	path := m.home.Database()
	if _, err := os.Lstat(path); err == nil {
		return m.published(ctx, path)
	}
	fresh := path + ".moving"
	store.Discard(fresh) // of a killed move: the source has no other user
	to, err := store.Open(ctx, m.options("", fresh))
	if err != nil {
		return err
	}
	if err = m.copyInto(ctx, to); err == nil {
		err = m.markMoved(ctx, path, func() error { return to.Publish(path) })
	}
	if err != nil {
		to.Close() //nolint:errcheck // the first error tells
		store.Discard(fresh)
	}
	return err
}

// markMoved closes the server's database for use, whose state is in the file at path once publish
// has given it its name.
func (m *moving) markMoved(ctx context.Context, path string, publish func() error) error {
	err := m.from.Write(ctx, func(tx *store.Tx) error {
		if err := m.from.MarkMoved(tx); err != nil {
			return err
		}
		return publish()
	})
	if err == nil {
		unsigned(m.home.signFile(ctx, path, m.o.CheckpointDirs))
	}
	return err
}

// published ends a move that was killed after the file had its name.
func (m *moving) published(ctx context.Context, path string) error {
	to, err := store.Open(ctx, m.options("", path))
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // only read
	if empty, err := m.look(ctx, to); err != nil || empty {
		return errors.Join(err, m.freePlace())
	}
	m.out.Already = true
	return m.markMoved(ctx, path, to.Close)
}

// copyInto copies the state into an empty database, in one transaction, during which no
// process can write in the source.
func (m *moving) copyInto(ctx context.Context, to *store.Store) error {
	empty := true
	var err error
	if m.o.To != "" { // a new file is empty
		if empty, err = m.look(ctx, to); err != nil {
			return err
		}
	}
	if !empty {
		m.out.Already = true
		return nil
	}
	if err := m.record(ctx); err != nil {
		return err
	}
	return m.from.Write(ctx, func(from *store.Tx) error {
		m.out.Tables, err = m.home.fill(ctx, to, from, m.verify)
		return err
	})
}

// fill copies the state that from sees into an empty database, in one transaction that ends
// with verify, which may be nil.
func (h Home) fill(ctx context.Context, to *store.Store, from *store.Tx, verify func(*store.Tx) error) (
	tables []store.TableContent, err error,
) {
	target := &Node{Home: h, Store: to, Auth: access.New(to, access.Config{})}
	err = target.Routine(ctx, moveAction, func(g access.Grant) error {
		return g.Routine(func() error {
			tables, err = copyState(g, from)
			if err == nil && verify != nil {
				err = verify(g.Tx())
			}
			return err
		})
	})
	return tables, err
}

// copyState copies all rows, and makes the index of full text.
func copyState(g access.Grant, from *store.Tx) ([]store.TableContent, error) {
	tables, err := store.Copy(from, g.Tx())
	if err != nil {
		return nil, err
	}
	if err := memory.Reindex(g); err != nil {
		return nil, err
	}
	return tables, g.Tx().Analyze()
}

// record writes into the audit record that the state moves, and by whom.
func (m *moving) record(ctx context.Context) error {
	source := &Node{Home: m.home, Store: m.from, Auth: access.New(m.from, access.Config{})}
	return source.Routine(ctx, moveAction, func(g access.Grant) error {
		return g.Audit(moveTarget, map[string]any{"by": m.person.EntityID, "to": m.engine()})
	})
}

// engine names the kind of the target; its address is no part of the record.
func (m *moving) engine() string {
	if m.o.To == "" {
		return "file"
	}
	return ServerPlace
}
