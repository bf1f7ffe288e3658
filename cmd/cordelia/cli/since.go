package cli

import (
	"time"

	"github.com/spf13/cobra"

	"cordelia/schemas"
)

// SinceFlag adds --since to a command.
func SinceFlag(cmd *cobra.Command, since *string, otherwise string) {
	cmd.Flags().StringVar(since, "since", otherwise,
		"only entries from then on: a duration as 24h, "+schemas.DateForms)
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
