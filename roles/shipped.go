package roles

import (
	"embed"
	"path"
	"slices"
	"strings"

	"cordelia/schemas"
)

// shipped are the workspaces that come with the program.
//
//go:embed workspaces/*.yaml
var shipped embed.FS

// Shipped lists the workspaces that come with the program, by name.
func Shipped() []string {
	files, err := shipped.ReadDir("workspaces")
	if err != nil {
		panic(err) // it is in the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Example is the file of a workspace that comes with the program, for this owner.
func Example(name string, owner schemas.EntityID) (string, error) {
	if !slices.Contains(Shipped(), name) {
		return "", schemas.NotFoundf("no workspace named %q comes with the program%s", schemas.Shorten(name, 40),
			schemas.DidYouMean(name, Shipped())).Expecting("one of %s", strings.Join(Shipped(), ", "))
	}
	raw, err := shipped.ReadFile(path.Join("workspaces", name+".yaml"))
	return strings.Replace(string(raw), "owner: OWNER", "owner: "+string(owner), 1), err
}
