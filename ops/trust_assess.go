package ops

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

var trustAssess = Define(Spec{
	Name: "trust_assess", Title: "Assess", Toolset: Trust, Effect: access.Write, InPerson: true,
	SearchHint: "feedback verdict right wrong accuracy trust rate agent",
	Description: "Say that an item another agent wrote proved right or wrong (no weight among agents of one line); " +
		"relayed: the user said so; basis: an item that shows it.",
}, assess)

type trustAssessIn struct {
	ID         schemas.ItemID `json:"id,omitempty" also:"item,itemid" jsonschema:"item"`
	Verdict    trust.Word     `json:"verdict,omitempty" enum:"right,wrong"`
	Relayed    bool           `json:"relayed,omitempty" jsonschema:"the user said so"`
	Basis      schemas.ItemID `json:"basis,omitempty" jsonschema:"item that shows it"`
	Agent      string         `json:"agent,omitempty" jsonschema:"users only: with capability and feedback, on its work"`
	Capability string         `json:"capability,omitempty" jsonschema:"such as task:R3"`
	Feedback   trust.Feedback `json:"feedback,omitempty" enum:"good,bad"`
}

// TrustAssessOut is the answer of trust_assess.
type TrustAssessOut struct {
	Agent     schemas.EntityID `json:"agent_id"`
	Name      string           `json:"name,omitempty"`
	Counted   bool             `json:"counted"`
	Weight    float64          `json:"weight,omitempty" jsonschema:"of 1; shown with the score"`
	Repeated  bool             `json:"repeated,omitempty"`
	Note      string           `json:"note,omitempty"`
	Accuracy  float64          `json:"accuracy,omitempty"`
	Tier      schemas.Tier     `json:"tier,omitempty"`
	TierMoved bool             `json:"tier_moved,omitempty"`
	Skill     *trust.Skill     `json:"capability,omitempty"`
	Next      schemas.Hint     `json:"next,omitempty"`
}

// Text says what the verdict came to: its weight, whether it moved the tier, and what to
// do about an item that proved wrong.
func (o TrustAssessOut) Text() string {
	return lines(o.came(), when(len(o.Next) > 0, "next: %s", o.Next))
}

func (o TrustAssessOut) came() string {
	name := shortEntity(cmp.Or(o.Name, string(o.Agent)))
	switch {
	case o.Skill != nil:
		return fmt.Sprintf("%s: %d/100 in %s, level %s", name, o.Skill.Hundredths, o.Skill.Capability, o.Skill.Level)
	case o.Repeated:
		return "said already; nothing was written"
	case !o.Counted:
		return "written down without weight: " + o.Note
	case o.Tier == "":
		return words("; ", "counted", o.Note)
	}
	moved := fmt.Sprintf("tier %s, not moved", o.Tier)
	if o.TierMoved {
		moved = fmt.Sprintf("its tier is now %s", o.Tier)
		if o.Tier == schemas.Low {
			moved += ", so what it writes to groups waits as proposals (review_list)"
		}
	}
	return words("; ", fmt.Sprintf("counted with weight %.3g: %s stands at %.2f, %s", o.Weight, name, o.Accuracy,
		moved), o.Note)
}

// superseding is the call that puts the right words in the place of an item judged wrong.
func superseding(i memory.Item) schemas.Hint {
	args := []any{"data", schemas.Blank("{…}")}
	if i.Visibility == schemas.Group {
		args = append(args, "group", i.Group)
	}
	if i.Subject != "" {
		args = append(args, "key", i.Key, "subject", i.Subject)
	}
	return schemas.Hintf("%s", schemas.Tool("memory_write_warm",
		append(args, "supersedes", short(i.ID), "type", i.Type)...))
}

func assess(ctx context.Context, c *Call, in trustAssessIn) (TrustAssessOut, error) {
	item, work := in.ID != "" && in.Verdict != "", in.Agent != "" && in.Capability != "" && in.Feedback != ""
	if item == work || work && (in.ID != "" || in.Verdict != "" || in.Basis != "" || in.Relayed) ||
		item && (in.Agent != "" || in.Capability != "" || in.Feedback != "") {
		return TrustAssessOut{}, schemas.Invalidf("what is assessed is not clear").
			Expecting("id and verdict, for an item; or agent, capability and feedback, for work")
	}
	return Transact(ctx, c, func(g access.Grant) (TrustAssessOut, error) {
		if work {
			id, skill, err := trust.Rate(g, in.Agent, in.Capability, in.Feedback)
			return TrustAssessOut{Agent: id, Name: g.NameOf(id), Counted: true, Skill: &skill}, err
		}
		return assessItem(g, in)
	})
}

