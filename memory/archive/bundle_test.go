package archive

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A line that is too long is refused alone, and named; what stands behind it is read.
func TestALongLineIsRefusedAlone(t *testing.T) {
	long := strings.Repeat("x", maxRecord+1)
	entity := func(name string) string { return `{"type":"entity","name":"` + name + `"}` }
	turn := func(text string) string {
		return `{"type":"user","sessionId":"` + text + `","message":{"content":"` + text + `"}}`
	}
	header := strings.SplitN(exportOf(), "\n", 2)[0]
	item := func(id string) string {
		return strings.Split(exportOf(foreignItem(schemas.ItemID(id), "It is "+id, ada)), "\n")[1]
	}
	for name, lines := range map[string][]string{
		"an export":         {header, item("one"), long, item("two"), item("three")},
		"the memory server": {entity("one"), entity("two"), long, entity("three")},
		"a transcript":      {turn("one"), turn("two"), `{"type":"user","x":"` + long + `"}`, turn("three")},
		"plain turns":       {"User: one", "Assistant: two", long, "User: three"},
		"Markdown":          {"# A", "one", long, "# B", "two", "# C", "three"},
	} {
		for _, end := range []string{"", "\n"} {
			b, err := ReadBundle(InputOf("f", strings.NewReader(strings.Join(lines, "\n")+end)))
			require.NoError(t, err, name)
			require.Len(t, b.items, 3, name)
			require.Equal(t, refusals{{Why: "the line is longer than 4194304 bytes", Count: 1,
				Where: []string{"f:3"}}}, b.refused, name)
		}
		b, err := ReadBundle(InputOf("f", strings.NewReader(strings.Join(lines, "\n")+"\n"+long)))
		require.NoError(t, err, name)
		require.Len(t, b.items, 3, name)
		require.Len(t, b.refused, 1, name)
		require.Equal(t, 2, b.refused[0].Count, name)

		begin := strings.Join(lines[:2], "\n") + "\n"
		broken := io.MultiReader(strings.NewReader(strings.Repeat(begin, 64<<10/len(begin))),
			iotest.ErrReader(errors.New("the disk is gone")))
		_, err = ReadBundle(InputOf("f", broken))
		require.ErrorContains(t, err, "the disk is gone", name)
	}
	for _, fits := range []string{"\n", ""} {
		said, b := contents(t, "f", "# A\n"+strings.Repeat("x", maxRecord-1)+"y"+fits)
		require.True(t, strings.HasSuffix(said[len(said)-1], "xy"))
		require.Empty(t, b.refused)
	}
}

// An entity of the memory server says what it observed and how it relates to others, in their
// order; a relation from a name that is no entity makes one.
func TestTheMemoryServersFileIsImportedByEntities(t *testing.T) {
	b, err := ReadBundle(InputOf("m", strings.NewReader(strings.Join([]string{
		`{"type":"relation","from":"Importer","to":"Ada","relationType":"needs"}`,
		`{"type":"entity","name":"Ada","entityType":"person","observations":[" Likes jitter "]}`,
		`{"type":"relation","from":"Ada","to":"Importer","relationType":"maintains"}`,
		`{"type":"relation","from":"Importer","to":"Go","relationType":"uses"}`,
	}, "\n"))))
	require.NoError(t, err)
	require.Empty(t, b.refused)
	require.Len(t, b.items, 2)
	require.JSONEq(t, `{"type":"person","name":"Ada","summary":"Likes jitter\nAda maintains Importer",
		"details":{"relations":[{"type":"maintains","to":"Importer"}]}}`, string(b.items[0].value.Data))
	require.JSONEq(t, `{"type":"concept","name":"Importer","summary":"Importer needs Ada\nImporter uses Go",
		"details":{"relations":[{"type":"needs","to":"Ada"},{"type":"uses","to":"Go"}]}}`,
		string(b.items[1].value.Data))
	require.Equal(t, []string{"m:2", "m:1"}, []string{b.items[0].where, b.items[1].where})
}
