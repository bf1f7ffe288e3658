package ops

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// away is a house whose lead owns the group lab and has two autonomous agents
// there, rover and scout.
type away struct {
	*house
	rover, scout Caller
	count        int64
	chain        string
}

func newAway(t *testing.T) *away {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "lab"})
	for _, name := range []string{"rover", "scout"} {
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "autonomous", "display_name": name, "name": name,
			"groups": []string{"lab"}, "capabilities": map[string]any{
				"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"lab"},
					"visibility": []string{"group", "public"}},
				"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"lab"},
					"visibility": []string{"group"}},
				"tools": []string{"reintegrate", "review_list", "review_decide", "memory_session", "memory_search",
					"memory_read_warm", "memory_write_warm",
					"memory_delete_warm", "memory_share", "memory_group", "events_poll"},
				"autonomous": true, "max_delegation_depth": 0, "ttl_seconds": 86400 * 365,
			}})
	}
	a := &away{house: h, rover: h.caller("rover"), scout: h.caller("scout")}
	a.session()
	return a
}

// session ends a session of the rover, so that its chain moves.
func (a *away) session() {
	a.t.Helper()
	a.must(a.rover, "memory_session", map[string]any{"action": "start", "session_id": "s"})
	out := a.must(a.rover, "memory_session", map[string]any{"action": "end", "session_id": "s", "summary": "done"})
	a.count, a.chain = int64(out["session_count"].(float64)), out["chain_hash"].(string)
}

// but is args with some of them otherwise.
func but(args, more map[string]any) map[string]any { return with(maps.Clone(args), more) }

func found(text string, more ...map[string]any) map[string]any {
	m := map[string]any{"type": "learning", "group": "lab", "data": map[string]any{"type": "insight", "content": text}}
	for _, one := range more {
		m = but(m, one)
	}
	return m
}

// claim is what the rover hands in, with a chain that is the node's.
func (a *away) claim(memories ...map[string]any) map[string]any {
	in := map[string]any{"action": "submit", "session_count": a.count, "chain_hash": a.chain}
	if len(memories) > 0 {
		in["memories"] = memories
	}
	return in
}

// brings hands in and gives what waits for whom, by its text.
func (a *away) brings(memories ...map[string]any) map[string]any {
	a.t.Helper()
	return a.must(a.rover, "reintegrate", a.claim(memories...))
}

// waiting is what c has to decide, in order, with the hash that looking at it whole
// gives.
func (a *away) waiting(c Caller) (out []map[string]any) {
	a.t.Helper()
	for _, e := range a.must(c, "review_list", map[string]any{})["waiting"].([]any) {
		e := e.(map[string]any)
		if e["hash"] == nil {
			e["hash"] = a.must(c, "review_list",
				map[string]any{"ids": []any{e["id"]}})["waiting"].([]any)[0].(map[string]any)["hash"]
		}
		out = append(out, e)
	}
	return out
}

func approve(e map[string]any) map[string]any {
	return map[string]any{"id": e["id"], "decision": "approve", "hash": e["hash"]}
}

func reject(e map[string]any) map[string]any {
	return map[string]any{"id": e["id"], "decision": "reject"}
}

func decisions(list ...map[string]any) map[string]any { return map[string]any{"decisions": list} }

