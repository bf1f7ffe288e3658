package ops_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/schemas"
)

// A message without a receiver, or to a role of another workspace or of none, is refused for that, not for
// a missing workspace.
func TestWhoLooksForARoleIsToldWhereItIs(t *testing.T) {
	f := newFirm(t, company)
	f.apply(triage)
	refused := func(tool string, args map[string]any, code error, says string) {
		t.Helper()
		_, err := f.Call(f.person, tool, args)
		require.ErrorIs(t, err, code)
		require.ErrorContains(t, err, says)
	}
	refused("role_message", map[string]any{"content": "hello"}, schemas.ErrInvalid, `/to: must be a role, or "owner"`)
	refused("role_list", map[string]any{"role": "triager", "workspace": "vibe-team"}, schemas.ErrNotFound,
		`there is no role "triager" in vibe-team, but in triage`)
	refused("role_list", map[string]any{"role": "triagr"}, schemas.ErrNotFound, `there is no role "triagr" here`)
	refused("role_message", map[string]any{"content": "hello", "to": "owner"}, schemas.ErrInvalid, "you have 2 workspaces")

	// a domain finds its workspace, also while the role that owns it is suspended
	_, err := f.Node.MoveRole(t.Context(), f.person, "", "cro", schemas.Suspend, "a rest")
	require.NoError(t, err)
	require.Contains(t, f.send(f.person, map[string]any{"type": "lead.created", "domain": "revenue"})["reason"],
		"cro is suspended: a rest; a person lets it act: cordelia role resume cro")
}

// What is asked for reads otherwise than what is escalated; what programs read keeps its words.
func TestWhatIsAskedForReadsSo(t *testing.T) {
	f := newFirm(t, company)
	event := map[string]any{"type": "pricing.change_asked", "domain": "revenue"}
	d := f.send(f.person, event)
	require.Equal(t, []any{"escalate", true}, []any{d["action"], d["needs_approval"]})
	text := func(tool string, args map[string]any) string {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		answer, err := ops.Find(tool).Call(t.Context(), f.Node, f.person, raw)
		require.NoError(t, err)
		return answer.(interface{ Text() string }).Text()
	}
	require.Contains(t, text("role_event", event), "cro: ask: ")
	require.Contains(t, text("role_list", map[string]any{"role": "cro"}), "pricing.change_asked: ask: ")
	require.Contains(t, text("role_event", map[string]any{"type": "never.heard", "domain": "revenue"}), "cro: escalate: ")
}

// A source whose secret is missing answers like an unknown one. Applying the file makes a new secret and says so:
// the sender does not have it.
func TestAMissingSecretIsNoAnswer_INV_HOOK_SIGNED(t *testing.T) {
	f := newFirm(t, triage)
	secret := f.secret("github")
	require.NotContains(t, fmt.Sprint(f.plan.Notes), "secret", "the first is no news")
	header := func() map[string]string {
		return map[string]string{"X-GitHub-Event": "issues", "X-GitHub-Delivery": "1"}
	}
	_, _, none := f.hook("nobody", issue(1, "x"), header(), secret)
	require.NoError(t, os.Remove(f.Node.Home.HookSecret("github")))
	for _, key := range []string{secret, ""} {
		_, _, err := f.hook("github", issue(1, "x"), header(), key)
		require.Equal(t, none, err)
	}
	require.Contains(t, fmt.Sprint(f.apply(triage).Notes), "the secret of github was missing, so a new one was made")
	require.NotContains(t, fmt.Sprint(f.apply(triage).Notes), "secret")
}

// A slip in an event is named.
func TestAnEventsSlipIsNamed(t *testing.T) {
	f := newFirm(t, company)
	for raw, says := range map[string]string{
		`{"typ": "lead.created"}`:      "/typ: is no key of an event; did you mean type?",
		`{"type": 3}`:                  "/type: is a JSON number, which does not fit",
		`{"type": "lead.created"} {}`:  "this is no event",
		`{"type": "a.b", "xyzzy": {}}`: "/xyzzy: is no key of an event; there are id, type, ",
	} {
		_, err := f.Node.ExplainEvent(t.Context(), f.person, "", "", []byte(raw), false)
		require.ErrorIs(t, err, schemas.ErrInvalid, raw)
		require.ErrorContains(t, err, says, raw)
	}
	_, err := f.tryApply(strings.Replace(company, "roles:\n", "roles:\n  - {role_id: x, soul: y, every: 24}\n", 1))
	require.ErrorContains(t, err, "must be a list, as [{every: …, type: …, domain: …, payload: …}]")
}

// A recipe that names a tool which no worker gives is remarked, by the nearest that there is.
func TestARecipesUnknownToolIsRemarked(t *testing.T) {
	f := newFirm(t, strings.Replace(triage, "does: {", "does: {tools: [Bsh, Bash, apply_patch], ", 1))
	notes := fmt.Sprint(f.plan.Notes)
	require.Contains(t, notes, "names the tool Bsh, which no worker gives; did you mean bash?")
	require.NotContains(t, notes, "apply_patch")
}
