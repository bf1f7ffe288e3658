package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"cordelia/internal/drive"
)

// The measured session: how many bytes of results a model receives in a session that
// calls each tool of the default list at least once. It reads a text of 600 characters
// whole, gets 10 search hits and reads 20 unread events. Each call is computed from the
// results before it, so nothing that a later call needs can be missing in them.

// MeasuredText is the text that the session reads whole: 600 characters.
var MeasuredText = strings.Repeat("The harbour crane slows down when the tide falls below four metres. ", 9)[:600]

// Prepare fills an empty node with what the session finds: a group, an agent that wrote
// 20 items into it, and one that came back with a memory to review.
func Prepare(ctx context.Context, n *drive.Node) error {
	lead, err := n.Open(ctx, "")
	if err != nil {
		return err
	}
	defer lead.Close() //nolint:errcheck // it was only opened for these calls
	register := func(name, kind string, tools ...string) map[string]any {
		scope := map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"findings"},
			"visibility": []string{"group"}}
		return map[string]any{"agent_type": kind, "name": name, "display_name": name, "groups": []string{"findings"},
			"capabilities": map[string]any{"memory_read": scope, "memory_write": scope, "tools": tools,
				"max_parallel_ops": 4,
				"autonomous":       kind == "autonomous", "ttl_seconds": 86400}}
	}
	if _, err := prepared(ctx, lead, "memory_group", map[string]any{"action": "create",
		"group": "findings"}); err != nil {
		return err
	}
	if _, err := prepared(ctx, lead, "agent_register", register("hand", "swarm-worker", "memory_write_warm",
		"task_claim", "task_report")); err != nil {
		return err
	}
	if _, err := prepared(ctx, lead, "agent_register", register("rover", "autonomous", "memory_session",
		"reintegrate")); err != nil {
		return err
	}
	rover, err := n.Open(ctx, "rover")
	if err != nil {
		return err
	}
	defer rover.Close() //nolint:errcheck // as above
	if _, err := prepared(ctx, rover, "memory_session", map[string]any{"action": "start"}); err != nil {
		return err
	}
	ended, err := prepared(ctx, rover, "memory_session", map[string]any{"action": "end"})
	if err != nil {
		return err
	}
	if _, err := prepared(ctx, rover, "reintegrate", map[string]any{"action": "submit",
		"session_count": ended["session_count"], "chain_hash": ended["chain_hash"],
		"memories": []any{map[string]any{"type": "learning", "group": "findings",
			"data": map[string]any{"type": "insight", "content": "Ice closes the harbour in January"}}}}); err != nil {
		return err
	}
	hand, err := n.Open(ctx, "hand")
	if err != nil {
		return err
	}
	defer hand.Close()                                                     //nolint:errcheck // as above
	if _, err := prepared(ctx, hand, "task_claim", object{}); err != nil { // its first call makes it active
		return err
	}
	// What happened until here was read; the 20 writes are news.
	polled, err := prepared(ctx, lead, "events_poll", map[string]any{})
	if err != nil {
		return err
	}
	if _, err := prepared(ctx, lead, "events_poll", map[string]any{"ack": polled["cursor"]}); err != nil {
		return err
	}
	for _, content := range append(findings(), MeasuredText) {
		if _, err := prepared(ctx, hand, "memory_write_warm", map[string]any{"type": "learning", "group": "findings",
			"data": map[string]any{"type": "insight", "content": content}}); err != nil {
			return err
		}
	}
	return nil
}

// findings are 19 things that contradict each other in nothing; 12 are about the harbour.
func findings() []string {
	return []string{
		"The harbour pilot boards at the outer buoy", "Fuel in the harbour is sold until noon",
		"A harbour tug needs forty minutes to warm up",
		"Fog closes the harbour entrance in November", "The harbour office keeps paper charts",
		"Ferries leave the harbour from the north pier",
		"Fishing boats pay no harbour dues", "The harbour wall was raised in 1994",
		"Divers inspect the harbour lock each spring",
		"Containers enter the harbour by rail at night", "A siren tests the harbour alarm on Mondays",
		"The harbour museum owns a steam launch",
		"Lighthouse lamps burn 400 watts", "The weather mast reports every ten minutes", "Customs forms take two days",
		"Cold storage hall B leaks",
		"Radio channel 12 is for pilots alone", "The canteen closes on holidays",
		"Ropes older than five years are scrapped",
	}
}

