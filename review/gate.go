package review

import (
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

// gate says why what an agent brought waits for review; nothing does if the list
// is empty (seed §6.5). It opens for agents whose parent opted in, that proved
// reliable, and only for what says nothing against what is there.
func gate(g access.Grant, rows []row, self schemas.Agent) ([]string, error) {
	because, err := trust.MayMerge(g, self.AgentID, self.Grants.AutoMerge, int(min(rows[0].sessions, 1<<30)))
	if err != nil {
		return nil, err
	}
	need := func(ok bool, format string, args ...any) {
		if reason := fmt.Sprintf(format, args...); !ok && !slices.Contains(because, reason) {
			because = append(because, reason)
		}
	}
	need(rows[0].divergence == schemas.ChainMatch || rows[0].divergence == schemas.ChainGap, "a %s is always reviewed",
		rows[0].divergence)
	if len(because) > 0 {
		return because, nil
	}
	writable, err := g.WritableGroups()
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		items, err := memory.Get(g, []schemas.ItemID{r.item})
		if err != nil {
			return nil, err
		}
		present, err := memory.StandingIn(g, r.item, r.target)
		if err != nil {
			return nil, err
		}
		need(slices.Contains(writable, r.target), "the agent may not write to %s itself", r.target)
		need(present.Status != memory.StatusConflicts, "something contradicts what %s holds", r.target)
		need(!present.Hidden, "what the agent wrote is hidden")
		need(!r.rejected, "the same words of this agent were rejected before")
		reason := forPerson(r, items[0])
		need(reason == "", "%s", reason)
	}
	return because, nil
}

// merge takes over what the gate let through, at once and in the agent's name, and
// says in each review that it was.
func merge(g access.Grant, rows []row, out *Returned) error {
	for _, r := range rows {
		w, err := memory.Approve(g, r.item, r.target)
		if err != nil {
			return err
		}
		if _, err := r.move(g, schemas.ReviewMerge, access.NodeEntity, "merged without review", w.ID); err != nil {
			return err
		}
		out.Merged = append(out.Merged, w)
	}
	_, err := closeIfDone(g, rows[0])
	return err
}

// forPerson says why an item needs a person's approval, "" if it does not.
func forPerson(r row, i memory.Item) string {
	switch {
	case i.Instructs():
		return "what instructs is approved by a person"
	case i.Provenance.Source.SecondHand():
		return "what comes from tools or from outside is approved by a person"
	case r.person:
		return "the same words were brought before as what a person approves"
	}
	return ""
}
