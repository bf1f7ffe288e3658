package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/doctor"
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
	require.Contains(t, seat(replayFault{Kind: "wrong type"}).Detail, "does not fit the schema")
	require.NoError(t, os.WriteFile(filepath.Join(h.home(), "config.json"), []byte(`{"seats": {"client": ["house"],
		"R3": ["house", "claude-code"], "apis": [{"name": "house", "kind": "chat", "model": "m", "key_file": "none"}]}}`),
		0o600))
	out, code := h.did("doctor", "--seats")
	require.Equal(t, 1, code, out)
	require.Regexp(t, `(?m)^problem +seats: house .*cannot be read; nobody can fill R1 R2 R4a R4b$`, out)
	require.Regexp(t, `(?m)^skipped +seats: codex `, out, "which nobody needs")
	out, _ = h.did("doctor", "--json")
	require.NotContains(t, out, "seats: ", "nobody is asked unless that is wanted")
}
