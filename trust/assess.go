package trust

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

const (
	relayedWeight = unit / 2
	crossWeight   = unit / 2 // times the source's 5 % bound
	peerWeight    = unit / 4 // times the assessor's
	weakLimit     = unit / 2 // of both together, for an item
	repeatAfter   = int64(24 * time.Hour / time.Microsecond)
)

// Memory is an item to give a verdict on, as the assessor may read it.
type Memory struct {
	ID          schemas.ItemID
	Origin      schemas.ItemID // of a copy
	Version     int
	ContentHash []byte
	Author      schemas.EntityID
	Owner       schemas.EntityID
	Visibility  schemas.Visibility
	Group       schemas.GroupID
}

// line is the first item of m's line: a memory that was copied is one memory.
func (m Memory) line() schemas.ItemID {
	if m.Origin != "" {
		return m.Origin
	}
	return m.ID
}

// Verdict is what an assessor says of an item.
type Verdict struct {
	On      Memory
	Word    Word
	Relayed bool    // an agent repeats what the user said
	Basis   *Memory // another item it follows from
}

// Reasons why a verdict has no weight.
const (
	BecauseKin       = "an agent's own family does not count"
	BecauseOutranked = "a more certain verdict on this item stands"
	BecauseFull      = "this item has all the weight that other agents' words can give"
	BecauseDaily     = "more predictions came due on one day than count"
	BecauseForegone  = "it held already when it was written"
	BecauseRelayed   = "one agent's relayed words about another count half a verdict in all until the user confirms " +
		"them"
	BecauseWithdrawn = "the user denied having said so"
)

// Given is what became of a verdict, in the book of the human above the agent.
type Given struct {
	Agent    schemas.EntityID
	Weight   int64  // thousandths
	Why      string // without weight: one of the reasons
	Repeated bool   // it was said already; nothing was written
	Own      bool   // it counts in full where the actor owns the memory
	// The tier before and after, if the verdict has weight.
	From, To schemas.Tier
}

// Assess writes the actor's verdict into the book of the human above the item's
// author, and into the actor's own if the item lies in its memory. The actor
// must be able to read the items: the caller has read them with the same grant.
//
// Errors: CodeInvalid for what no verdict can be about.
func Assess(g access.Grant, v Verdict) (Given, error) {
	if g.Tx() == nil {
		return Given{}, access.ErrNoGrant
	}
	chain, err := assessable(g, v.On.Author)
	if err != nil {
		return Given{}, err
	}
	actor, root := g.Actor(), chain[0].ID
	e := entry{Observer: root, Agent: v.On.Author, Source: ByPeer, Verdict: v.Word, Item: v.On.line(),
		Version:     v.On.Version,
		ContentHash: v.On.ContentHash, Assessor: actor, Witness: actor, At: g.Tx().Micros()}
	switch {
	case g.IsHuman() && v.Relayed:
		return Given{}, schemas.Invalidf("you are the user, so there is nothing to relay").Try("leave relayed out")
	case actor == root:
		e.Source = ByUser
	case v.Relayed && v.Basis != nil:
		return Given{}, schemas.Invalidf("the user's word needs no other item").Try("give either relayed or basis")
	case v.Relayed && g.Root() == root:
		e.Source = ByRelay
	case v.Basis != nil:
		e.Source, e.Witness = ByOtherOne, v.Basis.Author
	}
	if v.Basis != nil {
		if e.Basis = v.Basis.line(); e.Basis == e.Item {
			return Given{}, schemas.Invalidf("an item does not speak for itself").Expecting(
				"another item as basis").Try("leave basis out")
		}
	}
	given, err := record(g, e)
	if err != nil || actor == root || actor == e.Agent {
		return given, err
	}
	owner, err := ownerOf(g.Tx(), v.On)
	if err != nil || owner != actor {
		return given, err
	}
	e.Observer, e.Source, e.Witness = actor, ByOwner, actor
	own, err := record(g, e)
	given.Own = own.Weight > 0
	return given, err
}

// assessable is the chain of an author whose words verdicts can be about: an agent of this node.
func assessable(g access.Grant, author schemas.EntityID) ([]access.ChainLink, error) {
	if !schemas.IsAgentID(string(author)) {
		return nil, schemas.Invalidf("a person wrote this item, and people are not scored").
			Try("assess what agents wrote; a person's item is corrected with %s and supersedes",
				schemas.Tool("memory_write_warm"))
	}
	chain, err := g.ChainOf(author)
	if err == nil && len(chain) == 0 {
		err = schemas.Invalidf("the author of this item is not registered here").
			Try("assess what agents of this node wrote")
	}
	return chain, err
}

// Assessable reports whether verdicts can be about what author wrote.
func Assessable(g access.Grant, author schemas.EntityID) (bool, error) {
	_, err := assessable(g, author)
	if schemas.CodeOf(err) == schemas.CodeInvalid {
		return false, nil
	}
	return err == nil, err
}

// ownerOf is who owns the memory an item lies in, "" for public memory.
func ownerOf(tx *store.Tx, m Memory) (owner schemas.EntityID, err error) {
	switch m.Visibility {
	case schemas.Private:
		return m.Owner, nil
	case schemas.Group:
		if err = tx.QueryRow(selectGroupOwner, m.Group).Scan(&owner); err != nil {
			return "", fmt.Errorf("read group: %w", err)
		}
	}
	return owner, nil
}

