package memory

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/schemas"
)

// GroupRecord is a group as an export has it.
type GroupRecord struct {
	ID          schemas.GroupID `json:"id"`
	Kind        GroupKind       `json:"kind"`
	Description string          `json:"description,omitempty"`
	Culture     Culture         `json:"culture"`
}

// Record is an item as an export has it.
type Record struct {
	ID           schemas.ItemID     `json:"id"`
	Type         ItemType           `json:"type"`
	Data         json.RawMessage    `json:"data"`
	ContentHash  string             `json:"content_hash"`
	Visibility   schemas.Visibility `json:"visibility"`
	Group        schemas.GroupID    `json:"group,omitempty"`
	Origin       schemas.ItemID     `json:"origin,omitempty"`
	Parent       schemas.ItemID     `json:"parent,omitempty"`
	Stale        string             `json:"stale,omitempty"`
	Subject      string             `json:"subject,omitempty"`
	Key          string             `json:"key,omitempty"`
	Supersedes   schemas.ItemID     `json:"supersedes,omitempty"`
	SupersededBy schemas.ItemID     `json:"superseded_by,omitempty"`
	ValidFrom    string             `json:"valid_from,omitempty"`
	ValidTo      string             `json:"valid_to,omitempty"`
	Confidence   float64            `json:"confidence"`
	Validated    bool               `json:"validated,omitempty"`
	Quarantined  bool               `json:"quarantined,omitempty"`
	Released     bool               `json:"released,omitempty"` // it instructs, and is in effect
	ExpiresAt    string             `json:"expires_at,omitempty"`
	Version      int                `json:"version"`
	CreatedAt    string             `json:"created_at"`
	UpdatedAt    string             `json:"updated_at"`
	Provenance   Provenance         `json:"provenance"`
	Links        []Link             `json:"links,omitempty"`
	Versions     []Version          `json:"versions,omitempty"`
}

// LeftOut counts items that an export does not hold for one reason.
type LeftOut struct {
	Why   string          `json:"why"` // deleted, staged or others
	Group schemas.GroupID `json:"group,omitempty"`
	Count int             `json:"count"`
}

// Incoming is an item of a file, checked.
type Incoming struct {
	Record
	// Signed says that memory/archive found a signature that holds, under which the item
	// keeps author, provenance, confidence and place.
	Signed  bool
	content content
}

// Foreign makes an item of a file that is no export: a text from outside, which stood at a
// place in a file. It has no id, owner or place yet.
func Foreign(t ItemType, data json.RawMessage, place string) (Incoming, []schemas.Violation) {
	c, found := parseContent(t, data, "")
	if len(found) > 0 {
		return Incoming{}, found
	}
	sum, err := ContentHash(t, c.data)
	if err != nil {
		return Incoming{}, []schemas.Violation{{Msg: "cannot be stored"}}
	}
	hash := hex.EncodeToString(sum[:])
	return Incoming{content: c, Record: Record{
		Type: t, Data: c.data, ContentHash: hash, Confidence: float64(DefaultConfidence) / 1000, Version: 1,
		Provenance: Provenance{Source: FromExternal, ContentHash: hash, File: oneLine(place, maxTitle)},
	}}, nil
}

// CheckGroup says what is wrong with a group of a file.
func CheckGroup(o GroupRecord) []schemas.Violation {
	check := checker{}
	if err := schemas.CheckGroupID(string(o.ID)); err != nil {
		check.add("/group/id", "is not well formed")
	}
	culture := DefaultCulture()
	c := &o.Culture
	for _, v := range (CulturePatch{&c.Broadcast, &c.Notification, &c.Departure, &c.TTL}).apply(&culture) {
		check.add("/group"+v.Path, "%s", v.Msg)
	}
	return check.found
}

