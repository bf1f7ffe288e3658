package schemas

import "time"

// DateForms are the forms that DateOf reads, for messages.
const DateForms = "a day as 2026-01-31, from midnight UTC, or a time as 2026-01-31T12:00:00Z"

// NoDate says why DateOf does not read a text.
func NoDate(text string) string {
	if !DateOf(text + "Z").IsZero() {
		return "names no zone: add Z for UTC"
	}
	return "must be a date, like 2026-11-20 or 2026-11-20T09:00:00Z"
}

// DateOf reads a date or a time as people and agents write it; the zero time for anything else.
// A day begins at midnight UTC, on every machine: a memory that one agent dates is found by the
// same date from another time zone.
func DateOf(text string) time.Time {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
			return t.UTC()
		}
	}
	return time.Time{}
}
