package ops

import (
	"context"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

// RelayedVerdict is a verdict that an agent gave as the user's.
type RelayedVerdict struct {
	Number  int64          `json:"number"`
	Relayer string         `json:"relayer"`
	Agent   string         `json:"agent"` // who wrote the item
	Verdict trust.Word     `json:"verdict"`
	Weight  float64        `json:"weight"` // until the user decides
	Item    schemas.ItemID `json:"item_id"`
	Name    string         `json:"item,omitempty"` // what the item says, if it is still there
	At      string         `json:"at"`
}

// RelayedVerdicts lists those that wait for the person.
func (s *Service) RelayedVerdicts(ctx context.Context, person Caller) (out []RelayedVerdict, err error) {
	op := access.Op{Tool: "trust_relayed", Effect: access.Read, Human: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		list, err := trust.ListRelayed(g)
		out = make([]RelayedVerdict, len(list))
		for i, r := range list {
			out[i] = RelayedVerdict{Number: r.Number, Relayer: g.NameOf(r.Relayer), Agent: g.NameOf(r.Agent),
				Verdict: r.Verdict,
				Weight:  float64(r.Weight) / 1000, Item: r.Item, At: moment(r.At)}
			if items, err := memory.Get(g, []schemas.ItemID{r.Item}); err == nil {
				out[i].Name = items[0].Name
			}
		}
		return err
	})
	return out, err
}

// RelayedDecision is what became of a relayed verdict: whose verdict it now counts as, and its
// state.
type RelayedDecision struct {
	Number    int64        `json:"number"`
	Agent     string       `json:"agent"` // the author of the item, or who relayed what the user never said
	Accuracy  float64      `json:"accuracy"`
	Tier      schemas.Tier `json:"tier"`
	TierMoved bool         `json:"tier_moved,omitempty"`
}

// DecideRelayed confirms or rejects relayed verdicts, all of them or none.
func (s *Service) DecideRelayed(ctx context.Context, person Caller, numbers []int64,
	confirm bool) (out []RelayedDecision, err error) {
	op := access.Op{Tool: "trust_relayed", Effect: access.Write, Human: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		out = nil
		for _, number := range numbers {
			given, err := trust.DecideRelayed(g, number, confirm)
			if err != nil {
				return err
			}
			s, err := trust.Read(g, string(given.Agent))
			if err != nil {
				return err
			}
			out = append(out, RelayedDecision{Number: number, Agent: g.NameOf(given.Agent),
				Accuracy: s.Score.Accuracy(), Tier: s.Tier,
				TierMoved: given.From != given.To})
		}
		return nil
	})
	return out, err
}
