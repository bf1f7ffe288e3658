package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/memory/archive"
	"cordelia/schemas"
	"cordelia/trust"
)

// trusted is a house with a worker under the lead, and an agent beside the lead,
// all members of the lead's group team.
func trusted(t *testing.T) (h *house, w, rival Caller) {
	h = newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	caps := map[string]any{
		"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"team"},
			"visibility": []string{"group", "public"}},
		"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"team"},
			"visibility": []string{"group"}},
		"tools": []string{"trust_assess", "trust_score", "memory_write_warm", "memory_read_warm",
			"memory_delete_warm", "memory_read_hot"}, "autonomous": true,
	}
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "w", "name": "w",
		"groups": []string{"team"}, "capabilities": caps})
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "autonomous", "display_name": "rival",
		"name": "rival", "capabilities": caps})
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "team", "entity": "w", "role": "member"})
	h.must(h.person(), "memory_group", map[string]any{"action": "add", "group": "team", "entity": "rival",
		"role": "member"})
	h.node.Store.Write(t.Context(), func(tx *store.Tx) error { //nolint:errcheck // seen below
		_, err := tx.Exec(`UPDATE entities SET grants = '{"groups":["team"]}' WHERE name = 'rival'`)
		return err
	})
	return h, h.caller("w"), h.caller("rival")
}

func (h *house) wrote(c Caller, text string) string {
	h.t.Helper()
	return h.must(c, "memory_write_warm", with(note(text), map[string]any{"group": "team"}))["id"].(string)
}

func TestVerdictsMoveScores(t *testing.T) {
	h, w, rival := trusted(t)
	id := h.wrote(w, "the parser is LL(1)")
	assess := func(c Caller, more map[string]any) map[string]any {
		h.t.Helper()
		return h.must(c, "trust_assess", with(map[string]any{"id": id, "verdict": "right"}, more))
	}
	// A lead's praise of its worker is written down, and the user told how to say it.
	out := assess(h.lead, nil)
	require.Equal(t, false, out["counted"])
	require.Contains(t, out["note"], "cordelia trust assess "+schemas.ShortID(id)+" right")
	require.Equal(t, 0.6, out["accuracy"])
	// A stranger's counts, without showing what it came to.
	peer := map[string]any{"agent_id": string(w.Entity), "counted": true,
		"note": "an agent's own judgement weighs at most 0.25 of the user's, and moves no tier"}
	require.Equal(t, peer, assess(rival, nil))
	out = assess(h.person(), nil)
	require.Equal(t, []any{1.0, true, "medium"}, []any{out["weight"], out["counted"], out["tier"]})
	require.Equal(t, true, assess(h.person(), nil)["repeated"])
	peer["note"] = "all you relay about this agent weighs at most 0.5 of the user's own words; " + relayedMovesNone
	require.Equal(t, peer, assess(rival, map[string]any{"relayed": true}),
		"that it is outranked shows what others said")

	own := h.must(w, "trust_score", map[string]any{})
	require.Equal(t, []any{4.0 / 6, 1.0, 1.0, "medium", "ann", 1.0},
		[]any{own["accuracy"], own["observations"], own["accuracy_raw"], own["tier"], own["observer_entity_id"],
			own["confirmed"]})
	require.Equal(t, own, h.must(h.lead, "trust_score", map[string]any{"agent": "w"}))
	_, err := h.call(rival, "trust_score", map[string]any{"agent": string(w.Entity)})
	_, absent := h.call(rival, "trust_score", map[string]any{"agent": "nobody"})
	require.ErrorIs(t, err, schemas.ErrDenied, "it may name this agent")
	require.ErrorIs(t, absent, schemas.ErrNotFound)
	v, err := h.node.VerifyTrust(t.Context(), h.person().Principal)
	require.NoError(t, err)
	require.Equal(t, 3, v.Scores)
	_, err = h.node.VerifyTrust(t.Context(), h.lead.Principal)
	require.ErrorIs(t, err, schemas.ErrDenied)
}

