package swarm

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

// Retire deactivates an agent whose task is over, as the node.
type Retire func(node access.Grant, id schemas.EntityID) error

// Ending is how a swarm is to end.
type Ending struct {
	Swarm     schemas.GroupID  `json:"swarm"`
	Synthesis schemas.ItemID   `json:"synthesis,omitempty"` // must be derived from every finding, unless ""
	Share     []schemas.ItemID `json:"share,omitempty"`     // findings to copy into ShareWith first
	ShareWith schemas.GroupID  `json:"share_with,omitempty"`
}

// Ended is what became of a swarm.
type Ended struct {
	SwarmID   schemas.GroupID  `json:"swarm_id"`
	ArchiveID schemas.ItemID   `json:"archive_id"` // for its maker to review
	Agents    int              `json:"agents_deactivated"`
	Cancelled int              `json:"work_cancelled"`
	Shared    []schemas.ItemID `json:"shared,omitempty"` // the copies
	// Unmerged counts the findings no synthesis was derived from.
	Unmerged int `json:"not_in_synthesis,omitempty"`
}

// maxShared bounds how many findings are shared at the end.
const maxShared = 100

// CheckEnding checks an ending before a transaction is taken for it.
func CheckEnding(e Ending) error {
	c := checker{}
	if (len(e.Share) > 0) != (e.ShareWith != "") {
		c.say("/share", "and share_with belong together")
	}
	if len(e.Share) > maxShared {
		c.say("/share", "names %d items, more than %d", len(e.Share), maxShared)
	}
	return c.refusal("the swarm was not disbanded", "swarm_disband")
}

// Disband ends a swarm, if its coordinator, its creator or an entity above them asks: the findings
// chosen are shared, open work is cancelled, what it found is archived, its agents are
// deactivated and its groups closed, in one transaction. A repetition gets the first
// answer. Errors: CodeNotFound, CodeDenied for other members, CodeConflict for
// findings that are not in the synthesis, and for a repetition that asks for other things.
func Disband(g access.Grant, e Ending, retire Retire) (Ended, error) {
	out := Ended{SwarmID: e.Swarm}
	s, err := load(g, e.Swarm)
	if err != nil {
		return out, err
	}
	if runs, err := s.runs(g); err != nil {
		return out, err
	} else if !runs {
		return out, schemas.Deniedf("only the coordinator of %s, who made it, and those above end it",
			s.id).Try("ask them; %s names the coordinator", schemas.Tool("swarm_status", "swarm_id", s.id))
	}
	if s.ended != 0 {
		return s.again(e)
	}
	groups, err := groupsOf(g, s.id)
	if err != nil {
		return out, err
	}
	if err := s.merged(g, groups, e.Synthesis); err != nil {
		return out, err
	}
	missing, err := memory.Unmerged(g, groups, s.merging(), "")
	if err != nil {
		return out, err
	}
	out.Unmerged = len(missing)
	for _, id := range e.Share {
		w, err := memory.Share(g, id, e.ShareWith)
		if err != nil {
			return out, err
		}
		out.Shared = append(out.Shared, w.ID)
	}
	if err := g.AsNode(func(node access.Grant) error {
		return s.end(node, g.Actor(), groups, e, retire,
			&out)
	}); err != nil {
		return out, err
	}
	return out, g.Audit("swarm/"+string(s.id), map[string]any{"ended": out, "synthesis": e.Synthesis})
}

// answered is what ending a swarm led to, with what was asked for.
type answered struct {
	Ended
	Asked *Ending `json:"asked,omitempty"` // absent where an earlier version ended the swarm
}

// again answers a call that ends an ended swarm: with the first answer, unless the call's
// arguments differ from those of the call that ended it.
func (s record) again(e Ending) (Ended, error) {
	var first answered
	if err := json.Unmarshal([]byte(s.answer), &first); err != nil {
		return first.Ended, fmt.Errorf("read answer: %w", err)
	}
	bare := e.Synthesis == "" && e.ShareWith == ""
	same := first.Asked == nil || e.Synthesis == first.Asked.Synthesis && e.ShareWith == first.Asked.ShareWith &&
		slices.Equal(e.Share, first.Asked.Share)
	if bare || same && (first.Asked != nil || len(e.Share) == len(first.Shared)) {
		return first.Ended, nil
	}
	return Ended{SwarmID: e.Swarm}, schemas.Conflictf(
		"%s has ended already, and this call asks for more than ended it; nothing was shared", s.id).
		Expecting("the same share, share_with and synthesis_item as then, or none").
		Try("share a finding of it: %s; its archive: %s", schemas.Tool("memory_share", "id", "ID", "group", "GROUP"),
			schemas.Tool("memory_read_warm", "ids", []any{first.ArchiveID}))
}

