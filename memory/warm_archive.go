package memory

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// WriteArchive writes the archive of a deactivated agent (seed §8.4) as a
// session item: the agent's own, in quarantine, so that it never comes up in a
// search; the agent and those above it read it by its id. It is called in the
// transaction of the deactivation, inside Grant.Routine: without that the store
// refuses the row, by INV-SOVEREIGN.
func WriteArchive(g access.Grant, agent schemas.EntityID, rec schemas.SessionRecord) error {
	tx := g.Tx()
	if tx == nil {
		return access.ErrNoGrant
	}
	if !g.IsNode() {
		if above, err := g.Holds(agent); err != nil {
			return err
		} else if !above {
			return access.NotKnown(string(agent))
		}
	}
	return writeArchive(g, rec, row{owner: agent, visibility: schemas.Private}, string(agent),
		Provenance{Author: agent, Via: []schemas.EntityID{access.NodeEntity}})
}

// WriteSwarmArchive writes the result of a swarm, as a session item in its group that comes up
// in no search. The swarm's maker, and its ancestors, read it by its id, for longer than the
// group's other items last. Its author is the entity that ended the swarm. It is called in the
// transaction that ends the swarm and archives the group.
func WriteSwarmArchive(g access.Grant, group schemas.GroupID, creator, author schemas.EntityID,
	rec schemas.SessionRecord) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	return writeArchive(g, rec, row{owner: creator, visibility: schemas.Group, group: group,
		expires: g.Tx().Micros() + schemas.MaxTTLSeconds*1_000_000}, string(group),
		Provenance{Author: author, Via: []schemas.EntityID{access.NodeEntity}})
}

// writeArchive stores rec as place says, for the audience ref.
func writeArchive(g access.Grant, rec schemas.SessionRecord, place row, ref string, p Provenance) error {
	tx := g.Tx()
	data, err := json.Marshal(map[string]any{
		"date":               rec.Date,
		"focus":              oneLine(rec.Focus, maxLine-4),
		"highlights":         lines(rec.Highlights),
		"decisions":          lines(rec.Decisions),
		"entities_mentioned": lines(rec.EntitiesMentioned),
	})
	if err != nil {
		return fmt.Errorf("encode archive: %w", err)
	}
	c, found := parseContent(SessionItem, data, "/data")
	if len(found) > 0 {
		return schemas.Invalidf("the archive cannot be written").With(found...)
	}
	hash, err := ContentHash(SessionItem, c.data)
	if err != nil {
		return fmt.Errorf("hash archive: %w", err)
	}
	words := indexOf(c, "", "")
	r := row{
		id: schemas.ItemID(rec.ID), typ: SessionItem, owner: place.owner, author: p.Author,
		visibility: place.visibility, group: place.group, version: 1,
		data: string(c.data), name: c.name(), tags: "[]", confidence: DefaultConfidence, source: FromArchive,
		hash:  hash[:],
		terms: words.terms, tokens: words.tokens, current: true, created: tx.Micros(), updated: tx.Micros(),
		expires: place.expires,
	}
	p.Source, p.ContentHash, p.At = FromArchive, hex.EncodeToString(hash[:]), events.Timestamp(tx.Micros())
	r.provenance = encodeProvenance(p)
	if r.scope, err = scopeOf(g, place.visibility, ref); err != nil {
		return err
	}
	var rel relation // an agent deactivated twice with nothing in between leaves one archive
	if err := ownEqual(tx, &r, &rel); err != nil || rel.equal {
		return err
	}
	if err := insert(tx, &r, words); err != nil {
		return err
	}
	return g.Audit("item/"+rec.ID, r.recorded(map[string]any{"archive_of": ref}))
}

// lines fits texts into a list field.
func lines(texts []string) []string {
	out := []string{}
	for _, s := range texts {
		if s = oneLine(s, maxLine-4); s != "" && len(out) < maxList {
			out = append(out, s)
		}
	}
	return out
}
