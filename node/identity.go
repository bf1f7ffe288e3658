package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/memory/hot"
	"cordelia/schemas"
)

// Established is who a node's user and their agent are.
type Established struct {
	Human schemas.EntityID
	Agent schemas.EntityID
}

// Establish makes the node's user and the agent their clients act as, where
// there are none. It may run in any number of processes at once, and again after
// a kill at any point: a key file is made first and exclusively, then the record is
// made from it if it is missing. passphrase protects a new
// human key; ask is called for an existing one's.
func (n *Node) Establish(ctx context.Context, humanID string, passphrase []byte,
	ask func() ([]byte, error)) (Established, error) {
	if humanID == "" {
		humanID = loginSlug()
	}
	if err := schemas.CheckHumanID(humanID); err != nil {
		return Established{}, err
	}
	if err := errors.Join(n.finishProtection(ctx), n.dropUnfinished()); err != nil {
		return Established{}, err
	}
	if err := n.LostKey(ctx); err != nil {
		return Established{}, err
	}
	human, err := n.user(ctx, humanID, passphrase, ask)
	if err != nil {
		return Established{}, err
	}
	defer human.Identity.Erase()
	agent, err := loadOrCreate(n.Home.DefaultAgentKey(), keys.Identity.ID, keys.Agent, noPassphrase, nil)
	if err != nil {
		return Established{}, err
	}
	defer agent.Identity.Erase()
	out := Established{Human: human.EntityID, Agent: agent.EntityID}
	return out, n.recordDefaultAgent(ctx, human.EntityID, agent)
}

// user loads the person's key, or makes it with their record, if the node has none. A key is made
// by a transaction that found no user: of two homes that start at once on one database only one
// makes a user, and the other keeps no key of a stranger.
func (n *Node) user(ctx context.Context, name string, passphrase []byte, ask func() ([]byte, error)) (keys.File,
	error) {
	path := n.Home.HumanKey()
	human, err := keys.LoadFile(path, ask)
	loaded := err == nil
	if err != nil && !errors.Is(err, schemas.ErrNotFound) {
		return human, err
	}
	err = n.Routine(ctx, "setup", func(g access.Grant) (err error) {
		switch _, err = agents.SoleHuman(g); {
		case err == nil && n.Shared() && n.Home.Fresh():
			return keyless(n.Home)
		case err == nil && n.Shared():
			return strangeKey(g.Tx(), n.Home)
		case !errors.Is(err, schemas.ErrNotFound):
			return err
		case !loaded:
			fixed := func(keys.Identity) schemas.EntityID { return schemas.EntityID(name) }
			if human, err = loadOrCreate(path, fixed, keys.Human, ask, passphrase); err != nil {
				return err
			}
			loaded = true
		}
		if err := agents.CreateHuman(g, agents.Human{ID: human.EntityID, DisplayName: name,
			Key: human.Identity.Recipient(1)}); err != nil {
			return err
		}
		return hot.Create(g, human.EntityID)
	})
	if err == nil && !loaded { // another process of this home made it meanwhile
		human, err = keys.LoadFile(path, ask)
	}
	return human, err
}

// EnsureUser makes the user and their agent where neither the home nor the database has one; made
// reports whether it did. Another home may be first: this one then joins.
func (n *Node) EnsureUser(ctx context.Context) (made Established, did bool, err error) {
	needs, err := n.NeedsUser(ctx)
	if err != nil || !needs {
		return made, false, err
	}
	made, err = n.Establish(ctx, "", nil, nil)
	if errors.Is(err, schemas.ErrNotFound) {
		if needs, again := n.NeedsUser(ctx); again == nil && !needs && n.Home.Fresh() {
			return made, false, nil
		}
	}
	return made, err == nil, err
}

// recordDefaultAgent makes the record of the agent that the user's clients act as, if there is none.
func (n *Node) recordDefaultAgent(ctx context.Context, human schemas.EntityID, agent keys.File) error {
	who := access.Principal{Entity: human, Method: access.ByHuman, KeySeq: 1}
	return n.Auth.Do(ctx, who, access.Op{Tool: "setup", Effect: access.Write}, func(g access.Grant) error {
		if _, err := agents.Get(g, string(agent.EntityID)); !errors.Is(err, schemas.ErrNotFound) {
			return err
		}
		declared, err := access.ParseCapabilities(leadCapabilities(n.tools), n.tools)
		if err != nil {
			return err
		}
		_, err = n.Enroll(g, agents.Registration{
			Type: schemas.ClaudeCode, DisplayName: "Claude Code", Name: "claude-code", Capabilities: declared,
			Key:  agent.Identity.Recipient(1),
			Seal: func(parent keys.Recipient) ([]byte, error) { return keys.Seal(agent.Identity, parent) },
		}, nil)
		return err
	})
}

