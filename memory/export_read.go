package memory

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cordelia/schemas"
)

// Limits of what is imported.
const (
	maxRecord     = 4 << 20 // bytes of one line
	maxRecords    = 1_000_000
	maxViolations = 100
)

// Bundle is a checked export, ready to import.
type Bundle struct {
	entity  schemas.EntityID
	hot     []byte
	groups  []numbered[groupRecord]
	items   []numbered[itemRecord]
	drafts  []content
	hotLine int
}

// numbered is a record and the line it stood on.
type numbered[T any] struct {
	line  int
	value T
}

// ReadBundle reads an export in either format. It reports every violation with
// its line, up to a hundred; the path of a violation is /line and the field.
func ReadBundle(r io.Reader) (*Bundle, error) {
	b := &Bundle{}
	check := checker{}
	seen := map[schemas.ItemID]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxRecord)
	markdown, inside := false, false
	number, records := 0, 0
	for lines.Scan() && len(check.found) < maxViolations {
		number++
		line := lines.Bytes()
		if number == 1 && bytes.HasPrefix(line, []byte("#")) {
			markdown = true
		}
		if markdown {
			switch text := string(bytes.TrimRight(line, "\r")); {
			case !inside:
				inside = text == fence
				continue
			case text == "```":
				inside = false
				continue
			}
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if records++; records > maxRecords {
			check.add("", "more than %d records", maxRecords)
			break
		}
		b.take(&check, seen, number, bytes.Clone(line), records == 1)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		check.add(at(number+1, ""), "is longer than %d bytes", maxRecord)
	} else if err != nil {
		return nil, fmt.Errorf("read import: %w", err)
	}
	if records == 0 {
		check.add("", "there is nothing to import")
	}
	if len(check.found) > 0 {
		return nil, schemas.Invalidf("nothing was imported").Expecting("a file written by the export command").
			Try("correct the lines listed, or export again").With(check.found...)
	}
	return b, nil
}

// at is the path of a field of a line.
func at(line int, field string) string { return fmt.Sprintf("/%d%s", line, field) }

// take reads one record.
func (b *Bundle) take(check *checker, seen map[schemas.ItemID]int, line int, text []byte, first bool) {
	var r record
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil {
		check.add(at(line, ""), "%s", misread(err))
		return
	}
	if first != (r.Kind == recordHeader) {
		check.add(at(line, "/kind"), "the first record, and only it, is the header")
		return
	}
	switch {
	case r.Kind == recordHeader:
		if r.V != exportVersion {
			check.add(at(line, "/v"), "is version %d; this cordelia reads %d", r.V, exportVersion)
		}
		b.entity = r.Entity
	case r.Kind == recordHot && len(r.Context) > 0:
		if b.hotLine != 0 {
			check.add(at(line, ""), "is a second hot context, after line %d", b.hotLine)
		}
		b.hot, b.hotLine = r.Context, line
	case r.Kind == recordGroup && r.Group != nil:
		b.takeGroup(check, line, *r.Group)
	case r.Kind == recordItem && r.Item != nil:
		if before := seen[r.Item.ID]; before != 0 {
			check.add(at(line, "/item/id"), "is the item of line %d again", before)
			return
		}
		seen[r.Item.ID] = line
		b.takeItem(check, line, *r.Item)
	default:
		check.add(at(line, "/kind"), "must be export, l1, group or item, with what it names")
	}
}

// misread says in what a line is no record of an export.
func misread(err error) string {
	wrong, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return "is not JSON"
	case wrong.JSONPointer == "":
		return "is JSON, but not a record of an export"
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("has a field %s, which records do not have", oneLine(string(wrong.JSONPointer), maxTitle))
	}
	return fmt.Sprintf("has something at %s that records do not have there", oneLine(string(wrong.JSONPointer), maxTitle))
}

func (b *Bundle) takeGroup(check *checker, line int, o groupRecord) {
	if err := schemas.CheckGroupID(string(o.ID)); err != nil {
		check.add(at(line, "/group/id"), "is not well formed")
	}
	culture := DefaultCulture()
	for _, v := range (CulturePatch{&o.Culture.Broadcast, &o.Culture.Notification, &o.Culture.Departure, &o.Culture.TTL}).apply(&culture) {
		check.add(at(line, "/group"+v.Path), "%s", v.Msg)
	}
	b.groups = append(b.groups, numbered[groupRecord]{line, o})
}

