package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"cordelia/events"
)

// deepNote is what the home keeps of its last deep verification.
type deepNote struct {
	At    time.Time `json:"at"`
	Sound bool      `json:"sound"`
}

// DeepNote is the file that says when the data was last compared with the record.
func (h Home) DeepNote() string { return filepath.Join(string(h), "deep-verification.json") }

// NoteDeepVerification keeps when items and rights were compared with the record, and
// whether all fitted, for doctor to tell. A home that cannot be written goes without.
func (h Home) NoteDeepVerification(v events.Verified, at time.Time) {
	if raw, err := json.Marshal(deepNote{at.UTC().Truncate(time.Second), v.Sound()}); err == nil {
		os.WriteFile(h.DeepNote(), raw, 0o600) //nolint:errcheck // a figure for people; no check relies on it
	}
}

// LastDeepVerification gives what NoteDeepVerification kept; false if there is nothing.
func (h Home) LastDeepVerification() (at time.Time, sound, ok bool) {
	raw, err := os.ReadFile(h.DeepNote())
	if err != nil {
		return at, false, false
	}
	var note deepNote
	err = json.Unmarshal(raw, &note)
	return note.At, note.Sound, err == nil && !note.At.IsZero()
}
