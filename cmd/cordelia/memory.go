package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/memory"
	"cordelia/ops"
	"cordelia/schemas"
)

func memoryCommand(a *cli.App) *cobra.Command {
	return cli.Group("memory", "Search, read, write and share what agents remember",
		cli.Command{
			Op: "memory_search", Use: "search [WORDS…]", Short: "Find items by their words; without words, the newest",
			Takes: []string{"query?"}, Example: "cordelia memory search retry backoff --group team",
			Names: map[string]string{"tags": "tag"}, Explain: "show the parts of each score, by which results are ordered",
			Show: cli.Shown(showFound),
		}.Command(a),
		cli.Command{
			Op: "memory_search", Use: "list", Short: "List items, the newest first", Hide: []string{"query"},
			Example: "cordelia memory list --group team --type learning",
			Names:   map[string]string{"tags": "tag"}, Show: cli.Shown(showFound),
		}.Command(a),
		cli.Command{
			Op: "memory_read_warm", Use: "read ID…", Short: "Read items whole", Takes: []string{"ids"},
			Example: "cordelia memory read 1cd21f84 --history", Show: cli.Shown(showItems), Learns: true,
		}.Command(a),
		cli.Command{
			Op: "memory_write_warm", Use: "write [DATA]", Short: "Remember something, or with --id change an item",
			Takes: []string{"data?"},
			Long: `Remember something: yours alone unless --group or --visibility say otherwise.
DATA is a sentence, kept as an insight, or JSON, the name of a file with it, or
- for stdin:
  entity    {"type": "person|org|project|concept", "name", "aliases", "tags", "summary", "details", "refs"}
  session   {"date", "focus", "highlights", "decisions", "entities_mentioned"}
  learning  {"type": "pattern|insight|principle|procedure|constraint|template", "content",
             "tools", "context", "tags", "prediction"}`,
			Example: `cordelia memory write "Retries need jitter" --group team
  cordelia memory write --type entity '{"type":"project","name":"parser","summary":"…"}'`,
			Prose: insight, Show: cli.Shown(showWritten),
		}.Command(a),
		cli.Command{
			Op: "memory_delete_warm", Use: "delete ID", Short: "Delete an item, undo that, or purge its text for good",
			Takes:   []string{"id"},
			Example: "cordelia memory delete 1cd21f84 --mode undo", Show: cli.Shown(showDeleted),
		}.Command(a),
		cli.Command{
			Op: "memory_share", Use: "share ID GROUP", Short: "Copy an item into a group",
			Takes:   []string{"id", "group"},
			Example: "cordelia memory share 1cd21f84 team", Show: cli.Shown(showWritten),
		}.Command(a),
		memoryReleaseCommand(a),
		memoryGroupCommand(a),
		memoryHotCommand(a),
		memorySessionCommand(a),
		memoryBindCommand(a),
		memoryUnbindCommand(a),
		memoryBindingsCommand(a),
	)
}

func memoryHotCommand(a *cli.App) *cobra.Command {
	return cli.Group("hot", "The context one entity always has before it (L1)",
		cli.Command{
			Op: "memory_read_hot", Use: "show [ENTITY]", Short: "Show a context", Takes: []string{"entity?"},
			Example: "cordelia memory hot show researcher --section active", Show: cli.Shown(showHot),
		}.Command(a),
		cli.Command{
			Op: "memory_write_hot", Use: "patch DATA", Short: "Merge into your context; null deletes (RFC 7396)",
			Takes:   []string{"data"},
			Fixed:   map[string]any{"operation": "patch"},
			Example: `cordelia memory hot patch '{"active":{"focus":"the parser rewrite"}}'`,
			Show:    cli.Shown(showHotWritten),
		}.Command(a),
	)
}

func memorySessionCommand(a *cli.App) *cobra.Command {
	return cli.Command{
		Op: "memory_session", Use: "session start|checkpoint|end", Short: "Start, checkpoint or end a working session",
		Takes:   []string{"action"},
		Example: "cordelia memory session end --summary 'parser done' --open-thread 'fuzz it'",
		Names:   map[string]string{"open_threads": "open-thread"}, Fill: oneSession, Show: cli.Shown(showSession),
	}.Command(a)
}

