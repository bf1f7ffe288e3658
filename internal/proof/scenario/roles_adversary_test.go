package scenario

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
	"cordelia/roles"
)

// sign is the signature of a body by a secret.
func sign(body, secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// INV-HOOK-SIGNED, over the wire: of requests that are forged, changed, too large, for another
// source or no event none is taken; those that repeat a genuine one, whatever id they bear and
// however many come at once, count once; and effects of our own lead to nothing.
func TestNoRequestIsForged_INV_HOOK_SIGNED(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	s := newSource(t, n)
	const genuine = 20
	s.send(0, genuine, 2)
	random := rand.New(rand.NewPCG(5, 6))
	body := func(i int) []byte { return fmt.Appendf(nil, `{"kind":"lead","name":"lead %d"}`, i) }
	forged := map[string]func(i int) (path string, body []byte, header map[string]string){}
	as := func(name string, make func(i int) (string, []byte, string)) {
		forged[name] = func(i int) (string, []byte, map[string]string) {
			path, b, signature := make(i)
			return path, b, map[string]string{"X-Id": fmt.Sprint("forged-", i), "X-Sign": signature}
		}
	}
	as("no signature", func(i int) (string, []byte, string) { return "crm", body(i), "" })
	as("no hex", func(i int) (string, []byte, string) { return "crm", body(i), "sha256=" + strings.Repeat("z", 64) })
	as("a guess", func(i int) (string, []byte, string) {
		return "crm", body(i), fmt.Sprintf("%016x%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64(),
			random.Uint64())
	})
	as("another secret", func(i int) (string, []byte, string) { return "crm", body(i), sign(body(i), []byte("secret")) })
	as("an empty secret", func(i int) (string, []byte, string) { return "crm", body(i), sign(body(i), nil) })
	as("another body's", func(i int) (string, []byte, string) { return "crm", body(i), sign(body(i+1), s.secret) })
	as("cut", func(i int) (string, []byte, string) {
		return "crm", body(i), sign(body(i), s.secret)[:random.IntN(63)+1]
	})
	as("longer", func(i int) (string, []byte, string) { return "crm", body(i), sign(body(i), s.secret) + "00" })
	as("another hash", func(i int) (string, []byte, string) {
		mac := hmac.New(sha1.New, s.secret)
		mac.Write(body(i))
		return "crm", body(i), hex.EncodeToString(mac.Sum(nil))
	})
	as("a changed byte", func(i int) (string, []byte, string) {
		b := body(i)
		signature := sign(b, s.secret)
		b[random.IntN(len(b))] ^= 1
		return "crm", b, signature
	})
	as("a space more", func(i int) (string, []byte, string) {
		return "crm", append(body(i), ' '), sign(body(i), s.secret)
	})
	as("another source", func(i int) (string, []byte, string) { return "crm2", body(i), sign(body(i), s.secret) })
	as("a path", func(i int) (string, []byte, string) { return "..%2fcrm", body(i), sign(body(i), s.secret) })
	as("too large", func(i int) (string, []byte, string) {
		b := fmt.Appendf(nil, `{"kind":"lead","name":%q}`, strings.Repeat("x", roles.MaxHook))
		return "crm", b, sign(b, s.secret)
	})
	as("signed, but no JSON", func(int) (string, []byte, string) {
		b := []byte(`{"kind":`)
		return "crm", b, sign(b, s.secret)
	})
	as("signed, and deep", func(int) (string, []byte, string) {
		b := []byte(strings.Repeat(`{"kind":`, 20_000) + "1" + strings.Repeat("}", 20_000))
		return "crm", b, sign(b, s.secret)
	})
	forged["signed, without an id"] = func(i int) (string, []byte, map[string]string) {
		return "crm", body(1000 + i), map[string]string{"X-Sign": sign(body(1000+i), s.secret)}
	}
	tries := 0
	for name, make := range forged {
		for range soak.Count(t, 10, 1000) {
			path, b, header := make(tries + genuine)
			status, _, err := drive.PostBytes(t.Context(), s.address+"/hooks/"+path, b, header)
			tries++
			if err == nil { // else the server closed the connection on it
				require.GreaterOrEqual(t, status, 400, name)
			}
		}
	}

	var again atomic.Int64
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { // the same bodies, with ids of their own
			for k := range genuine {
				status, _, err := drive.PostBytes(t.Context(), s.address+"/hooks/crm", body(k), map[string]string{
					"X-Id": fmt.Sprintf("replay-%d-%d", i, k), "X-Sign": sign(body(k), s.secret)})
				if err == nil && status == http.StatusOK {
					again.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 4*genuine, again.Load(), "each is answered as a repetition")

	for i, b := range []string{`{"kind":"lead","name":"a","who":"our-bot"}`,
		`{"kind":"lead","name":"b <!-- ` + roles.Marker + ` -->"}`,
		`{"kind":"lead","name":"` + strings.Repeat("c", 10_000) + roles.Marker + `"}`} {
		status, _, err := drive.PostBytes(t.Context(), s.address+"/hooks/crm", []byte(b), map[string]string{
			"X-Id": fmt.Sprint("loop-", i), "X-Sign": sign([]byte(b), s.secret)})
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, status)
	}
	db := openDB(t, n)
	require.Equal(t, genuine, count(t, db, `SELECT count(*) FROM work_items`), "%d forged, %d repeated, 3 of our own",
		tries, 4*genuine)
	require.Equal(t, genuine+3, count(t, db, `SELECT count(*) FROM role_events`))
	t.Logf("%d forged, %d repeated, 3 of our own: 0 hits", tries, 4*genuine)
}
