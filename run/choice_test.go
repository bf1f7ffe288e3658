//go:build unix

package run

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first client that can be used fills a seat. One that cannot is passed over, once and
// for all; what another fault means is not the next client's to mend.
func TestTheFirstClientThatCanBeUsed(t *testing.T) {
	good := says{text: `{"verdict":"pass","output":1}`}
	unpaid, no := serveAPI(t, Chat, says{status: 401})
	server, yes := serveAPI(t, Chat, good, says{status: 429, header: map[string]string{"Retry-After": "7200"}})
	no.APIConfig.Name, yes.APIConfig.Name = "first", "second"
	c := &Choice{Clients: []Client{Absent{Client: "codex", Why: "it is not installed"}, no, yes,
		Absent{Client: "last"}}}
	require.Equal(t, "codex", c.Name())
	require.Equal(t, []string{"codex", "first", "second", "last"}, c.Names())
	ask := func() ([]Event, error) {
		var passed []Event
		_, err := c.Ask(t.Context(), Order{Prompt: "x", Schema: json.RawMessage(verdict), Model: "of the first"},
			func(e Event) {
				if e.Kind == Passed {
					passed = append(passed, e)
				}
			})
		return passed, err
	}
	passed, err := ask()
	require.NoError(t, err)
	require.Len(t, passed, 2)
	require.Equal(t, []any{"codex", NoStart, "first", Unpaid}, []any{passed[0].Text, passed[0].Fault.Kind, passed[1].Text,
		passed[1].Fault.Kind})
	require.Equal(t, "second", c.Name())
	require.NotContains(t, server.bodies[0], "of the first")
	passed, err = ask()
	f, ok := errors.AsType[*Fault](err)
	require.True(t, ok)
	require.Equal(t, Limit, f.Kind, "a limit postpones the seat")
	require.Empty(t, passed)
	require.Equal(t, 1, unpaid.asked())

	c = &Choice{Clients: []Client{Absent{Client: "a", Why: "gone"}}}
	_, err = ask()
	require.ErrorContains(t, err, "gone", "the last one's fault is told")
}
