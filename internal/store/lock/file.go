package lock

import (
	"context"
	"fmt"
	"os"
	"time"

	"cordelia/schemas"
)

// File waits for the exclusive lock of the file at path, which it makes as
// needed, and returns what frees it. The system does so when the process
// ends. Errors: CodeBusy when ctx ended first, CodeUnavailable when the file
// cannot be made.
func File(ctx context.Context, path string) (release func(), err error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil //nolint:errcheck // nothing was written
}

// Open is File for a caller whose child processes hold the lock, too: it lasts until the caller and each
// child that inherited the descriptor have closed it, or ended.
func Open(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnavailable, "%s cannot be written", path).
			Try("check the owner and mode of its folder").Because(err)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := Try(f, false)
		if ok {
			return f, nil
		}
		if err != nil {
			f.Close() //nolint:errcheck // nothing was written
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close() //nolint:errcheck // nothing was written
			return nil, schemas.Errorf(schemas.CodeBusy, "another process holds %s", path).
				Try("try again; if it stays so, look for a stopped process: ps -C cordelia -o pid,stat,args").Because(
				ctx.Err())
		case <-tick.C:
		}
	}
}