// prepared makes a call that has to succeed and gives its fields.
func prepared(ctx context.Context, c drive.Client, tool string, args map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	a, err := c.Call(ctx, tool, raw)
	if err != nil {
		return nil, err
	}
	if a.Code != "" {
		return nil, fmt.Errorf("%s: %s", tool, a.Text)
	}
	value, _ := a.Value.(map[string]any)
	return value, nil
}

type object = map[string]any

// Session is the measured session, as steps of a model. prefix stands before each
// tool's name, as the client shows it.
func Session(prefix string) []Step {
	s := session{prefix}
	return []Step{
		s.call("memory_session", object{"action": "start"}),
		s.call("memory_read_hot", object{}),
		s.call("memory_write_hot", object{"operation": "patch",
			"data": object{"active": object{"focus": "harbour survey"}}}),
		s.call("events_poll", object{}),
		s.after("events_poll", `cursor:? *"?([A-Za-z0-9_-]+)`, func(cursor string) (string, object) {
			return "events_poll", object{"ack": cursor}
		}),
		s.call("events_subscribe", object{"action": "list"}),
		s.call("memory_search", object{"query": "harbour crane tide", "limit": 10}),
		s.after("memory_search", id+`[^\n]*The harbour crane`, func(item string) (string, object) {
			return "memory_read_warm", object{"ids": []string{item}}
		}),
		s.after("memory_search", id+`[^\n]*The harbour crane`, func(item string) (string, object) {
			return "trust_assess", object{"id": item, "verdict": "right"}
		}),
		s.call("trust_score", object{"agent": "hand"}),
		s.call("memory_write_warm", object{"type": "learning", "visibility": "private",
			"data": object{"type": "insight", "content": "Survey the crane at low tide"}}),
		s.after("memory_write_warm", id, func(item string) (string, object) {
			return "memory_share", object{"id": item, "group": "findings"}
		}),
		s.after("memory_share", id, func(item string) (string, object) {
			return "memory_delete_warm",
				object{"id": item}
		}),
		s.call("memory_group", object{"action": "read", "group": "findings"}),
		s.call("agent_register", object{"agent_type": "swarm-worker", "display_name": "Scout", "name": "scout",
			"groups": []string{"findings"}}),
		s.call("agent_list", object{}),
		s.call("agent_capabilities", object{"agent": "scout"}),
		s.call("task_submit", object{"intent": "Measure the tide at berth 4", "group": "findings"}),
		s.call("task_claim", object{"as": "hand"}),
		s.afterBoth("task_claim", `work_id"?:? *"?`+id, `fence"?:? *(\d+)`, func(work, fence string) (string, object) {
			return "task_report", object{"as": "hand", "work_id": work, "fence": json.Number(fence), "outcome": "done",
				"result": object{"metres": 3.9}}
		}),
		s.after("task_submit", `task "?`+id, func(task string) (string, object) {
			return "task_status",
				object{"task_id": task}
		}),
		s.call("task_submit", object{"intent": "Paint berth 5", "group": "findings"}),
		s.after("task_submit", `task "?`+id, func(task string) (string, object) {
			return "task_cancel",
				object{"task_id": task}
		}),
		s.call("swarm_create", object{"goal": "Survey the berths", "strategy": "broadcast",
			"agents": []any{object{"slot": "surveyor", "count": 2,
				"work": []string{"Look at berth 1", "Look at berth 2"}}}}),
		s.after("swarm_create", swarm, func(swarm string) (string, object) {
			return "swarm_status",
				object{"swarm_id": swarm}
		}),
		s.after("swarm_create", swarm, func(swarm string) (string, object) {
			return "swarm_disband",
				object{"swarm_id": swarm}
		}),
		s.call("review_list", object{}),
		s.afterBoth("review_list", id, `hash"?:? *"?([0-9a-f]{16,64})`, func(review, hash string) (string, object) {
			return "review_decide", object{"decisions": []any{object{"id": review, "decision": "approve",
				"hash": hash}}}
		}),
		s.call("agent_lifecycle", object{"agent": "scout", "action": "activate"}),
		s.call("agent_deactivate", object{"agent": "scout"}),
		s.call("memory_session", object{"action": "end", "summary": "The harbour survey is done"}),
		s.after("memory_session", `chain_hash ([0-9a-f]{64})`, func(chain string) (string, object) {
			return "reintegrate", object{"action": "submit", "session_count": 1, "chain_hash": chain}
		}),
		say,
	}
}

