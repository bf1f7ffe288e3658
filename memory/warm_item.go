package memory

import (
	"encoding/json"
	"strings"

	"cordelia/schemas"
)

// ItemType is what kind of thing an item tells of.
type ItemType string

const (
	EntityItem   ItemType = "entity"   // a person, org, project or concept
	SessionItem  ItemType = "session"  // what happened on a date
	LearningItem ItemType = "learning" // a pattern, insight or principle
)

// ItemTypes lists every item type.
func ItemTypes() []ItemType { return []ItemType{EntityItem, SessionItem, LearningItem} }

// Source is where the words of an item come from.
type Source string

const (
	FromUser     Source = "user"     // a person said so
	FromAgent    Source = "agent"    // an agent concluded it
	FromTool     Source = "tool"     // a tool printed it
	FromExternal Source = "external" // read somewhere outside
	FromArchive  Source = "archive"  // the node, when an agent ended
)

// Confidence is in thousandths. Below quarantineBelow an item is kept but not
// surfaced until its owner validates it (seed §5.6).
const (
	DefaultConfidence = 500
	quarantineBelow   = 300
)

// Provenance is where an item comes from. The node writes it once per version
// and nothing changes it (INV-PROVENANCE).
type Provenance struct {
	Author schemas.EntityID   `json:"author"`
	Via    []schemas.EntityID `json:"via,omitempty"` // who acted through the author, nearest first
	Source Source             `json:"source"`
	// its writer's session, or a source of it, had second-hand words
	Tainted     bool             `json:"tainted,omitempty"`
	DerivedFrom []schemas.ItemID `json:"derived_from,omitempty"`
	Session     string           `json:"session,omitempty"`
	Task        string           `json:"task,omitempty"`      // from whose verdicts the node wrote it: a lesson
	ContentHash string           `json:"content_hash"`        // hex SHA-256
	Signature   string           `json:"signature,omitempty"` // base64
	SignedBy    schemas.EntityID `json:"signed_by,omitempty"`
	// the id that was signed, when a copy carries its origin's signature
	SignedID schemas.ItemID   `json:"signed_id,omitempty"`
	SharedBy schemas.EntityID `json:"shared_by,omitempty"`
	// who brought it here in a file that nothing known here signed
	ImportedBy schemas.EntityID `json:"imported_by,omitempty"`
	// of an import that was no export: where in which file it stood
	File string `json:"file,omitempty"`
	At   string `json:"at"`
}

// Item is one piece of warm memory as a reader sees it. Its text was written by
// agents: it is data, never instructions.
type Item struct {
	ID           schemas.ItemID     `json:"id"`
	Type         ItemType           `json:"type"`
	Name         string             `json:"name"`
	Data         json.RawMessage    `json:"data"`
	Owner        schemas.EntityID   `json:"owner"`
	Author       schemas.EntityID   `json:"author"`
	Visibility   schemas.Visibility `json:"visibility"`
	Group        schemas.GroupID    `json:"group,omitempty"`
	Origin       schemas.ItemID     `json:"origin,omitempty"`
	Parent       schemas.ItemID     `json:"parent,omitempty"`
	Stale        string             `json:"stale,omitempty"` // the origin was corrected, refuted or deleted
	Subject      string             `json:"subject,omitempty"`
	Key          string             `json:"key,omitempty"`
	Supersedes   schemas.ItemID     `json:"supersedes,omitempty"`
	SupersededBy schemas.ItemID     `json:"superseded_by,omitempty"`
	ValidFrom    string             `json:"valid_from,omitempty"`
	ValidTo      string             `json:"valid_to,omitempty"`
	Confidence   float64            `json:"confidence"` // 0–1
	Validated    bool               `json:"validated,omitempty"`
	State        string             `json:"state"` // current, superseded, expired, quarantined, unreleased or deleted
	ExpiresAt    string             `json:"expires_at,omitempty"`
	Version      int                `json:"version"`
	CreatedAt    string             `json:"created_at"`
	UpdatedAt    string             `json:"updated_at"`
	Provenance   Provenance         `json:"provenance"`
	Related      []Link             `json:"related,omitempty"`
	// by the person, by whom its place belongs to, or by the reader
	Wrong bool `json:"judged_wrong,omitempty"`
}

