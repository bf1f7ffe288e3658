package access_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// grown is a tree in a database, behind a door that knows nothing of it yet.
type grown struct {
	forest
	st      *store.Store
	door    *access.Authorizer
	all     []*place
	circles []*circle
	signs   map[*place]int64 // signs of life that are not in the database yet
}

type frozen struct{ at time.Time }

func (c *frozen) Now() time.Time { return c.at }

const minutes = 60_000_000

// plant writes a new tree in the place of the one before.
func plant(t *testing.T, st *store.Store, f forest) *grown {
	g := &grown{forest: f, st: st, all: append(f.tree(), f.treeOf("bob", f.IntN(3), 100)...), signs: map[*place]int64{}}
	byID := map[schemas.EntityID]*place{}
	attended := f.IntN(2) == 0
	for _, p := range g.all {
		byID[schemas.EntityID(p.id)] = p
		p.created = f.now - one(f, int64(20), 40)*minutes
		// one is of a clock that was set back
		p.seen = one(f, 0, 0, f.now-40*minutes, f.now-40*minutes, f.now+5*minutes, f.now-20*minutes)
		p.keySeq = one(f, 1, 1, 2)
		p.opinions = map[string]schemas.Tier{"zoe": schemas.High}
		for _, observer := range append(sample(f, g.all), p.line()[0]) {
			if f.IntN(6) > 0 {
				p.opinions[observer.id] = one(f, schemas.Untrusted, schemas.Low, schemas.Medium, schemas.High,
					schemas.High)
			}
		}
		p.caps.Autonomous = attended || f.IntN(3) == 0
	}
	for _, id := range someGroups {
		if f.IntN(4) == 0 {
			continue
		}
		c := &circle{id: id, kind: one(f, someKinds...), owner: one(f, g.all...), closed: f.IntN(6) == 0,
			roles: map[*place]string{}}
		for _, p := range g.all {
			if role := one(f, someRoles...); role != "" {
				c.roles[p] = role
			}
		}
		g.circles = append(g.circles, c)
	}
	g.door = access.New(st, access.Config{TiersOf: func(_ *store.Tx, agent schemas.EntityID) ([]access.Tiering, error) {
		var tiers []access.Tiering
		for observer, tier := range byID[agent].opinions {
			tiers = append(tiers, access.Tiering{Observer: schemas.EntityID(observer), Tier: tier})
		}
		return tiers, nil
	}})
	require.NoError(t, st.Write(t.Context(), func(tx *store.Tx) error {
		for _, table := range []string{"members", "groups", "entities"} {
			if _, err := tx.Exec(`DELETE FROM ` + table); err != nil {
				return err
			}
		}
		for _, p := range g.all {
			if err := g.insert(tx, p); err != nil {
				return err
			}
		}
		for _, c := range g.circles {
			emcon, archived := 0, 0
			if c.closed {
				emcon = f.IntN(2)
				archived = 1 - emcon
			}
			if _, err := tx.Exec(
				`INSERT INTO groups(id, kind, owner_id, emcon, created_at, archived_at) VALUES (?, ?, ?, ?, 0, ?)`,
				c.id, c.kind, c.owner.id, emcon, archived); err != nil {
				return err
			}
			for p, role := range c.roles {
				if _, err := tx.Exec(
					`INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES (?, ?, ?, 'node', 0)`,
					c.id, p.id, role); err != nil {
					return err
				}
			}
		}
		return access.BumpEpoch(tx)
	}))
	return g
}

