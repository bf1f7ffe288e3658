package scenario

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/memory/embedding"
	"cordelia/node"
)

// smoke are the scripts that are compared everywhere; make test-postgres compares all.
var smoke = []string{"claiming", "events", "pipeline", "remembering", "swarm_pipeline", "trust"}

// Every script is told the same, word by word, whichever engine keeps the state.
func TestBothEnginesTellTheSame(t *testing.T) {
	server := storetest.Server(t)
	all := os.Getenv(storetest.Engine) != ""
	for _, p := range promises(t) {
		if !all && (p.Transport == HTTP || !slices.Contains(smoke, p.name)) {
			continue
		}
		t.Run(p.name+"/"+string(p.Transport), func(t *testing.T) {
			t.Parallel()
			databases := []string{"", storetest.Database(t, server, t.Name())}
			var told [2]storetest.Transcript
			var wrong [2]error
			var both sync.WaitGroup
			for i, database := range databases {
				n := newNode(t)
				n.Env = append(n.Env, "CORDELIA_DB="+database)
				n.vectors = func(ctx context.Context) error { return awaitVectors(ctx, n, database) }
				both.Go(func() {
					var lines []string
					lines, wrong[i] = Play(context.WithoutCancel(t.Context()), n, p.Transport, p.Script)
					for _, line := range lines {
						told[i].Add(line)
					}
					n.Kill()
				})
			}
			both.Wait()
			require.NoError(t, wrong[0], "a file")
			require.NoError(t, wrong[1], "PostgreSQL")
			require.NotEmpty(t, told[0].Lines)
			require.Equal(t, told[0].Lines, told[1].Lines)
			verified, err := node.VerifyAuditDatabase(t.Context(), databases[1], nil, true)
			requireProven(t, verified, err)
		})
	}
}

// awaitVectors waits until every item of a node has its vector.
func awaitVectors(ctx context.Context, n *Node, database string) error {
	for {
		var state embedding.State
		look := func(tx *store.Tx) (err error) { state, err = embedding.Inspect(tx); return err }
		if err := inState(ctx, n, database, look); err != nil || state.Model != "" && state.Waiting == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("items have no vectors in time")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// inState reads the state of a node from outside.
func inState(ctx context.Context, n *Node, database string, read func(*store.Tx) error) error {
	if database == "" {
		_, err := store.VerifyLive(ctx, n.Database(), read)
		return err
	}
	s, err := store.Open(ctx, store.Options{URL: database})
	if err != nil {
		return err
	}
	return errors.Join(s.Read(ctx, read), s.Close())
}