func TestAssessingIsDoneInPerson(t *testing.T) {
	h, w, _ := trusted(t)
	id := h.wrote(w, "the parser is LL(1)")
	_, err := h.call(h.lead, "trust_assess", map[string]any{"id": id, "verdict": "right", "as": "w"})
	require.ErrorIs(t, err, schemas.ErrInvalid, "there is no such argument")
	_, err = Find("trust_assess").run(t.Context(), &Call{Node: h.node.Node, on: h.node, Op: Find("trust_assess"),
		Caller: h.lead,
		As:     "w"}, mustJSON(map[string]any{"id": id, "verdict": "right"}))
	require.ErrorIs(t, err, schemas.ErrDenied)
}

// There are no verdicts about what the assessor cannot see: hidden and absent
// read the same, as the item and as its basis.
func TestHiddenItemsCannotBeAssessed(t *testing.T) {
	h, w, rival := trusted(t)
	open := h.wrote(w, "the parser is LL(1)")
	hidden := h.must(w, "memory_write_warm", note("my own secret"))["id"].(string)
	absent := schemas.NewID()
	try := func(more map[string]any) string {
		_, err := h.call(rival, "trust_assess", with(map[string]any{"id": open, "verdict": "wrong"}, more))
		require.ErrorIs(t, err, schemas.ErrNotFound)
		return err.Error()
	}
	same := func(field string) {
		a, b := try(map[string]any{field: hidden}), try(map[string]any{field: absent})
		require.Equal(t, len(a), len(b))
		require.NotContains(t, a, "secret")
	}
	same("id")
	same("basis")
	_, err := h.call(h.person(), "trust_assess", map[string]any{"id": hidden, "verdict": "wrong"})
	require.NoError(t, err, "the person sees it")
}

func TestWhatIsAssessedMustBeClear(t *testing.T) {
	h, w, _ := trusted(t)
	id := h.wrote(w, "the parser is LL(1)")
	for _, args := range []map[string]any{{}, {"id": id}, {"verdict": "right"},
		{"id": id, "verdict": "right", "agent": "w"}, {"agent": "w", "capability": "shell"},
		{"id": id, "verdict": "right", "agent": "w", "capability": "shell", "feedback": "bad"},
		{"agent": "w", "capability": "shell", "feedback": "bad", "relayed": true}} {
		_, err := h.call(h.person(), "trust_assess", args)
		require.ErrorIs(t, err, schemas.ErrInvalid, "%v", args)
	}
	out := h.must(h.person(), "trust_assess", map[string]any{"agent": "w", "capability": "shell", "feedback": "bad"})
	require.Equal(t, map[string]any{"capability": "shell", "hundredths": 15.0, "level": "review", "from": "person 1"},
		out["capability"])
	_, err := h.call(h.lead, "trust_assess", map[string]any{"agent": "w", "capability": "shell", "feedback": "good"})
	require.ErrorIs(t, err, schemas.ErrDenied)
}

