package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/memory"
	"cordelia/ops"
	"cordelia/schemas"
)

func memoryCommand(a *app) *cobra.Command {
	return group("memory", "Search, read, write and share what agents remember",
		command{
			op: "memory_search", use: "search [WORDS…]", short: "Find items by their words; without words, the newest",
			takes: []string{"query?"}, example: "cordelia memory search retry backoff --group team",
			names: map[string]string{"tags": "tag"}, show: shown(showFound),
		}.command(a),
		command{
			op: "memory_search", use: "list", short: "List items, the newest first", hide: []string{"query"},
			example: "cordelia memory list --group team --type learning",
			names:   map[string]string{"tags": "tag"}, show: shown(showFound),
		}.command(a),
		command{
			op: "memory_read_warm", use: "read ID…", short: "Read items whole", takes: []string{"ids"},
			example: "cordelia memory read 1cd21f84 --history", show: shown(showItems), learns: true,
		}.command(a),
		command{
			op: "memory_write_warm", use: "write [DATA]", short: "Remember something, or with --id change an item",
			takes: []string{"data?"},
			long: `Remember something: yours alone unless --group or --visibility say otherwise.
DATA is a sentence, kept as an insight, or JSON, the name of a file with it, or
- for stdin:
  entity    {"type": "person|org|project|concept", "name", "aliases", "tags", "summary", "details", "refs"}
  session   {"date", "focus", "highlights", "decisions", "entities_mentioned"}
  learning  {"type": "pattern|insight|principle|procedure|constraint|template", "content",
             "tools", "context", "tags", "prediction"}`,
			example: `cordelia memory write "Retries need jitter" --group team
  cordelia memory write --type entity '{"type":"project","name":"parser","summary":"…"}'`,
			prose: insight, show: shown(showWritten),
		}.command(a),
		command{
			op: "memory_delete_warm", use: "delete ID", short: "Delete an item, undo that, or purge its text for good",
			takes:   []string{"id"},
			example: "cordelia memory delete 1cd21f84 --mode undo", show: shown(showDeleted),
		}.command(a),
		command{
			op: "memory_share", use: "share ID GROUP", short: "Copy an item into a group",
			takes:   []string{"id", "group"},
			example: "cordelia memory share 1cd21f84 team", show: shown(showWritten),
		}.command(a),
		memoryReleaseCommand(a),
		memoryGroupCommand(a),
		memoryHotCommand(a),
		memorySessionCommand(a),
		memoryBindCommand(a),
		memoryUnbindCommand(a),
		memoryBindingsCommand(a),
	)
}

func memoryHotCommand(a *app) *cobra.Command {
	return group("hot", "The context one entity always has before it (L1)",
		command{
			op: "memory_read_hot", use: "show [ENTITY]", short: "Show a context", takes: []string{"entity?"},
			example: "cordelia memory hot show researcher --section active", show: shown(showHot),
		}.command(a),
		command{
			op: "memory_write_hot", use: "patch DATA", short: "Merge into your context; null deletes (RFC 7396)",
			takes:   []string{"data"},
			fixed:   map[string]any{"operation": "patch"},
			example: `cordelia memory hot patch '{"active":{"focus":"the parser rewrite"}}'`,
			show:    shown(showHotWritten),
		}.command(a),
	)
}

func memorySessionCommand(a *app) *cobra.Command {
	return command{
		op: "memory_session", use: "session start|checkpoint|end", short: "Start, checkpoint or end a working session",
		takes:   []string{"action"},
		example: "cordelia memory session end --summary 'parser done' --open-thread 'fuzz it'",
		names:   map[string]string{"open_threads": "open-thread"}, fill: oneSession, show: shown(showSession),
	}.command(a)
}

func showFound(a *app, v ops.MemorySearchOut) {
	if len(v.Results) == 0 {
		a.say("Nothing found.")
	} else {
		t := table{firm: 2, head: []string{"ID", "TYPE", "NAME", "AUTHOR", "DATE", "GROUP", "CONFLICTS WITH", "WHY",
			"TEXT"}}
		for _, r := range v.Results {
			t.add(cell{short(r.ID), dim}, cell{text: clean(r.Type)}, cell{clean(r.Name), bold},
				cell{text: clean(r.Author)},
				cell{text: clean(r.Date)}, cell{text: clean(r.Group)}, cell{shorts(r.ConflictsWith), yellow},
				cell{clean(r.Why), dim}, cell{text: clean(r.Snippet)})
		}
		a.print(t)
	}
	if v.Weak {
		a.note("weak: no result matches much of what was asked")
	}
	for _, n := range v.Near {
		a.note("near: %s %s (%s)", short(n.ID), clean(n.Name), clean(n.Why))
	}
	if h := v.Hidden; h != nil {
		for _, of := range []struct {
			n   int
			why string
		}{{h.Quarantined, "quarantined"}, {h.Expired, "expired"}, {h.Superseded, "superseded"}} {
			if of.n > 0 {
				a.note("%d more not shown: %s", of.n, of.why)
			}
		}
	}
	more(a, v.NextCursor)
}

