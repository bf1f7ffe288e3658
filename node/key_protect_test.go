package node_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// A key that a rotation has begun to bring in is protected as the old one was then: a
// passphrase comes after it, or it would be lost again.
func TestProtectKeyComesAfterARotation(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		pending, err := r.Pending(n.Home.HumanKey()+".next", h.record(n, "ann")) // and killed
		require.NoError(t, err)
		pending.Identity.Erase()
		_, err = n.ProtectKey(t.Context(), ann.Principal, r, []byte("correct horse"))
		require.ErrorIs(t, err, schemas.ErrConflict)
		require.Contains(t, err.Error(), "cordelia key rotate")
	})
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		_, err := n.RotateKey(t.Context(), ann.Principal, r, "ann", "")
		require.NoError(t, err)
	})
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		path, err := n.ProtectKey(t.Context(), ann.Principal, r, []byte("correct horse"))
		require.NoError(t, err)
		head, err := keys.ReadHeader(path)
		require.NoError(t, err)
		require.True(t, head.Locked)
		require.EqualValues(t, 2, head.KeySeq)
	})
}

// Only a person protects a key, and only their own.
func TestProtectKeyIsThePersons(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		lead, err := n.OpenIdentity(t.Context(), "")
		require.NoError(t, err)
		defer lead.Identity.Erase()
		caller, err := n.Caller(t.Context(), lead, "test")
		require.NoError(t, err)
		path, err := n.ProtectKey(t.Context(), caller.Principal, r, []byte("mine now"))
		require.ErrorIs(t, err, schemas.ErrDenied)
		head, err := keys.ReadHeader(path)
		require.NoError(t, err)
		require.False(t, head.Locked)
	})
}

// forgetful is a context that clears a secret when somebody begins to wait with it.
type forgetful struct {
	context.Context
	once   *sync.Once
	secret []byte
}

func (c forgetful) forget() { c.once.Do(func() { clear(c.secret) }) }

func (c forgetful) Done() <-chan struct{} {
	c.forget()
	return c.Context.Done()
}

func (c forgetful) Err() error {
	c.forget()
	return c.Context.Err()
}

// The passphrase has done its slow work before the node is asked for anything, above all
// for a turn to write.
func TestProtectKeyDerivesBeforeItsTurn(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		secret := []byte("correct horse")
		path, err := n.ProtectKey(forgetful{t.Context(), &sync.Once{}, secret}, ann.Principal, r, secret)
		require.NoError(t, err)
		require.Zero(t, secret[0], "nobody waited")
		f, err := keys.LoadFile(path, func() ([]byte, error) { return []byte("correct horse"), nil })
		require.NoError(t, err)
		f.Identity.Erase()
	})
}

// What was found before the turn is looked at again in it.
func TestProtectKeyLooksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(n *ops.Service, r *node.Keyring, ann ops.Caller) error
		want      error
	}{
		"the key was rotated": {func(n *ops.Service, r *node.Keyring, ann ops.Caller) error {
			_, err := n.RotateKey(t.Context(), ann.Principal, r, "ann", "")
			return err
		}, schemas.ErrUnauthenticated},
		"a rotation began": {func(n *ops.Service, r *node.Keyring, _ ops.Caller) error {
			pending, err := r.Pending(n.Home.HumanKey()+node.NextKey, homestead{T: t}.record(n, "ann"))
			pending.Identity.Erase()
			return err
		}, schemas.ErrConflict},
		"the file went": {func(n *ops.Service, _ *node.Keyring, _ ops.Caller) error { return os.Remove(n.Home.HumanKey()) },
			schemas.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			newHomestead(t).open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
				path, err := n.ProtectKey(t.Context(), ann.Principal, r, []byte("correct horse"))
				require.NoError(t, err)
				asked := 0
				late := n.Keyring(func() ([]byte, error) { // for the passphrase of the file as it was read
					asked++
					return []byte("correct horse"), c.meanwhile(n, r, ann)
				})
				defer late.Close()
				_, err = n.ProtectKey(t.Context(), ann.Principal, late, []byte("battery staple"))
				require.ErrorIs(t, err, c.want)
				require.Equal(t, 1, asked)
				require.NoFileExists(t, path+".protected")
			})
		})
	}
}

// opensWith reports which of the passphrases open the person's key.
func (h homestead) opensWith(passphrases ...string) (good []string) {
	h.Helper()
	for _, p := range passphrases {
		f, err := keys.LoadFile(h.home.HumanKey(), func() ([]byte, error) { return []byte(p), nil })
		if errors.Is(err, schemas.ErrUnauthenticated) {
			continue
		}
		require.NoError(h, err)
		f.Identity.Erase()
		good = append(good, p)
	}
	return good
}

// recorded counts the changes of a passphrase that the audit record tells of.
func (h homestead) recorded(n *ops.Service) (entries int) {
	h.Helper()
	require.NoError(h, n.Store.Read(h.Context(), func(tx *store.Tx) error {
		list, err := events.AuditFilter{Action: node.ProtectTool, Target: "ann"}.Newest(tx, 10)
		entries = len(list)
		return err
	}))
	return entries
}

