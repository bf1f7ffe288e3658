package store

import (
	"fmt"
	"os"

	"cordelia/internal/store/lock"
	"cordelia/schemas"
)

// useFile is locked shared by every process that has the database open and
// exclusively by a restore or a move, so that no file is replaced under a process.
func useFile(path string) string { return path + ".inuse" }

// useShared announces that this process uses the database at path.
func useShared(path string) (*os.File, error) {
	return lockUse(path, true, schemas.Errorf(schemas.CodeUnavailable, "the database is being replaced or moved").
		Try("repeat the call when that has finished"))
}

// useAlone makes sure that no other process uses the database at path; again is the command
// to repeat when that is so.
func useAlone(path, again string) (*os.File, error) {
	return lockUse(path, false, schemas.Errorf(schemas.CodeBusy,
		"other cordelia processes use the database; nothing was changed").
		Try("end the running agents' sessions and cordelia serve, then repeat: %s", again))
}

func lockUse(path string, shared bool, refusal error) (*os.File, error) {
	f, err := os.OpenFile(useFile(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnavailable, "the database folder cannot be written").
			Try("check the owner and mode of the home folder: cordelia doctor").Because(err)
	}
	ok, err := lock.Try(f, shared)
	if ok {
		return f, nil
	}
	f.Close() //nolint:errcheck // nothing was written
	if err != nil {
		return nil, fmt.Errorf("lock use file: %w", err)
	}
	return nil, refusal
}
