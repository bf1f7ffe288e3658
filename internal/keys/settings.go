package keys

import (
	"io"
	"os"
	"path/filepath"

	"cordelia/schemas"
)

// maxSettings is the most a settings file may hold, in bytes.
const maxSettings = 1 << 20

// ReadSettings reads a file that decides what this program may do, such as which
// commands it runs. It refuses a file that is not regular, that its user does not own,
// that others may write, in a folder others may write, or of more than 1 MiB. A file
// that is not there is fs.ErrNotExist.
func ReadSettings(path string) ([]byte, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() { // also keeps Open from waiting on a pipe
		return nil, schemas.Deniedf("settings file %s is not a regular file (%s)", path, named.Mode().Type()).
			Expecting("a regular file, no link").Try("put the file itself there")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(named, opened) {
		return nil, schemas.Conflictf("settings file %s was replaced while it was opened",
			path).Try("run the command again")
	}
	if err := checkSettings(path, opened); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(raw) > maxSettings {
		return nil, schemas.Invalidf("settings file %s is too large", path).Expecting("at most %d bytes", maxSettings)
	}
	return raw, err
}
