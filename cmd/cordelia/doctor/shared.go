package doctor

import (
	"context"
	"time"

	"cordelia/node"
)

// shared examines a database that other nodes use, too: that it can be reached and has this
// program's schema, for it opens, and how long an answer takes. Its record is verified by
// cordelia audit verify; a copy of it is the server's.
func (x *examination) shared(ctx context.Context, home node.Home) bool {
	n, err := x.app.OpenNode(ctx)
	if err != nil {
		x.refused("database", err)
		return false
	}
	defer n.Close() //nolint:errcheck // only read
	took, err := n.Ping(ctx)
	if err != nil {
		x.refused("database", err)
		return false
	}
	x.report("database", Fine, "", "in PostgreSQL, which answers in %s", took.Round(10*time.Microsecond))
	x.report("schema", Fine, "", "version %d", node.SchemaVersion())
	x.report("audit record", Skipped, "", "%s", x.app.Here("in PostgreSQL: cordelia audit verify"))
	found, err := n.InspectRoles(ctx)
	if err != nil {
		x.refused("roles", err)
		return true
	}
	x.roles(home, found, true)
	return true
}
