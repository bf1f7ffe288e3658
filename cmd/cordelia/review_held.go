package main

import (
	"context"

	"cordelia/cmd/cordelia/cli"
	"cordelia/schemas"
)

// sayHeld says beside a list of reviews that items which instruct agents wait for the person's release.
func sayHeld(ctx context.Context, w *cli.Acting, _ any) {
	if schemas.IsAgentID(string(w.Caller.Entity)) {
		return
	}
	if held, err := w.Node.Held(ctx, w.Caller); err == nil && len(held) > 0 {
		w.Note("%s for your release: cordelia memory release", schemas.Count(len(held), "item waits", "items wait"))
	}
}
