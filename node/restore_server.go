package node

import (
	"context"
	"os"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// openServer opens the PostgreSQL database that is to be restored, unless it has no tables yet.
// A dry run makes none, and keeps what would refuse it because other nodes use the database.
func (r *restoring) openServer(ctx context.Context) error {
	o := store.Options{URL: r.o.Database, Clock: r.o.Clock, Alone: true, Direct: true}
	vacant, err := store.Vacant(ctx, o)
	if err != nil || vacant && r.o.DryRun {
		return err
	}
	if r.server, err = store.Open(ctx, o); r.o.DryRun {
		if err == nil { // others may use it while a dry run looks
			err = r.server.Close()
		} else if schemas.CodeOf(err) == schemas.CodeBusy {
			r.busy, err = err, nil
		}
		if err != nil {
			return err
		}
		o.Alone = false
		r.server, err = store.Open(ctx, o)
	}
	if err == nil {
		r.place, err = r.server.Place(ctx)
	}
	return err
}

// withServer is withPresent of a PostgreSQL database.
func (r *restoring) withServer(ctx context.Context, f func(*store.Tx) error) error {
	absent := true
	if r.server != nil {
		if err := r.server.Read(ctx, func(tx *store.Tx) error {
			known, err := standings(tx)
			if absent = len(known) == 0; err != nil || absent {
				return err
			}
			return f(tx)
		}); err != nil || !absent {
			return err
		}
	}
	r.out.Present = Absent
	if err := r.accept("the database is empty, so what was revoked since the backup is unknown"); err != nil {
		return err
	}
	return f(nil)
}

// target is the file that the backup is restored to: the database, or, for a server's, a file
// whose rows are copied into it.
func (r *restoring) target() string {
	if r.o.Database == "" {
		return r.home.Database()
	}
	return r.home.Database() + ".restore"
}

// intoServer puts the restored file's rows in the place of the server's, which stay in a schema
// of another name. It is one transaction.
func (r *restoring) intoServer(ctx context.Context) error {
	from, err := store.Open(ctx, store.Options{Path: r.target(), Clock: r.o.Clock})
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // only read
	target := &Node{Home: r.home, Store: r.server, Auth: access.New(r.server, access.Config{})}
	return from.Read(ctx, func(rows *store.Tx) error {
		return target.Routine(ctx, events.RestoreAction, func(g access.Grant) error {
			return g.Routine(func() (err error) {
				if r.out.Present != Absent {
					if r.out.Kept, err = r.server.SetAside(g.Tx()); err != nil {
						return err
					}
				}
				if _, err = copyState(g, rows); err != nil {
					return err
				}
				_, _, err = verifyAudit(g.Tx())
				return err
			})
		})
	})
}

// dropCopy removes the file that rows were copied from.
func (r *restoring) dropCopy() {
	if _, err := os.Lstat(r.target()); err == nil && r.o.Database != "" {
		store.Discard(r.target())
	}
}
