package demo

import (
	"context"
	"fmt"

	"cordelia/internal/drive"
	"cordelia/schemas"
)

// logBook is the group in which what agents bring and write is kept.
const logBook = "log-book"

// register registers an agent with these tools in the log book and starts its session.
func (s *stage) register(ctx context.Context, name, kind string, tools ...string) (*drive.Process, error) {
	scope := object{"layers": []string{"l1", "l2"}, "groups": []string{logBook}, "visibility": []string{"group"}}
	if err := call(ctx, s.lead, "agent_register", object{"agent_type": kind, "display_name": name, "name": name,
		"groups": []string{logBook},
		"capabilities": object{"memory_read": scope, "memory_write": scope, "tools": tools, "max_parallel_ops": 2,
			"ttl_seconds": 3600,
			"autonomous":  kind == "autonomous"}}, nil); err != nil {
		return nil, err
	}
	return s.node.Open(ctx, name)
}

// insight is a memory for the log book.
func insight(content string) object {
	return object{"type": "learning", "group": logBook, "data": object{"type": "insight", "content": content}}
}

// finds counts what the lead finds.
func (s *stage) finds(ctx context.Context, query string) (int, error) {
	var out struct{ Results []struct{} }
	err := call(ctx, s.lead, "memory_search", object{"query": query, "group": logBook}, &out)
	return len(out.Results), err
}

// voyage is what an agent knows of the sessions it had.
type voyage struct {
	Count int64  `json:"session_count"`
	Hash  string `json:"chain_hash"`
}

// returned is the answer to an agent that hands in what it learned.
type returned struct {
	Divergence, Staging string
	Reviews             []string
}

// sailAlone has an agent work in a session of its own, and hand in two memories.
func sailAlone(ctx context.Context, rover drive.Client) (session voyage, back returned, err error) {
	for _, in := range []object{{"action": "start", "session_id": "cruise"},
		{"action": "end", "session_id": "cruise", "summary": "sailed alone"}} {
		if err := call(ctx, rover, "memory_session", in, &session); err != nil {
			return session, back, err
		}
	}
	err = call(ctx, rover, "reintegrate", object{"action": "submit", "session_count": session.Count,
		"chain_hash": session.Hash, "memories": []object{
			insight("The harbour freezes in January"), insight("The mermaids of the bay give good advice")}}, &back)
	return session, back, err
}

// review has an agent come back, and a person decide over what it brings.
func (s *stage) review(ctx context.Context) error {
	if err := call(ctx, s.lead, "memory_group", object{"action": "create", "group": logBook}, nil); err != nil {
		return err
	}
	rover, err := s.register(ctx, "rover", "autonomous", "memory_session", "reintegrate")
	if err != nil {
		return err
	}
	session, back, err := sailAlone(ctx, rover)
	if err != nil {
		return err
	}
	before, err := s.finds(ctx, "harbour freezes January")
	if err != nil {
		return err
	}
	if err := check(len(back.Reviews) == 2 && back.Divergence == "match" && before == 0,
		"two memories wait, and no search finds them: %+v, %d found", back, before); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("chain %s after %d session: %s; %d memories in %s", short(session.Hash), session.Count,
		back.Divergence, len(back.Reviews), short(back.Staging)+"…"),
		"An agent that worked alone comes back, proves its key and its history, and hands in two memories.")
	s.prove(fmt.Sprintf("a search finds %d of them", before), "Until you have decided no other agent reads them.")
	if err := s.decide(ctx, back.Reviews); err != nil {
		return err
	}
	kept, err := s.finds(ctx, "harbour freezes January")
	if err != nil {
		return err
	}
	dropped, err := s.finds(ctx, "mermaids good advice")
	if err != nil {
		return err
	}
	if err := check(kept == 1 && dropped == 0, "what was approved is found, what was rejected is not: %d, %d", kept,
		dropped); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("a search finds %d approved, %d rejected", kept, dropped),
		"Now the first is everybody's, and the second is gone.")
	s.step.Facts = object{"staging": back.Staging, "waited": len(back.Reviews), "found_before": before,
		"found_approved": kept, "found_rejected": dropped}
	s.step.Shown = fmt.Sprintf("%d waited; 1 approved and found, 1 rejected and gone", len(back.Reviews))
	return rover.Close()
}

// decide approves the first of two reviews as it is shown, and rejects the second.
func (s *stage) decide(ctx context.Context, ids []string) error {
	var shown struct {
		Waiting []struct{ ID, Hash string }
	}
	if _, err := s.command(ctx, &shown, 0, "review", "show", ids[0]); err != nil {
		return err
	}
	if err := check(len(shown.Waiting) == 1 && shown.Waiting[0].Hash != "", "you are shown what waits: %+v",
		shown); err != nil {
		return err
	}
	var decided struct {
		Decided []struct{ State string }
	}
	if _, err := s.command(ctx, &decided, 0, "review", "approve", ids[0], shown.Waiting[0].Hash); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("cordelia review approve %s %s…", short(ids[0]), short(shown.Waiting[0].Hash)),
		"You approve the one about the ice, by the hash of what you were shown …")
	if _, err := s.command(ctx, nil, 0, "review", "reject", ids[1]); err != nil {
		return err
	}
	s.prove("cordelia review reject "+short(ids[1]), "… and reject the one about the mermaids.")
	return check(len(decided.Decided) == 1 && decided.Decided[0].State == "approved", "the first is approved: %+v",
		decided)
}

