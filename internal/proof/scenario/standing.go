package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A model gets the text of an answer alone. So what a later call needs of it (ids,
// cursors, fences, names, hashes that an approval names) has to stand in the text; an id
// may stand there in its short form. The rule is checked twice: of every answer by the
// names of its fields, and of what a script takes from an answer into a later call.

// needed are the fields whose values later calls take.
var needed = []string{"id", "ids", "item_id", "work_id", "task_id", "swarm_id", "group_id", "fence", "cursor",
	"next_cursor", "left_out", "staging", "reviews", "merged",
	"archive_id", "with", "conflicts_with", "supersedes", "superseded_by", "shared", "item", "name", "hash", "swarm"}

// aside are fields whose members no call takes: whole documents and their history.
var aside = []string{"context", "data", "capabilities", "grants", "provenance", "culture", "versions", "result",
	"proposed", "plan", "outcomes", "evidence", "brief", "diff", "inputs"}

var (
	longID   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	entityID = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// missing names what a later call needs of an answer and its text lacks; "" if nothing.
func missing(a Answer) string { return lacking(a.Value, a.Text, "") }

func lacking(value any, text, path string) string {
	switch v := value.(type) {
	case map[string]any:
		_, event := v["payload"]
		for name, member := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			switch {
			case slices.Contains(aside, name), event && name == "id", // no call takes the id of an event
				// of an item that the caller no longer holds, or gave the fence of
				name == "fence" && v["attempt"] == nil:
				continue
			case slices.Contains(needed, name) && !appears(member, text):
				return fmt.Sprintf("%s (%v)", at, member)
			}
			if found := lacking(member, text, at); found != "" {
				return found
			}
		}
	case []any:
		for i, member := range v {
			if found := lacking(member, text, fmt.Sprintf("%s.%d", path, i)); found != "" {
				return found
			}
		}
	}
	return ""
}

// appears reports whether a value, or each value of a list, is in a text. An agent's id need
// not be: its name is.
func appears(value any, text string) bool {
	switch v := value.(type) {
	case string:
		switch {
		case v == "", entityID.MatchString(v) && !strings.Contains(text, "hash"):
			return true
		case longID.MatchString(v):
			return strings.Contains(text, v[len(v)-8:])
		}
		return strings.Contains(text, strings.TrimSuffix(strings.Join(strings.Fields(v), " "), "…"))
	case float64:
		return strings.Contains(text, compact(v))
	case []any:
		return !slices.ContainsFunc(v, func(one any) bool { return !appears(one, text) })
	}
	return true
}