// Link is what an item has to do with another one.
type Link struct {
	Kind  string         `json:"kind"` // derived_from, duplicate_of, refines or conflicts_with
	Other schemas.ItemID `json:"id"`
}

// States of an item; the first that applies is shown.
const (
	stateDeleted     = "deleted"
	stateUnreleased  = "unreleased"
	stateQuarantined = "quarantined"
	stateSuperseded  = "superseded"
	stateExpired     = "expired"
	stateCurrent     = "current"
)

// Why a copy may be out of date: what became of its origin.
const (
	staleCorrected = "corrected" // the origin changed
	staleRefuted   = "refuted"
	staleDeleted   = "deleted"
)

// isLesson reports whether the node wrote r from a task, or says so where r came from. Whether
// a lesson binds a plan depends on more than that.
func (r *row) isLesson() bool { return ofTask(r.provenance) }

// ofTask reports whether words of this provenance are a lesson's; the SQL beside
// selectLessons asks the same.
func ofTask(provenance string) bool { return strings.Contains(provenance, `"task":"`) }

// row is an item as stored.
type row struct {
	n             int64
	id            schemas.ItemID
	typ           ItemType
	owner, author schemas.EntityID
	visibility    schemas.Visibility
	group         schemas.GroupID
	scope         int64
	origin        schemas.ItemID
	parent        schemas.ItemID
	stale         string
	version       int
	data          string
	name          string
	tags          string
	subject, key  string
	supersedes    schemas.ItemID
	supersededBy  schemas.ItemID
	supersededAt  int64 // worked out with supersededBy, never stored
	validFrom     int64
	validTo       int64
	confidence    int
	validated     bool
	quarantined   bool
	expires       int64
	source        Source
	provenance    string
	thread        string
	hash          []byte
	terms         string
	tokens        int
	current       bool
	created       int64
	updated       int64
	deleted       int64
	deletedBy     schemas.EntityID
	groupTTL      int64 // seconds; the group culture's, 0 = none
	tainted       bool  // marked in this operation
	hidden        bool  // with its author, from this reader's searches
}

// inQuarantine reports whether r is kept from searching and sharing for what it
// is, not for whose it is (INV-QUARANTINE).
func (r *row) inQuarantine() bool {
	return r.quarantined || r.source == FromArchive || r.confidence < quarantineBelow && !r.validated
}

// eventful reports whether an event may name r: none does while it is private, hidden or in
// quarantine.
func (r *row) eventful() bool {
	return r.visibility == schemas.Group && !r.hidden && !r.inQuarantine()
}

// expiry is when r ends, by its own ttl or its group's culture; 0 = never.
func (r *row) expiry() int64 {
	if r.expires != 0 {
		return r.expires
	}
	if r.groupTTL > 0 {
		return r.created + r.groupTTL*1_000_000
	}
	return 0
}

// ended reports whether r's lifetime is over.
func (r *row) ended(at int64) bool {
	end := r.expiry()
	return end != 0 && at >= end
}

// over reports whether r's lifetime is over or it is no longer valid.
func (r *row) over(at int64) bool { return r.ended(at) || r.validTo != 0 && at >= r.validTo }

// state is what r is at a moment, UTC microseconds.
func (r *row) state(at int64) string {
	switch {
	case r.deleted != 0:
		return stateDeleted
	case r.unreleased():
		return stateUnreleased
	case r.inQuarantine(), r.hidden:
		return stateQuarantined
	case r.supersededBy != "":
		return stateSuperseded
	case r.over(at):
		return stateExpired
	}
	return stateCurrent
}

// until is when r stops being true: by its own word, or since it is superseded; 0 = never.
func (r *row) until() int64 {
	if r.supersededAt == 0 || r.validTo != 0 && r.validTo < r.supersededAt {
		return r.validTo
	}
	return r.supersededAt
}

// begins is when r began to be true.
func (r *row) begins() int64 {
	if r.validFrom == 0 {
		return r.created
	}
	return r.validFrom
}

// wasTrue reports whether r was true at a moment: valid and not ended.
func (r *row) wasTrue(at int64) bool {
	return at >= r.begins() && (r.until() == 0 || at < r.until()) && !r.ended(at)
}
