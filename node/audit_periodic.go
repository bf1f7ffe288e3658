package node

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

const (
	reportEvery = 24 * time.Hour
	// MaxReports is how many of its reports the auditor keeps.
	MaxReports = 400
)

// AuditKept gives the newest reports that the auditor made by itself, newest first,
// at most limit and MaxReports.
func (n *Node) AuditKept(ctx context.Context, person access.Principal, limit int) (list []AuditSummary, err error) {
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		rows, err := g.Tx().Query(selectReports, min(limit, MaxReports))
		list, err = store.Collect(rows, err, func(r *sql.Rows) (s AuditSummary, err error) {
			var text string
			if err := r.Scan(&text); err != nil {
				return s, err
			}
			return s, json.Unmarshal([]byte(text), &s)
		})
		return err
	})
	return list, err
}

// dueReport makes the auditor's report of the last day, once that is over.
func (n *Node) dueReport(g access.Grant) (func(context.Context) error, error) {
	since, err := reported(g.Tx())
	if err != nil {
		return nil, err
	}
	until := g.Tx().Micros()
	if since == 0 || until-since < reportEvery.Microseconds() {
		return nil, nil
	}
	summary, err := report(g, schemas.AuditQuery{}, since, until)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return n.keepReport(ctx, summary, since, until) }, nil
}

// keepReport keeps a report for the person. Every process of the node does; each span is
// reported once.
func (n *Node) keepReport(ctx context.Context, summary AuditSummary, since, until int64) error {
	return n.Routine(ctx, auditOp.Tool, func(g access.Grant) error {
		last, err := reported(g.Tx())
		if err != nil || last != since {
			return err // another process was there before
		}
		if _, err := g.Tx().Exec(insertReport, until, since, summary.ReportID, string(encoded(summary))); err != nil {
			return fmt.Errorf("keep report: %w", err)
		}
		if _, err := g.Tx().Exec(dropReports, MaxReports); err != nil {
			return fmt.Errorf("drop reports: %w", err)
		}
		return g.Audit("report/"+summary.ReportID, map[string]any{"findings": len(summary.Findings),
			"events": summary.Events, "messages": summary.Messages})
	})
}

// reported is up to when reports were made, UTC µs: before the first, when the
// record begins.
func reported(tx *store.Tx) (at int64, err error) {
	if err = tx.QueryRow(selectReported).Scan(&at); err == nil && at == 0 {
		err = tx.QueryRow(selectFirstEntry).Scan(&at)
	}
	if err != nil {
		return 0, fmt.Errorf("read reports: %w", err)
	}
	return at, nil
}
