package ops

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory/archive"
)

func (h *house) exported(c Caller, r ExportRequest) string {
	h.t.Helper()
	var out bytes.Buffer
	r.Format = archive.JSONL
	_, err := h.node.Export(h.t.Context(), c, r, &out)
	require.NoError(h.t, err)
	return out.String()
}

func (h *house) imported(c Caller, text string, r ImportRequest) archive.Imported {
	h.t.Helper()
	r.Files = []archive.Input{archive.InputOf("file", strings.NewReader(text))}
	done, err := h.node.Import(h.t.Context(), c, r)
	require.NoError(h.t, err)
	return done
}

// A context is replaced on demand alone, whoever signed it.
func TestImportReplacesAContextOnDemandAlone_INV_IMPORT(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_write_hot", map[string]any{"operation": "patch",
		"data": map[string]any{"active": map[string]any{"focus": "nests"}}})
	signed := h.exported(h.lead, ExportRequest{})
	edited := strings.Replace(signed, "nests", "eggs", 1)
	focus := func() string {
		return string(mustJSON(h.must(h.lead, "memory_read_hot", map[string]any{})))
	}
	require.Equal(t, archive.ContextSame, h.imported(h.lead, signed, ImportRequest{}).Context)
	require.Equal(t, archive.ContextKept, h.imported(h.lead, edited, ImportRequest{}).Context)
	require.Contains(t, focus(), "nests")
	h.must(h.lead, "memory_write_hot", map[string]any{"operation": "patch",
		"data": map[string]any{"active": map[string]any{"focus": "cliffs"}}})
	require.Equal(t, archive.ContextKept, h.imported(h.lead, signed, ImportRequest{}).Context, "signed or not")
	require.Contains(t, focus(), "cliffs")
	require.Equal(t, archive.ContextReplaced, h.imported(h.lead, signed, ImportRequest{ReplaceContext: true}).Context)
	require.Contains(t, focus(), "nests")
}

// What the node signed for an agent comes back as it was, what the person signed too, until
// the person's key is given up as compromised.
func TestSignedExportsComeBackAsTheyWere(t *testing.T) {
	h := newHouse(t)
	w := h.worker("w")
	id := h.must(w, "memory_write_warm", note("Gannets dive from thirty metres"))["id"]
	own := h.exported(w, ExportRequest{})
	byPerson := h.exported(h.person(), ExportRequest{Of: w.Entity})
	source := func() any {
		item := h.must(h.person(), "memory_read_warm",
			map[string]any{"ids": []any{id}})["items"].([]any)[0].(map[string]any)
		return item["provenance"].(map[string]any)["source"]
	}
	forget := func() { h.sql(`UPDATE items SET id = 'gone-' || n, current = 0 WHERE id = ?`, id) }
	for _, text := range []string{own, byPerson} {
		forget()
		done := h.imported(w, text, ImportRequest{})
		require.Equal(t, []int{1, 0}, []int{done.New, done.External})
		require.Equal(t, "agent", source())
	}
	ring := h.node.Keyring(nil)
	defer ring.Close()
	_, err := h.node.Person(t.Context(), ring, "test")
	require.NoError(t, err)
	_, err = h.node.RotateKey(t.Context(), h.person().Principal, ring, "ann", "compromised")
	require.NoError(t, err)
	forget()
	require.Equal(t, 1, h.imported(w, byPerson, ImportRequest{}).External)
	require.Equal(t, "external", source())
}
