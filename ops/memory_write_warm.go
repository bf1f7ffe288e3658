package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/review"
	"cordelia/schemas"
	"cordelia/trust"
)

var memoryWriteWarm = Define(Spec{
	Name: "memory_write_warm", Title: "Write item", Toolset: Memory,
	Effect: access.Write, AlwaysLoad: true, SearchHint: "L2 remember store save note learning decision entity session",
	Description: "Remember something in warm memory (L2), yours alone unless group is given, or your swarm or " +
		"folder has one; with id, change your item. data: " +
		"entity {type: person|org|project|concept, name, aliases, tags, summary, details, refs}; " +
		"session {date, focus, highlights, decisions, entities_mentioned}; " +
		"learning {type: pattern|insight|principle or, effective once a person released it, " +
		"procedure|constraint|template; content, context, tools, tags, prediction}. " +
		"Answers what it duplicates, refines or conflicts with.",
}, writeWarm)

type memoryWriteWarmIn struct {
	Type        memory.ItemType    `json:"type,omitempty" enum:"entity,session,learning"`
	Data        json.RawMessage    `json:"data,omitempty" like:"item" jsonschema:"its fields"`
	ID          schemas.ItemID     `json:"id,omitempty" jsonschema:"item to change"`
	IfVersion   int                `json:"if_version,omitempty" jsonschema:"refuse if newer"`
	Group       schemas.GroupID    `json:"group,omitempty" jsonschema:"share there"`
	Visibility  schemas.Visibility `json:"visibility,omitempty" enum:"private,group,public"`
	Subject     string             `json:"subject,omitempty" jsonschema:"with key: whose property"`
	Key         string             `json:"key,omitempty" jsonschema:"the property"`
	Supersedes  schemas.ItemID     `json:"supersedes,omitempty" jsonschema:"item it replaces"`
	ValidFrom   string             `json:"valid_from,omitempty" jsonschema:"time"`
	ValidTo     string             `json:"valid_to,omitempty" jsonschema:"time"`
	Confidence  *float64           `json:"confidence,omitempty" jsonschema:"0-1; hidden below 0.3"`
	Validated   *bool              `json:"validated,omitempty" jsonschema:"checked"`
	TTLSeconds  *int64             `json:"ttl_seconds,omitempty" jsonschema:"then it expires"`
	DerivedFrom []schemas.ItemID   `json:"derived_from,omitempty" jsonschema:"item ids"`
	Source      memory.Source      `json:"source,omitempty" enum:"agent,tool,external"`
}

// MemoryWriteWarmOut is the answer of memory_write_warm.
type MemoryWriteWarmOut struct {
	ID          schemas.ItemID   `json:"id"`
	Version     int              `json:"version"`
	Status      memory.Status    `json:"status" enum:"new,updated,duplicate_of,refines,conflicts_with"`
	With        []schemas.ItemID `json:"with,omitempty"`
	Stored      bool             `json:"stored"`
	Quarantined bool             `json:"quarantined,omitempty"`
	Unreleased  bool             `json:"unreleased,omitempty"`
	Over        bool             `json:"over,omitempty" jsonschema:"no longer valid"`
	Tainted     bool             `json:"tainted,omitempty" jsonschema:"kept as external"`
	Confidence  float64          `json:"confidence"`
	BoundTo     schemas.GroupID  `json:"bound_to,omitempty" jsonschema:"it went there by itself"`
	Proposal    string           `json:"proposal,omitempty" jsonschema:"waits for a decision"`
	DecidedBy   []string         `json:"decided_by,omitempty"`

	replaces schemas.ItemID  // by the proposal
	low      schemas.GroupID // for which its writer may only propose
}

func writtenOut(w memory.Written) MemoryWriteWarmOut {
	return MemoryWriteWarmOut{ID: w.ID, Version: w.Version, Status: w.Status, With: w.With, Stored: w.Stored,
		Quarantined: w.Quarantined, Unreleased: w.Unreleased, Over: w.Over, Tainted: w.Tainted, Confidence: w.Confidence,
		BoundTo: w.BoundTo}
}

