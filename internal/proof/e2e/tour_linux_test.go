//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// trusted is a home in which a person has said, once, that they trust the folder.
func (c *client) trusted() *client {
	c.Helper()
	c.write(".claude.json", map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 3,
		"customApiKeyResponses": map[string]any{"approved": []string{"loopback"}},
		"projects": map[string]any{c.home: map[string]any{"hasTrustDialogAccepted": true,
			"hasCompletedProjectOnboarding": true}},
	})
	return c
}

// sit opens an interactive session of Claude Code.
func (c *client) sit(config string) *screen {
	c.Helper()
	return c.at(c.binary, "--mcp-config", config, "--strict-mcp-config", "--permission-mode", "default",
		"--allowedTools", "mcp__cordelia__*,ToolSearch")
}

// as runs a command of cordelia, which has to work.
func (c *client) as(who string, args ...string) string {
	c.Helper()
	if who != "" {
		args = append(args, "--as", who)
	}
	out, err := c.program(c.cordelia, args...)
	require.NoError(c, err, "cordelia %s: %s", strings.Join(args, " "), out)
	return out
}

// once is a step that waits, with nothing to do, until the model is told what matches
// expr; what it was told is handed on.
func (c *client) once(expr string, then func(told []string) (Call, error)) Step {
	sought := regexp.MustCompile(expr)
	return func([]Result) (Call, error) {
		heard := c.model.Heard()
		if told := sought.FindStringSubmatch(heard[len(heard)-1]); told != nil {
			return then(told)
		}
		return Call{Input: map[string]any{"text": "I wait."}}, nil
	}
}

// crew makes the group findings, a worker, hand, that takes work there, and a swarm.
func (c *client) crew(play func(config string, steps ...Step)) (lead, worker string) {
	c.Helper()
	lead, worker = c.config("lead.json"), c.config("hand.json", "--as", "hand")
	play(lead,
		call("memory_group", map[string]any{"action": "create", "group": "findings"}),
		call("agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "Hand", "name": "hand",
			"groups": []string{"findings"}}),
		call("agent_capabilities", map[string]any{"agent": "hand",
			"capabilities": map[string]any{"tools": []string{"task_claim", "task_report", "task_status"}}}),
		call("swarm_create", map[string]any{"goal": "Survey the build", "strategy": "broadcast",
			"agents": []any{map[string]any{"slot": "surveyor", "count": 2}}}),
		say,
	)
	return lead, worker
}

// headless plays steps without a terminal.
func (c *client) headless(config string, steps ...Step) {
	c.Helper()
	c.session(config, nil, steps...)
}

// interactive plays steps at a terminal, in a session of their own.
func (c *client) interactive(config string, steps ...Step) {
	c.Helper()
	c.model.Script(steps...)
	s := c.sit(config)
	s.await("shortcuts")
	s.say("Do what is to be done.")
	for _, r := range s.played(c.model) {
		require.False(c, r.IsError, "%s: %s", r.Tool, r.Text)
	}
	s.leave()
	s.until("no process is left", func() bool { return len(c.left()) == 0 })
}

// played waits until the script has been played to its end, and gives its results.
func (s *screen) played(m *Model) []Result {
	s.Helper()
	s.until("the script is played", func() bool { _, err := m.Played(); return err == nil })
	results, err := m.Played()
	require.NoError(s, err)
	return results
}

// leased finds in what the model was told which item it holds, and by which fence.
const leased = `work_id[\\": ]+([0-9a-f]{8})[\\", ]+fence[\\": ]+(\d+)`

// report is the call that hands in what became of an item.
func report(told []string) (Call, error) {
	return Call{Tool: "mcp__cordelia__task_report", Input: map[string]any{"work_id": told[1], "fence": number(told[2]),
		"outcome": "done",
		"result":  map[string]any{"why": "no cache"}}}, nil
}

func number(s string) (n int) {
	fmt.Sscan(s, &n) //nolint:errcheck // digits
	return n
}

