package cli

import (
	"fmt"

	"cordelia/run/cost"
	"cordelia/work"
)

// SpentWords says what was used, with the share that came from a cache.
func SpentWords(u work.Usage) string {
	in := u.Input + u.Cached + u.Written
	cached := ""
	if u.Cached > 0 {
		cached = fmt.Sprintf(" (%d %% cached)", 100*u.Cached/in)
	}
	return fmt.Sprintf("%d tokens in%s, %d out, %s", in, cached, u.Output, cost.Money(u.Cost))
}
