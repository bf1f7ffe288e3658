package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cordelia/node"
	"cordelia/schemas"
)

// SinceFlag adds --since to a command.
func SinceFlag(cmd *cobra.Command, since *string, otherwise string) {
	cmd.Flags().StringVar(since, "since", otherwise,
		"only entries from then on: a duration as 24h, "+schemas.DateForms)
}

// LimitFlag adds --limit to a command that shows entries of the audit record.
func LimitFlag(cmd *cobra.Command, limit *int, usual int) {
	cmd.Flags().IntVar(limit, "limit", 0, fmt.Sprintf("how many to begin with; without it %d, or with --since all", usual))
}

// LimitOf is what --limit gives, 0 if it was not given.
func LimitOf(cmd *cobra.Command, limit int) (int, error) {
	if cmd.Flags().Changed("limit") && (limit < 1 || limit > node.AuditPage) {
		return 0, schemas.Invalidf("--limit is %d", limit).Expecting("1 to %d",
			node.AuditPage).Try("narrow it with --since")
	}
	return limit, nil
}

// ParseSince reads a moment, in µs UTC; "" is the beginning.
func ParseSince(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d).UnixMicro(), nil
	}
	if t := schemas.DateOf(text); !t.IsZero() {
		return t.UnixMicro(), nil
	}
	return 0, schemas.Invalidf("%q is no time", text).Expecting("a duration as 24h, %s", schemas.DateForms).
		Try("correct it and run the same again")
}
