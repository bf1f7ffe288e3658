package roles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What is wrong with a file is named with its line, an unknown key with the nearest there is.
func TestFilesAreReadStrictly(t *testing.T) {
	const file = `workspace: w
owner: ann
roles:
  - role_id: a
    soul: s
    domans: [x]
    authority: {autonomus: [do]}
  - role_id: b
    soul: s
    reports_to: c
policy: {memory_isolation: shared}
operators:
  op:
    triggers: {do: thing.*}
    does: {intent: "{payload.x} {what}", kind: tsk}
`
	_, err := Parse([]byte(file))
	text := fmt.Sprint(err)
	require.Contains(t, text, `line 6: there is no key "domans" here; did you mean domains?`)
	require.Contains(t, text, `line 7: there is no key "autonomus" here; did you mean autonomous?`)
	file2 := strings.NewReplacer("domans", "domains", "autonomus", "autonomous").Replace(file)
	_, err = Parse([]byte(file2))
	text = fmt.Sprint(err)
	require.Contains(t, text, `line 10: "c" is neither a role of this file nor the owner`)
	require.Contains(t, text, `line 11: must be one of strict, shared_read`)
	require.Contains(t, text, `line 15: must be one of work, task; did you mean task?`)
	require.Contains(t, text, `{what} stands for nothing`)
	for bad, says := range map[string]string{
		"":                                      "the file is empty",
		"workspace: w\npolicy:\n\tmax_roles: 1": "line 3 begins with a tab",
		"workspace: w\nname: a: b":              "line 2: mapping values are not allowed in this context (expected: the keys",
		"workspace: w\nroles: [{role_id: a}]":   "/roles/0/soul: line 2: must be a paragraph",
		"workspace: w\nroles:\n  - {role_id: a, soul: s, authority: {autonomous: do}}": "must be a list, as [a, b]",
		"workspace: w\nwebhooks: {x: {kind: gitlab, domain: d}}":                       "must be github, or left out",
	} {
		_, err := Parse([]byte(bad))
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "name of a header")
	}
	for _, bad := range []string{"a: b: c", "- 1", "workspace: &x w\nowner: *x", "workspace: w\nworkspace: v",
		"workspace: [w]", "workspace: v\n---\nworkspace: w", "roles: {a: b}", "policy: {max_roles: many}"} {
		_, err := Parse([]byte(bad))
		require.ErrorIs(t, err, schemas.ErrInvalid, bad)
	}
}

// What comes with the program is right, and notes nothing.
func TestShippedWorkspaces(t *testing.T) {
	require.Equal(t, []string{"fixer", "reviewer", "triager"}, Shipped())
	for _, name := range Shipped() {
		file, err := Example(name, "ann")
		require.NoError(t, err)
		w, err := Parse([]byte(file))
		require.NoError(t, err, name)
		require.Equal(t, schemas.EntityID("ann"), w.Owner)
		p := plan(w, nil, nil)
		require.Empty(t, p.Notes, name)
		require.Empty(t, p.Clamped, name)
		again, err := Format(w)
		require.NoError(t, err)
		back, err := Parse(again)
		require.NoError(t, err)
		require.Equal(t, encoded(w), encoded(back))
	}
	_, err := Example("triage", "ann")
	require.ErrorContains(t, err, "did you mean triager?")
}

// The plan remarks of what looks like a slip of the pen, and only of that.
func TestSlipsOfAFileAreRemarked(t *testing.T) {
	file, err := Example("triager", "ann")
	require.NoError(t, err)
	w, err := Parse([]byte(strings.NewReplacer("[issue.opened, ", "[issue.opend, ", "[triage, close]", "[triage, cloze]",
		"[sort_issue, ", "[sort_isue, ").Replace(file)))
	require.NoError(t, err)
	require.Equal(t, []string{
		"operator triage: sort_issue waits for issue.opend, which GitHub does not send; did you mean issue.opened?",
		"role triager names operator cloze, which operators does not declare: nothing is delegated to it; did you mean " +
			"close?",
		"role triager: its authority names sort_isue, which no operator does; did you mean sort_issue?",
	}, plan(w, nil, nil).Notes)
}
