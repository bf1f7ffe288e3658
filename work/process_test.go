package work

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// childDB names the database to a copy of the test binary that works as an agent.
const childDB, childID = "WORK_TEST_CHILD_DB", "WORK_TEST_CHILD_ID"

func TestMain(m *testing.M) {
	if path := os.Getenv(childDB); path != "" {
		if err := child(path, schemas.EntityID(os.Getenv(childID))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child claims and reports until there is nothing left, and says what it did.
func child(path string, who schemas.EntityID) error {
	st, err := store.Open(context.Background(), store.Options{Path: path, Durability: store.Relaxed})
	if err != nil {
		return err
	}
	auth := access.New(st, access.Config{Presence: 10 * 365 * 24 * time.Hour})
	do := func(f func(access.Grant) error) error {
		return auth.Do(context.Background(), access.Principal{Entity: who, Method: access.ByKey, KeySeq: 1},
			access.Op{Tool: "task_claim", Effect: access.Write}, f)
	}
	for {
		var c Claimed
		var ok bool
		if err := do(func(g access.Grant) (err error) {
			c, ok,
				err = Claim(g, Wanted{}, time.Minute)
			return err
		}); err != nil {
			return err
		}
		if !ok {
			return st.Close()
		}
		fmt.Println(c.WorkID, c.Fence)
		p, err := NewReport(c.WorkID, c.Fence, Done, []byte(`1`), nil, "")
		if err != nil {
			return err
		}
		if err := do(func(g access.Grant) error { _, err := File(g, p, noReview); return err }); err != nil {
			return err
		}
	}
}

// Every item is claimed once, by whichever of several processes.
func TestProcessesShareTheWork(t *testing.T) {
	n := openNodeAt(t)
	want := soak.Count(t, 200, 20_000) / MaxItems * MaxItems
	for range want / MaxItems {
		drafts := make([]Draft, MaxItems)
		for i := range drafts {
			drafts[i] = todo("x")
		}
		n.submit(lead, "team", drafts...)
	}
	var outs []*strings.Builder
	var cmds []*exec.Cmd
	for _, who := range []schemas.EntityID{a, b, lead} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childDB+"="+n.Path, childID+"="+string(who))
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		require.NoError(t, cmd.Start())
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	seen := map[string]bool{}
	for i, cmd := range cmds {
		require.NoError(t, cmd.Wait())
		mine := 0
		for lines := bufio.NewScanner(strings.NewReader(outs[i].String())); lines.Scan(); mine++ {
			require.False(t, seen[lines.Text()], "claimed twice: %s", lines.Text())
			require.True(t, strings.HasSuffix(lines.Text(), " 1"), lines.Text())
			seen[lines.Text()] = true
		}
		t.Logf("process %d: %d of %d items", i, mine, want)
	}
	require.Len(t, seen, want)
	require.Equal(t, int64(want), n.one(`SELECT count(*) FROM work_items WHERE state = 'done'`))
}

// openNodeAt is newNode by the clock of the machine, as other processes go.
func openNodeAt(t *testing.T) *node {
	n := newNode(t)
	n.Clock.Micros = time.Now().UnixMicro()
	return n
}
