package config

import (
	"errors"
	"fmt"
	"time"

	"cordelia/events"
)

// retentionSettings say how old events get.
type retentionSettings struct {
	EventsDays int `json:"events_days" default:"0, for ever"`              // those that all their readers acknowledged
	UnreadDays int `json:"unread_days" default:"0, until all readers did"` // those that a reader did not
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