// CheckRecord makes an item of a file ready to be taken, or says what is wrong with it.
func CheckRecord(i Record) (Incoming, []schemas.Violation) {
	check := checker{}
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	if i.ID == "" || len(i.ID) > 200 || strings.ContainsFunc(string(i.ID), unprintable) {
		check.add("/item/id", "is not an id")
	}
	c, found := parseContent(i.Type, []byte(i.Data), "/item/data")
	check.found = append(check.found, found...)
	if sum, err := ContentHash(i.Type, c.data); len(found) == 0 && err == nil {
		i.edited(hex.EncodeToString(sum[:]))
	}
	if i.Provenance.Author == "" || len(i.Provenance.Author) > 128 {
		check.add("/item/provenance/author", "is missing")
	}
	if !slices.Contains([]Source{FromUser, FromAgent, FromTool, FromExternal, FromArchive}, i.Provenance.Source) {
		check.add("/item/provenance/source", "must be user, agent, tool, external or archive")
	}
	if !slices.Contains([]schemas.Visibility{schemas.Private, schemas.Group, schemas.Public}, i.Visibility) ||
		(i.Visibility == schemas.Group) != (i.Group != "") {
		check.add("/item/visibility", "must be private or public, or group with a group")
	}
	// A copy changes with its origin, and so must lie where others may change it.
	if i.Visibility != schemas.Group && (i.Origin != "" || i.Parent != "") {
		check.add("/item/origin", "is for copies, which lie in groups")
	}
	if !slices.Contains([]string{"", "corrected", "refuted", "deleted"}, i.Stale) {
		check.add("/item/stale", "must be corrected, refuted or deleted")
	}
	if i.Confidence < 0 || i.Confidence > 1 {
		check.add("/item/confidence", "must be a number from 0 to 1")
	}
	if i.Version < 1 || len(i.Versions) >= i.Version {
		check.add("/item/version", "does not fit the versions")
	}
	i.checkTimes(&check)
	for n, l := range i.Links {
		if !slices.Contains([]string{"derived_from", "duplicate_of", "refines", "conflicts_with"}, l.Kind) ||
			l.Other == "" {
			check.add(fmt.Sprintf("/item/links/%d", n), "must have a kind and an id")
		}
	}
	i.checkVersions(&check)
	return Incoming{Record: i, content: c}, check.found
}

// checkTimes checks that what is given as a time is one.
func (i Record) checkTimes(check *checker) {
	for _, t := range []struct {
		field, value string
		required     bool
	}{
		{"created_at", i.CreatedAt, true}, {"updated_at", i.UpdatedAt, true}, {"valid_from", i.ValidFrom, false},
		{"valid_to", i.ValidTo, false}, {"expires_at", i.ExpiresAt, false},
	} {
		if (t.value != "" || t.required) && schemas.DateOf(t.value).IsZero() {
			check.add("/item/"+t.field, "must be a time")
		}
	}
}

func (i Record) checkVersions(check *checker) {
	last := 0
	for n, v := range i.Versions {
		path := fmt.Sprintf("/item/versions/%d", n)
		if v.Version <= last || v.Version >= i.Version {
			check.add(path+"/version", "is out of order")
		}
		last = v.Version
		c, found := parseContent(i.Type, []byte(v.Data), path+"/data")
		check.found = append(check.found, found...)
		if len(found) == 0 {
			checkHash(check, path+"/content_hash", i.Type, c.data, v.Hash)
		}
		if v.Confidence < 0 || v.Confidence > 1 || schemas.DateOf(v.At).IsZero() {
			check.add(path, "has no confidence or time")
		}
	}
}

// edited makes an item whose words were changed in the file one of the words it has now: no
// signature is for these, so it will be external.
func (i *Record) edited(hash string) {
	if i.ContentHash == hash && i.Provenance.ContentHash == hash {
		return
	}
	i.ContentHash, i.Provenance.ContentHash, i.Provenance.Signature, i.Provenance.SignedBy = hash, hash, "", ""
}

// checkHash compares a content hash with what it says it is of.
func checkHash(check *checker, path string, t ItemType, data []byte, want string) {
	sum, err := ContentHash(t, data)
	if err != nil || hex.EncodeToString(sum[:]) != want {
		check.add(path, "is not the hash of the data")
	}
}
