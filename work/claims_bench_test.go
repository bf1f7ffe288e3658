package work

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access/accesstest"
	"cordelia/schemas"
)

// BenchmarkClaims has 100 agents claim at once, again and again, in as few transactions as the
// node needs; with CORDELIA_TEST_DB=postgres on a server.
func BenchmarkClaims(b *testing.B) {
	const agents = 100
	n := newNode(b)
	var list []schemas.EntityID
	for i := range agents {
		name := fmt.Sprint("worker-", i)
		list = append(list, accesstest.Named(name))
		n.Agent(list[i], ann, ann, schemas.ClaudeCode, name)
		n.May(list[i], 5, everything...)
		n.Join("team", list[i], "member")
	}
	var drafts []Draft
	for i := range MaxItems {
		drafts = append(drafts, Draft{Intent: fmt.Sprint("crate ", i)})
	}
	for at := 0; at < b.N+agents; at += MaxItems {
		n.submit(ann, "team", drafts...)
	}
	each := func(f func(i int) error) {
		var all sync.WaitGroup
		for i := range agents {
			all.Go(func() {
				if err := f(i); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
	var got [agents]Claimed
	claims := 0
	b.ResetTimer()
	for ; claims < b.N; claims += agents {
		each(func(i int) error {
			c, ok, err := n.tryClaim(list[i], time.Minute)
			got[i] = c
			require.True(b, ok || err != nil)
			return err
		})
		b.StopTimer()
		each(func(i int) error {
			_, err := n.tryReport(list[i], got[i], Done, "", noReview)
			return err
		})
		b.StartTimer()
	}
	b.ReportMetric(float64(claims)/b.Elapsed().Seconds(), "claims/s")
}