// claims of the agent that proves wrong.
func claims() []string {
	return []string{"High water is at noon every day.", "The pier carries forty lorries.", "Fog never comes in May.",
		"The tug burns sea water.", "All moorings are free of charge.", "The lighthouse keeper is a seal.",
		"Eels pay the harbour dues.", "The crane sleeps on Sundays.", "Every buoy is made of bread.",
		"The ferry flies in winter.", "Anchors grow back overnight.", "The tide table is a guess."}
}

// writeClaims has an agent write down what will prove wrong.
func writeClaims(ctx context.Context, c drive.Client) (ids []string, err error) {
	for _, text := range claims() {
		var item struct{ ID string }
		if err := call(ctx, c, "memory_write_warm", insight(text), &item); err != nil {
			return nil, err
		}
		ids = append(ids, item.ID)
	}
	return ids, nil
}

// loseTrust has the person find an agent's claims wrong, and the agent lose what it
// could do and read.
func (s *stage) loseTrust(ctx context.Context) error {
	gull, err := s.register(ctx, "gull", "swarm-worker", "memory_write_warm", "memory_read_warm", "trust_score")
	if err != nil {
		return err
	}
	var note struct{ ID string }
	if err := call(ctx, s.lead, "memory_write_warm", insight("The harbour master is Ms. Brandt"), &note); err != nil {
		return err
	}
	ids, err := writeClaims(ctx, gull)
	if err != nil {
		return err
	}
	start, err := s.score(ctx, gull)
	if err != nil {
		return err
	}
	var read struct{ Items []struct{ ID string } }
	if err := call(ctx, gull, "memory_read_warm", object{"ids": []string{note.ID}}, &read); err != nil {
		return err
	}
	if err := check(len(read.Items) == 1 && start.Tier == "medium", "a new agent reads its group: %+v, %+v", read,
		start); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("accuracy %.2f, tier %s; it reads item %s", start.Accuracy, start.Tier, short(note.ID)),
		"gull, a new agent, reads and writes the log book.")
	one, err := s.wrong(ctx, ids[:2])
	if err != nil {
		return err
	}
	var waiting struct{ Proposal string }
	if err := call(ctx, gull, "memory_write_warm", insight("Gulls are always right."), &waiting); err != nil {
		return err
	}
	if err := check(waiting.Proposal != "", "what an agent of tier low writes for others waits for you"); err != nil {
		return err
	}
	unwritten := "proposal " + short(waiting.Proposal)
	s.prove(fmt.Sprintf("accuracy %.2f, tier %s", one.Accuracy, one.Tier),
		"You find two of its claims wrong: cordelia trust assess ID wrong")
	s.prove(unwritten, "What it writes for others waits for you now:")
	all, err := s.wrong(ctx, ids[2:])
	if err != nil {
		return err
	}
	unread, err := refused(ctx, gull, "memory_read_warm", object{"ids": []string{note.ID}}, "denied", "not_found")
	if err != nil {
		return err
	}
	s.prove(fmt.Sprintf("accuracy %.2f, tier %s", all.Accuracy, all.Tier), "The other ten prove wrong, too.")
	s.prove(schemas.ShortIDs(unread),
		"The read that was allowed a moment ago is refused, in the words for what is not there:")
	if err := check(one.Tier == "low" && all.Tier == "untrusted", "the tier falls with the verdicts: %s, then %s",
		one.Tier, all.Tier); err != nil {
		return err
	}
	s.step.Facts = object{"accuracy": []float64{start.Accuracy, one.Accuracy, all.Accuracy},
		"tiers": []string{start.Tier, one.Tier, all.Tier},
		"item":  note.ID, "write_waits": unwritten, "read_refused": unread}
	s.step.Shown = fmt.Sprintf("accuracy %.2f → %.2f: a read allowed, then refused", start.Accuracy, all.Accuracy)
	return gull.Close()
}

// score is where an agent stands.
type score struct {
	Accuracy float64
	Tier     string
}

func (s *stage) score(ctx context.Context, c drive.Client) (v score, err error) {
	err = call(ctx, c, "trust_score", object{}, &v)
	return v, err
}

// wrong has the person say of items that they proved wrong.
func (s *stage) wrong(ctx context.Context, ids []string) (v score, err error) {
	for _, id := range ids {
		if _, err = s.command(ctx, &v, 0, "trust", "assess", id, "wrong"); err != nil {
			return v, err
		}
	}
	return v, nil
}
