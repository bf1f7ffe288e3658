package scenario

import (
	"bytes"
	"crypto/sha256"
	endian "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
)

// An agent and those below it open all the sessions they get: each agent beside it, and each
// above it, still opens its own.
func TestAttackSessionsOfASubtree(t *testing.T) {
	f := newField(t, "")
	f.tries(func(i int) {
		f.Kill() // the sessions of the try before
		f.lead = open(t, f.Node, "")
		var err error
		f.address, err = f.Serve(t.Context())
		require.NoError(t, err)
		opens := func(c Client) bool {
			status, err := c.(*Remote).Handshake(t.Context())
			require.NoError(t, err)
			return status == http.StatusOK
		}
		chief := f.top("chief")
		above := f.remote(chief)
		names := []string{chief}
		for range i % 3 { // where the attacker stands
			names = append(names, f.child(f.remote(names[len(names)-1]), "mid", 3-len(names)))
		}
		m := f.remote(names[len(names)-1])
		sibling := f.remote(f.child(above, "sibling", 0))
		crowd := []Client{m}
		for range 6 { // 64 each
			if len(names) < 4 {
				crowd = append(crowd, f.remote(f.child(m, "imp", 0)))
			}
		}
		opened := 0
		for refused := false; !refused; {
			refused = true
			for _, c := range crowd[1:] { // those below it, then it
				for range 4 {
					if opens(c) {
						opened++
						refused = false
					}
				}
			}
		}
		require.Positive(t, opened)
		f.hit(!opens(m), "%d sessions below an agent keep it out", opened)
		for range 100 {
			opens(m)
		}
		if len(names) > 1 {
			f.hit(!opens(above), "%d sessions of an agent below it keep an agent out", opened)
			f.hit(!opens(sibling), "%d sessions of an agent beside it keep an agent out", opened)
		}
		f.hit(!opens(f.remote("")), "%d sessions keep the person's client out", opened)
		f.hit(!opens(f.remote(f.top("other"))), "%d sessions keep another agent out", opened)
	})
}

// Strangers hold hundreds of connections, send bodies byte by byte to each route that needs no
// token, and never end: a client with a token is served all the same, long before they are cut off.
func TestAttackStrangersWithoutAToken(t *testing.T) {
	f := newField(t, "")
	client := f.remote("")
	address := strings.TrimPrefix(f.address, "http://")
	f.tries(func(i int) {
		routes := []string{"/auth/token", "/auth/challenge", "/hooks/crm", "/mcp", "/console/login", "/health"}
		var held []net.Conn
		for k := range 400 {
			c, err := net.Dial("tcp", address)
			if err != nil {
				break // the server has closed the door on strangers
			}
			held = append(held, c)
			route := routes[(i+k)%len(routes)]
			begun := []string{"", "POST " + route, "POST " + route + " HTTP/1.1\r\nHost: " + address + "\r\n",
				"POST " + route + " HTTP/1.1\r\nHost: " + address +
					"\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{\"agent_id\": \"",
				"POST " + route + " HTTP/1.1\r\nHost: " + address + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
			}[f.random.IntN(5)]
			io.WriteString(c, begun) //nolint:errcheck // the server may have closed it
		}
		began := time.Now()
		a := f.tryTo(client, "agent_list", `{}`)
		took := time.Since(began)
		f.hit(a.Code != "" || took > 3*time.Second, "a client with a token waits %s: %s", took, a.Text)
		fresh, err := f.Dial(t.Context(), f.address, "claude-code.key") // one that has to get its token first
		took = time.Since(began)
		f.hit(err != nil || took > 20*time.Second, "a client waits %s for a token: %v", took, err)
		if err == nil {
			f.hit(f.tryTo(fresh, "agent_list", `{}`).Code != "", "its token does nothing")
		}
		for _, c := range held {
			c.Close() //nolint:errcheck // the server may have closed it
		}
	})
}

