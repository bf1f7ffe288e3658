package clientsettings

import (
	"path/filepath"
	"slices"
)

// SkippedFile is where Claude Code notes the servers that it could not start, which it then
// leaves out for a while, also once they could start again; "" for a client that has none.
func (c Client) SkippedFile() string {
	if c.Plugin == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(c.Plugin)), "mcp-needs-auth-cache.json")
}

// skippedNames are the names of our server there.
func skippedNames() []string { return []string{"plugin:" + Name + ":" + Name, Name} }

// Unskip returns src without our server; src itself if it is not there.
func Unskip(src []byte) ([]byte, error) {
	if blank(src) {
		return src, nil
	}
	root, err := parseJSON(src, false)
	if err != nil {
		return src, err
	}
	for i := len(root.members) - 1; i >= 0; i-- {
		if slices.Contains(skippedNames(), root.members[i].name) {
			return Unskip(remove(src, root, i))
		}
	}
	return src, nil
}
