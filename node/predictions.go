package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cordelia/access"
	"cordelia/internal/machinecheck"
	"cordelia/trust"
)

// Foresight checks, once, the predictions that are new or due, and writes down
// how they came out. Files are looked at outside of any transaction; what is in
// them goes nowhere.
func (n *Node) Foresight(ctx context.Context) error {
	var due []trust.Due
	if err := n.Look(ctx, "predictions", func(g access.Grant) (err error) {
		due, err = trust.FindDue(g)
		return err
	}); err != nil {
		return err
	}
	var errs []error
	for _, d := range due {
		var f trust.Finding
		if !d.Purged {
			holds, err := machinecheck.Holds(ctx, n.checks.Roots, d.Check, n.Now())
			f = trust.Finding{Known: err == nil, Holds: holds,
				Foreign: d.Made > 0 && machinecheck.Foreign(n.checks.Roots, d.Check, time.UnixMicro(d.Made), holds)}
			if err != nil {
				slog.Debug("a prediction could not be checked", "item", d.Item, "err", err)
			}
		}
		errs = append(errs, n.Routine(ctx, "predictions",
			func(g access.Grant) error { return trust.Resolve(g, d.Item, f) }))
	}
	return errors.Join(errs...)
}