// afresh runs f as the next process of the person.
func (h homestead) afresh(passphrase string, f func(n *ops.Service, r *node.Keyring, ann ops.Caller)) {
	h.Helper()
	n, err := ops.Open(h.Context(), node.Config{Home: h.home, Durability: store.Relaxed})
	require.NoError(h, err)
	defer func() { require.NoError(h, n.Close()) }()
	r := n.Keyring(func() ([]byte, error) { return []byte(passphrase), nil })
	defer r.Close()
	ann, err := n.Person(h.Context(), r, "test")
	require.NoError(h, err)
	f(n, r, ann)
}

// A change of the passphrase and its audit entry are one: with a commit that fails, when
// all its statements were run, the key is as it was.
func TestProtectKeyWithACommitThatFails(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		_, err := n.ProtectKey(t.Context(), ann.Principal, r, []byte("one"))
		require.NoError(t, err)
		require.NoError(t, n.Store.Write(t.Context(), func(tx *store.Tx) error {
			for _, q := range []string{ // which only the commit checks
				`CREATE TABLE late (x INTEGER REFERENCES late_of(x) DEFERRABLE INITIALLY DEFERRED) STRICT`,
				`CREATE TABLE late_of (x INTEGER PRIMARY KEY) STRICT`,
				`CREATE TRIGGER too_late AFTER INSERT ON audit WHEN NEW.action = '` + node.ProtectTool +
					`' BEGIN INSERT INTO late VALUES (1); END`,
			} {
				if _, err := tx.Exec(q); err != nil {
					return err
				}
			}
			return nil
		}))
	})
	h.afresh("one", func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		_, err := n.ProtectKey(t.Context(), ann.Principal, r, []byte("two"))
		require.ErrorContains(t, err, "commit")
		require.Equal(t, 1, h.recorded(n))
		require.Equal(t, []string{"one"}, h.opensWith("one", "two"))
		require.False(t, keys.Offered(n.Home.HumanKey()))
	})
}

// A process killed before the commit changed nothing, and one killed after it everything:
// the next one sees to that before it opens the key, or makes a new offer.
func TestProtectKeyKilled(t *testing.T) {
	offer := func(t *testing.T, n *ops.Service, r *node.Keyring, passphrase string) (keys.File, keys.Protected) {
		f, err := r.Load(n.Home.HumanKey())
		require.NoError(t, err)
		p, err := keys.Protect(f, []byte(passphrase))
		require.NoError(t, err)
		return f, p
	}
	for name, c := range map[string]struct {
		killed  func(t *testing.T, n *ops.Service, r *node.Keyring, ann ops.Caller)
		want    string
		entries int
	}{
		"before the commit": {func(t *testing.T, n *ops.Service, r *node.Keyring, _ ops.Caller) {
			_, p := offer(t, n, r, "two")
			require.NoError(t, p.Offer(n.Home.HumanKey()))
		}, "one", 1},
		"after the commit": {func(t *testing.T, n *ops.Service, r *node.Keyring, ann ops.Caller) {
			f, p := offer(t, n, r, "two")
			require.NoError(t, n.OfferProtection(t.Context(), ann.Principal, f, p))
			require.Equal(t, []string{"one"}, homestead{t, n.Home}.opensWith("one", "two"))
		}, "two", 2},
		"after the commit, and before that of another": {func(t *testing.T, n *ops.Service, r *node.Keyring, ann ops.Caller) {
			f, p := offer(t, n, r, "two")
			require.NoError(t, n.OfferProtection(t.Context(), ann.Principal, f, p))
			f, next := offer(t, n, r, "three")
			require.ErrorIs(t, n.OfferProtection(t.Context(), ann.Principal, f, next), schemas.ErrConflict)
		}, "two", 2},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHomestead(t)
			h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
				_, err := n.ProtectKey(t.Context(), ann.Principal, r, []byte("one"))
				require.NoError(t, err)
			})
			h.afresh("one", func(n *ops.Service, r *node.Keyring, ann ops.Caller) { c.killed(t, n, r, ann) })
			h.afresh(c.want, func(n *ops.Service, _ *node.Keyring, _ ops.Caller) {
				require.Equal(t, c.entries, h.recorded(n))
				require.Equal(t, []string{c.want}, h.opensWith("one", "two", "three"))
				require.False(t, keys.Offered(n.Home.HumanKey()))
			})
		})
	}
}

// Setup clears away what killed processes left of making keys.
func TestSetupClearsAwayHalfKeys(t *testing.T) {
	h := newHomestead(t)
	old := time.Now().Add(-2 * time.Hour)
	var left []string
	for _, dir := range []string{filepath.Dir(h.home.HumanKey()), h.home.AgentKeys()} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		path := filepath.Join(dir, ".new-key-1")
		require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
		require.NoError(t, os.Chtimes(path, old, old))
		left = append(left, path)
	}
	h.open(func(*ops.Service, *node.Keyring, ops.Caller) {}, "ann")
	for _, path := range left {
		require.NoFileExists(t, path)
	}
}
