package storetest

import (
	"fmt"
	"regexp"
)

// Transcript makes the answers of two runs comparable: what differs by chance gets the name
// in which it came first.
type Transcript struct {
	Lines []string
	names map[string]string
}

// chance is what no two runs have in common: ids, hashes, signatures, keys, tokens, cursors.
var chance = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}|` +
	`[A-Za-z0-9+/_-]{40,}={0,2}|\b[0-9a-f]{8,12}\b|cursor"?: ?"?[A-Za-z0-9_-]+`)

// clocks are times, in each of the forms in which they are told, and what is measured by them: the
// share of its budget that a task has used, its loss, and the ages of a swarm. They are not compared,
// nor whether an agent's last sign of life was written yet, which is done each second.
var clocks = regexp.MustCompile(`,"last_seen_at":"[^"]*"|, seen 20\d\d-\d\d-\d\d[T ][0-9:.]+Z|` +
	`20\d\d-\d\d-\d\d[T ][0-9:.]+Z|20\d{6}[Tt]\d{6}[0-9.]*[Zz]|"(Omega|L)":[0-9.e-]+|` +
	`"(age_s|first_expiry_s|lease_s|seconds_left)":\d+|,"seen_s":\d+|` +
	` \(seen \d+ s ago\)|, seen \d+ s ago|seen \d+ s ago, |\b\d+ s left|first ends in \d+ s`)

// Add writes an answer down.
func (t *Transcript) Add(answer string) {
	answer = clocks.ReplaceAllString(answer, "")
	t.Lines = append(t.Lines, chance.ReplaceAllStringFunc(answer, func(found string) string {
		if t.names == nil {
			t.names = map[string]string{}
		}
		if t.names[found] == "" {
			t.names[found] = fmt.Sprintf("<%d>", len(t.names)+1)
		}
		return t.names[found]
	}))
}