// Nobody learns from a challenge whether there is an agent, whether it rotated its key and how
// often.
func TestAttackChallenges(t *testing.T) {
	f := newField(t, "")
	shape := func(id string) string {
		status, body, err := drive.PostBytes(t.Context(), f.address+"/auth/challenge",
			fmt.Appendf(nil, `{"agent_id": %q}`, id), map[string]string{"Content-Type": "application/json"})
		require.NoError(t, err)
		var c struct{ Message, Nonce []byte }
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(body), &c))
		require.NoError(t, json.Unmarshal([]byte(body), &fields))
		expires := at[float64](t, Answer{Value: fields}, "expires")
		// What differs for each challenge, and the agent that was named, are taken out.
		raw, err := hex.DecodeString(id)
		require.NoError(t, err)
		left := bytes.ReplaceAll(c.Message, c.Nonce, []byte("NONCE"))
		left = bytes.ReplaceAll(bytes.ReplaceAll(left, raw, []byte("AGENT")), []byte(id), []byte("AGENT"))
		left = bytes.ReplaceAll(left, endian.BigEndian.AppendUint64(nil, uint64(expires)), []byte("EXPIRES"))
		delete(fields, "message")
		delete(fields, "nonce")
		delete(fields, "expires")
		return fmt.Sprintf("%d %x %s", status, left, compact(fields))
	}
	f.tries(func(i int) {
		name := f.top("agent")
		id := texts(t, openDB(t, f.Node), `SELECT id FROM entities WHERE name = ?`, name)[0]
		absent := sha256.Sum256([]byte(name))
		want := shape(hex.EncodeToString(absent[:]))
		f.hit(shape(id) != want, "an agent differs from none: %s", want)
		for k := range 1 + i%3 {
			f.person("key", "rotate", name)
			f.hit(shape(id) != want, "%d rotations of its key show", k+1)
		}
		if i%2 == 1 {
			f.person("agent", "deactivate", name)
			f.hit(shape(id) != want, "that it is deactivated shows")
		}
	})
}

// An agent compares how long answers take, to tell groups, swarms and items that are hidden from
// what does not exist. Their words are the same, and before it has asked often enough to tell,
// the node slows it down. How often it is right is printed, by all calls of a try and by two calls
// in a row: luck is half.
func TestAttackTimes(t *testing.T) {
	t.Parallel()
	right, n := 0, soak.Count(t, 2, 100)
	rightInPairs, pairs := 0, 0
	for i := range n {
		node := newNode(t)
		parent := open(t, node, "")
		must(t, parent, "swarm_create",
			`{"goal": "g", "strategy": "broadcast", "swarm_id": "swarm-vault", "agents": [{"slot": "hand"}]}`)
		must(t, parent, "agent_register", fmt.Sprintf(`{"agent_type": "autonomous", "display_name": "M", "name": "mallory",
			"capabilities": %s}`, all(0)))
		mallory := open(t, node, "mallory")
		names := []string{"swarm-vault", "swarm-voult"}
		var took [2][]time.Duration
		answers, slowed := map[string]bool{}, false
		for k := 0; !slowed; k++ {
			require.Less(t, k, 80, "the node slows no one down") // twice what one minute allows
			which := (k + i) % 2
			began := time.Now()
			a, err := mallory.Call(t.Context(), "swarm_status", fmt.Appendf(nil, `{"swarm_id": %q}`, names[which]))
			require.NoError(t, err)
			if slowed = a.Code == "busy"; !slowed {
				took[which] = append(took[which], time.Since(began))
				answers[strings.ReplaceAll(string(a.Raw), names[which], "REF")] = true
			}
		}
		require.Len(t, answers, 1, "the words are the same")
		var sum [2]time.Duration
		for k := 2; k < min(len(took[0]), len(took[1])); k++ { // warm from the third on
			pairs++
			if took[0][k] > took[1][k] { // what is hidden takes longer
				rightInPairs++
			}
			sum[0] += took[0][k]
			sum[1] += took[1][k]
		}
		if sum[0] > sum[1] {
			right++
		}
		node.Kill()
	}
	t.Logf("%d tries, right in %d; %d pairs of calls, right in %d", n, right, pairs, rightInPairs)
}
