package hot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory/canonical"
	"cordelia/schemas"
)

func TestParts(t *testing.T) {
	n := newNode(t)
	d := n.write(workerAgent, Patch, `{"active":{"next":["a"],"focus":"f"},"agent":{"working_memory":{"a/b":1,"c":[2]}}}`)
	for section, want := range map[string]string{
		"active":                     `{"active":{"next":["a"],"focus":"f"}}`,
		"/active":                    `{"active":{"next":["a"],"focus":"f"}}`,
		"prefs":                      `{"prefs":{}}`,
		"active/next":                `{"active":{"next":["a"]}}`,
		"/agent/working_memory/a~1b": `{"agent":{"working_memory":{"a/b":1}}}`,
		"/identity":                  `{"identity":{"id":"` + string(workerAgent) + `"}}`,
		"/ephemeral/integrity/genesis": `{"ephemeral":{"integrity":{"genesis":"` + Genesis(workerAgent).String() +
			`"}}}`,
	} {
		part, left, err := d.Part(section, Limit)
		require.NoError(t, err, section)
		require.Empty(t, left)
		require.JSONEq(t, want, string(part), section)
	}
	whole, left, err := d.Part("", Limit)
	require.NoError(t, err)
	require.Empty(t, left)
	all, err := d.JSON()
	require.NoError(t, err)
	require.Equal(t, string(all), string(whole))
	for section, want := range map[string]*schemas.Error{
		"nonsense": schemas.ErrInvalid, "version": schemas.ErrInvalid, "/": schemas.ErrInvalid,
		"/active/none": schemas.ErrNotFound, "/active/next/0": schemas.ErrNotFound, "/prefs/emoji": schemas.ErrNotFound,
	} {
		_, _, err := d.Part(section, Limit)
		require.ErrorIs(t, err, want, section)
	}
}

// What does not fit is left out by name and can be read by that name.
func TestPartsFit(t *testing.T) {
	n := newNode(t)
	big := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	d := n.write(workerAgent, Patch, `{"active":{"notes":`+big(9000)+`,"focus":"f"},"agent":{"working_memory":{"a":`+
		big(8000)+`,"b":`+big(12000)+`,"c":1}}}`)
	before, err := d.JSON()
	require.NoError(t, err)
	for _, limit := range []int{100, 1000, 2500, 10_000, 15_000, 20_000, 25_000, Limit} {
		part, left, err := d.Part("", limit)
		require.NoError(t, err)
		require.LessOrEqual(t, len(part), limit)
		require.Equal(t, limit < len(before), len(left) > 0, "%d: %v", limit, left)
		for _, pointer := range left {
			if !strings.HasPrefix(pointer, "/version") && !strings.HasPrefix(pointer, "/updated_at") {
				_, more, err := d.Part(pointer, Limit)
				require.NoError(t, err, pointer)
				require.Empty(t, more)
			}
		}
	}
	_, left, err := d.Part("", 15_000)
	require.NoError(t, err)
	require.Equal(t, []string{"/agent/working_memory/b", "/active/notes"}, left)
	after, err := d.JSON()
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the context was changed")

	many := map[string]any{}
	for i := range 5000 {
		many[fmt.Sprint(i)] = "x"
	}
	d.Context = map[string]any{"agent": map[string]any{"working_memory": many, "task": "t"}}
	part, left, err := d.Part("", 10_000)
	require.NoError(t, err)
	require.Equal(t, []string{"/agent/working_memory"}, left)
	require.Equal(t, `{"agent":{"task":"t"}}`, string(part))
}

// JSON is the whole context as canonical JSON.
func (d Doc) JSON() ([]byte, error) { return canonical.Of(d.Context) }
