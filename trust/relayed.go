package trust

import (
	"cordelia/access"
	"cordelia/schemas"
)

// Relayed is a verdict that an agent gave as the user's, and that the user has neither
// confirmed nor rejected.
type Relayed struct {
	Number  int64 // of its row of the ledger
	Relayer schemas.EntityID
	Agent   schemas.EntityID // the author of the item
	Item    schemas.ItemID
	Verdict Word
	Weight  int64 // thousandths it counts for until then
	At      int64 // UTC µs
}

// maxRelayed is how many relayed verdicts are listed at once.
const maxRelayed = 100

// ListRelayed lists the relayed verdicts of the window that wait for the user, oldest
// first. More than maxRelayed are listed once the first are decided.
func ListRelayed(g access.Grant) ([]Relayed, error) {
	if g.Tx() == nil || !g.IsHuman() {
		return nil, access.ErrNoGrant
	}
	open, err := entries(g.Tx(), selectOpenRelayed, g.Actor(), g.Tx().Micros()-windowSpan, 0, maxRelayed)
	var out []Relayed
	for _, e := range open {
		out = append(out, Relayed{e.Seq, e.Witness, e.Agent, e.Item, e.Verdict, e.weight(), e.At})
	}
	return out, err
}

// DecideRelayed confirms or rejects a relayed verdict. Confirmed, it is a verdict of the
// user's own. Rejected, it is withdrawn, and a wrong verdict on the agent that relayed it.
// It gives what became of the verdict on the author, or on the relayer.
//
// Errors: CodeNotFound for what does not wait for this user.
func DecideRelayed(g access.Grant, number int64, confirm bool) (Given, error) {
	if g.Tx() == nil || !g.IsHuman() {
		return Given{}, access.ErrNoGrant
	}
	now := g.Tx().Micros()
	open, err := entries(g.Tx(), selectOpenRelayed, g.Actor(), now-windowSpan, number, 1)
	if err != nil {
		return Given{}, err
	}
	if len(open) == 0 || open[0].Seq != number {
		return Given{}, schemas.NotFoundf("no relayed verdict %d waits for you", number).
			Expecting("a number that the list shows").Try("run: cordelia trust relayed")
	}
	relayed := open[0]
	own := entry{Observer: g.Actor(), Source: ByUser, Assessor: g.Actor(), Witness: g.Actor(), At: now}
	if confirm {
		own.Agent, own.Verdict = relayed.Agent, relayed.Verdict
		own.Item, own.Version, own.ContentHash = relayed.Item, relayed.Version, relayed.ContentHash
		return record(g, own)
	}
	if err := withdraw(g, relayed); err != nil {
		return Given{}, err
	}
	own.Agent, own.Verdict, own.Item = relayed.Witness, Wrong, schemas.ItemID(claimOf(relayed))
	return record(g, own)
}

// claimOf names a relayed verdict where an item is named: it is what its relayer was
// wrong about.
func claimOf(relayed entry) string {
	return "relayed-" + string(relayed.Item) + "-of-" + string(relayed.Witness)
}

// withdraw takes a relayed verdict back.
func withdraw(g access.Grant, relayed entry) error {
	tx := g.Tx()
	about, err := entries(tx, selectAbout, relayed.Observer, relayed.Agent, relayed.Item)
	if err != nil {
		return err
	}
	e := entry{Observer: relayed.Observer, Agent: relayed.Agent, Source: ByRelay, Verdict: Withdrawn, Item: relayed.Item,
		Version:     relayed.Version,
		ContentHash: relayed.ContentHash, Assessor: g.Actor(), Witness: relayed.Witness, At: tx.Micros()}
	if err := write(g, &e); err != nil {
		return err
	}
	before, after, err := count(tx, e, about)
	if err != nil {
		return err
	}
	return after.keep(g, before)
}