// However often a rival imports what another signed, it is one memory, and weighs once.
func TestImportedCopiesAreOneMemory(t *testing.T) {
	h, w, rival := trusted(t)
	id := h.wrote(w, "the parser is LL(1)")
	var out bytes.Buffer
	_, err := h.node.Export(t.Context(), w, ExportRequest{Format: archive.JSONL}, &out)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"kind":"item"`) })
	copied := func(group string, other schemas.ItemID, origin string) string {
		return strings.NewReplacer(`"id":"`+id+`"`, `"id":"`+string(other)+`"`+origin, `"group":"team"`,
			`"group":"`+group+`"`,
			`"provenance":{`, `"provenance":{"signed_id":"`+id+`",`).Replace(lines[at])
	}
	h.must(rival, "trust_assess", map[string]any{"id": id, "verdict": "wrong"})
	once := h.must(h.lead, "trust_score", map[string]any{"agent": "w"})
	for i, origin := range []string{"", `,"origin":"` + string(schemas.NewID()) + `"`} {
		group, other := fmt.Sprintf("own-%d", i), schemas.ItemID(schemas.NewID())
		h.must(h.person(), "agent_capabilities", map[string]any{"agent": "rival", "groups": []string{"team"},
			"capabilities": map[string]any{
				"memory_read":  map[string]any{"groups": []string{"team", "own-*"}},
				"memory_write": map[string]any{"groups": []string{"team", "own-*"}},
				"tools": append([]string{"memory_group"}, "trust_assess", "memory_write_warm",
					"memory_read_warm")}})
		h.must(h.person(), "memory_group", map[string]any{"action": "create", "group": group})
		h.must(h.person(), "memory_group", map[string]any{"action": "add", "group": group, "entity": "rival",
			"role": "member"})
		_, err := h.node.Import(t.Context(), rival,
			ImportRequest{Files: []archive.Input{archive.InputOf("",
				strings.NewReader(lines[0]+"\n"+copied(group, other, origin)+"\n"))}})
		require.NoError(t, err)
		item := h.must(h.person(), "memory_read_warm",
			map[string]any{"ids": []any{other}})["items"].([]any)[0].(map[string]any)
		require.EqualValues(t, w.Entity, item["author"])
		h.must(rival, "trust_assess", map[string]any{"id": other, "verdict": "wrong"})
		require.Equal(t, once, h.must(h.lead, "trust_score", map[string]any{"agent": "w"}))
	}
}

// The answer says the weight, and whether the verdict moved the tier; the score says what
// the tier follows.
func TestAVerdictSaysWhetherItMovedTheTier(t *testing.T) {
	h, w, rival := trusted(t)
	assess := func(c Caller, i int, more map[string]any) TrustAssessOut {
		h.t.Helper()
		id := h.wrote(w, fmt.Sprint("claim number ", i, " is ", i*i))
		var out TrustAssessOut
		require.NoError(t, json.Unmarshal(mustJSON(h.must(c, "trust_assess",
			with(map[string]any{"id": id, "verdict": "wrong"}, more))), &out))
		return out
	}
	first := assess(h.person(), 1, nil)
	require.Contains(t, first.Text(), "counted with weight 1: w stands at 0.50, tier medium, not moved\n")
	h.must(h.person(), "agent_capabilities", map[string]any{"agent": "rival", "groups": []string{"team"}})
	assess(rival, 2, map[string]any{"relayed": true})
	score := h.must(h.lead, "trust_score", map[string]any{"agent": "w"})
	require.InDelta(t, 3.0/6.5, score["accuracy"], 1e-9, "the score is of all evidence")
	require.Equal(t, []any{0.5, "medium", 1.0}, []any{score["tier_mean"], score["tier"], score["confirmed_by_person"]})
	require.Equal(t, "mean 0.50 of 1 verdict of the user's; low below 0.5, high above 0.85; what it wrote comes last "+
		"in searches until the user's own verdicts alone average 0.6", score["tier_why"])
	second := assess(h.person(), 3, nil)
	require.True(t, second.TierMoved)
	require.Contains(t, second.Text(), "counted with weight 1: w stands at 0.40, its tier is now low, so what it "+
		"writes to groups waits")

	list, err := h.node.RelayedVerdicts(t.Context(), h.person())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []any{"rival", "w", trust.Wrong, 0.5},
		[]any{list[0].Relayer, list[0].Agent, list[0].Verdict, list[0].Weight})
	require.Contains(t, list[0].Name, "claim number 2")
	_, err = h.node.RelayedVerdicts(t.Context(), h.lead)
	require.ErrorIs(t, err, schemas.ErrDenied)
	_, err = h.node.DecideRelayed(t.Context(), h.person(), []int64{list[0].Number, 999}, false)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	done, err := h.node.DecideRelayed(t.Context(), h.person(), []int64{list[0].Number}, false)
	require.NoError(t, err, "one that is not there leaves the others undecided")
	require.Equal(t, []RelayedDecision{{Number: list[0].Number, Agent: "rival", Accuracy: 0.5, Tier: schemas.Medium}},
		done)
	_, err = h.node.VerifyTrust(t.Context(), h.person().Principal)
	require.NoError(t, err)
}

// The published schema of a trust score is that of the answer.
func TestTheScoresSchemaIsTheAnswers(t *testing.T) {
	h, w, _ := trusted(t)
	text, err := schemas.Schema("trust")
	require.NoError(t, err)
	var published struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	require.NoError(t, json.Unmarshal(text, &published))
	var all, required []string
	for f := range reflect.TypeFor[TrustScoreOut]().Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
		if options == "" {
			required = append(required, name)
		}
	}
	require.ElementsMatch(t, all, slices.Collect(maps.Keys(published.Properties)))
	require.ElementsMatch(t, required, published.Required)

	h.must(h.person(), "trust_assess", map[string]any{"agent": "w", "capability": "shell", "feedback": "bad"})
	h.must(h.person(), "trust_assess", map[string]any{"id": h.wrote(w, "the parser is LL(1)"), "verdict": "wrong"})
	compiler := jsonschema.NewCompiler()
	var document any
	require.NoError(t, json.Unmarshal(text, &document))
	require.NoError(t, compiler.AddResource(schemas.SchemaURN("trust"), document))
	schema, err := compiler.Compile(schemas.SchemaURN("trust"))
	require.NoError(t, err)
	for _, agent := range []string{"w", "rival"} {
		var answer any = h.must(h.person(), "trust_score", map[string]any{"agent": agent})
		require.NoError(t, schema.Validate(answer), agent)
	}
}

// A registered agent starts where its registrar stands, at most at 0.6.
func TestRegisteringHandsNoTrustOn(t *testing.T) {
	h := newHouse(t)
	require.Equal(t, 0.6, h.must(h.lead, "trust_score", map[string]any{})["accuracy"])
	for i := range 4 {
		id := h.must(h.lead, "memory_write_warm", note(fmt.Sprint("claim number ", i, " is ", i*i)))["id"]
		h.must(h.person(), "trust_assess", map[string]any{"id": id, "verdict": "wrong"})
	}
	h.worker("late")
	require.InDelta(t, 3.0/9, h.must(h.lead, "trust_score", map[string]any{"agent": "late"})["accuracy"], 0.001)
	_, err := h.node.VerifyTrust(t.Context(), h.person().Principal)
	require.NoError(t, err)
}

// What an agent predicts the node finds out by itself, below the folders the
// operator names, and tells nobody what it read.
func TestTheNodeResolvesPredictions_INV_FORESIGHT(t *testing.T) {
	h, w, _ := trusted(t)
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	predict := func(content string, check map[string]any) string {
		due := h.clock.Now().Add(2 * time.Hour).Format(time.RFC3339)
		return h.must(w, "memory_write_warm", map[string]any{"type": "learning",
			"data": map[string]any{"type": "insight", "content": content,
				"prediction": map[string]any{"due": due, "check": check}}})["id"].(string)
	}
	score := func() map[string]any { return h.must(h.lead, "trust_score", map[string]any{"agent": "w"}) }
	checked := func() { require.NoError(t, h.node.CheckPredictions(t.Context())) }
	write("version", "v1.9 topsecret")
	write("state.json", `{"done": false}`)
	predict("v2 will be out", map[string]any{"kind": "regex", "path": "version", "pattern": `^v2\.`})
	predict("it will be done", map[string]any{"kind": "json_path", "path": "state.json", "json_path": "$.done",
		"equals": true})
	predict("it will still say v1", map[string]any{"kind": "regex", "path": "version", "pattern": "^v1"})
	checked()
	require.Contains(t, score()["note"], "check_roots", "without a folder nothing is looked at")
	require.NoError(t, h.node.Close())
	h.open(h.node.Home, root)
	h.clock.advance(61 * time.Minute)
	checked()
	require.Equal(t, 2.0, score()["open_predictions"], "what holds already is none")
	write("version", "v2.0 topsecret")
	checked()
	require.Equal(t, 0.0, score()["observations"], "not before it is due")
	h.clock.advance(time.Hour)
	checked()
	checked()
	s := score()
	require.Equal(t, []any{2.0, 2.0, 0.5}, []any{s["observations"], s["confirmed"], s["accuracy_raw"]})
	require.NotContains(t, s, "open_predictions")
	require.NoError(t, h.node.Store.Read(t.Context(), func(tx *store.Tx) error {
		var told int
		if err := tx.QueryRow(
			`SELECT (SELECT count(*) FROM events WHERE payload LIKE '%topsecret%') + (SELECT count(*)
				FROM audit_details WHERE detail LIKE '%topsecret%')`).Scan(&told); err != nil {
			return err
		}
		require.Zero(t, told)
		_, err := trust.Verify(tx)
		return err
	}))
	_, err := h.call(w, "memory_write_warm", map[string]any{"type": "learning",
		"data": map[string]any{"type": "insight", "content": "x",
			"prediction": map[string]any{"due": "2027-01-01",
				"check": map[string]any{"kind": "file", "path": "../../etc/passwd"}}}})
	require.ErrorContains(t, err, "/data/prediction/check/path")
}