func showFound(a *cli.App, v ops.MemorySearchOut) {
	if len(v.Results) == 0 {
		a.Say("Nothing found.")
	} else {
		t := cli.Table{Firm: 2, Head: []string{"ID", "TYPE", "NAME", "AUTHOR", "DATE", "GROUP", "CONFLICTS WITH", "WHY",
			"TEXT"}}
		for _, r := range v.Results {
			t.Add(cli.Styled(cli.Short(r.ID), cli.Dim), cli.Text(cli.Clean(r.Type)),
				cli.Styled(cli.Clean(r.Name), cli.Bold),
				cli.Text(cli.Clean(r.Author)),
				cli.Text(cli.Clean(r.Date)), cli.Text(cli.Clean(r.Group)),
				cli.Styled(cli.Shorts(r.ConflictsWith), cli.Yellow),
				cli.Styled(cli.Clean(r.Why), cli.Dim), cli.Text(cli.Clean(r.Snippet)))
		}
		a.Print(t)
		showScores(a, v.Results)
	}
	showStanding(a, v.Item)
	if v.Weak {
		a.Note("weak: no result matches much of what was asked")
	}
	for _, n := range v.Near {
		a.Note("near: %s %s (%s)", cli.Short(n.ID), cli.Clean(n.Name), cli.Clean(n.Why))
	}
	if h := v.Hidden; h != nil {
		for _, of := range []struct {
			n   int
			why string
		}{{h.Quarantined, "quarantined or not released"}, {h.Expired, "expired"},
			{h.NotYet, "not valid then"}, {h.Superseded, "superseded"}} {
			if of.n > 0 {
				a.Note("%d more not shown: %s", of.n, of.why)
			}
		}
	}
	more(a, v.NextCursor)
}

// showStanding shows where the item that was asked about stands in a search, or why it does not.
func showStanding(a *cli.App, s *memory.Standing) {
	if s == nil {
		return
	}
	where := fmt.Sprintf("is at place %d of %d", s.Place, s.Of)
	if s.Absent != "" {
		where = "is not among the results: " + cli.Clean(s.Absent)
	}
	a.Say("\n%s %s %s", cli.Short(s.ID), cli.Clean(s.Name), where)
	showScores(a, []memory.Hit{{ID: s.ID, Score: s.Score}})
}

// showScores shows, of results that have their scores, how each came about: a line for each part, and
// the score after it.
func showScores(a *cli.App, results []memory.Hit) {
	t := cli.Table{Firm: 2, Head: []string{"ID", "SCORE", "BY", "FOR"}}
	for _, r := range results {
		if r.Score == nil {
			continue
		}
		id, score := cli.Short(r.ID), 0.0
		for _, p := range r.Score.Parts {
			by := fmt.Sprintf("%+.3g", p.Plus)
			if score += p.Plus; p.Times != 0 {
				by = fmt.Sprintf("× %.3g", p.Times)
				score *= p.Times
			}
			t.Add(cli.Styled(id, cli.Dim), cli.Text(fmt.Sprintf("%.3g", score)), cli.Text(by),
				cli.Text(cli.Clean(strings.TrimSpace(p.Why+" "+p.Of))))
			id = ""
		}
		if r.Score.Behind != "" {
			t.Add(cli.Text(id), cli.Text(""), cli.Styled("behind", cli.Yellow), cli.Text(cli.Clean(r.Score.Behind)))
		}
	}
	if len(t.Rows) > 0 {
		a.Say("")
		a.Print(t)
	}
}

func showItems(a *cli.App, v ops.MemoryReadWarmOut) {
	for i, item := range v.Items {
		if i > 0 {
			a.Say("")
		}
		f := cli.Fields{}
		f.Styled("name", cli.Clean(item.Name), cli.Bold)
		f.Add("id", cli.Short(item.ID))
		kind, data := kindOf(item.Data)
		f.Add("type", strings.TrimSuffix(cli.Clean(string(item.Type)+", "+kind), ", "))
		f.Add("state", cli.Clean(item.State)+map[bool]string{true: ", judged wrong"}[item.Wrong])
		if item.Stale != "" {
			f.Add("stale", "its origin changed")
		}
		f.Add("version", fmt.Sprint(item.Version))
		f.Add("for", cli.Clean(string(item.Visibility)+" "+string(item.Group)))
		f.Add("owner", a.Who(item.Owner))
		f.Add("author", a.Who(item.Author))
		f.Add("source", cli.Clean(
			item.Provenance.Source)+map[bool]string{true: ", written after reading such"}[item.Provenance.Tainted])
		f.Add("origin", cli.Short(item.Origin))
		f.Add("confidence", fmt.Sprintf("%.2f", item.Confidence))
		f.Add("created", cli.Clock(item.CreatedAt))
		f.Add("updated", cli.Clock(item.UpdatedAt))
		f.Add("expires", cli.Clock(item.ExpiresAt))
		for _, r := range item.Related {
			f.Add(strings.ReplaceAll(cli.Clean(r.Kind), "_", " "), cli.Short(r.Other))
		}
		f.Data(data)
		a.List(f)
	}
	for _, old := range v.Versions {
		a.Say("\nversion %d, %s", old.Version, cli.Clock(old.At))
		a.Data(old.Data)
	}
	if len(v.LeftOut) > 0 {
		a.Note("did not fit, read them separately: %s", cli.Shorts(v.LeftOut))
	}
}