// A worker's session waits for work as a task. When there is some it is woken: the
// model hears of it though nobody typed anything, does it and reports.
func TestTourAWaitingClaimWakesTheSession(t *testing.T) {
	c := newClient(t).trusted()
	lead, worker := c.crew(c.interactive)

	c.model.Script(
		call("task_claim", map[string]any{"wait_seconds": 600}),
		c.once(leased, report),
		say,
	)
	s := c.sit(worker)
	s.await("shortcuts")
	s.say("Take what comes, do it and report.")
	s.await("I wait.")
	require.NotContains(t, c.as("", "task", "list"), "done")
	before := len(c.model.Heard())

	c.as("claude-code", "task", "submit", "Find out why the build is slow", "--group", "findings")
	s.until("the item is done", func() bool { return strings.Contains(c.as("", "task", "list"), "done") })
	s.played(c.model)
	heard := c.model.Heard()
	require.Greater(t, len(heard), before)
	require.Regexp(t, leased, heard[before], "the first thing the model hears is what it waited for")
	require.NotContains(t, strings.Join(heard[:before], ""), "why the build is slow")

	results := c.session(lead, nil, call("task_status", map[string]any{"group": "findings", "state": "done"}), say)
	require.Contains(t, results[len(results)-1].Text, "why the build is slow")
}

// A headless session declares no tasks: the same call waits in line, and no longer than
// it says.
func TestTourAHeadlessWaitIsBounded(t *testing.T) {
	c := newClient(t)
	_, worker := c.crew(c.headless)
	results := c.session(worker, nil, call("task_claim", map[string]any{"wait_seconds": 2}), say)
	require.Contains(t, results[len(results)-1].Text, "there is no work for you now")

	c.as("claude-code", "task", "submit", "Find out why the build is slow", "--group", "findings")
	results = c.session(worker, nil,
		call("task_claim", map[string]any{"wait_seconds": 30}),
		reportLast,
		say,
	)
	require.Contains(t, results[len(results)-1].Text, "done")
}

// rover hands in what a person has to approve, and gives the review's id and hash.
func (c *client) rover(rules ...string) (ids, hashes []string) {
	c.Helper()
	c.as("", "mcp") // makes the identities, and ends with its input
	c.as("claude-code", "memory", "group", "create", "findings")
	c.as("claude-code", "agent", "register", "--name", "rover", "--type", "autonomous", "--group", "findings")
	c.as("claude-code", "agent", "capabilities", "rover", "--capabilities",
		`{"autonomous": true, "tools": ["memory_session", "memory_write_warm", "reintegrate"]}`)
	c.as("rover", "memory", "session", "start")
	ended := c.as("rover", "memory", "session", "end", "--json")
	var memories []string
	for _, r := range rules {
		memories = append(memories, fmt.Sprintf(
			`{"group": "findings", "type": "learning", "data": {"type": "procedure", "content": %q}}`, r))
	}
	c.as("rover", "review", "return", "--session-count", first(c, ended, `"session_count": (\d+)`), "--chain-hash",
		first(c, ended, `"chain_hash": "([0-9a-f]+)"`),
		"--memories", "["+strings.Join(memories, ",")+"]")
	list := c.as("", "review", "list", "--json")
	for _, m := range regexp.MustCompile(`"id": "([0-9a-f-]{36})"[^}]*?"name"`).FindAllStringSubmatch(list, -1) {
		ids = append(ids, m[1])
		hashes = append(hashes, first(c, c.as("", "review", "show", m[1], "--json"), `"hash": "([0-9a-f]{64})"`))
	}
	require.Len(c, ids, len(rules), list)
	return ids, hashes
}

// first finds something in what a command printed.
func first(t testing.TB, text, expr string) string {
	t.Helper()
	m := regexp.MustCompile(expr).FindStringSubmatch(text)
	require.NotNil(t, m, "%s in %s", expr, text)
	return m[1]
}

// approval is the step that approves a review.
func approval(id, hash string) Step {
	return call("review_decide", map[string]any{"decisions": []any{map[string]any{"id": id, "decision": "approve",
		"hash": hash}}})
}