func showItems(a *app, v ops.MemoryReadWarmOut) {
	for i, item := range v.Items {
		if i > 0 {
			a.say("")
		}
		f := fields{}
		f.styled("name", clean(item.Name), bold)
		f.add("id", short(item.ID))
		f.add("type", clean(item.Type))
		f.add("state", clean(item.State)+map[bool]string{true: ", judged wrong"}[item.Wrong])
		if item.Stale != "" {
			f.add("stale", "its origin changed")
		}
		f.add("version", fmt.Sprint(item.Version))
		f.add("for", clean(string(item.Visibility)+" "+string(item.Group)))
		f.add("owner", a.who(item.Owner))
		f.add("author", a.who(item.Author))
		f.add("source", clean(
			item.Provenance.Source)+map[bool]string{true: ", written after reading such"}[item.Provenance.Tainted])
		f.add("origin", short(item.Origin))
		f.add("confidence", fmt.Sprintf("%.2f", item.Confidence))
		f.add("created", clock(item.CreatedAt))
		f.add("updated", clock(item.UpdatedAt))
		f.add("expires", clock(item.ExpiresAt))
		for _, r := range item.Related {
			f.add(strings.ReplaceAll(clean(r.Kind), "_", " "), short(r.Other))
		}
		a.list(f)
		a.data(item.Data)
	}
	for _, old := range v.Versions {
		a.say("\nversion %d, %s", old.Version, clock(old.At))
		a.data(old.Data)
	}
	if len(v.LeftOut) > 0 {
		a.note("did not fit, read them separately: %s", shorts(v.LeftOut))
	}
}

func showWritten(a *app, v ops.MemoryWriteWarmOut) {
	a.say("%s", short(v.ID))
	if v.Proposal != "" {
		a.note("proposal %s waits for %s", short(v.Proposal), clean(strings.Join(v.DecidedBy, " or ")))
	}
	a.note("version %d: %s%s", v.Version, beside(v.Status, v.With),
		map[bool]string{true: "; hidden until validated"}[v.Quarantined && !v.Unreleased])
	if v.Unreleased {
		a.note("it instructs, so it waits: cordelia memory release %s --if-version %d", short(v.ID), v.Version)
	}
	if v.Tainted {
		a.note("kept as external: this session, or a source of it, had second-hand words")
	}
	if v.BoundTo != "" {
		a.note("in %s, whose work this is; --visibility private keeps an item to you", clean(v.BoundTo))
	}
	if !v.Stored {
		a.note("nothing was stored: it is there already")
	}
}

func showDeleted(a *app, v ops.MemoryDeleteWarmOut) {
	a.say("done: %s", short(v.ID))
	if v.Copies > 0 {
		a.say("purged with it: %s", schemas.Count(v.Copies, "copy", "copies"))
	}
}

func showHot(a *app, v ops.MemoryReadHotOut) {
	a.data(v.Context)
	a.note("%d bytes, updated %s", v.Size, clock(v.UpdatedAt))
	if len(v.LeftOut) > 0 {
		a.note("too large to show, read each with --section: %s", clean(strings.Join(v.LeftOut, ", ")))
	}
	warn(a, v.Warnings)
}

func showHotWritten(a *app, v ops.MemoryWriteHotOut) {
	a.say("written %s: %d bytes", clock(v.UpdatedAt), v.Size)
	warn(a, v.Warnings)
}

func showSession(a *app, v ops.MemorySessionOut) {
	f := fields{}
	f.add("sessions ended", fmt.Sprint(v.SessionCount))
	f.add("chain", clean(v.ChainHash))
	f.add("started", clock(v.StartedAt))
	f.add("note", clean(v.Note))
	f.add("last summary", clean(v.LastSummary))
	f.add("open threads", clean(strings.Join(v.OpenThreads, "; ")))
	a.list(f)
	if v.Digest != "" {
		a.say("\n%s", block(v.Digest))
	}
	warn(a, v.Warnings)
}

func warn(a *app, warnings []schemas.Hint) {
	for _, w := range warnings {
		a.note("%s", a.advice(w))
	}
}

// beside says how an item stands to others, and which.
func beside(status memory.Status, with []schemas.ItemID) string {
	return strings.TrimSpace(clean(strings.ReplaceAll(string(status), "_", " ")) + " " + shorts(with))
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
