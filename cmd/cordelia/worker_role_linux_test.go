package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const smithy = `
workspace: smithy
operators:
  mend:
    triggers: {mend: thing.broke}
    does:
      intent: "{action}: {payload.title}"
      criteria: ["` + "`sh keep.sh`" + ` exits 0"]
      client: claude
      model: small-model
      tools: [bash]
  elsewhere:
    triggers: {move: thing.moved}
    does: {intent: "{action} it", client: codex}
roles:
  - role_id: smith
    soul: You mend what broke.
    domains: [shop]
    operator_ids: [mend, elsewhere]
    authority: {autonomous: [mend, move]}
    goals: [{id: g, description: Nothing stays broken}]
`

// A worker serves a role: each event becomes work of the client and the model that the recipe
// names, and its commands decide. What fails is mended or has failed; what changed the check, a
// person looks at; what this machine cannot do is left for another.
func TestWorkerServesARole(t *testing.T) {
	t.Parallel()
	play := replay{Work: map[string][]string{
		`mend: "good"`:   {"echo 'exit 0' > keep.sh", `tr '\0' ' ' </proc/$PPID/cmdline >args.txt`},
		`mend: "second"`: {"test ! -e tried || echo 'exit 0' > keep.sh", "touch tried"},
		`mend: "bad"`:    {"echo 'exit 3' > keep.sh"},
		`mend: "sly"`:    {"echo 'exit 0' > keep.sh; echo 'exit 0' > check.sh"},
	}}
	h := newTheater(t, play)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "smithy.yaml"), []byte(smithy), 0o600))
	h.run("cordelia role apply smithy.yaml")
	for _, title := range []string{"good", "second", "bad", "sly"} {
		out, code := h.did("role", "event", "thing.broke", "--domain", "shop", "--payload", `{"title": "`+title+`"}`)
		require.Zero(t, code, out)
	}
	out, code := h.worker("--as", "smith", "--idle", "4s")
	require.Zero(t, code, out)
	require.Contains(t, out, "Served: 3 items, 1 not")
	list, _ := h.did("task", "list", "--json")
	for state, n := range map[string]int{"done": 2, "failed": 1, "held": 1} {
		require.Equal(t, n, strings.Count(list, `"state": "`+state+`"`), list)
	}
	args := ""
	for branch := range strings.FieldsSeq(h.git("for-each-ref", "--format=%(refname:short)", "refs/heads/cordelia")) {
		files := h.git("ls-tree", "--name-only", branch)
		if strings.Contains(files, "args.txt") {
			args = h.git("show", branch+":args.txt")
		}
	}
	require.Contains(t, args, "--model small-model")
	require.Contains(t, args, "Bash")
	require.NotContains(t, args, "Edit", "no more tools than its recipe names")
	var waiting struct{ Waiting []struct{ ID string } }
	listed, _ := h.did("review", "list", "--json")
	require.NoError(t, json.Unmarshal([]byte(listed), &waiting), listed)
	require.Len(t, waiting.Waiting, 1)
	held, _ := h.did("review", "show", waiting.Waiting[0].ID)
	require.Contains(t, held, "it changed what checks it, so a person decides: check.sh")
	shown, _ := h.did("role", "show", "smith", "--json")
	require.Contains(t, shown, `"hundredths": 25`, "twice 5 earned and 15 lost: "+shown)
	require.Len(t, strings.Split(h.git("worktree", "list"), "\n"), 1)
	require.Empty(t, h.processes())

	out, code = h.did("role", "event", "thing.moved", "--domain", "shop")
	require.Zero(t, code, out)
	out, code = h.worker("--as", "smith")
	require.NotZero(t, code, out)
	require.Contains(t, out, "codex is not installed")
	cancel := regexp.MustCompile(`(?m)^next: the item keeps its recipe: .*cordelia (task cancel [0-9a-f]{8}),`).
		FindStringSubmatch(out)
	require.NotNil(t, cancel, out)
	list, _ = h.did("task", "list", "--json")
	require.Contains(t, list, `"state": "ready"`)
	out, code = h.did(strings.Fields(cancel[1])...)
	require.Zero(t, code, out)
	list, _ = h.did("task", "list", "--json")
	require.NotContains(t, list, `"state": "ready"`, "which ends it")
}
