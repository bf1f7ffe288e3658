package node

import (
	"context"
	"errors"
	"os"

	"cordelia/access"
	"cordelia/agents"
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
// joins a database with one needs none of its own: each caller brings their key.
func (n *Node) NeedsUser(ctx context.Context) (needs bool, err error) {
	if !n.Home.Fresh() || !n.Shared() {
		return n.Home.Fresh(), nil
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
		return schemas.NotFoundf("the database has a user, and %s has no key of theirs", n.Home).
			Try("copy the folder keys of the home that made the user; cordelia serve needs none of these keys, and " +
				"cordelia mcp --as NAME only that agent's")
	}
	return n.Look(ctx, "open_identity", func(g access.Grant) error { return lostKey(g.Tx(), n.Home) })
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}