// OpenIdentity loads the key of the agent a process acts as: ref is a name, an
// id or an id prefix of an agent whose key is on this machine, "" the default. Of
// several of one name the nearest to the person is meant: no agent takes a name away
// from those above it.
func (n *Node) OpenIdentity(ctx context.Context, ref string) (keys.File, error) {
	if ref == "" {
		f, err := keys.LoadFile(n.Home.DefaultAgentKey(), noPassphrase)
		if errors.Is(err, schemas.ErrNotFound) {
			err = cmp.Or(n.LostKey(ctx), err)
		}
		return f, err
	}
	files, err := filesIn(n.Home.AgentKeys(), ".key")
	if err != nil {
		return keys.File{}, err
	}
	files = append(files, n.Home.DefaultAgentKey())
	var match []keys.File
	var known bool // to the database, with its key here or not
	err = n.Look(ctx, "open_identity", func(g access.Grant) (err error) {
		if err := g.Tx().QueryRow(selectKnownAgent, ref).Scan(&known); err != nil {
			return fmt.Errorf("find agent: %w", err)
		}
		match, err = nearestKeys(g, files, ref)
		return err
	})
	switch {
	case err != nil:
		return keys.File{}, err
	case len(match) == 0 && !known:
		return keys.File{}, schemas.NotFoundf("there is no agent %q here", ref).
			Try("list the agents with: cordelia agent list --include-ended")
	case len(match) == 0:
		return keys.File{}, schemas.NotFoundf("the key of the agent %q is not on this machine", ref).
			Try("open its sealed key with: cordelia key unwrap %s", ref)
	case len(match) > 1:
		return keys.File{}, schemas.Conflictf("%q could mean %d agents on this machine", ref, len(match)).
			Try("use an id prefix from: cordelia agent list")
	}
	return match[0], nil
}

// RefOf is access.RefOf for callers without a grant; the id, which is always right, where the database
// cannot be asked.
func (n *Node) RefOf(ctx context.Context, id schemas.EntityID) string {
	ref := string(id)
	if err := n.Look(ctx, "open_identity", func(g access.Grant) error {
		ref = access.RefOf(g.Tx(), id)
		return nil
	}); err != nil {
		return string(id)
	}
	return ref
}

// nearestKeys loads, of the key files of agents that ref may mean, those nearest to the
// person.
func nearestKeys(g access.Grant, files []string, ref string) (match []keys.File, err error) {
	var nearest int
	for _, path := range files {
		f, err := keys.LoadFile(path, noPassphrase)
		if errors.Is(err, schemas.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r, err := agents.Get(g, string(f.EntityID))
		if errors.Is(err, schemas.ErrNotFound) {
			continue // the key of another database's agent
		}
		if err != nil {
			return nil, err
		}
		name, under := ref, ""
		if parent, rest, qualified := strings.Cut(ref, "/"); qualified {
			name, under = rest, parent
		}
		if !(r.Name == name && r.Status != schemas.Removed) &&
			(len(name) < 8 || !strings.HasPrefix(string(r.ID), name)) {
			continue
		}
		if parent := string(r.Parent); under != "" && g.NameOf(r.Parent) != under &&
			(len(under) < 8 || !strings.HasPrefix(parent, under)) {
			continue
		}
		chain, err := g.ChainOf(r.ID)
		if err != nil {
			return nil, err
		}
		if len(match) > 0 && len(chain) < nearest {
			match = nil
		}
		if len(match) == 0 || len(chain) == nearest {
			match, nearest = append(match, f), len(chain)
		}
	}
	return match, nil
}

// Identify proves that f holds the present key of its entity and gives the principal of
// the process that holds it, in a session. Errors: CodeUnauthenticated for an old key.
func (n *Node) Identify(ctx context.Context, f keys.File, session string) (access.Principal, error) {
	p := access.Principal{Entity: f.EntityID, Method: access.ByKey, Session: session}
	if f.Kind == keys.Human {
		p.Method = access.ByHuman
	}
	err := n.Look(ctx, "open_identity", func(g access.Grant) error {
		key, err := agents.KeyOf(g, f.EntityID)
		if err != nil {
			return err
		}
		// Possession is proven like any other client's: by a signature the record's
		// key verifies.
		challenge := schemas.AuthChallenge{Audience: "process", NodeID: string(n.ID), AgentID: f.EntityID,
			KeySeq: key.KeySeq, Purpose: schemas.PurposeSession}
		msg := challenge.SigningBytes()
		if err := keys.Verify(key.PublicKey, msg, f.Identity.Sign(msg)); err != nil {
			if f.Kind == keys.Human { // sealed to no other key
				return schemas.Errorf(schemas.CodeUnauthenticated, "the key file %s holds an old key, or a stranger's",
					n.Home.HumanKey()).
					Try("put a backup of that file back: nothing else can open this home").Because(err)
			}
			return schemas.Errorf(schemas.CodeUnauthenticated, "the key file of %s holds an old key", f.EntityID).
				Try("run: cordelia key unwrap %s", f.EntityID).Because(err)
		}
		p.KeySeq = int(key.KeySeq)
		return nil
	})
	return p, err
}

// Sign signs msg with the node's key, and says whose that is.
func (n *Node) Sign(msg []byte) (signature []byte, by schemas.EntityID) { return n.key.Sign(msg), n.ID }

// PublicKey is the public half of the node's key.
func (n *Node) PublicKey() []byte { return n.key.PublicKey() }

// loginSlug makes a person's id from their login name.
func loginSlug() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-':
			b.WriteRune(c)
		case c == '.' || c == ' ':
			b.WriteByte('_')
		}
	}
	id := strings.TrimLeft(b.String(), "0123456789_-")
	if schemas.CheckHumanID(id) != nil {
		return "owner"
	}
	return id
}