// id is how an id looks in a text, whole or short.
const (
	id    = `\b([0-9a-f]{8}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?)\b`
	swarm = `(swarm-[a-z0-9-]+)`
)

// say ends a run with what the model learned.
func say(results []Result) (Call, error) {
	return Call{Input: object{"text": results[len(results)-1].Text}}, nil
}

type session struct{ prefix string }

// call is a step whose arguments are known beforehand.
func (s session) call(tool string, args object) Step {
	return func([]Result) (Call, error) { return Call{Tool: s.prefix + tool, Input: args}, nil }
}

// after is a step that takes what expr finds in the last result of a tool.
func (s session) after(tool, expr string, then func(found string) (string, object)) Step {
	return s.afterBoth(tool, expr, "", func(found, _ string) (string, object) { return then(found) })
}

// afterBoth takes what two expressions find.
func (s session) afterBoth(tool, first, second string, then func(first, second string) (string, object)) Step {
	return func(results []Result) (Call, error) {
		text := ""
		for _, r := range results {
			if r.Tool == s.prefix+tool {
				text = r.Text
			}
		}
		var found [2]string
		for i, expr := range []string{first, second} {
			if expr == "" {
				continue
			}
			m := regexp.MustCompile(expr).FindStringSubmatch(text)
			if m == nil {
				return Call{}, fmt.Errorf("the answer of %s does not tell %s: %s", tool, expr, text)
			}
			found[i] = m[1]
		}
		name, args := then(found[0], found[1])
		return Call{Tool: s.prefix + name, Input: args}, nil
	}
}

// MaxReceived is the budget of the measured session, in bytes of results.
const MaxReceived = 6_000

// Received is how many bytes of results a model received.
func Received(results []Result) (bytes int) {
	for _, r := range results {
		bytes += len(r.Text)
	}
	return bytes
}

// Claude plays the measured session in the real Claude Code, headless: program is its
// path, binary that of the command, folder an empty one for both. It gives what the
// model received.
func Claude(ctx context.Context, program, binary, folder string) ([]Result, error) {
	m := NewModel()
	defer m.Close()
	n := &drive.Node{Binary: binary, Home: filepath.Join(folder, "cordelia")}
	if err := Prepare(ctx, n); err != nil {
		return nil, err
	}
	write := func(name string, v any) (string, error) {
		raw, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		path := filepath.Join(folder, name)
		return path, os.WriteFile(path, raw, 0o600)
	}
	// What a person clicks through once.
	seen := object{"hasCompletedOnboarding": true, "customApiKeyResponses": object{"approved": []string{"loopback"}}}
	if _, err := write(".claude.json", seen); err != nil {
		return nil, err
	}
	config, err := write("mcp.json", object{"mcpServers": object{"cordelia": object{"command": binary,
		"args": []string{"mcp"}}}})
	if err != nil {
		return nil, err
	}
	m.Script(Session("mcp__cordelia__")...)
	cmd := exec.CommandContext(ctx, program, "-p", "Do what is to be done.", "--mcp-config", config,
		"--strict-mcp-config",
		"--allowedTools", "mcp__cordelia__*", "ToolSearch")
	cmd.Dir = folder
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "USER=tester",
		"TERM=dumb", "LANG=C.UTF-8",
		"CORDELIA_HOME=" + string(n.Home)}, Loopback(m.URL())...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	results, err := m.Played()
	if err != nil {
		return results, fmt.Errorf("%w: %s", err, out)
	}
	for _, r := range results {
		if r.IsError {
			return results, fmt.Errorf("%s: %s", r.Tool, r.Text)
		}
	}
	return results, nil
}

// Loopback is the environment in which Claude Code speaks to a model at url alone.
func Loopback(url string) []string {
	return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=loopback",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		// All other requests end at a closed port, not on the network.
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost"}
}
