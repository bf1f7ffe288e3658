package node

import (
	"bytes"
	"context"
	"errors"
	"os"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// lostKey refuses where the database knows the person, or the agent clients act as,
// and the key file of one of them is gone: a new key in its place would be a
// stranger's. The records are read first, because they are made after the files.
// Errors: CodeNotFound.
func lostKey(tx *store.Tx, home Home) error {
	human, err := agents.InspectHuman(tx)
	if errors.Is(err, schemas.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	agent, err := agents.InspectChild(tx, human, defaultAgent)
	switch {
	case err != nil:
		return err
	case home.Fresh(): // a person's key is sealed to no other key: only a copy of the file brings it back
		return schemas.NotFoundf("your key file %s is missing, and the database beside it knows you by that key",
			home.HumanKey()).
			Try("put a backup of that file back: nothing else opens this home; or begin anew in another folder: " +
				"cordelia --home DIR setup")
	case agent && missing(home.DefaultAgentKey()):
		return schemas.NotFoundf("the key file %s of your agent %s is missing", home.DefaultAgentKey(), defaultAgent).
			Try("run: cordelia key unwrap %s", defaultAgent)
	}
	return nil
}

// Shared reports whether the node's state is in a database server, for other nodes, too.
func (n *Node) Shared() bool { return n.Store.Path() == "" }

// NeedsUser reports whether neither the home nor the database has a user yet. A home that
// joins a database with one needs none of its own: each caller brings their key. A home with the
// user's key alone had a first start that was killed.
func (n *Node) NeedsUser(ctx context.Context) (needs bool, err error) {
	fresh := n.Home.Fresh()
	begun := missing(n.Home.DefaultAgentKey()) && missing(n.Home.Database())
	if !n.Shared() || !fresh && !begun {
		return fresh, nil // StrangeKey refuses a home whose user is not the database's
	}
	err = n.Look(ctx, "open_identity", func(g access.Grant) error {
		_, err := agents.SoleHuman(g)
		if needs = errors.Is(err, schemas.ErrNotFound); needs {
			return nil
		}
		return err
	})
	return needs, err
}

// LostKey is lostKey for this node.
func (n *Node) LostKey(ctx context.Context) error {
	if n.Shared() && n.Home.Fresh() {
		needs, err := n.NeedsUser(ctx)
		if err != nil || needs {
			return err
		}
		return keyless(n.Home)
	}
	return n.Look(ctx, "open_identity", func(g access.Grant) error { return lostKey(g.Tx(), n.Home) })
}

// keyless refuses a home without the key of the database's user.
func keyless(home Home) error {
	return schemas.NotFoundf("the database has a user, and %s has no key of theirs", home).
		Try("copy the folder keys of the home that made the user; cordelia serve needs none of these keys, and " +
			"cordelia mcp --as NAME only that agent's")
}

// StrangeKey refuses a home whose user the server's database does not know: the home made them
// in its file, or for another database. A key that was changed since is no stranger's.
// Errors: CodeUnauthenticated.
func (n *Node) StrangeKey(ctx context.Context) error {
	if !n.Shared() || n.Home.Fresh() {
		return nil
	}
	return n.Look(ctx, "open_identity", func(g access.Grant) error { return strangeKey(g.Tx(), n.Home) })
}

func strangeKey(tx *store.Tx, home Home) error {
	own, err := keys.ReadHeader(home.HumanKey())
	if err != nil {
		return err
	}
	r, err := agents.Inspect(tx, own.EntityID)
	switch {
	case err == nil && (own.KeySeq != r.Key.KeySeq || bytes.Equal(own.PublicKey, r.Key.PublicKey)):
		return nil
	case err != nil && !errors.Is(err, schemas.ErrNotFound):
		return err
	}
	refusal := schemas.Errorf(schemas.CodeUnauthenticated, "your key in %s belongs to no one in this database", home)
	if missing(home.Database()) {
		return refusal.Try("name the database of this home, or use the other one from an empty folder: --home DIR; " +
			"where a first start was killed, run: cordelia setup")
	}
	return refusal.Try("your memories and agents are in %s: cordelia migrate --to ADDRESS brings them into an empty "+
		"database; to use another user's, name an empty folder: --home DIR", home.Database())
}

// CheckJoin refuses a home that cannot have a user in the server's database at address: it
// knows another, whose key is not here. It makes no table there.
func CheckJoin(ctx context.Context, home Home, address string) error {
	o := store.Options{URL: address}
	vacant, err := store.Vacant(ctx, o)
	switch {
	case errors.Is(err, schemas.ErrConflict): // of another version: the node that opens it looks
		return nil
	case err != nil:
		return err
	case vacant && !home.Fresh() && !missing(home.Database()):
		return schemas.Conflictf("your memories and agents are in %s, and the database is empty", home.Database()).
			Try("bring them there: cordelia migrate --to ADDRESS")
	case vacant:
		return nil
	}
	s, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // only read
	return s.Read(ctx, func(tx *store.Tx) error {
		_, err := agents.InspectHuman(tx)
		switch {
		case errors.Is(err, schemas.ErrNotFound):
			return nil
		case err == nil && home.Fresh():
			return keyless(home)
		case err == nil:
			return strangeKey(tx, home)
		}
		return err
	})
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}
