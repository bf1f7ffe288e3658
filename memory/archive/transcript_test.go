package archive

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contents reads a file and lists what its items say, and what was refused.
func contents(t *testing.T, name, text string) (said []string, b *Bundle) {
	b, err := ReadBundle(InputOf(name, strings.NewReader(text)))
	require.NoError(t, err)
	for _, i := range b.items {
		var data struct {
			Content string `json:"content"`
			Session string `json:"source_session"`
		}
		require.NoError(t, json.Unmarshal(i.value.Data, &data))
		said = append(said, data.Session+" | "+data.Content)
	}
	return said, b
}

// A client's transcript becomes an item for each turn: what both sides said, when and in which
// session. What tools did and what the client put in stays out.
func TestAClientsTranscriptIsImportedByTurns(t *testing.T) {
	said, b := contents(t, "s1.jsonl", strings.Join([]string{
		`{"type":"file-history-snapshot","messageId":"m0","snapshot":{}}`,
		`{"type":"summary","summary":"The parser","leafUuid":"x"}`,
		`{"type":"user","sessionId":"s1","timestamp":"2026-10-03T10:00:00.5Z","isMeta":true,"message":{"content":"Caveat"}}`,
		`{"type":"user","sessionId":"s1","timestamp":"2026-10-03T10:00:00.5Z",` +
			`"message":{"role":"user","content":"Why is the parser slow?<system-reminder>be\nkind</system-reminder>"}}`,
		`{"type":"assistant","sessionId":"s1","timestamp":"2026-10-03T10:00:01Z",` +
			`"message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."}]}}`,
		`{"type":"assistant","sessionId":"s1","message":{"content":[{"type":"tool_use","name":"Bash","input":{}}]}}`,
		`{"type":"user","sessionId":"s1","message":{"content":[{"type":"tool_result","content":"secret output"}]}}`,
		`{"type":"assistant","sessionId":"s1","timestamp":"2026-10-03T10:00:09Z",` +
			`"message":{"content":[{"type":"text","text":"It copies each token."}]}}`,
		`{"type":"assistant","sessionId":"s1","isSidechain":true,"message":{"content":"between agents"}}`,
		`{"type":"user","sessionId":"s1","message":{"content":"<command-name>/clear</command-name>"}}`,
		`{"type":"user","sessionId":"s2","message":{"content":"Thanks"}}`,
		`{"type":"user","sessionId":"s2"}`,
		`{"type":"user",`,
	}, "\n"))
	require.Equal(t, []string{
		"s1 | user (3 October 2026): Why is the parser slow?",
		"s1 | assistant (3 October 2026): I look.\nIt copies each token.",
		"s2 | user: Thanks",
	}, said)
	require.Equal(t, "s1.jsonl:4", b.items[0].value.Provenance.File)
	require.Len(t, b.refused, 2, "the turn without a message, and the line that was cut off")
}

// A transcript of Codex becomes an item for each turn, too; what it says again as events, what
// tools did, and the rules and surroundings that it puts before the first question stay out.
func TestACodexTranscriptIsImportedByTurns(t *testing.T) {
	message := func(role, kind, text string) string {
		raw, err := json.Marshal(text)
		require.NoError(t, err)
		return `{"timestamp":"2026-11-20T10:00:02.1Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":[{"type":"` + kind + `","text":` + string(raw) + `}]}}`
	}
	said, b := contents(t, "rollout-1.jsonl", strings.Join([]string{
		`{"timestamp":"2026-11-20T10:00:00Z","type":"session_meta","payload":{"id":"c1","cwd":"/shop"}}`,
		message("developer", "input_text", "Be brief."),
		message("user", "input_text", "# AGENTS.md instructions for /shop\n\n<INSTRUCTIONS>\nUse pnpm.\n</INSTRUCTIONS>"),
		message("user", "input_text", "<environment_context>\n<cwd>/shop</cwd>\n</environment_context>"),
		`{"timestamp":"2026-11-20T10:00:02Z","type":"turn_context","payload":{"model":"m"}}`,
		message("user", "input_text", "Which queue do invoices use?"),
		`{"timestamp":"2026-11-20T10:00:02Z","type":"event_msg","payload":{"type":"user_message","message":"Which queue"}}`,
		`{"timestamp":"2026-11-20T10:00:03Z","type":"response_item","payload":{"type":"function_call","name":"shell"}}`,
		message("assistant", "output_text", "The stream billing."),
		`{"timestamp":"2026-11-20T10:`,
	}, "\n"))
	require.Equal(t, []string{
		"c1 | user (20 November 2026): Which queue do invoices use?",
		"c1 | assistant (20 November 2026): The stream billing.",
	}, said)
	require.Len(t, b.refused, 1, "the line that was cut off")
}

// A plain transcript becomes an item for each turn; a text in which one side alone is named,
// or that begins otherwise, stays Markdown.
func TestAPlainTranscriptIsImportedByTurns(t *testing.T) {
	said, _ := contents(t, "talk.txt", "User: Where do the logs go?\r\nI saw none.\n\n"+
		"Assistant: To /var/log/shop.\n\n**User:** Thanks\n# Assistant: Any time.\n")
	require.Equal(t, []string{
		"talk.txt | user: Where do the logs go?\nI saw none.", "talk.txt | assistant: To /var/log/shop.",
		"talk.txt | user: Thanks", "talk.txt | assistant: Any time.",
	}, said)
	for _, markdown := range []string{"User: a role in our system\n\nIt may read.", "# Notes\nUser: a\nAssistant: b\n"} {
		said, _ = contents(t, "notes.md", markdown)
		require.Len(t, said, 1, markdown)
	}
	long, _ := contents(t, "long.txt", "User: why?\nAssistant: "+strings.Repeat("because of the rain ", 500))
	require.Greater(t, len(long), 2, "a long turn becomes several items")
	for _, l := range long[1:] {
		require.True(t, strings.HasPrefix(l, "long.txt | assistant: "), l)
	}
}

// The items of a transcript lie in the order of its turns, as notes from outside, and a second
// import changes nothing.
func TestATranscriptIsImportedOnce(t *testing.T) {
	const text = "User: The crane stands at dock four.\nAssistant: Noted: dock four.\n"
	n := newNode(t)
	done, err := n.importAs(ada, ImportOptions{}, text)
	require.NoError(t, err)
	require.Equal(t, 2, done.New)
	require.Equal(t, 2, done.External)
	require.Equal(t, "user: The crane stands at dock four.", n.one(`SELECT json_extract(data, '$.content') FROM items
		ORDER BY n LIMIT 1`))
	done, err = n.importAs(ada, ImportOptions{}, text)
	require.NoError(t, err)
	require.Zero(t, done.New)
	require.Equal(t, 2, done.Same)
}
