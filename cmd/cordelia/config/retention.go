package config

import (
	"errors"
	"fmt"
	"time"

	"cordelia/events"
)

// retentionSettings say how old events get.
type retentionSettings struct {
	// days after which events are removed that all their readers acknowledged
	EventsDays int `json:"events_days" default:"0, never"`
	// days after which those are that a reader did not, of which it is told
	UnreadDays int `json:"unread_days" default:"0, never"`
}

// maxDays is a hundred years.
const maxDays = 36500

// check refuses what would remove unread events before the others, or removes none.
func (s retentionSettings) check() error {
	for name, days := range map[string]int{"events_days": s.EventsDays, "unread_days": s.UnreadDays} {
		if days < 0 || days > maxDays {
			return fmt.Errorf("retention.%s must be 0 to %d", name, maxDays)
		}
	}
	if s.UnreadDays > 0 && (s.EventsDays == 0 || s.UnreadDays < s.EventsDays) {
		return errors.New("retention.unread_days needs retention.events_days, and must not be less")
	}
	return nil
}

// read gives how long events are kept.
func (s retentionSettings) read() events.Retention {
	const day = 24 * time.Hour
	return events.Retention{Events: time.Duration(s.EventsDays) * day, Unread: time.Duration(s.UnreadDays) * day}
}
