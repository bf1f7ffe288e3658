package events

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

func TestCursorRoundTrip(t *testing.T) {
	var marks []mark
	for i := range maxMarks {
		marks = append(marks, mark{tagOf(Stream(fmt.Sprint("g/", i))), 1<<62 - int64(i)})
	}
	text := encodeCursor("ann", marks)
	require.LessOrEqual(t, len(text), maxCursor)
	got, err := decodeCursor("ann", text)
	require.NoError(t, err)
	require.ElementsMatch(t, marks, got)
}

func TestCursorGolden(t *testing.T) {
	require.Equal(t, "AUmRXg3N1EyXv3isAg", encodeCursor("ann", []mark{{tagOf("g/a"), 300}}),
		"a cursor in a client's hands must stay good")
}

func TestCursorRefusals(t *testing.T) {
	good := encodeCursor("ann", []mark{{tagOf("g/a"), 5}})
	raw, err := base64.RawURLEncoding.DecodeString(good)
	require.NoError(t, err)
	text := func(b ...byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	one := raw[headerSize:]
	for name, c := range map[string]struct{ cursor, because string }{
		"empty":       {"", "not a cursor"},
		"not base64":  {"!!!", "not a cursor"},
		"padded":      {good + "=", "not a cursor"},
		"too long":    {strings.Repeat("A", maxCursor+1), "longer"},
		"version":     {text(append([]byte{2}, raw[1:]...)...), "version"},
		"another's":   {encodeCursor("bob", []mark{{tagOf("g/a"), 5}}), "another agent's"},
		"cut":         {text(raw[:len(raw)-1]...), "damaged"},
		"twice":       {text(append(raw, one...)...), "damaged"},
		"zero":        {text(append(raw[:len(raw)-1:len(raw)-1], 0)...), "damaged"},
		"long number": {text(append(raw[:len(raw)-1:len(raw)-1], 0x85, 0)...), "damaged"},
		"endless number": {text(append(raw[:len(raw)-1:len(raw)-1], []byte(strings.Repeat("\xff", 11))...)...),
			"damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeCursor("ann", c.cursor)
			require.ErrorIs(t, err, schemas.ErrInvalid)
			require.ErrorContains(t, err, c.because)
		})
	}
}

// A forged cursor moves the forger's own places, and not past the head.
func TestForgedCursorStaysWithinTheHead(t *testing.T) {
	f := newFixture(t)
	f.written(GroupStream("g"), "bob", "1")
	f.written(GroupStream("secret"), "bob", "1")
	m := mailbox("ann", "g")
	require.True(t, f.ack(m, encodeCursor("ann", []mark{{tagOf("g/g"), 1 << 40}, {tagOf("g/secret"), 1},
		{tagOf("g/none"), 7}})))
	f.written(GroupStream("g"), "bob", "2")
	require.Equal(t, []string{"2"}, items(f.poll(m, 9)), "the place is the head, not beyond")
	f.read(func(tx *store.Tx) error {
		var others int
		require.NoError(t, tx.QueryRow(`SELECT count(*) FROM cursors WHERE stream <> 'g/g' OR entity_id <> 'ann'`).Scan(
			&others))
		require.Zero(t, others)
		return nil
	})
}

// More streams than fit a cursor: those of the page are in it, the others follow.
func TestCursorOfVeryManyStreams(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann")
	for i := range 2 * maxMarks {
		g := GroupStream(schemas.GroupID(fmt.Sprintf("g%03d", i)))
		m.Streams = append(m.Streams, g)
		f.written(g, "ann", "own")
		if i%2 == 1 {
			f.written(g, "bob", fmt.Sprint(i))
		}
	}
	got := map[string]bool{}
	for range 3 {
		b := f.poll(m, MaxPage)
		for _, id := range items(b) {
			require.False(t, got[id], "%s again", id)
			got[id] = true
		}
		if b.Cursor != "" {
			f.ack(m, b.Cursor)
		}
	}
	require.Len(t, got, maxMarks)
	require.Empty(t, f.poll(m, 1).Events)
}

func FuzzCursor(f *testing.F) {
	f.Add(encodeCursor("ann", nil))
	f.Add(encodeCursor("ann", []mark{{tagOf("g/a"), 5}, {tagOf("e/ann"), 1 << 40}}))
	f.Add(encodeCursor("bob", []mark{{tagOf("g/a"), 5}}))
	f.Add("AZ==")
	f.Fuzz(func(t *testing.T, text string) {
		marks, err := decodeCursor("ann", text)
		if err != nil {
			require.ErrorIs(t, err, schemas.ErrInvalid)
			return
		}
		require.LessOrEqual(t, len(marks), maxMarks)
		for _, m := range marks {
			require.Positive(t, m.seq)
		}
		require.Equal(t, text, encodeCursor("ann", marks), "each cursor has one text")
	})
}
