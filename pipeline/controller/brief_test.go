package controller

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/jsonschema"
	"cordelia/schemas"
	"cordelia/work"
)

// The brief that a claim returns is complete for every role: what to do, inputs,
// criteria, constraints with their sources, what is left of the budget, the date, the
// schema to answer in, and an example that fits it.
func TestBriefsAreComplete(t *testing.T) {
	n := newNode(t)
	n.failTask("ship the release", "make all") // its lesson binds the task below
	n.release(n.naming("make all")[0], true)
	n.submit(lead, Request{Request: "Ship the release", Group: "team", Tools: []string{"bash", "write"},
		Budget: 10 * time.Minute, Replans: 5})
	source := "(memory " + n.naming("make all")[0] + ")"
	for _, tt := range []struct {
		role     schemas.PipelineRole
		who      schemas.EntityID
		does     string
		inputs   []string
		criteria []string
		source   string // of its constraint, "" = nothing binds it
		attempts bool
		answer   func(w work.Claimed) string
	}{
		{schemas.Perceiver, lead, "Perceiver (R1)", []string{"request", "may_ask"}, nil, "", false,
			func(work.Claimed) string { return `{"intent": "ship the release"}` }},
		{schemas.Planner, lead, "Planner (R2)", []string{"intent", "raw_input", "tools"}, nil, source, false,
			func(work.Claimed) string {
				return plan(step("build it", 1, []string{"write"}, "the build ends well"))
			}},
		{schemas.Executor, a, "build it\n\nExecutor (R3)", []string{"tools"},
			[]string{"the build ends well (a call that exits 0 after the last change decides)"}, source, true,
			func(work.Claimed) string { return text(strings.Repeat("z", 60_000)) }},
		{schemas.AgentValidator, b, "Validator (R4a)", []string{"intent", "raw_input", "criteria", "output",
			"tool_calls"}, []string{"the build ends well"}, "", true,
			func(w work.Claimed) string { return judgement(w, nil) }},
		{schemas.MetaValidator, c, "Meta-validator (R4b)", []string{"criteria", "outputs", "raw_input", "tool_calls"},
			[]string{"it is whole"}, source, false,
			func(w work.Claimed) string { return merging(w, nil) }},
	} {
		t.Run(string(tt.role), func(t *testing.T) {
			w := n.claim(tt.who, tt.role)
			defer n.Clock.Move(time.Minute)
			in := inputs(n, w)
			require.Contains(t, w.Intent, tt.does)
			for _, name := range tt.inputs {
				require.NotEmpty(t, in[name], name)
			}
			require.Equal(t, tt.criteria, append([]string(nil), w.Brief.Criteria...))
			if tt.source == "" {
				require.Empty(t, w.Brief.Constraints)
			} else {
				require.Contains(t, strings.Join(w.Brief.Constraints, "\n"), tt.source)
			}
			budget := in["budget"].(map[string]any)
			require.EqualValues(t, 5, budget["rounds_left"])
			require.InDelta(t, 600, budget["seconds_left"], 300)
			require.Contains(t, budget, "used")
			end, err := time.Parse(time.RFC3339, budget["answer_by"].(string))
			require.NoError(t, err)
			require.WithinRange(t, end, n.Clock.Now(), n.Clock.Now().Add(DefaultSettings().Patience))
			if tt.attempts {
				require.EqualValues(t, 1, in["attempt"])
				require.EqualValues(t, DefaultSettings().Retries, in["attempts_left"])
			}
			require.Equal(t, n.Clock.Now().UTC().Format("Monday, 2006-01-02"), w.Today)
			fits(t, w.Brief, in["example"])
			if tt.role == schemas.Executor {
				evidence := in["example"].(map[string]any)["evidence"].([]any)
				require.Equal(t, "write", evidence[0].(map[string]any)["tool"], "one of its tools")
			}
			for _, short := range []string{`"budget"`, `"example"`} { // a client that cuts what is long cuts the end
				require.Less(t, strings.Index(string(w.Brief.Inputs), short), 1500)
			}
			f, err := n.tryReport(tt.who, w, work.Done, tt.answer(w), ran("write"))
			require.NoError(t, err)
			require.NoError(t, f.Refusal())
		})
	}
}

// fits checks an example against the schema that goes with it.
func fits(t *testing.T, b work.Brief, example any) {
	t.Helper()
	raw := b.AnswerSchema
	if raw == nil {
		raw = b.ReportSchema
	}
	compiled, err := jsonschema.Compile(map[string][]byte{"answer": raw})
	require.NoError(t, err)
	s := compiled["answer"]
	require.NotEmpty(t, example)
	bad, err := s.Check(example)
	require.NoError(t, err)
	require.Empty(t, bad)
	other, err := json.Marshal(map[string]any{"outcome": "perhaps"})
	require.NoError(t, err)
	bad, err = s.CheckText(other)
	require.NoError(t, err)
	require.NotEmpty(t, bad, "it refuses something")
}
