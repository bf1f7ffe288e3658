package memory

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// Sign signs a message with the caller's key, and names the owner of that key.
type Sign func(message []byte) (signature []byte, by schemas.EntityID)

// Write asks for a new item, or for a change of item ID.
type Write struct {
	ID          schemas.ItemID  // of the item to change; "" makes a new one
	IfVersion   int             // required to change what others can read
	Type        ItemType        // "" = that of ID, or the one that data fit
	Data        json.RawMessage // absent keeps the data of ID
	Visibility  schemas.Visibility
	Group       schemas.GroupID
	Subject     string
	Key         string
	Supersedes  schemas.ItemID
	ValidFrom   string
	ValidTo     string
	Confidence  *float64 // 0–1
	Validated   *bool
	TTLSeconds  *int64 // 0 = none
	DerivedFrom []schemas.ItemID
	Source      Source
	Known       []string // names of the tools there are
	Tainted     bool     // this process knows the writer's session to be marked
	Dir         string   // the canonical folder the writer works in: the process's, never an argument
}

// Draft is a checked Write with everything done that needs no lock: hashes,
// signature, words. Those of a change wait for the item, whose type says what its data are.
type Draft struct {
	Write
	id        schemas.ItemID
	content   *content // nil keeps the data
	hash      [sha256.Size]byte
	signature []byte
	signedBy  schemas.EntityID
	words     wordIndex
	caller    schemas.EntityID
	sign      Sign
	anywhere  bool // a new item whose audience was not said: private, unless Dir is bound
}

// maxLineage bounds derived_from.
const maxLineage = 100

// Prepare checks w and reports every violation at once. caller is who proved
// itself, and whose word the signature is; sign may be nil.
func Prepare(w Write, caller schemas.EntityID, sign Sign) (*Draft, error) {
	check := checker{}
	d := &Draft{Write: w, id: w.ID, caller: caller, sign: sign}
	if w.ID == "" {
		d.id = schemas.ItemID(schemas.NewID())
		if d.Type == "" && len(w.Data) > 0 {
			d.Type = typeOf(w.Data)
		}
		if len(w.Data) == 0 {
			check.add("/data", "is missing: the fields of an item of its type")
		}
		d.read(&check)
	}
	d.audience(&check)
	d.metadata(&check)
	if len(check.found) > 0 {
		return nil, check.notWritten()
	}
	return d, d.seal()
}

// read checks the data as those of an item of the draft's type.
func (d *Draft) read(check *checker) {
	if len(d.Data) == 0 {
		return
	}
	c, found := parseContent(d.Type, d.Data, "/data")
	check.found = append(check.found, found...)
	d.content = &c
	d.adopt(check, c)
}

// readAs reads the data of a change, whose type is that of the item.
func (d *Draft) readAs(t ItemType) error {
	if d.Type == "" {
		d.Type = t
	}
	if d.Type != t {
		return schemas.Invalidf("an item keeps its type").Expecting("type %s", t).
			With(schemas.Violation{Path: "/type", Msg: "is not the item's"})
	}
	check := checker{}
	d.read(&check)
	if len(check.found) > 0 {
		return check.notWritten()
	}
	return d.seal()
}

// seal does what is left once the data are read: hash, index, signature.
func (d *Draft) seal() (err error) {
	if d.content == nil {
		return nil
	}
	if d.hash, err = ContentHash(d.Type, d.content.data); err != nil {
		return fmt.Errorf("hash item: %w", err)
	}
	d.words = indexOf(*d.content, d.Subject, d.Key)
	if d.sign != nil {
		d.signature, d.signedBy = d.sign(schemas.ItemProvenance{Author: d.caller, ItemID: d.id,
			ContentHash: d.hash}.SigningBytes())
	}
	return nil
}

// changesData reports whether the draft brings new data.
func (d *Draft) changesData() bool { return len(d.Data) > 0 || d.content != nil }

func (c *checker) notWritten() error {
	return schemas.Invalidf("the item was not written").
		Try("correct what is listed and %s again", schemas.Do("memory_write_warm")).With(c.found...)
}

// span checks that what is valid from one time to another is valid at all; 0 = open.
func (c *checker) span(from, to int64) {
	if from != 0 && to != 0 && from >= to {
		c.add("/valid_to", "must be after valid_from")
	}
}

