package figures

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// inMemory is a folder that the system keeps in memory, where there is one. The
	// databases of a simulation live for seconds; on a disk they would wait for others.
	inMemory = "/dev/shm"
	// rarer lets the garbage collector wait until the heap is this many times as large
	// again, in percent: what a run keeps is little, what it drops is much.
	rarer = 1600
	// progressEvery is how often the progress is said on stderr.
	progressEvery = 15 * time.Second
)

// Each does n runs of a simulation, as many at once as there are processors, each in a
// temporary folder. It prints on stderr how many are done, begins no further run after the
// first error, and returns that error.
func Each(ctx context.Context, name string, n int, do func(ctx context.Context, i int, dir string) error) error {
	defer debug.SetGCPercent(debug.SetGCPercent(rarer))
	root, err := tempDir(name)
	if err != nil {
		return err
	}
	defer os.RemoveAll(root) //nolint:errcheck // a temporary folder
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next, done atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := inFolder(ctx, filepath.Join(root, fmt.Sprint(i)), i, do); err != nil {
					stop(err)
				}
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() { workers.Wait(); close(finished) }()
	for begun := time.Now(); ; {
		select {
		case <-finished:
			return context.Cause(ctx)
		case <-time.After(progressEvery):
			fmt.Fprintf(os.Stderr, "%s: %d of %d runs after %s\n", name, done.Load(), n,
				time.Since(begun).Round(time.Second))
		}
	}
}

func inFolder(ctx context.Context, dir string, i int, do func(ctx context.Context, i int, dir string) error) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	return do(ctx, i, dir)
}

// tempDir makes a folder, in memory if the system has a place there and no other was asked for.
func tempDir(name string) (string, error) {
	if os.Getenv("TMPDIR") == "" {
		if dir, err := os.MkdirTemp(inMemory, name); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", name)
}
