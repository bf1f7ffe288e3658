package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// unseen carries what a person would not see: turned text, no width, a tag, a
// filler, the mark of byte order, an escape sequence of terminals.
const unseen = "lamp\u202e\u200b\U000e0041\u3164\ufeff\u2066x"

// clearText fails if any of unseen's hidden characters is in what came out.
func clearText(t *testing.T, surface, out string) {
	t.Helper()
	for _, r := range unseen {
		if r > unicode.MaxASCII {
			require.NotContains(t, out, string(r), "%s: %U", surface, r)
		}
	}
	require.NotContains(t, out, "\x1b", surface)
}

// Whatever agents wrote, hidden characters reach nobody as such: not in the
// answers and errors of tools, nor in resources and prompts, over either
// transport, nor at the terminal.
func TestHiddenCharactersAreShown(t *testing.T) {
	n := newNode(t)
	c := open(t, n, "")
	text := compact(unseen)
	must(t, c, "memory_group", `{"action": "create", "group": "team", "description": `+text+`}`)
	must(t, c, "agent_register", `{"agent_type": "claude-code", "display_name": `+text+
		`, "name": "w", "groups": ["team"]}`)
	id := at[string](t, must(t, c, "memory_write_warm",
		`{"type": "learning", "group": "team", "subject": `+text+`, "key": `+text+`,
		"data": {"type": "insight", "content": `+text+`, "context": `+text+`, "tags": [`+text+`]}}`), "id")
	must(t, c, "memory_write_warm", `{"type": "entity", "group": "team", "data": {"type": "concept", "name": `+text+
		`, "summary": `+text+`, "aliases": [`+text+`]}}`)
	must(t, c, "memory_write_warm", `{"id": "`+id+
		`", "if_version": 1, "type": "learning", "data": {"type": "insight", "content": "2 `+unseen+`"}}`)
	must(t, c, "memory_write_hot", `{"operation": "patch", "data": {"active": {"focus": `+text+
		`}, "agent": {"working_memory": {`+text+`: `+text+`}}}}`)
	must(t, c, "memory_session", `{"action": "start", "session_id": "s"}`)
	must(t, c, "memory_session", `{"action": "checkpoint", "session_id": "s", "summary": `+text+`, "open_threads": [`+
		text+`]}`)
	must(t, c, "task_submit", `{"group": "team", "intent": `+text+`}`)
	must(t, c, "memory_read_hot", `{"as": "w"}`)
	must(t, c, "agent_lifecycle", `{"agent": "w", "action": "suspend", "reason": `+text+`}`)
	calls := [][2]string{
		{"memory_search", `{"query": "lamp"}`}, {"memory_search", `{"query": "lamp", "detail": "full"}`},
		{"memory_search", `{}`},
		{"memory_search", `{"query": "lump", "tags": ["none"]}`},
		{"memory_read_warm", `{"ids": ["` + id + `"]}`},
		{"memory_read_warm", `{"ids": ["` + id + `"], "history": true}`},
		{"memory_read_hot", `{}`}, {"memory_read_hot", `{"section": "/agent/working_memory"}`},
		{"memory_session", `{"action": "start", "session_id": "s"}`},
		{"memory_group", `{"action": "list"}`}, {"memory_group", `{"action": "read", "group": "team"}`},
		{"agent_list", `{}`}, {"agent_list", `{"agent": "w"}`}, {"task_status", `{}`}, {"task_claim", `{}`},
		{"events_poll", `{"peek": true}`},
		{"memory_write_warm", `{"type": "learning", "data": {"type": "insight", "content": ` + text + `}}`},
		{"memory_read_warm", `{"ids": [` + text + `]}`}, {"memory_search", `{"group": ` + text + `}`},
		{"agent_list", `{"agent": ` + text + `}`},
		{"memory_group", `{"action": "create", "group": ` + text + `}`}, {"memory_search", `{` + text + `: 1}`},
		{text[1 : len(text)-1], `{}`},
		{"memory_write_warm", `{"type": ` + text + `, "data": {` + text + `: 1}}`},
		{"memory_read_hot", `{"section": ` + text + `}`},
		{"events_subscribe", `{"action": "add", "events": [{"event": ` + text + `}]}`},
		{"agent_register", `{"agent_type": "custom", "name": ` + text + `, "display_name": "x"}`},
	}
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	remote, err := n.Dial(t.Context(), address, "claude-code.key")
	require.NoError(t, err)
	showed := 0
	for transport, c := range map[Transport]Client{Stdio: c, HTTP: remote} {
		for _, call := range calls {
			a, err := c.Call(t.Context(), call[0], json.RawMessage(call[1]))
			require.NoError(t, err, call)
			surface := fmt.Sprintf("%s %v", transport, call)
			clearText(t, surface, a.Text)
			clearText(t, surface, string(a.Raw))
			if strings.Contains(a.Text, `\u{202e}`) || strings.Contains(string(a.Raw), `\u202e`) {
				showed++
			}
		}
		for _, list := range [][3]string{{"resources/list", "resources", "uri"}, {"prompts/list", "prompts", "name"}} {
			r, err := c.Request(t.Context(), list[0], "", map[string]any{})
			require.NoError(t, err)
			require.Nil(t, r.Error, list[0])
			clearText(t, list[0], string(r.Result))
			var listed map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(r.Result, &listed))
			var entries []map[string]any
			require.NoError(t, json.Unmarshal(listed[list[1]], &entries))
			require.NotEmpty(t, entries, list[0])
			for _, e := range entries {
				method, params := "resources/read", map[string]any{"uri": e[list[2]]}
				if list[1] == "prompts" {
					method, params = "prompts/get", map[string]any{"name": e["name"],
						"arguments": everyArgument(e, unseen)}
				}
				r, err := c.Request(t.Context(), method, fmt.Sprint(e[list[2]]), params)
				require.NoError(t, err)
				surface := fmt.Sprintf("%s %s %v", transport, method, e[list[2]])
				clearText(t, surface, string(r.Result))
				if r.Error != nil {
					clearText(t, surface, r.Error.Message)
				}
			}
		}
	}
	require.Greater(t, showed, 20, "hidden characters were there to be shown")

	for _, line := range []string{
		"memory search lamp", "memory read " + id + " --history", "memory hot show claude-code", "memory group list",
		"memory group read team",
		"agent list", "agent show w", "task list", "events poll --as claude-code",
		"memory session start --as claude-code",
		"memory search --group " + unseen, "agent show " + unseen, "memory read " + unseen, unseen, "doctor",
	} {
		for _, more := range []string{"", " --json"} {
			out, errOut, _, err := n.Run(t.Context(), strings.Fields(line+more)...)
			require.NoError(t, err)
			clearText(t, line+more, out)
			clearText(t, line+more, errOut)
		}
	}
}

// everyArgument gives a prompt's arguments a value.
func everyArgument(prompt map[string]any, value string) map[string]any {
	out := map[string]any{}
	list, _ := prompt["arguments"].([]any)
	for _, a := range list {
		if m, ok := a.(map[string]any); ok {
			out[fmt.Sprint(m["name"])] = value
		}
	}
	return out
}