// Text says what became of it and what to do about it.
func (o MemoryWriteWarmOut) Text() string {
	if o.low != "" {
		return fmt.Sprintf("proposal %s (item %s): your accuracy is rated low, so this reaches %s once %s approved "+
			"it (review_list)", short(o.Proposal), short(o.ID), o.low,
			strings.Join(o.DecidedBy, " or "))
	}
	s := fmt.Sprintf("%s version %d: %s", short(o.ID), o.Version, o.Status)
	switch {
	case o.Proposal != "":
		s += fmt.Sprintf(" %s; it supersedes nothing yet: proposal %s to supersede %s waits for %s", shorts(o.With),
			short(o.Proposal), short(o.replaces),
			strings.Join(o.DecidedBy, " or "))
	case !o.Stored:
		s += "; nothing was written, you hold it already"
	case o.Status == memory.StatusConflicts:
		s += fmt.Sprintf(" %s; to replace one, write again with supersedes", shorts(o.With))
	case len(o.With) > 0:
		s += " " + shorts(o.With)
	}
	if o.BoundTo != "" {
		s += fmt.Sprintf("; in %s, whose work this is (visibility private keeps an item to you)", o.BoundTo)
	}
	if o.Tainted {
		s += "; kept as external: this session, or a source of it, had second-hand words"
	}
	switch {
	case o.Unreleased:
		s += fmt.Sprintf("; kept out of searches until a person runs: cordelia memory release %s --if-version %d",
			short(o.ID), o.Version)
	case o.Quarantined:
		s += "; kept out of searches until validated"
	case o.Over:
		s += "; no longer valid, so searches leave it out"
	}
	return s
}

// signItem signs with the caller's own key; what it writes as another, whose key
// it does not hold, the node signs.
func (c *Call) signItem() memory.Sign {
	actor := c.Caller.Entity
	if c.As != "" {
		actor = ""
	}
	return func(message []byte) ([]byte, schemas.EntityID) { return c.sign(actor, message) }
}

func writeWarm(ctx context.Context, c *Call, in memoryWriteWarmIn) (MemoryWriteWarmOut, error) {
	d, err := memory.Prepare(memory.Write{ID: in.ID, IfVersion: in.IfVersion, Type: in.Type, Data: in.Data,
		Visibility: in.Visibility,
		Group:      in.Group, Subject: in.Subject, Key: in.Key, Supersedes: in.Supersedes, ValidFrom: in.ValidFrom,
		ValidTo:    in.ValidTo,
		Confidence: in.Confidence, Validated: in.Validated, TTLSeconds: in.TTLSeconds, DerivedFrom: in.DerivedFrom,
		Source: in.Source, Dir: c.Caller.Dir, Known: c.Node.Tools(), Tainted: c.tainted()},
		c.Caller.Entity, c.signItem())
	if err != nil {
		return MemoryWriteWarmOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (MemoryWriteWarmOut, error) {
		w, err := memory.Put(g, d)
		if err == nil && w.Stored && w.Version == 1 {
			err = recordPrediction(g, d, w.ID)
		}
		if err != nil || w.Low == "" && w.Contested == "" {
			return writtenOut(w), err
		}
		return propose(g, d, w)
	})
}

// propose puts up for a decision what the writer may not do by itself.
func propose(g access.Grant, d *memory.Draft, w memory.Written) (MemoryWriteWarmOut, error) {
	try := review.Try{Item: w.ID, Target: w.Group, Supersedes: w.Contested, Added: w.Stored}
	if w.Low != "" {
		staging, err := review.Stage(g)
		if err != nil {
			return MemoryWriteWarmOut{}, err
		}
		if w.ID, err = memory.StageProposal(g, d, staging, w.Low); err != nil {
			return MemoryWriteWarmOut{}, err
		}
		w.Version, w.Status, w.Stored = 1, memory.StatusNew, true
		try = review.Try{Item: w.ID, Staging: staging, Target: w.Low, Supersedes: d.Supersedes, Added: true}
	}
	p, err := review.Propose(g, try)
	out := writtenOut(w)
	out.Proposal, out.DecidedBy, out.replaces, out.low = p.ID, p.Deciders, w.Contested, w.Low
	return out, err
}

// recordPrediction enters the prediction of an item just written, if it makes one that
// the node can check.
func recordPrediction(g access.Grant, d *memory.Draft, id schemas.ItemID) error {
	c, due, ok := d.Foretold()
	if !ok {
		return nil
	}
	return trust.Foresee(g, trust.Prediction{Item: id, Check: c, Due: due})
}
