package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/schemas"
)

func (a *app) memoryCommand() *cobra.Command {
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
  learning  {"type": "pattern|insight|principle|procedure|constraint|template", "content", "tools", "context", "tags", "prediction"}`,
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
		a.memoryReleaseCommand(),
		a.memoryGroupCommand(),
		a.memoryHotCommand(),
		a.memorySessionCommand(),
		a.memoryBindCommand(),
		a.memoryUnbindCommand(),
		a.memoryBindingsCommand(),
	)
}

func (a *app) memoryHotCommand() *cobra.Command {
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

func (a *app) memorySessionCommand() *cobra.Command {
	return command{
		op: "memory_session", use: "session start|checkpoint|end", short: "Start, checkpoint or end a working session",
		takes:   []string{"action"},
		example: "cordelia memory session end --summary 'parser done' --open-thread 'fuzz it'",
		names:   map[string]string{"open_threads": "open-thread"}, fill: oneSession, show: shown(showSession),
	}.command(a)
}

func showFound(a *app, v struct {
	Results []struct {
		ID         string          `json:"id"`
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Why        string          `json:"why"`
		Snippet    string          `json:"snippet"`
		Author     string          `json:"author"`
		Date       string          `json:"date"`
		Group      string          `json:"group"`
		Confidence float64         `json:"confidence"`
		Conflicts  []string        `json:"conflicts_with"`
		Item       json.RawMessage `json:"item"`
	} `json:"results"`
	NextCursor string         `json:"next_cursor"`
	Hidden     map[string]int `json:"hidden"`
	Weak       bool           `json:"weak"`
	Near       []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Why  string `json:"why"`
	} `json:"near"`
}) {
	if len(v.Results) == 0 {
		a.say("Nothing found.")
	} else {
		t := table{firm: 2, head: []string{"ID", "TYPE", "NAME", "AUTHOR", "DATE", "GROUP", "CONFLICTS WITH", "WHY",
			"TEXT"}}
		for _, r := range v.Results {
			t.add(cell{short(r.ID), dim}, cell{text: clean(r.Type)}, cell{clean(r.Name), bold},
				cell{text: clean(r.Author)},
				cell{text: clean(r.Date)}, cell{text: clean(r.Group)}, cell{shorts(r.Conflicts), yellow},
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
	for _, why := range []string{"quarantined", "expired", "superseded"} {
		if n := v.Hidden[why]; n > 0 {
			a.note("%d more not shown: %s", n, why)
		}
	}
	more(a, v.NextCursor)
}

func showItems(a *app, v struct {
	Items []struct {
		ID         string          `json:"id"`
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Data       json.RawMessage `json:"data"`
		Owner      string          `json:"owner"`
		Author     string          `json:"author"`
		Visibility string          `json:"visibility"`
		Group      string          `json:"group"`
		Origin     string          `json:"origin"`
		Stale      string          `json:"stale"`
		Confidence float64         `json:"confidence"`
		Provenance struct {
			Source  string `json:"source"`
			Tainted bool   `json:"tainted"`
		} `json:"provenance"`
		Wrong     bool   `json:"judged_wrong"`
		State     string `json:"state"`
		ExpiresAt string `json:"expires_at"`
		Version   int    `json:"version"`
		CreatedAt string `json:"created_at"`
		UpdatedAt string `json:"updated_at"`
		Related   []struct {
			Kind  string `json:"kind"`
			Other string `json:"id"`
		} `json:"related"`
	} `json:"items"`
	LeftOut  []string `json:"left_out"`
	Versions []struct {
		Version int             `json:"version"`
		Data    json.RawMessage `json:"data"`
		At      string          `json:"at"`
	} `json:"versions"`
}) {
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
		f.add("for", clean(item.Visibility+" "+item.Group))
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

func showWritten(a *app, v struct {
	ID          string   `json:"id"`
	Version     int      `json:"version"`
	Status      string   `json:"status"`
	With        []string `json:"with"`
	Stored      bool     `json:"stored"`
	Quarantined bool     `json:"quarantined"`
	Unreleased  bool     `json:"unreleased"`
	Tainted     bool     `json:"tainted"`
	BoundTo     string   `json:"bound_to"`
	Proposal    string   `json:"proposal"`
	DecidedBy   []string `json:"decided_by"`
}) {
	a.say("%s", short(v.ID))
	if v.Proposal != "" {
		a.note("proposal %s waits for %s", short(v.Proposal), clean(strings.Join(v.DecidedBy, " or ")))
	}
	a.note("version %d: %s%s", v.Version, strings.TrimSpace(strings.ReplaceAll(v.Status, "_", " ")+" "+shorts(v.With)),
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

func showDeleted(a *app, v struct {
	ID     string `json:"id"`
	Copies int    `json:"copies"`
}) {
	a.say("done: %s", short(v.ID))
	if v.Copies > 0 {
		a.say("purged with it: %s", schemas.Count(v.Copies, "copy", "copies"))
	}
}

func showHot(a *app, v struct {
	Context   json.RawMessage `json:"context"`
	UpdatedAt string          `json:"updated_at"`
	Size      int             `json:"size"`
	LeftOut   []string        `json:"left_out"`
	Warnings  []string        `json:"warnings"`
}) {
	a.data(v.Context)
	a.note("%d bytes, updated %s", v.Size, clock(v.UpdatedAt))
	if len(v.LeftOut) > 0 {
		a.note("too large to show, read each with --section: %s", clean(strings.Join(v.LeftOut, ", ")))
	}
	warn(a, v.Warnings)
}

func showHotWritten(a *app, v struct {
	UpdatedAt string   `json:"updated_at"`
	Size      int      `json:"size"`
	Warnings  []string `json:"warnings"`
}) {
	a.say("written %s: %d bytes", clock(v.UpdatedAt), v.Size)
	warn(a, v.Warnings)
}

func showSession(a *app, v struct {
	Count       int64    `json:"session_count"`
	Chain       string   `json:"chain_hash"`
	StartedAt   string   `json:"started_at"`
	Note        string   `json:"note"`
	LastSummary string   `json:"last_summary"`
	OpenThreads []string `json:"open_threads"`
	Digest      string   `json:"digest"`
	Warnings    []string `json:"warnings"`
}) {
	f := fields{}
	f.add("sessions ended", fmt.Sprint(v.Count))
	f.add("chain", clean(v.Chain))
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

func warn(a *app, warnings []string) {
	for _, w := range warnings {
		a.note("%s", clean(w))
	}
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