// What a person has to decide is asked of them in the session. What they refuse stays
// undecided and is not asked again; what they decide with their own key counts.
func TestTourAPersonIsAsked(t *testing.T) {
	c := newClient(t).trusted()
	ids, hashes := c.rover("Restart before each build", "Always deploy on Fridays")
	c.model.Script(
		call("review_list", map[string]any{}),
		approval(ids[0], hashes[0]),
		approval(ids[0], hashes[0]),
		approval(ids[1], hashes[1]),
		say,
	)
	s := c.sit(c.config("lead.json"))
	s.await("shortcuts")
	s.say("Look over what came back.")

	s.await("cordelia review show " + ids[0])
	s.press("\x1b") // Escape
	s.await("cordelia review show " + ids[1])
	require.Contains(t, c.as("", "review", "approve", ids[1], hashes[1]), "approved")
	s.insist("\r", "the script is played", func() bool { _, err := c.model.Played(); return err == nil })
	results := s.played(c.model)
	require.Len(t, results, 4)
	require.Contains(t, results[1].Text, "leaves this undecided")
	require.Contains(t, results[2].Text, "not asked again")
	require.Contains(t, results[3].Text, "approved")
	require.Equal(t, 1, strings.Count(c.as("", "review", "list", "--json"), `"hash"`), "the first waits on")
}

// A headless session has nobody to ask: its client cancels at once, and that is final.
func TestTourNobodyIsAskedHeadless(t *testing.T) {
	c := newClient(t)
	ids, hashes := c.rover("Restart before each build")
	c.model.Script(call("review_list", map[string]any{}), approval(ids[0], hashes[0]), approval(ids[0], hashes[0]), say)
	out, err := c.run("-p", "Look over what came back.", "--mcp-config", c.config("lead.json"), "--strict-mcp-config",
		"--allowedTools", "mcp__cordelia__*", "ToolSearch")
	require.NoError(t, err, out)
	results, err := c.model.Played()
	require.NoError(t, err, out)
	for _, r := range results[1:] {
		require.True(t, r.IsError)
		require.Contains(t, r.Text, "leaves this undecided")
	}
	require.Contains(t, c.as("", "review", "list"), "rover")
}

// asking makes a task of the lead's ask its user, while the lead's session waits for it.
func (c *client) asking() (s *screen, task string) {
	c.Helper()
	c.as("", "mcp")
	c.as("claude-code", "agent", "register", "--name", "maker", "--type", "autonomous",
		"--capabilities", `{"autonomous": true, "tools": ["task_claim", "task_report"]}`)
	task = first(c, c.as("claude-code", "task", "submit", "--request", "Measure the bridge", "--json"),
		`"task_id": "([0-9a-f-]{36})"`)
	c.model.Script(
		call("task_status", map[string]any{"task_id": task, "wait_seconds": 600}),
		c.once(schemas.ShortID(task)+`[^:]* cancelled, round`,
			func([]string) (Call, error) { return Call{Input: map[string]any{"text": "It is over."}}, nil }),
	)
	s = c.sit(c.config("lead.json"))
	s.await("shortcuts")
	s.say("Wait for the bridge.")
	s.await("I wait.")
	item := first(c, c.as("maker", "task", "claim", "--role", "R1"), `(?m)^item +([0-9a-f-]{8,36})`)
	c.as("maker", "task", "report", item, "done", "--fence", "1", "--result",
		`{"intent": "", "questions": ["Which bridge?"]}`)
	s.await("Which bridge?")
	return s, task
}

// A task that asks its user something asks in the session that waits for it, and goes on
// with the answer; when it ends the session is woken.
func TestTourATaskAsksItsUser(t *testing.T) {
	c := newClient(t).trusted()
	s, task := c.asking()
	s.press("the old one")
	s.await("the old one")
	s.insist("\r", "the task goes on", func() bool {
		return strings.Contains(c.as("", "task", "show", task),
			"perceiving")
	})
	c.as("", "task", "cancel", task)
	s.await("It is over.")
}
