package ops

import (
	"cmp"
	"context"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
	"cordelia/trust"
)

var trustScore = Define(Spec{
	Name: "trust_score", Title: "Trust score", Toolset: Trust, Effect: access.Read,
	SearchHint: "accuracy tier trust reliability reputation agent",
	Description: "How accurate what you wrote proved, or an agent below you, and the tier that follows; with trust " +
		"per capability.",
}, score)

type trustScoreIn struct {
	Agent string `json:"agent,omitempty" also:"id,name" jsonschema:"name or id, default you"`
}

// TrustScoreOut is the answer of trust_score.
type TrustScoreOut struct {
	AgentID     schemas.EntityID `json:"agent_id"`
	Name        string           `json:"name"`
	Observer    schemas.EntityID `json:"observer_entity_id"`
	Accuracy    float64          `json:"accuracy" jsonschema:"mean of the posterior"`
	Tier        schemas.Tier     `json:"tier" enum:"untrusted,low,medium,high"`
	TierMean    float64          `json:"tier_mean" jsonschema:"of the user's verdicts and due predictions alone; the tier follows it"`
	TierWhy     string           `json:"tier_why"`
	AccuracyRaw float64          `json:"accuracy_raw" jsonschema:"right / observations; 0 without any"`
	Observed    int              `json:"observations"`
	Confirmed   int              `json:"confirmed"`
	ByPerson    int              `json:"confirmed_by_person"`
	Interval95  [2]float64       `json:"interval95"`
	Q05         float64          `json:"q05"`
	Start       string           `json:"window_start,omitempty"`
	End         string           `json:"window_end,omitempty"`
	LastUpdated string           `json:"last_updated,omitempty"`
	Skills      []trust.Skill    `json:"capabilities,omitempty"`
	Open        int              `json:"open_predictions,omitempty"`
	Note        string           `json:"note,omitempty"`
}

// Text is the score in a line, and one for each capability.
func (o TrustScoreOut) Text() string {
	list := []string{fmt.Sprintf("%s: accuracy %.2f (95 %%: %.2f–%.2f) from %s",
		shortEntity(cmp.Or(o.Name, string(o.AgentID))), o.Accuracy, o.Interval95[0], o.Interval95[1],
		schemas.Count(o.Observed, "verdict", "verdicts")) + when(o.Open > 0, ", %s",
		schemas.Count(o.Open, "open prediction", "open predictions")),
		fmt.Sprintf("tier %s: %s", o.Tier, o.TierWhy)}
	for _, k := range o.Skills {
		list = append(list, fmt.Sprintf("%s: %d/100, %s (from: %s)", k.Capability, k.Hundredths, k.Level, k.From))
	}
	return lines(append(list, o.Note)...)
}

func score(ctx context.Context, c *Call, in trustScoreIn) (TrustScoreOut, error) {
	return Transact(ctx, c, func(g access.Grant) (TrustScoreOut, error) {
		s, err := trust.Read(g, in.Agent)
		if err != nil {
			return TrustScoreOut{}, err
		}
		out := TrustScoreOut{AgentID: s.Agent, Name: g.NameOf(s.Agent), Observer: s.Observer,
			Accuracy: s.Score.Accuracy(), Tier: s.Tier,
			TierMean: s.TierScore.Accuracy(), TierWhy: s.TierWhy(), ByPerson: s.ByPerson, Observed: s.Observations,
			Confirmed: s.Confirmed, Interval95: s.Score.Interval95(), Q05: s.Score.Q05(),
			Start: moment(s.Start), End: moment(s.End), LastUpdated: moment(s.Updated), Skills: s.Skills, Open: s.Open}
		if s.Observations > 0 {
			out.AccuracyRaw = float64(s.Rights) / float64(s.Observations)
		}
		inForce, whose, err := g.TierOf(s.Agent, g.Root())
		if err != nil {
			return out, err
		}
		switch {
		case whose != s.Agent:
			out.Note = fmt.Sprintf("it counts as %s, like %s above it", inForce, g.NameOf(whose))
		case s.Open > 0 && len(c.Node.CheckRoots()) == 0:
			out.Note = "predictions about files stay open: check_roots in config.json names no folder they may be " +
				"checked in"
		case s.Relayed > 0 && g.IsHuman():
			out.Note = schemas.Count(s.Relayed, "verdict", "verdicts") +
				" that agents relayed as yours: cordelia trust relayed"
		case s.Unresolved > 0:
			out.Note = schemas.Count(int(s.Unresolved), "prediction", "predictions") +
				" could not be checked; tried again each hour"
		}
		return out, nil
	})
}

// moment is an optional time, "" for none.
func moment(micros int64) string {
	if micros == 0 {
		return ""
	}
	return events.Timestamp(micros)
}