func assessItem(g access.Grant, in trustAssessIn) (TrustAssessOut, error) {
	v := trust.Verdict{Word: in.Verdict, Relayed: in.Relayed}
	var err error
	if v.On, err = assessed(g, in.ID); err != nil {
		return TrustAssessOut{}, err
	}
	if in.Basis != "" {
		basis, err := assessed(g, in.Basis)
		if err != nil {
			return TrustAssessOut{}, err
		}
		v.Basis = &basis
	}
	given, err := trust.Assess(g, v)
	if err != nil {
		return TrustAssessOut{}, err
	}
	out := TrustAssessOut{Agent: given.Agent, Counted: given.Weight > 0, Repeated: given.Repeated,
		TierMoved: given.From != given.To}
	if in.Verdict == trust.Wrong {
		items, err := memory.Get(g, []schemas.ItemID{in.ID})
		if err != nil {
			return out, err
		}
		out.Next = superseding(items[0])
	}
	if given.Why == trust.BecauseKin {
		out.Note = given.Why + "; the user can say it: cordelia trust assess " + short(in.ID) + " " + string(in.Verdict)
	}
	sees, err := g.Holds(given.Agent)
	if err != nil {
		return TrustAssessOut{}, err
	}
	if !sees {
		// What others said of the item shows in the weight and the tier: neither is the assessor's.
		out.Counted, out.TierMoved = given.Why != trust.BecauseKin, false
		if out.Counted {
			out.Note = atMost(in, given)
		}
		return out, nil
	}
	return out, out.score(g, given, in.Relayed)
}

// score shows what became of the author's score, to an assessor that may see it.
func (out *TrustAssessOut) score(g access.Grant, given trust.Given, relayed bool) error {
	s, err := trust.Read(g, string(given.Agent))
	out.Name = g.NameOf(given.Agent)
	if out.Note == "" {
		out.Note = given.Why
	}
	if out.Note == "" && relayed {
		out.Note = relayedMovesNone
	}
	out.Weight, out.Accuracy, out.Tier = float64(given.Weight)/1000, s.Score.Accuracy(), s.Tier
	return err
}

const relayedMovesNone = "no tier moves until the user confirms it: cordelia trust relayed"

// atMost says what a verdict weighs at most, to an assessor that may not see the score.
func atMost(in trustAssessIn, given trust.Given) string {
	note := "an agent's own judgement weighs at most 0.25 of the user's, and moves no tier"
	switch {
	case in.Relayed:
		note = "all you relay about this agent weighs at most 0.5 of the user's own words; " + relayedMovesNone
	case in.Basis != "":
		note = "another item weighs at most 0.5 of the user's word, and moves no tier"
	}
	if given.Own {
		note += "; in your own groups your word counts in full"
	}
	return note
}

// assessed is an item as trust weighs it, if the caller may read it.
func assessed(g access.Grant, id schemas.ItemID) (trust.Memory, error) {
	found, err := memory.Get(g, []schemas.ItemID{id})
	if err != nil {
		return trust.Memory{}, err
	}
	i := found[0]
	hash, err := hex.DecodeString(i.Provenance.ContentHash)
	if err != nil {
		return trust.Memory{}, fmt.Errorf("content hash of %s: %w", id, err)
	}
	return trust.Memory{ID: i.ID, Origin: firstOf(i), Version: i.Version, ContentHash: hash, Author: i.Author,
		Owner:      i.Owner,
		Visibility: i.Visibility, Group: i.Group}, nil
}

// firstOf is the item i is a copy of, "" if it is none. The importer of signed words
// of another gives each copy any id and any origin; the signature holds for the first.
func firstOf(i memory.Item) schemas.ItemID {
	if p := i.Provenance; p.Signature != "" && p.ImportedBy != i.Author {
		return p.SignedID
	}
	return i.Origin
}
