//go:build testclock

package node

import (
	"time"

	"cordelia/internal/store"
)

// WrongClock lets this machine's clock be ahead of the right time.
func (c *Config) WrongClock(by time.Duration) { c.Clock = store.SystemClock{Wrong: by} }