// record weighs e, writes it down and, if it has weight, moves the score.
func record(g access.Grant, e entry) (Given, error) {
	out := Given{Agent: e.Agent}
	tx := g.Tx()
	about, err := entries(tx, selectAbout, e.Observer, e.Agent, e.Item)
	if err != nil {
		return out, err
	}
	earlier, err := entries(tx, selectSaid, e.Observer, e.Agent, e.Item, e.Witness)
	if err != nil {
		return out, err
	}
	if len(earlier) > 0 && earlier[0].says(e) && (earlier[0].weight() == 0 || counts(about, earlier[0])) {
		out.Weight, out.Repeated = earlier[0].weight(), true
		return out, nil
	}
	if out.Weight, out.Why, err = weigh(g, e, about); err != nil {
		return out, err
	}
	if e.Alpha = out.Weight; e.Verdict == Wrong {
		e.Alpha, e.Beta = 0, out.Weight
	}
	if err := write(g, &e); err != nil || out.Weight == 0 {
		return out, err
	}
	before, after, err := count(tx, e, about)
	if err != nil {
		return out, err
	}
	out.From, out.To = before.tierAt(e.At), after.tierAt(e.At)
	return out, after.keep(g, before)
}

// says reports whether e only repeats o.
func (o entry) says(e entry) bool {
	return o.Verdict == e.Verdict && o.Source == e.Source && bytes.Equal(o.ContentHash, e.ContentHash) &&
		e.At-o.At < repeatAfter
}

func counts(about []entry, e entry) bool {
	return slices.ContainsFunc(about, func(o entry) bool { return o.Seq == e.Seq })
}

// weigh gives the weight of e beside the verdicts that count about its item, none
// to those of the agent's own line (INV-RELATED).
func weigh(g access.Grant, e entry, about []entry) (weight int64, why string, err error) {
	for i, who := range []schemas.EntityID{e.Assessor, e.Witness} {
		if i > 0 && who == e.Assessor {
			break
		}
		if own, err := g.Related(who, e.Agent); err != nil || own {
			return 0, BecauseKin, err
		}
	}
	var others int64
	for _, o := range about {
		if o.Source.rank() > e.Source.rank() {
			return 0, BecauseOutranked, nil
		}
		if o.Witness != e.Witness {
			others += o.weight()
		}
	}
	switch e.Source {
	case ByRelay:
		return relayed(g.Tx(), e)
	case ByOtherOne, ByPeer:
		bound := 1.0 // the observer's own words
		if e.Witness != e.Observer {
			witness, err := open(g.Tx(), e.Observer, e.Witness)
			if err != nil {
				return 0, "", err
			}
			bound = witness.at(e.At).Q05()
		}
		most := float64(peerWeight)
		if e.Source == ByOtherOne {
			most = crossWeight
		}
		// Rounded once, here: the ledger keeps what came out.
		if weight = min(int64(most*bound+0.5), weakLimit-others); weight <= 0 {
			return 0, BecauseFull, nil
		}
		return weight, "", nil
	}
	return unit, "", nil
}

// relayed gives the weight of words of the user that an agent repeats: what its words
// about this agent have left of half a verdict.
func relayed(tx *store.Tx, e entry) (weight int64, why string, err error) {
	var withdrawn bool
	if err := tx.QueryRow(selectWithdrawn, e.Observer, e.Agent, e.Item, e.Witness).Scan(&withdrawn); err != nil {
		return 0, "", fmt.Errorf("read assessments: %w", err)
	}
	if withdrawn {
		return 0, BecauseWithdrawn, nil
	}
	var others int64
	if err := tx.QueryRow(selectRelayed, e.Observer, e.Agent, e.Witness, e.At-windowSpan,
		e.Item).Scan(&others); err != nil {
		return 0, "", fmt.Errorf("read assessments: %w", err)
	}
	if weight = relayedWeight - others; weight <= 0 {
		return 0, BecauseRelayed, nil
	}
	return weight, "", nil
}

// count makes e count, in the place of what it replaces, and gives the score
// before and after.
func count(tx *store.Tx, e entry, about []entry) (before, after cached, err error) {
	if before, err = open(tx, e.Observer, e.Agent); err != nil {
		return before, after, err
	}
	replaced := false
	for _, o := range about {
		if !e.replaces(o) {
			continue
		}
		replaced = true
		if _, err := tx.Exec(dropCounted, o.Observer, o.Agent, o.Item, o.Witness); err != nil {
			return before, after, fmt.Errorf("replace assessment: %w", err)
		}
	}
	if e.withdraws() && !replaced {
		return before, before, nil // what it takes back had no weight
	}
	if !e.withdraws() {
		if _, err := tx.Exec(insertCounted, e.Observer, e.Agent, e.Item, e.Witness, e.Seq, e.movesTier(),
			e.own()); err != nil {
			return before, after, fmt.Errorf("count assessment: %w", err)
		}
	}
	var w windows
	if w.all, err = newest(tx, selectWindow, e.Observer, e.Agent); err != nil {
		return before, after, err
	}
	if e.movesTier() {
		if w.deciding, err = newest(tx, selectTierWindow, e.Observer, e.Agent); err != nil {
			return before, after, err
		}
	}
	if e.own() {
		if w.own, err = newest(tx, selectOwnWindow, e.Observer, e.Agent); err != nil {
			return before, after, err
		}
	}
	after = before
	after.trustRecord = before.note(e, w)
	return before, after, nil
}
