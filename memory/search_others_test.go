package memory

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// INV-NO-ORACLE: the same items answer the same questions alike, to the last
// place and reason, whatever others wrote before, between and after them; also
// where there are more of them than are counted, and for words nobody has.
func TestOthersChangeNoAnswer_INV_NO_ORACLE(t *testing.T) {
	const own, batch = 700, 50
	vocabulary := func(r *rand.Rand) string {
		rank := int(float64(900) * r.Float64() * r.Float64() * r.Float64())
		return fmt.Sprintf("%c%c%cword%d", 'a'+rank%26, 'a'+rank/26%26, 'k'+rank%7, rank)
	}
	sentence := func(r *rand.Rand, words int) string {
		out := make([]string, words)
		for i := range out {
			out[i] = vocabulary(r)
		}
		return strings.Join(out, " ")
	}
	var questions []string
	asking := rand.New(rand.NewPCG(3, 3))
	for i := range 32 {
		q := sentence(asking, []int{1, 3, 6, 30}[i%4])
		if i%5 == 0 {
			q = q[:len(q)-1] + "x" // a word nobody has
		}
		questions = append(questions, q)
	}
	questions = append(questions, "", "zzyzx qqwobble")
	answers := func(foreign int) (out []Found) {
		n := newWarmNode(t)
		n.group("team-a", eve, CulturePatch{})
		n.group("team-b", ada, CulturePatch{}, bob)
		put := func(who schemas.EntityID, group schemas.GroupID, first, count int, r *rand.Rand) {
			require.NoError(t, n.do(who, access.Write, func(g access.Grant) error {
				for i := range count {
					w := learning(sentence(r, 5+r.IntN(12)))
					w.Group = group
					w.Data = []byte(replaceAll(string(w.Data), `"type":`,
						fmt.Sprintf(`"source_session":"s %d","type":`, (first+i)/20)))
					d, err := Prepare(w, who, nil)
					if err != nil {
						return err
					}
					if _, err := Put(g, d); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		mine, theirs := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, 2))
		for first := 0; first < own; first += batch {
			n.clock.move(time.Second)
			group := schemas.GroupID("")
			if first%(3*batch) == 0 {
				group = "team-a"
			}
			put(ada, "", first, foreign, theirs)
			put(bob, "team-b", first, foreign, theirs)
			put(eve, group, first, batch, mine)
		}
		n.clock.move(time.Second)
		for _, q := range questions {
			f, err := n.trySearch(eve, Search{Text: q, Limit: 50, Explain: true})
			require.NoError(t, err)
			out = append(out, withoutIDs(f))
		}
		return out
	}
	alone, beside := answers(0), answers(25)
	found := 0
	for i, q := range questions {
		require.Equal(t, alone[i], beside[i], q)
		found += len(alone[i].Hits)
	}
	require.Greater(t, found, 300)
}