// merged refuses a synthesis that leaves findings out.
func (s record) merged(g access.Grant, groups []schemas.GroupID, synthesis schemas.ItemID) error {
	if synthesis == "" {
		return nil
	}
	items, err := memory.Get(g, []schemas.ItemID{synthesis})
	if err != nil {
		return err
	}
	missing, err := memory.Unmerged(g, groups, s.merging(), items[0].ID)
	if err != nil || len(missing) == 0 {
		return err
	}
	refusal := schemas.Conflictf("%s not in the synthesis; nothing was changed",
		schemas.Count(len(missing), "finding is", "findings are")).
		Expecting("an item of the swarm's group by its coordinator, with derived_from naming every finding").
		Try("write it again with %s and those in derived_from, or leave synthesis_item out",
			schemas.Tool("memory_write_warm"))
	for _, id := range missing[:min(len(missing), maxUnmerged)] {
		refusal = refusal.With(schemas.Violation{Path: "/synthesis_item", Msg: "is not derived from " + string(id)})
	}
	return refusal
}

// end ends it, as the node.
func (s record) end(node access.Grant, by schemas.EntityID, groups []schemas.GroupID, e Ending, retire Retire,
	out *Ended) error {
	now := Status{}
	if err := now.agents(node, s, true); err != nil {
		return err
	}
	for _, id := range groups {
		n, err := work.Close(node, id)
		if err != nil {
			return err
		}
		out.Cancelled += n
	}
	names, err := s.retireAll(node, now, retire, out)
	if err != nil {
		return err
	}
	if err := s.archive(node, by, groups, names, e, out); err != nil {
		return err
	}
	if err := node.Emit(events.GroupStream(s.id), schemas.EventSwarmDisbanded,
		schemas.SwarmDisbanded{SwarmID: s.id}); err != nil {
		return err
	}
	for _, id := range groups {
		if err := memory.Archive(node, id); err != nil {
			return err
		}
	}
	answer, err := json.Marshal(answered{*out, &e})
	if err != nil {
		return err
	}
	if _, err := node.Tx().Exec(endSwarm, node.Tx().Micros(), string(answer), s.id); err != nil {
		return fmt.Errorf("end swarm: %w", err)
	}
	return nil
}

// retireAll ends the agents of the swarm that have not ended, the coordinator last, and names all.
func (s record) retireAll(node access.Grant, now Status, retire Retire, out *Ended) (names []string, err error) {
	var last []schemas.EntityID // the coordinator goes after those it ends
	for _, slot := range now.Slots {
		for _, a := range slot.Agents {
			if names = append(names, a.Name); a.Status == schemas.Deactivated || a.Status == schemas.Removed {
				continue
			}
			if out.Agents++; a.ID == s.coordinator {
				last = append(last, a.ID)
				continue
			}
			if err := retire(node, a.ID); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range last {
		if err := retire(node, id); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// archivePrefix begins the ids of archives; the swarm's id follows.
const archivePrefix = "swarm-archive-"

// maxHeadlines is how many findings an archive names.
const maxHeadlines = 80

// archive writes what became of the swarm, for its maker to review.
func (s record) archive(node access.Grant, by schemas.EntityID, groups []schemas.GroupID, names []string, e Ending,
	out *Ended) error {
	found, err := memory.Headlines(node, groups, maxHeadlines)
	if err != nil {
		return err
	}
	now := time.UnixMicro(node.Tx().Micros()).UTC()
	out.ArchiveID = schemas.ItemID(fmt.Sprintf("%s%s-%s", archivePrefix, s.id, now.Format("20060102T150405.000000Z")))
	r := schemas.SessionRecord{Type: "session", ID: string(out.ArchiveID), Date: now.Format(time.DateOnly),
		Focus: fmt.Sprintf("Swarm %s (%s): %s", s.id, s.strategy, s.goal),
		Highlights: append([]string{fmt.Sprintf("%s, %s cancelled", schemas.Count(len(names), "agent", "agents"),
			schemas.Count(out.Cancelled, "item", "items"))}, found...),
		Decisions: []string{}, EntitiesMentioned: names}
	if out.Unmerged > 0 {
		r.Decisions = append(r.Decisions, fmt.Sprintf("Findings in no synthesis: %d", out.Unmerged))
	}
	if e.Synthesis != "" {
		r.Decisions = append(r.Decisions, "Synthesis: "+string(e.Synthesis))
	}
	for _, id := range out.Shared {
		r.Decisions = append(r.Decisions, "Shared with "+string(e.ShareWith)+": "+string(id))
	}
	return memory.WriteSwarmArchive(node, s.id, s.creator, by, r)
}

// Coordinators are those who should hear that an agent has changed its state, besides
// its parent: the coordinators of the running swarms it is in.
func Coordinators(g access.Grant, id, parent schemas.EntityID) ([]schemas.EntityID, error) {
	rows, err := g.Tx().Query(selectCoordinators, id, parent)
	ids, err := store.Collect(rows, err, store.Column[schemas.EntityID])
	if err != nil {
		return nil, fmt.Errorf("read coordinators: %w", err)
	}
	return ids, nil
}