// adopt takes confidence and validated from a learning's data, where the
// ecosystem writes them.
func (d *Draft) adopt(check *checker, c content) {
	if c.confidence != nil {
		if d.Confidence != nil && thousandths(*d.Confidence) != *c.confidence {
			check.add("/confidence", "differs from data.confidence; give one of them")
		}
		f := float64(*c.confidence) / 1000
		d.Confidence = &f
	}
	if c.validated != nil {
		if d.Validated != nil && *d.Validated != *c.validated {
			check.add("/validated", "differs from data.validated; give one of them")
		}
		d.Validated = c.validated
	}
}

func (d *Draft) audience(check *checker) {
	if d.ID != "" {
		if d.Visibility != "" || d.Group != "" {
			check.add("/visibility", "of an item never changes; memory_share copies it into a group")
		}
		if d.Supersedes != "" {
			check.add("/supersedes", "is for new items")
		}
		if len(d.DerivedFrom) > 0 && len(d.Data) == 0 {
			check.add("/derived_from", "needs the new data it is about")
		}
		return
	}
	d.anywhere = d.Visibility == "" && d.Group == ""
	if d.Visibility == "" {
		d.Visibility = schemas.Private
		if d.Group != "" {
			d.Visibility = schemas.Group
		}
	}
	if !slices.Contains([]schemas.Visibility{schemas.Private, schemas.Group, schemas.Public}, d.Visibility) {
		check.add("/visibility", "must be private, group or public")
	}
	if (d.Visibility == schemas.Group) != (d.Group != "") {
		check.add("/group", "goes with visibility group, and only with it")
	}
	if d.IfVersion != 0 {
		check.add("/if_version", "is for changing an item: give its id too")
	}
}

func (d *Draft) metadata(check *checker) {
	if d.Source != "" && !slices.Contains([]Source{FromAgent, FromTool, FromExternal}, d.Source) {
		check.add("/source", "must be agent, tool or external; that a person said it, the node knows by who writes")
	}
	if (d.Subject == "") != (d.Key == "") {
		check.add("/key", "goes with subject: what it is about, and which property")
	}
	d.Subject, d.Key = normal(d.Subject), normal(d.Key)
	for path, s := range map[string]string{"/subject": d.Subject, "/key": d.Key} {
		if len(s) > maxTitle {
			check.add(path, "is longer than %d bytes", maxTitle)
		}
	}
	for path, s := range map[string]string{"/valid_from": d.ValidFrom, "/valid_to": d.ValidTo} {
		if s != "" && schemas.DateOf(s).IsZero() {
			check.add(path, "%s", schemas.NoDate(s))
		}
	}
	check.span(micros(d.ValidFrom), micros(d.ValidTo))
	if d.Confidence != nil && (*d.Confidence < 0 || *d.Confidence > 1) {
		check.add("/confidence", "must be a number from 0 to 1")
	}
	if d.ID == "" && d.Validated != nil && *d.Validated && d.Confidence != nil &&
		thousandths(*d.Confidence) < quarantineBelow {
		check.add("/validated", "an item below confidence 0.3 is validated later, by changing it")
	}
	if d.TTLSeconds != nil && (*d.TTLSeconds < 0 || *d.TTLSeconds > schemas.MaxTTLSeconds) {
		check.add("/ttl_seconds", "must be from 0 to %d", schemas.MaxTTLSeconds)
	}
	if len(d.DerivedFrom) > maxLineage {
		check.add("/derived_from", "has %d elements, more than %d", len(d.DerivedFrom), maxLineage)
	}
}

// normal folds a subject or key, so that one thing has one name.
func normal(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// ContentHash is the SHA-256 of the canonical JSON of type and data: the content of an item,
// without its author and place.
func ContentHash(t ItemType, data []byte) ([sha256.Size]byte, error) {
	b, err := canonical.Of(map[string]any{"type": string(t), "data": jsontext.Value(data)})
	return sha256.Sum256(b), err
}

// thread is the session an item belongs to.
func (c content) thread(session string) string {
	if s, ok := c.value["source_session"].(string); ok {
		return s
	}
	return session
}