func (g *grown) insert(tx *store.Tx, p *place) error {
	caps, err := json.Marshal(p.caps)
	if err != nil {
		return err
	}
	grants, err := json.Marshal(p.grants)
	if err != nil {
		return err
	}
	kind, parent := "human", ""
	if !p.human() {
		kind, parent = "agent", p.parent.id
	}
	_, err = tx.Exec(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name,
		public_key, enc_public_key, enc_binding,
			capabilities, grants, status, status_by, status_at, created_at, expires_at, last_seen_at, key_seq)
		VALUES (?, ?, nullif(?, ''), ?, ?, nullif(?, ''), ?, 'x', x'', x'', x'', ?, ?, ?, 'node', 0, ?, ?, ?, ?)`,
		p.id, kind, parent, p.line()[0].id, len(p.line())-1, string(p.agentType), p.name, string(caps), string(grants),
		string(p.status), p.created, p.expires, p.seen, p.keySeq)
	return err
}

// attempt is a call at the door, with the memory it then needs.
type attempt struct {
	caller *place
	keySeq int
	human  bool // proves itself as a person
	as     string
	op     access.Op
	wish   wish
}

// answer is what the model says comes of it: a code, "" for allowed; beside it
// who acts.
func (g *grown) answer(a attempt) (code schemas.Code, actor *place) {
	if a.keySeq != a.caller.keySeq || a.human != a.caller.human() {
		return schemas.CodeUnauthenticated, nil
	}
	actor = a.caller
	alive := func(p *place) { g.signs[p] = g.now }
	if a.op.Human && !a.caller.human() {
		alive(a.caller)
		return schemas.CodeDenied, actor
	}
	if a.as != "" && a.as != a.caller.id {
		var meant *place
		if !a.op.InPerson {
			for _, p := range g.all {
				if a.caller.isAbove(p) && (a.as == p.id || a.as == p.name && p.status != schemas.Removed) {
					meant = p
				}
			}
			if a.as == a.caller.name && a.caller.status != schemas.Removed {
				meant = a.caller
			}
		}
		if meant == nil {
			alive(a.caller)
			if a.op.InPerson {
				return schemas.CodeDenied, actor
			}
			return schemas.CodeNotFound, actor
		}
		actor = meant
	}
	if len(refusedBy(actor.line(), deed{tool: a.op.Tool}, g.now)) > 0 {
		return schemas.CodeDenied, actor
	}
	if actor == a.caller && !actor.human() && !actor.caps.Autonomous {
		attended := g.now-actor.created <= 30*minutes
		for _, p := range []*place{actor.parent, actor.line()[0]} {
			for _, at := range []int64{p.seen, g.signs[p]} {
				attended = attended || at <= g.now+minutes && g.now-at <= 30*minutes
			}
		}
		if !attended {
			alive(actor)
			return schemas.CodeDenied, actor
		}
	}
	alive(a.caller)
	alive(actor)
	read := a.wish
	read.kind = "read"
	switch {
	case reaches(actor, a.op.Tool, a.wish, g.now):
		return "", actor
	case a.wish.kind == "write" && reaches(actor, a.op.Tool, read, g.now):
		return schemas.CodeDenied, actor
	}
	return schemas.CodeNotFound, actor
}

func (g *grown) attempt() attempt {
	a := attempt{caller: one(g.forest, g.all...)}
	a.keySeq, a.human = a.caller.keySeq, a.caller.human()
	switch g.IntN(20) {
	case 0:
		a.keySeq++
	case 1:
		a.human = !a.human
	}
	if g.IntN(2) == 0 {
		p := one(g.forest, g.all...)
		a.as = one(g.forest, p.id, p.name, p.id, p.name, "nobody")
	}
	a.op = access.Op{Tool: one(g.forest, someTools...), Effect: access.Read, As: a.as, InPerson: g.IntN(16) == 0,
		Human: g.IntN(16) == 0}
	a.wish = wish{kind: one(g.forest, "read", "write"), layer: "l2",
		visibility: one(g.forest, "private", "private", "group", "group", "group", "public")}
	if g.IntN(6) == 0 {
		a.wish.layer, a.wish.visibility = "l1", ""
	}
	switch {
	case a.wish.visibility == "group" && g.IntN(12) > 0 && len(g.circles) > 0:
		a.wish.group = one(g.forest, g.circles...)
	case a.wish.visibility == "private" || a.wish.layer == "l1":
		a.wish.owner = one(g.forest, a.caller, a.caller, one(g.forest, g.all...), g.all[0])
		if p := a.caller.parent; p != nil && g.IntN(3) == 0 {
			a.wish.owner = p
		}
	}
	return a
}

func (w wish) need() access.Need {
	n := access.Need{Kind: access.Kind(w.kind), Layer: schemas.Layer(w.layer),
		Visibility: schemas.Visibility(w.visibility)}
	if w.owner != nil {
		n.Owner = schemas.EntityID(w.owner.id)
	}
	if w.visibility == "group" {
		n.Group = "no-such-group"
		if w.group != nil {
			n.Group = schemas.GroupID(w.group.id)
		}
	}
	return n
}

// The door, with the database behind it, answers as the model says: who is let
// in, as whom, what memory is opened, what is denied and what does not exist.
func TestTheDoorDecidesAsTheModel(t *testing.T) {
	clock := &frozen{time.Now()}
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db"),
		Durability: store.Relaxed, Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	f := forest{rand.New(rand.NewPCG(9, 10)), clock.at.UnixMicro()}
	trees, attempts := soak.Count(t, 100, 10_000), 0
	came := map[schemas.Code]int{}
	for range trees {
		g := plant(t, st, f)
		for range 40 {
			a := g.attempt()
			want, who := g.answer(a)
			var scope access.Scope
			let := false
			p := access.Principal{Entity: schemas.EntityID(a.caller.id), Method: access.ByKey, KeySeq: a.keySeq}
			if a.human {
				p.Method = access.ByHuman
			}
			err := g.door.Do(t.Context(), p, a.op, func(grant access.Grant) (err error) {
				let = true
				require.Equal(t, schemas.EntityID(who.id), grant.Actor())
				if scope, err = grant.ReadScope(); err != nil {
					return err
				}
				return grant.Need(a.wish.need())
			})
			got := schemas.CodeOf(err)
			if err == nil {
				got = ""
			}
			attempts++
			came[got]++
			if want != got {
				t.Fatalf("%+v\nby %s %s as %q, wish %+v of %+v in %+v\nmodel  %q\naccess %q: %v\n%s", a.op,
					a.caller.name, a.caller.agentType, a.as,
					a.wish, a.wish.owner, a.wish.group, want, got, err, told(who.line()))
			}
			if let {
				require.Equal(t, g.readable(who, a.op.Tool), listed(scope), "%s %s", who.name, a.op.Tool)
			}
		}
	}
	for _, code := range []schemas.Code{"", schemas.CodeDenied, schemas.CodeNotFound, schemas.CodeUnauthenticated} {
		require.Greater(t, came[code]*50, attempts, "%q came too seldom to mean anything", code)
	}
	t.Logf("%d trees in the database: %d attempts, answers %v, 0 differences", trees, attempts, came)
}

// readable is everything of L2 who may read, by the model.
func (g *grown) readable(who *place, tool string) string {
	var owners, groups []string
	for _, p := range g.all {
		// A person reads what is private below them when asked by name, not in a search.
		if !(who.human() && p != who) && reaches(who, tool,
			wish{kind: "read", layer: "l2", visibility: "private", owner: p}, g.now) {
			owners = append(owners, p.id)
		}
	}
	for _, c := range g.circles {
		if reaches(who, tool, wish{kind: "read", layer: "l2", visibility: "group", group: c}, g.now) {
			groups = append(groups, c.id)
		}
	}
	slices.Sort(owners)
	slices.Sort(groups)
	return fmt.Sprint(owners, groups, reaches(who, tool, wish{kind: "read", layer: "l2", visibility: "public"}, g.now))
}

func listed(s access.Scope) string {
	var owners, groups []string
	for _, id := range s.Private {
		owners = append(owners, string(id))
	}
	for _, id := range s.Groups {
		groups = append(groups, string(id))
	}
	slices.Sort(owners)
	slices.Sort(groups)
	return fmt.Sprint(owners, groups, s.Public)
}
