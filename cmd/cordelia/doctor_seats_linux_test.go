package main

import (
	"cordelia/cmd/cordelia/doctor"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who could fill a seat proves it by one word; one that answers otherwise is a problem.
func TestDoctorTriesTheSeats(t *testing.T) {
	t.Parallel()
	h := newTheater(t, replay{})
	seat := func(faults ...replayFault) doctor.Finding {
		h.script(replay{Faults: faults})
		out, _ := h.did("doctor", "--seats", "--json")
		var report struct{ Checks []doctor.Finding }
		require.NoError(t, json.NewDecoder(strings.NewReader(out)).Decode(&report), out)
		for _, f := range report.Checks {
			if f.Check == "seats: claude-code" {
				return f
			}
		}
		require.Fail(t, "the client was not tried", out)
		return doctor.Finding{}
	}
	f := seat()
	require.Equal(t, doctor.Fine, f.Verdict, f.Detail)
	require.Regexp(t, `said "ready" after .*15 tokens in.*, 5 out.* model claude-opus-5-5, paid by ANTHROPIC_API_KEY`,
		f.Detail)
	f = seat(replayFault{Kind: "prose"})
	require.Equal(t, doctor.Problem, f.Verdict)
	require.Contains(t, f.Detail, "without a structured answer")
	require.Equal(t, doctor.Warning, seat(replayFault{Kind: "limit"}).Verdict)
	require.Contains(t, seat(replayFault{Kind: "wrong type"}).Detail, "none of the schema")
	out, _ := h.did("doctor", "--json")
	require.NotContains(t, out, "seats: ", "nobody is asked unless that is wanted")
}