func (b *Bundle) takeItem(check *checker, line int, i itemRecord) {
	if i.ID == "" || len(i.ID) > 200 || strings.ContainsFunc(string(i.ID), func(r rune) bool { return r <= ' ' || r > '~' }) {
		check.add(at(line, "/item/id"), "is not an id")
	}
	c, found := parseContent(i.Type, []byte(i.Data), at(line, "/item/data"))
	check.found = append(check.found, found...)
	if len(found) == 0 {
		checkHash(check, at(line, "/item/content_hash"), i.Type, c.data, i.ContentHash)
	}
	if i.Provenance.ContentHash != i.ContentHash {
		check.add(at(line, "/item/provenance/content_hash"), "is not the item's")
	}
	if i.Provenance.Author == "" || len(i.Provenance.Author) > 128 {
		check.add(at(line, "/item/provenance/author"), "is missing")
	}
	if !slices.Contains([]Source{FromUser, FromAgent, FromTool, FromExternal, FromArchive}, i.Provenance.Source) {
		check.add(at(line, "/item/provenance/source"), "must be user, agent, tool, external or archive")
	}
	if !slices.Contains([]schemas.Visibility{schemas.Private, schemas.Group, schemas.Public}, i.Visibility) || (i.Visibility == schemas.Group) != (i.Group != "") {
		check.add(at(line, "/item/visibility"), "must be private or public, or group with a group")
	}
	// A copy changes with its origin, and so must lie where others may change it.
	if i.Visibility != schemas.Group && (i.Origin != "" || i.Parent != "") {
		check.add(at(line, "/item/origin"), "is for copies, which lie in groups")
	}
	if !slices.Contains([]string{"", "corrected", "refuted", "deleted"}, i.Stale) {
		check.add(at(line, "/item/stale"), "must be corrected, refuted or deleted")
	}
	if i.Confidence < 0 || i.Confidence > 1 {
		check.add(at(line, "/item/confidence"), "must be a number from 0 to 1")
	}
	if i.Version < 1 || len(i.Versions) >= i.Version {
		check.add(at(line, "/item/version"), "does not fit the versions")
	}
	for _, t := range []struct {
		field, value string
		required     bool
	}{{"created_at", i.CreatedAt, true}, {"updated_at", i.UpdatedAt, true}, {"valid_from", i.ValidFrom, false}, {"valid_to", i.ValidTo, false}, {"expires_at", i.ExpiresAt, false}} {
		if t.value == "" && !t.required {
			continue
		}
		if dateOf(t.value).IsZero() {
			check.add(at(line, "/item/"+t.field), "must be a time")
		}
	}
	for n, l := range i.Links {
		if !slices.Contains([]string{"derived_from", "duplicate_of", "refines", "conflicts_with"}, l.Kind) || l.Other == "" {
			check.add(at(line, fmt.Sprintf("/item/links/%d", n)), "must have a kind and an id")
		}
	}
	b.takeVersions(check, line, i)
	b.items, b.drafts = append(b.items, numbered[itemRecord]{line, i}), append(b.drafts, c)
}

func (b *Bundle) takeVersions(check *checker, line int, i itemRecord) {
	last := 0
	for n, v := range i.Versions {
		path := at(line, fmt.Sprintf("/item/versions/%d", n))
		if v.Version <= last || v.Version >= i.Version {
			check.add(path+"/version", "is out of order")
		}
		last = v.Version
		c, found := parseContent(i.Type, []byte(v.Data), path+"/data")
		check.found = append(check.found, found...)
		if len(found) == 0 {
			checkHash(check, path+"/content_hash", i.Type, c.data, v.Hash)
		}
		if v.Confidence < 0 || v.Confidence > 1 || dateOf(v.At).IsZero() {
			check.add(path, "has no confidence or time")
		}
	}
}

// checkHash compares a content hash with what it says it is of.
func checkHash(check *checker, path string, t ItemType, data []byte, want string) {
	sum, err := contentHash(t, data)
	if err != nil || hex.EncodeToString(sum[:]) != want {
		check.add(path, "is not the hash of the data")
	}
}
