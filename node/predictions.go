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

// CheckPredictions checks, once, the predictions that are new or due.
func (n *Node) CheckPredictions(ctx context.Context) error {
	return n.reap(ctx, []finding{n.duePredictions})
}

// duePredictions finds the predictions that are new or due.
func (n *Node) duePredictions(g access.Grant) (func(context.Context) error, error) {
	due, err := trust.FindDue(g)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	return func(ctx context.Context) error { return n.checkPredictions(ctx, due) }, nil
}

// checkPredictions writes down how predictions came out. Files are looked at outside of
// any transaction; what is in them goes nowhere.
func (n *Node) checkPredictions(ctx context.Context, due []trust.Due) error {
	var errs []error
	for _, d := range due {
		var f trust.Finding
		if !d.Purged {
			passed, err := machinecheck.Holds(ctx, n.checks.Roots, d.Check, n.Now())
			f = trust.Finding{Known: err == nil, Holds: passed,
				Foreign: d.Made > 0 && machinecheck.Foreign(n.checks.Roots, d.Check, time.UnixMicro(d.Made), passed)}
			if err != nil {
				slog.Debug("a prediction could not be checked", "item", d.Item, "err", err)
			}
		}
		errs = append(errs, n.Routine(ctx, "predictions",
			func(g access.Grant) error { return trust.Resolve(g, d.Item, f) }))
	}
	return errors.Join(errs...)
}