// sql changes the database behind the node's back.
func (h *house) sql(query string, args ...any) {
	h.t.Helper()
	require.NoError(h.t, h.node.Store.Write(h.t.Context(), func(tx *store.Tx) error {
		if err := tx.Act(store.AnyOwner); err != nil {
			return err
		}
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// one reads one value.
func (h *house) one(query string, args ...any) (v string) {
	h.t.Helper()
	require.NoError(h.t, h.node.Store.Read(h.t.Context(),
		func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&v) }))
	return v
}

// What an agent brings back is seen by its parent and by itself, found by nobody,
// and reaches its group with the decision, under its author's name.
func TestReturnIsStagedAndReviewed_INV_STAGED(t *testing.T) {
	a := newAway(t)
	out := a.brings(found("The harbour freezes in January"), found("The mill burned down"))
	require.Equal(t, "match", out["divergence"])
	require.Len(t, out["reviews"], 2)
	require.Equal(t, a.chain, out["chain_hash"])
	require.NotEmpty(t, out["context"])
	staging := out["staging"].(string)
	require.True(t, strings.HasPrefix(staging, "staging-"+string(a.rover.Entity)+"-"), staging)
	require.LessOrEqual(t, len(staging), 128)

	list := a.waiting(a.lead)
	require.Len(t, list, 2)
	require.Equal(t, []any{"rover", "lab", "medium", "match", "agent", "new"},
		[]any{list[0]["author"], list[0]["group"], list[0]["tier"], list[0]["divergence"], list[0]["source"],
			list[0]["status"]})
	require.Equal(t, []any{map[string]any{"op": "+", "text": "content: The harbour freezes in January"},
		map[string]any{"op": "+", "text": "type: insight"}}, list[0]["diff"].([]any)[:2])
	require.Empty(t, a.waiting(a.rover), "nobody is asked about its own")
	require.Empty(t, a.waiting(a.scout))
	require.Len(t, a.waiting(a.person()), 2)

	whole := a.must(a.lead, "review_list",
		map[string]any{"ids": []any{list[0]["id"]}})["waiting"].([]any)[0].(map[string]any)
	staged := whole["item"].(map[string]any)["id"].(string)
	require.Equal(t, "quarantined", whole["item"].(map[string]any)["state"])
	for _, c := range []Caller{a.lead, a.rover, a.scout, a.person()} {
		searched := a.must(c, "memory_search", map[string]any{"query": "harbour freezes"})
		require.Empty(t, searched["results"])
		require.Nil(t, searched["hidden"], "what waits for review is not called quarantined")
	}
	a.must(a.lead, "memory_read_warm", map[string]any{"ids": []string{staged}})
	a.must(a.rover, "memory_read_warm", map[string]any{"ids": []string{staged}})
	for who, c := range map[string]Caller{"beside": a.scout, "author": a.rover, "parent": a.lead} {
		for tool, args := range map[string]map[string]any{
			"memory_share": {"id": staged, "group": "lab"},
			"memory_write_warm": {"id": staged, "if_version": 1, "type": "learning",
				"data": map[string]any{"type": "insight", "content": "other"}},
			"memory_delete_warm": {"id": staged, "mode": "purge"},
		} {
			_, err := a.call(c, tool, args)
			require.Error(t, err, "%s %s", who, tool)
		}
		_, err := a.call(c, "memory_write_warm", but(note("slipped in"), map[string]any{"group": staging}))
		require.Error(t, err, who)
		_, err = a.call(c, "memory_group", map[string]any{"action": "add", "group": staging, "entity": "scout"})
		require.Error(t, err, who)
	}

	got := a.must(a.lead, "review_decide", decisions(approve(list[0])))
	copyID := got["decided"].([]any)[0].(map[string]any)["item"].(string)
	require.Nil(t, got["closed"])
	hits := a.must(a.scout, "memory_search", map[string]any{"query": "harbour freezes"})["results"].([]any)
	require.Len(t, hits, 1)
	item := a.must(a.scout, "memory_read_warm",
		map[string]any{"ids": []string{copyID}})["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{string(a.rover.Entity), string(a.lead.Entity), staged, "current"},
		[]any{item["author"], item["owner"], item["origin"], item["state"]})

	got = a.must(a.lead, "review_decide", decisions(reject(list[1])))
	require.Equal(t, []any{staging}, got["closed"])
	require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE data LIKE '%mill burned%'`),
		"what was rejected is gone")
	require.NotEqual(t, "0", a.one(`SELECT archived_at FROM groups WHERE id = ?`, staging))
	require.Equal(t, "0", a.one(`SELECT count(*) FROM members WHERE group_id = ?`, staging))
	require.Empty(t, a.waiting(a.lead))
	heard := fmt.Sprint(a.must(a.rover, "events_poll", map[string]any{})["events"])
	require.Contains(t, heard, "review.closed")
	require.Contains(t, heard, "approved:1")
	require.Contains(t, fmt.Sprint(a.must(a.lead, "events_poll", map[string]any{})["events"]), "review.requested")
	_, err := a.call(a.lead, "review_decide", decisions(approve(list[0])))
	require.Error(t, err, "it is decided")
}

func TestDivergenceIsTold(t *testing.T) {
	a := newAway(t)
	a.session()
	hand := func(count int64, chain string, memories ...map[string]any) map[string]any {
		in := a.claim(memories...)
		in["session_count"], in["chain_hash"] = count, chain
		return a.must(a.rover, "reintegrate", in)
	}
	other := strings.Repeat("ab", 32)
	require.Equal(t, "match", a.brings()["divergence"], "to compare chains, nothing has to be brought")
	require.Equal(t, "match", a.brings()["divergence"])
	shown := regexp.MustCompile(`chain ([0-9a-f]+) verified`).
		FindStringSubmatch(a.text(a.rover, "memory_session", map[string]any{"action": "start"}))
	require.Len(t, shown, 2)
	require.Equal(t, "match", hand(a.count, shown[1])["divergence"], "what the start of a session shows is enough")
	for _, bad := range []string{shown[1][:11], other[:12], "no hex at all"} {
		_, err := a.call(a.rover, "reintegrate", but(a.claim(), map[string]any{"chain_hash": bad}))
		require.ErrorIs(t, err, schemas.ErrInvalid, bad)
		require.ErrorContains(t, err, "/chain_hash")
	}
	gap := hand(a.count+4, other)
	require.Equal(t, []any{"gap", 4.0}, []any{gap["divergence"], gap["sessions_apart"]})
	require.Equal(t, []any{float64(a.count), a.chain}, []any{gap["session_count"], gap["chain_hash"]},
		"it goes on from the node's chain")
	require.Equal(t, "replay", hand(a.count+4, other)["divergence"], "handed in before")
	require.Equal(t, "fork", hand(a.count, other)["divergence"])
	require.Equal(t, "fork", hand(a.count-1, other)["divergence"])
	one := found("The tower leans")
	require.Equal(t, "match", a.brings(one)["divergence"])
	again := a.brings(one)
	require.Equal(t, "replay", again["divergence"])

	a.sql(`UPDATE l1 SET chain_hash = ? WHERE entity_id = ?`, make([]byte, 32), a.rover.Entity)
	_, err := a.call(a.rover, "reintegrate", a.claim())
	require.ErrorIs(t, err, schemas.ErrConflict, "a broken chain is an error")
}

// bearer is an agent that comes over HTTP: its key is not with the node.
func (a *away) bearer(name string) Caller {
	a.t.Helper()
	f, err := a.node.OpenIdentity(a.t.Context(), name)
	require.NoError(a.t, err)
	issued, err := a.node.OwnToken(a.t.Context(), f)
	require.NoError(a.t, err)
	p, err := a.node.Authenticate(a.t.Context(), issued.Token.Reveal())
	require.NoError(a.t, err)
	return Caller{Principal: p}
}

// signed is the second half of a return whose key the node's process does not hold.
func (a *away) signed(f keys.File, first, in map[string]any) map[string]any {
	a.t.Helper()
	message, err := base64.StdEncoding.DecodeString(first["message"].(string))
	require.NoError(a.t, err)
	return but(in, map[string]any{"action": "submit", "nonce": first["nonce"], "expires": first["expires"],
		"signature": base64.StdEncoding.EncodeToString(f.Identity.Sign(message))})
}

// A return is proven by the key of who returns, for exactly what it hands in, once.
func TestReturnIsProven_INV_RETURN(t *testing.T) {
	a := newAway(t)
	file := func(name string) keys.File {
		f, err := a.node.OpenIdentity(t.Context(), name)
		require.NoError(t, err)
		return f
	}
	bearer := a.bearer("rover")
	in := a.claim(found("The well is deep"))
	challenge := func() map[string]any {
		return a.must(bearer, "reintegrate", but(in, map[string]any{"action": "challenge"}))
	}
	refused := func(args map[string]any, why string) {
		t.Helper()
		_, err := a.call(bearer, "reintegrate", args)
		require.ErrorIs(t, err, schemas.ErrUnauthenticated, why)
		require.Equal(t, "0", a.one(`SELECT count(*) FROM returns`), why)
	}
	refused(in, "no proof")
	first := challenge()
	refused(a.signed(file("scout"), first, in), "another's key")
	refused(but(a.signed(file("rover"), first, in), map[string]any{"memories": []any{found("The well is dry")}}),
		"other memories")
	refused(but(a.signed(file("rover"), first, in), map[string]any{"session_count": a.count + 1}), "another count")
	refused(but(a.signed(file("rover"), first, in), map[string]any{"expires": int64(first["expires"].(float64)) + 1}),
		"a longer challenge")
	session, err := a.node.Challenge(t.Context(), a.rover.Entity)
	require.NoError(t, err)
	refused(but(in, map[string]any{"nonce": base64.StdEncoding.EncodeToString(session.Nonce[:]),
		"expires":   session.ExpiresUnixMicro,
		"signature": base64.StdEncoding.EncodeToString(file("rover").Identity.Sign(session.SigningBytes()))}),
		"a proof for a token")
	late := challenge()
	a.clock.advance(61e9)
	refused(a.signed(file("rover"), late, in), "too late")

	empty := a.claim()
	mine := schemas.Reintegration{NodeID: string(a.node.ID), AgentID: a.rover.Entity, KeySeq: 1,
		Purpose: schemas.PurposeReintegrate, Nonce: [32]byte{1},
		ExpiresUnixMicro: a.clock.Now().UnixMicro() + 30e6, SessionCount: uint64(a.count),
		Memories: sha256.Sum256([]byte("[]"))}
	chain, err := hex.DecodeString(a.chain)
	require.NoError(t, err)
	mine.ChainHash = [32]byte(chain)
	refused(but(empty, map[string]any{"nonce": base64.StdEncoding.EncodeToString(mine.Nonce[:]),
		"expires":   mine.ExpiresUnixMicro,
		"signature": base64.StdEncoding.EncodeToString(file("rover").Identity.Sign(mine.SigningBytes()))}),
		"a challenge of its own making")

	args := a.signed(file("rover"), challenge(), in)
	require.Equal(t, "match", a.must(bearer, "reintegrate", args)["divergence"])
	_, err = a.call(bearer, "reintegrate", args)
	require.ErrorIs(t, err, schemas.ErrUnauthenticated, "once")
	for _, c := range []Caller{a.lead, a.person()} {
		_, err = a.call(c, "reintegrate", but(a.claim(), map[string]any{"as": "rover"}))
		require.ErrorIs(t, err, schemas.ErrInvalid, "it is done in person")
		_, err = Find("reintegrate").run(t.Context(), &Call{Node: a.node.Node, on: a.node, Op: Find("reintegrate"), Caller: c,
			As: "rover"}, mustJSON(a.claim()))
		require.Error(t, err)
	}
	require.Equal(t, "1", a.one(`SELECT count(*) FROM returns`))
}

func TestOnlyAutonomousAgentsComeBack(t *testing.T) {
	a := newAway(t)
	a.must(a.lead, "agent_capabilities", map[string]any{"agent": "rover",
		"capabilities": map[string]any{"autonomous": false}})
	_, err := a.call(a.rover, "reintegrate", a.claim())
	require.ErrorIs(t, err, schemas.ErrDenied)
	_, err = a.call(a.person(), "reintegrate", a.claim())
	require.ErrorIs(t, err, schemas.ErrDenied)
	a.must(a.lead, "agent_deactivate", map[string]any{"agent": "scout"})
	_, err = a.call(a.scout, "reintegrate", map[string]any{"action": "submit", "chain_hash": a.chain})
	require.ErrorIs(t, err, schemas.ErrDenied, "what comes after the revocation does not count")
}

// What was taken away while the agent was gone is taken away when it comes back;
// what came in before waits on.
func TestLateDelivery(t *testing.T) {
	a := newAway(t)
	a.brings(found("The well is deep"))
	f, err := a.node.OpenIdentity(t.Context(), "rover")
	require.NoError(t, err)
	bearer, in := a.bearer("rover"), a.claim(found("The mill is old"))
	first := a.must(bearer, "reintegrate", but(in, map[string]any{"action": "challenge"}))
	a.must(a.lead, "memory_group", map[string]any{"action": "remove", "group": "lab", "entity": "rover"})
	_, err = a.call(bearer, "reintegrate", a.signed(f, first, in))
	require.ErrorIs(t, err, schemas.ErrNotFound)
	a.must(a.lead, "agent_deactivate", map[string]any{"agent": "rover"})
	_, err = a.call(bearer, "reintegrate", a.signed(f, first, in))
	require.Error(t, err)
	require.Equal(t, "1", a.one(`SELECT count(*) FROM returns`))
	list := a.waiting(a.lead)
	require.Len(t, list, 1)
	a.must(a.lead, "review_decide", decisions(approve(list[0])))
}

// Groups the agent cannot read answer like groups that are not there, and staging
// groups are nobody's target.
func TestTargetsAreReadable(t *testing.T) {
	a := newAway(t)
	a.must(a.lead, "memory_group", map[string]any{"action": "create", "group": "vault"})
	staging := a.brings(found("The well is deep"))["staging"]
	answers := map[string]bool{}
	for _, group := range []any{"vault", "voult", staging} {
		_, err := a.call(a.rover, "reintegrate", a.claim(found("The well is deep", map[string]any{"group": group})))
		require.ErrorIs(t, err, schemas.ErrNotFound)
		answers[err.Error()] = true
	}
	require.Len(t, answers, 1)
}

func TestReturnsAreBounded(t *testing.T) {
	a := newAway(t)
	var last string
	for i := range 3 {
		last = a.brings(found(fmt.Sprintf("Well %d is deep", i)))["staging"].(string)
	}
	_, err := a.call(a.rover, "reintegrate", a.claim(found("One more")))
	require.ErrorIs(t, err, schemas.ErrConflict)
	bound := err
	require.Equal(t, "match", a.brings()["divergence"], "with nothing brought it goes on")
	for _, c := range []Caller{a.scout, a.lead} {
		_, err = a.call(c, "reintegrate", map[string]any{"action": "withdraw", "staging": last})
		require.ErrorIs(t, err, schemas.ErrNotFound, "only its author takes it back")
	}
	require.Equal(t, 1.0, a.must(a.rover, "reintegrate",
		map[string]any{"action": "withdraw", "staging": last})["withdrawn"])
	require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE data LIKE '%Well 2%'`))
	a.brings(found("One more"))
	require.Len(t, a.waiting(a.lead), 3)

	// What a refusal names takes the oldest back, until nothing is left.
	require.Contains(t, hinted(t, bound), `reintegrate {"action": "withdraw", "staging": "staging-`)
	for left := 3; left > 0; left-- {
		_, err := a.call(a.rover, "reintegrate", map[string]any{"action": "withdraw"})
		require.ErrorIs(t, err, schemas.ErrInvalid)
		require.Equal(t, left+1, strings.Count(err.Error(), "staging-"), "each that waits, and in the call")
		if left == 3 {
			require.Equal(t, `wait for review.closed with events_poll, or take one back: `+hinted(t, err),
				hinted(t, bound))
		}
		_, args := offered(t, err)
		_, err = Find("reintegrate").Call(t.Context(), a.node, a.rover, []byte(args))
		require.NoError(t, err)
	}
	_, err = a.call(a.rover, "reintegrate", map[string]any{"action": "withdraw"})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.ErrorContains(t, err, "nothing that you brought back waits")
	for i := range 2 {
		a.brings(found(fmt.Sprintf("Brook %d is deep", i)))
	}
	rest := a.must(a.lead, "review_decide", map[string]any{"reject_rest": a.waiting(a.lead)[0]["staging"]})
	require.Len(t, rest["decided"], 1)
	require.Len(t, rest["closed"], 1)
	for tool, args := range map[string]map[string]any{
		"many": {"memories": make([]map[string]any, 201)},
		"large": {"memories": func() (out []map[string]any) {
			for range 40 {
				out = append(out, found(strings.Repeat("long ", 3000)))
			}
			return out
		}()},
		"hidden": {"memories": []any{found("x", map[string]any{"confidence": 0.2})}},
		"user":   {"memories": []any{found("x", map[string]any{"source": "user"})}},
		"forged": {"memories": []any{found("x", map[string]any{"author": a.lead.Entity})}},
		"proof": {"memories": []any{found("x",
			map[string]any{"provenance": map[string]any{"author": a.lead.Entity}})}},
	} {
		if tool == "many" {
			for i := range args["memories"].([]map[string]any) {
				args["memories"].([]map[string]any)[i] = found("x")
			}
		}
		_, err := a.call(a.rover, "reintegrate", but(a.claim(), args))
		require.ErrorIs(t, err, schemas.ErrInvalid, tool)
	}
}
