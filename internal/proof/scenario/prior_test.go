package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// How new agents start is a setting. Whoever is there keeps the score it has, and every
// score follows from the ledger whatever the settings say by now.
func TestThePriorIsASetting(t *testing.T) {
	n := newNode(t)
	require.NoError(t, os.MkdirAll(n.Home, 0o700))
	set := func(prior string) {
		require.NoError(t, os.WriteFile(filepath.Join(n.Home, "config.json"), []byte(`{"trust":{"prior":`+prior+`}}`),
			0o600))
	}
	run := func(args ...string) (string, string, int) {
		out, errOut, code, err := n.Run(t.Context(), append(args, "--json")...)
		require.NoError(t, err)
		return out, errOut, code
	}
	ok := func(args ...string) (out map[string]any) {
		t.Helper()
		text, errOut, code := run(args...)
		require.Zero(t, code, "%v: %s", args, errOut)
		require.NoError(t, json.Unmarshal([]byte(text), &out))
		return out
	}
	appears := func(name string) string {
		t.Helper()
		ok("trust", "verify")
		s := ok("trust", "show", name)
		return fmt.Sprintf("%.3f %s", s["accuracy"], s["tier"])
	}
	prior := func(name string) (alpha, beta int) {
		t.Helper()
		const query = `SELECT %s FROM assessments WHERE source = 'prior' AND agent = (SELECT id FROM entities
			WHERE name = ?)`
		db := openDB(t, n)
		return count(t, db, fmt.Sprintf(query, "alpha"), name), count(t, db, fmt.Sprintf(query, "beta"), name)
	}
	register := func(name string, more ...string) {
		t.Helper()
		ok(append([]string{"agent", "register", "--type", "swarm-worker", "--name", name}, more...)...)
	}

	set(`{"mean": 0.5, "strength": 4}`)
	lead := open(t, n, "")
	require.Equal(t, "0.500 low", appears("claude-code"))
	register("w")
	require.Equal(t, "0.500 low", appears("w"))
	worker := open(t, n, "w")
	assess := func(text, verdict string) {
		t.Helper()
		a := must(t, worker, "memory_write_warm",
			fmt.Sprintf(`{"type":"learning","data":{"type":"insight","content":%q}}`, text))
		ok("trust", "assess", at[string](t, a, "id"), verdict)
	}
	assess("The first bridge holds nine tons.", "right")
	assess("A second tunnel opens in spring.", "right")
	require.Equal(t, "0.667 medium", appears("w"), "4 of 6")

	// The lead's process read the settings before they were changed.
	set(`{"mean": 0.7, "strength": 10}`)
	must(t, lead, "agent_register", `{"agent_type": "swarm-worker", "display_name": "early", "name": "early"}`)
	register("late")
	register("below", "--as", "claude-code")
	for name, want := range map[string]string{"w": "0.667 medium", "claude-code": "0.500 low", "early": "0.500 low",
		"late": "0.700 medium", "below": "0.500 low"} {
		require.Equal(t, want, appears(name), name)
	}
	for name, want := range map[string][2]int{"w": {2000, 2000}, "early": {2000, 2000}, "late": {7000, 3000},
		"below": {5000, 5000}} {
		alpha, beta := prior(name)
		require.Equal(t, want, [2]int{alpha, beta}, name)
	}
	worker = open(t, n, "w")
	assess("Our third harbour freezes rarely.", "wrong")
	require.Equal(t, "0.571 medium", appears("w"), "4 of 7: from the prior it was given")

	require.NoError(t, os.Remove(filepath.Join(n.Home, "config.json")))
	register("plain")
	require.Equal(t, "0.600 medium", appears("plain"))
	require.Equal(t, "0.571 medium", appears("w"))
	alpha, beta := prior("plain")
	require.Equal(t, []int{3000, 2000}, []int{alpha, beta})

	// What cannot be is refused with what to do, and the doctor says the same.
	for text, want := range map[string]string{
		`{"mean": 60}`:                "a fraction from 0.3 to 0.8",
		`{"mean": 0}`:                 "a fraction from 0.3 to 0.8",
		`{"mean": 0.55555}`:           "at most three decimals",
		`{"mean": "0.6"}`:             "trust/prior/mean must not be a string",
		`{"mean": 1e999}`:             "trust/prior/mean must be a number, and not that large",
		`{"strength": 2.5}`:           "trust/prior/strength must be a whole number",
		`{"strength": 0}`:             "from 1 to 50",
		`{"mean": 0.8,"strength": 1}`: "High",
		`{"meen": 0.6}`:               "did you mean mean?",
		`[0.6, 5]`:                    "trust/prior must not be a list",
	} {
		set(text)
		_, errOut, code := run("agent", "register", "--type", "swarm-worker", "--name", "never")
		require.Equal(t, 2, code, "%s: %s", text, errOut)
		require.Contains(t, errOut, want, text)
		require.Contains(t, errOut, "config.json", text)
		found, _, code := run("doctor")
		require.Equal(t, 1, code, text)
		require.Contains(t, found, "config.json cannot be used", text)
	}
	set(`{"mean": 0.55}`)
	found, _, _ := run("doctor")
	require.NotContains(t, found, "prior")
	require.NotContains(t, found, "config.json cannot")
}
