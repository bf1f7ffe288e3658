package swarm

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

// Arrange sends work for a swarm to where it is done: in a pipeline to the cell of
// its stage, after the work of the stage before; in a hierarchical swarm to the cell
// of the agent it is assigned to. Work for any other group it leaves as it is. CodeInvalid
// lists every item whose place is not clear.
func Arrange(g access.Grant, group schemas.GroupID, drafts []work.Draft) ([]work.Draft, error) {
	var strategy schemas.Strategy
	var coordinator schemas.EntityID
	err := g.Tx().QueryRow(selectStrategy, group).Scan(&strategy, &coordinator)
	if errors.Is(err, store.ErrNoRows) {
		return drafts, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read swarm: %w", err)
	}
	switch strategy {
	case schemas.InPipeline:
		return inStages(g, group, drafts)
	case schemas.Hierarchical:
		return assigned(g, group, drafts)
	}
	return drafts, nil
}

// assigned sends each item to the cell of its assignee.
func assigned(g access.Grant, group schemas.GroupID, drafts []work.Draft) ([]work.Draft, error) {
	c := checker{}
	out := make([]work.Draft, len(drafts))
	for i, d := range drafts {
		if out[i] = d; d.AssignedTo == "" {
			c.say(fmt.Sprintf("/items/%d/assigned_to", i), "is missing: in a hierarchical swarm work is assigned")
			continue
		}
		_, cell, err := placeOf(g, group, d.AssignedTo)
		if err != nil {
			return nil, err
		}
		if cell != "" {
			out[i] = d.In(cell)
		}
	}
	return out, c.misplaced(group)
}

// placeOf is the slot and the cell of an agent in a swarm; no cell if it has none, or
// is not of the swarm.
func placeOf(g access.Grant, group schemas.GroupID, ref string) (n int, cell schemas.GroupID, err error) {
	id, err := g.Resolve(ref)
	if err != nil {
		return 0, "", err
	}
	err = g.Tx().QueryRow(selectPlace, group, id).Scan(&n, &cell)
	if errors.Is(err, store.ErrNoRows) {
		return 0, "", nil
	}
	return n, cell, err
}

// stage is a stage of a pipeline: its number and its cell.
type stage struct {
	n    int
	cell schemas.GroupID
}

// stagesOf reads the stages of a pipeline by name, and their cells by number.
func stagesOf(g access.Grant, group schemas.GroupID) (map[string]stage, map[int]schemas.GroupID, error) {
	stages, cells := map[string]stage{}, map[int]schemas.GroupID{}
	rows, err := g.Tx().Query(selectStages, group)
	if _, err = store.Collect(rows, err, func(r *sql.Rows) (string, error) {
		var name string
		var s stage
		err := r.Scan(&name, &s.n, &s.cell)
		stages[name], cells[s.n] = s, s.cell
		return name, err
	}); err != nil {
		return nil, nil, fmt.Errorf("read stages: %w", err)
	}
	return stages, cells, nil
}

// inStages puts each item into its stage and makes it wait for the items of the stage before:
// those of the same submission, otherwise those that exist already.
func inStages(g access.Grant, group schemas.GroupID, drafts []work.Draft) ([]work.Draft, error) {
	stages, cells, err := stagesOf(g, group)
	if err != nil {
		return nil, err
	}
	c := checker{}
	out, at := make([]work.Draft, len(drafts)), make([]int, len(drafts))
	for i, d := range drafts {
		out[i] = d
		s, known := stages[d.Role]
		if d.Role == "" && d.AssignedTo != "" {
			if s.n, s.cell, err = placeOf(g, group, d.AssignedTo); err != nil {
				return nil, err
			}
			known = true
		}
		if !known {
			c.say(fmt.Sprintf("/items/%d/role", i), "must name the stage; swarm_status shows them")
			continue
		}
		if at[i] = s.n; s.cell == "" {
			continue // the coordinator's
		}
		d.Stage = s.n
		before := []int{}
		for j := range i {
			switch {
			case at[j] == s.n-1 && at[j] > 0:
				before = append(before, j)
			case at[j] > s.n:
				c.say(fmt.Sprintf("/items/%d", i), "stands after an item of a later stage")
			}
		}
		for _, j := range d.DependsOn {
			if at[j] != s.n && at[j] != s.n-1 || at[j] == 0 {
				c.say(fmt.Sprintf("/items/%d/depends_on", i),
					"names an item that is neither of this stage nor of the one before")
			}
		}
		if len(d.DependsOn) == 0 {
			if d.DependsOn = before; len(before) == 0 && s.n > 1 {
				d = d.After(cells[s.n-1])
			}
		}
		out[i] = d.In(s.cell)
	}
	return out, c.misplaced(group)
}

func (c *checker) misplaced(group schemas.GroupID) error {
	if len(c.found) == 0 {
		return nil
	}
	return schemas.Invalidf("the task was not submitted: it does not fit how the swarm works").
		Try("%s shows its strategy and its slots; mend what is named, and submit again",
			schemas.Tool("swarm_status", "swarm_id", group)).
		With(c.found...)
}

// maxHandedOn bounds the ids of one result that are looked at.
const maxHandedOn = 50

// Receive hands on to a stage of a pipeline what the accepted results before, that its
// new item builds on, name (INV-STAGE): copies of those items go into its cell, and their
// ids into the brief, and into the results instead of those the stage cannot read. What
// was accepted are the words as they were reported, so what was changed since is named and
// stays behind. At any other claim it does nothing.
func Receive(g access.Grant, c *work.Claimed, before []work.Input) error {
	if c.GroupID == "" {
		return nil
	}
	stand := map[schemas.ItemID]schemas.ItemID{}
	for _, in := range before {
		ids := itemsNamed(in.Result)
		if len(ids) == 0 {
			continue
		}
		var from schemas.GroupID
		var reported int64
		err := g.Tx().QueryRow(selectBefore, in.WorkID, c.GroupID).Scan(&from, &reported)
		if errors.Is(err, store.ErrNoRows) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read stage before: %w", err)
		}
		copies, changed, err := memory.HandOn(g, ids, from, c.GroupID, reported)
		if err != nil {
			return err
		}
		for _, one := range copies {
			if stand[one.Of] = one.ID; !slices.Contains(c.Brief.Context, one.ID) {
				c.Brief.Context = append(c.Brief.Context, one.ID)
			}
		}
		for _, id := range changed {
			c.Notes = append(c.Notes, fmt.Sprintf(
				"%s was changed since %s was reported, and is not handed on as it is now", id, in.WorkID))
		}
	}
	for i := range c.Inputs {
		c.Inputs[i].Result = naming(c.Inputs[i].Result, stand)
	}
	if c.Inputs == nil { // a seat's, whose brief quotes what was before it
		c.Brief.Inputs = naming(c.Brief.Inputs, stand)
	}
	return nil
}

// naming is JSON with each text that is an id in stand replaced by what stands for it.
func naming(text json.RawMessage, stand map[schemas.ItemID]schemas.ItemID) json.RawMessage {
	for of, id := range stand {
		text = bytes.ReplaceAll(text, []byte(`"`+of+`"`), []byte(`"`+id+`"`))
	}
	return text
}

// itemsNamed are the texts in a result that look like ids of items.
func itemsNamed(result json.RawMessage) (ids []schemas.ItemID) {
	var value any
	if len(result) == 0 || json.Unmarshal(result, &value) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) == 36 && v[8] == '-' && v[23] == '-' && len(ids) < maxHandedOn {
				ids = append(ids, schemas.ItemID(v))
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		}
	}
	walk(value)
	return ids
}
