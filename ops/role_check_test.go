package ops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

const workshop = `
workspace: workshop
owner: ann
operators:
  mend:
    triggers: {mend: thing.broke}
    does:
      intent: mend it
      criteria: ["` + "`make test`" + ` exits 0", {criterion: it is clean, command: make lint}, it reads well]
      client: codex
      model: small
      tools: [bash]
roles:
  - {role_id: smith, soul: You mend., domains: [shop], operator_ids: [mend], authority: {autonomous: [mend]}}
`

// Whether a role's work is done that names commands is decided by the node's own run of them,
// never by who reports it: unproven it waits for a person, disproven it is not taken.
func TestCommandsDecide_INV_WORK_CHECKED(t *testing.T) {
	f := newFirm(t, workshop)
	smith := f.Caller("smith")
	claim := func() map[string]any {
		f.send(f.person, map[string]any{"type": "thing.broke", "domain": "shop"})
		return f.Must(smith, "task_claim", map[string]any{})["work"].(map[string]any)
	}
	ran := func(w map[string]any, exits ...int) {
		r := work.Run{WorkID: w["work_id"].(string), Fence: int64(w["fence"].(float64)), Client: "code",
			Outcome: work.RunAnswered, Records: true}
		for i, exit := range exits {
			r.Calls = append(r.Calls, work.RecordedCall{Evidence: schemas.NewEvidence("bash",
				[]string{"make test", "make lint"}[i], exit, "")})
		}
		require.NoError(t, f.Node.Routine(t.Context(), "task_record", func(g access.Grant) error {
			return work.Record(g, r)
		}))
	}
	done := func(w map[string]any) (any, error) {
		out, err := f.Call(smith, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"],
			"outcome": "done", "evidence": []any{map[string]any{"tool": "bash", "input": "make test", "exit": 0}}})
		return out["state"], err
	}
	trusted := func() int {
		f.settle()
		return f.Number(`SELECT coalesce(max(hundredths), 30) FROM capability_trust WHERE capability = 'mend'`)
	}

	w := claim()
	brief := w["brief"].(map[string]any)
	require.Equal(t, []any{"`make test` exits 0", "it is clean: `make lint` exits 0", "it reads well"}, brief["criteria"])
	require.Equal(t, map[string]any{"client": "codex", "model": "small", "tools": []any{"bash"},
		"checks": []any{"make test", "make lint"}}, brief["means"])
	state, err := done(w)
	require.NoError(t, err)
	require.Equal(t, "held", state, "nobody but who did it says so")
	require.Equal(t, 30, trusted())

	w = claim()
	ran(w, 0)
	state, err = done(w)
	require.NoError(t, err)
	require.Equal(t, "held", state, "one command was not run")

	w = claim()
	ran(w, 0, 2)
	_, err = done(w)
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.ErrorContains(t, err, "make lint on the result, and it exited 2")
	ran(w, 0, 0)
	state, err = done(w)
	require.NoError(t, err)
	require.Equal(t, "done", state, "the newest run counts")
	require.Equal(t, 35, trusted(), "what the node showed is good work")
}

// A recipe of which the pipeline would take no task is refused when its file is applied; one that is there from
// before leads to an escalation, with the reason, whether a person sends the event or a schedule.
func TestARecipeIsCheckedAsATask(t *testing.T) {
	const file = `
workspace: plans
owner: ann
operators:
  plan:
    triggers: {plan: plan.came}
    does: {kind: task, intent: plan it}
roles:
  - role_id: planner
    soul: You plan.
    domains: [plans]
    operator_ids: [plan]
    authority: {autonomous: [plan]}
    every: [{every: 1h, type: plan.came}]
`
	does := func(more string) string { return strings.Replace(file, "intent: plan it", "intent: plan it, "+more, 1) }
	f := newFirm(t, file)
	for more, says := range map[string]string{
		"budget: 31d":         "/operators/plan/does/budget: must be at most 2592000 seconds",
		"tools: [bash, Bash]": `/operators/plan/does/tools: "Bash" names the same tool as "bash"`,
		`tools: ["a b"]`:      `/operators/plan/does/tools: "a b" is no name`,
	} {
		_, err := f.tryApply(does(more))
		require.ErrorIs(t, err, schemas.ErrInvalid)
		require.ErrorContains(t, err, says)
	}
	f.apply(does("budget: 30d, tools: [bash]"))
	event := map[string]any{"type": "plan.came", "domain": "plans"}
	require.NotEmpty(t, f.send(f.person, event)["task_id"])

	f.SQL(`UPDATE workspaces SET spec = replace(spec, '30d', '31d'), version = version + 1`)
	d := f.send(f.person, event)
	require.Equal(t, "escalate", d["action"])
	require.Contains(t, d["reason"], "no task is made of it: the task was not submitted")
	f.Clock.Move(61 * time.Minute)
	f.settle()
	require.Equal(t, 0, f.Number(`SELECT count(*) FROM role_decisions d WHERE d.action = 'delegate'
		AND NOT EXISTS (SELECT 1 FROM role_episodes p WHERE p.decision = d.n)`))
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM role_events WHERE source = 'schedule'`))
	f.waitingFor(f.person, "plan.came escalated: recipe")
}
