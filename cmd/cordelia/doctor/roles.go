package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
	"cordelia/roles"
	"cordelia/schemas"
)

// roles examines what keeps roles from acting: a restore, and webhooks whose secret is not here, or
// not ours alone. In a database that others share the secret may be where requests come.
func (x *examination) roles(home node.Home, found roles.Inspection, shared bool) {
	if n := len(found.Restored); n > 0 {
		x.report("roles", Warning, "apply the file of today, for what the restored one allowed may have been taken back: "+
			"cordelia role apply FILE", "%s suspended since a restore: %s", schemas.Count(n, "role is", "roles are"),
			cli.Clean(strings.Join(found.Restored, ", ")))
	}
	sound := 0
	for _, source := range found.Sources {
		check, path := "webhook "+cli.Clean(source), home.HookSecret(source)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist) && shared:
			x.report(check, Warning, "on the node that runs cordelia serve: put the secret there, or cordelia role apply FILE",
				"%s is not here: this node refuses its requests", path)
		case errors.Is(err, os.ErrNotExist):
			x.report(check, Problem, "put the file back; or cordelia role apply FILE makes a new secret, to be pasted where "+
				"the source asks for it", "%s is missing: every request is refused", path)
		case err != nil:
			x.report(check, Problem, "check the folders above it", "%s cannot be read", path)
		case private(info) != nil:
			x.report(check, Problem, fmt.Sprintf("chmod 600 %q", path), "%s: %v", path, private(info))
		default:
			sound++
		}
	}
	if sound > 0 {
		x.report("webhooks", Fine, "", "%s, yours alone", schemas.Count(sound, "secret", "secrets"))
	}
}