// kindOf takes the type that the data of an item names out of its fields: beside the type of the item, with
// which it would be taken for the same.
func kindOf(raw json.RawMessage) (kind string, rest json.RawMessage) {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil || json.Unmarshal(in["type"], &kind) != nil {
		return "", raw
	}
	delete(in, "type")
	return kind, cli.RawOf(in)
}

func showWritten(a *cli.App, v ops.MemoryWriteWarmOut) {
	a.Say("%s", cli.Short(v.ID))
	kept := ""
	if v.Proposal != "" {
		a.Note("proposal %s waits for %s: until one approves it, nobody else sees it", cli.Short(v.Proposal),
			cli.Clean(strings.Join(v.DecidedBy, " or ")))
		kept = "proposed, "
	}
	a.Note("%sversion %d: %s%s", kept, v.Version, relation(v.Status, v.With),
		map[bool]string{true: "; hidden until validated"}[v.Quarantined && !v.Unreleased])
	if v.Unreleased {
		a.Note("it instructs, so it waits: cordelia memory release %s --if-version %d", cli.Short(v.ID), v.Version)
	}
	if v.Over {
		a.Note("no longer valid, so searches leave it out")
	}
	if v.Tainted {
		a.Note("kept as external: this session, or a source of it, had second-hand words")
	}
	if v.BoundTo != "" {
		a.Note("in %s, whose work this is; --visibility private keeps an item to you", cli.Clean(v.BoundTo))
	}
	if !v.Stored {
		a.Note("nothing was stored: it is there already")
	}
}

func showDeleted(a *cli.App, v ops.MemoryDeleteWarmOut) {
	a.Say("done: %s", cli.Short(v.ID))
	if v.Copies > 0 {
		a.Say("purged with it: %s", schemas.Count(v.Copies, "copy", "copies"))
	}
}

func showHot(a *cli.App, v ops.MemoryReadHotOut) {
	a.Data(v.Context)
	a.Note("%d bytes, updated %s", v.Size, cli.Clock(v.UpdatedAt))
	if len(v.LeftOut) > 0 {
		a.Note("too large to show, read each with --section: %s", cli.Clean(strings.Join(v.LeftOut, ", ")))
	}
	warn(a, v.Warnings)
}

func showHotWritten(a *cli.App, v ops.MemoryWriteHotOut) {
	a.Say("written %s: %d bytes", cli.Clock(v.UpdatedAt), v.Size)
	warn(a, v.Warnings)
}

func showSession(a *cli.App, v ops.MemorySessionOut) {
	f := cli.Fields{}
	f.Add("sessions ended", fmt.Sprint(v.SessionCount))
	f.Add("chain", cli.Clean(v.ChainHash))
	f.Add("started", cli.Clock(v.StartedAt))
	f.Add("note", cli.Clean(v.Note))
	f.Add("last summary", cli.Clean(v.LastSummary))
	f.Add("open threads", cli.Clean(strings.Join(v.OpenThreads, "; ")))
	a.List(f)
	if v.Digest != "" {
		a.Say("\n%s", cli.Block(v.Digest))
	}
	warn(a, v.Warnings)
}

func warn(a *cli.App, warnings []schemas.Hint) {
	for _, w := range warnings {
		a.Note("%s", a.Advice(w))
	}
}

// relation says how an item stands to others, and which.
func relation(status memory.Status, with []schemas.ItemID) string {
	return strings.TrimSpace(cli.Clean(strings.ReplaceAll(string(status), "_", " ")) + " " + cli.Shorts(with))
}

// insight makes a learning of a plain sentence.
func insight(in map[string]any, text string) {
	in["data"] = map[string]any{"type": "insight", "content": text}
	if in["type"] == nil {
		in["type"] = "learning"
	}
}

// oneSession lets what one terminal began be ended in another.
func oneSession(in map[string]any) {
	if in["session_id"] == nil {
		in["session_id"] = "terminal"
	}
}
