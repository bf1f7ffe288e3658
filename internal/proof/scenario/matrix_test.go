package scenario

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// probe is a pair of calls that read and write one kind of memory. A call that
// finds nothing or is refused says no; one that fails otherwise is a mistake here.
type probe struct{ tool, read, writeTool, write string }

// matrixHome is a node with an agent of each type and tier, as real verdicts of
// its person made them, and what each of the probes needs.
func matrixHome(t *testing.T) (n *Node, agents map[string]string, probes map[string][]probe) {
	n = newNode(t)
	slowNobody(t, n.Home)
	s := openInside(t, node.Home(n.Home))
	_, err := s.Establish(t.Context(), "tester", nil, nil)
	require.NoError(t, err)
	ring := s.Keyring(nil)
	defer ring.Close()
	person, err := s.Person(t.Context(), ring, "of the person")
	require.NoError(t, err)
	for _, group := range []string{"plain", "swarm", "approved", "bonus", "closed"} {
		s.must(person, "memory_group", `{"action": "create", "group": "`+group+`"}`)
	}
	item := func(c ops.Caller, more string) string {
		return at[string](t, s.must(c, "memory_write_warm",
			`{"type": "learning", "data": {"type": "insight", "content": "`+schemas.NewID()+`"}`+more+`}`), "id")
	}
	ofPerson, public, other := item(person, ""), item(person, `, "visibility": "public"`), ""
	inGroup := map[string]string{}
	for _, group := range []string{"plain", "swarm", "approved", "bonus", "closed"} {
		inGroup[group] = item(person, `, "group": "`+group+`"`)
	}
	caps := fmt.Sprintf(sovereignCapabilities, compact(ops.Names()))
	agents, probes = map[string]string{}, map[string][]probe{}
	for _, kind := range schemas.AgentTypes() {
		for _, tier := range schemas.Tiers() {
			name := string(kind) + "-" + string(tier)
			agents[name] = at[string](t, s.must(person, "agent_register", fmt.Sprintf(
				`{"agent_type": %q, "display_name": %q, "name": %q, "capabilities": %s}`, kind, name, name, caps)),
				"agent_id")
			for _, group := range []string{"plain", "swarm", "approved", "bonus"} {
				s.must(person, "memory_group", fmt.Sprintf(`{"action": "add", "group": %q, "entity": %q}`, group, name))
			}
			s.must(person, "agent_capabilities",
				fmt.Sprintf(`{"agent": %q, "groups": ["approved"], "bonus_groups": ["bonus"], "private": "read_write"}`,
					name))
			c := s.caller(name)
			own := item(c, "")
			if other == "" {
				other = own // of the first one, which is nobody's parent
			}
			of := func(id string) (string, string) {
				return `{"ids": ["` + id + `"]}`, `{"id": "` + id + `", "if_version": 1, "confidence": 0.6}`
			}
			private := func(id string) probe {
				read, write := of(id)
				return probe{"memory_read_warm", read, "memory_write_warm", write}
			}
			someone := private(other)
			if own == other {
				someone = private(inGroup["closed"]) // its own is not another's
			}
			note := func(more string) string {
				return `{"type": "learning", "data": {"type": "insight", "content": "${id}"}` + more + `}`
			}
			within := func(group string) probe {
				return probe{"memory_read_warm", `{"ids": ["` + inGroup[group] + `"]}`, "memory_write_warm",
					note(`, "group": "` + group + `"`)}
			}
			probes[name] = []probe{
				{"memory_read_hot", `{}`, "memory_write_hot",
					`{"operation": "patch", "data": {"active": {"focus": "${id}"}}}`},
				{"memory_read_hot", `{"entity": "` + string(person.Entity) + `"}`, "memory_write_hot",
					`{"as": "` + string(person.Entity) + `", "operation": "patch", "data": {}}`},
				{"memory_read_warm", `{"ids": ["` + own + `"]}`, "memory_write_warm", note("")},
				{"memory_read_warm", `{"ids": ["` + ofPerson + `"]}`, "memory_write_warm",
					`{"id": "` + ofPerson + `", "confidence": 0.6}`},
				someone, within("plain"), within("swarm"), within("approved"), within("bonus"), within("closed"),
				{"memory_read_warm", `{"ids": ["` + public + `"]}`, "memory_write_warm",
					note(`, "visibility": "public"`)},
			}
			word := map[schemas.Tier]string{schemas.Untrusted: "wrong", schemas.Low: "wrong",
				schemas.High: "right"}[tier]
			for i := 0; word != ""; i++ {
				require.Less(t, i, 20)
				answer := s.must(person, "trust_assess", fmt.Sprintf(`{"id": %q, "verdict": %q}`, item(c, ""), word))
				if at[string](t, answer, "tier") == string(tier) {
					break
				}
			}
		}
	}
	db, err := sql.Open("sqlite", "file:"+n.Database())
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE groups SET kind = 'swarm' WHERE id = 'swarm'`)
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return n, agents, probes
}

// The scoping matrix as agents meet it through the tools, over either transport,
// is the one the authorizer decides.
func TestScopingMatrixThroughTools(t *testing.T) {
	golden, err := os.ReadFile("../../../trust/testdata/scoping.golden")
	require.NoError(t, err)
	n, agents, probes := matrixHome(t)
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	for _, transport := range []Transport{Stdio, HTTP} {
		t.Run(string(transport), func(t *testing.T) {
			header, _, _ := strings.Cut(string(golden), "\nclaude-code")
			b := strings.Builder{}
			b.WriteString(header)
			for _, kind := range schemas.AgentTypes() {
				for _, tier := range schemas.Tiers() {
					name := string(kind) + "-" + string(tier)
					var c Client
					if transport == Stdio {
						c, err = n.Open(t.Context(), name)
					} else {
						c, err = n.Dial(t.Context(), address, "agents/"+agents[name]+".key")
					}
					require.NoError(t, err)
					fmt.Fprintf(&b, "\n%-14s%-11s", kind, tier)
					for _, p := range probes[name] {
						cell := ""
						if tried(t, c, p.tool, p.read) {
							cell += "R"
						}
						if tried(t, c, p.writeTool, p.write) {
							cell += "W"
						}
						if cell == "" {
							cell = "-"
						}
						fmt.Fprintf(&b, "%-17s", cell)
					}
					require.NoError(t, c.Close())
				}
			}
			lines := strings.Split(b.String()+"\n", "\n")
			for i := range lines {
				lines[i] = strings.TrimRight(lines[i], " ")
			}
			require.Equal(t, string(golden), strings.Join(lines, "\n"))
		})
	}
}

// tried reports whether a call is allowed. A write that becomes a proposal is not: it
// waits for a decision and reaches no reader of the group.
func tried(t *testing.T, c Client, tool, args string) bool {
	t.Helper()
	a, err := c.Call(t.Context(), tool, []byte(strings.ReplaceAll(args, "${id}", schemas.NewID())))
	require.NoError(t, err)
	require.Contains(t, []string{"", "denied", "not_found"}, a.Code, "%s %s: %s", tool, args, a.Text)
	_, proposed := look(a, "proposal")
	return a.Code == "" && !proposed
}
