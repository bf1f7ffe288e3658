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
func WriteArchive(g access.Grant, agent schemas.EntityID, rec SessionRecord) error {
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
	hash, err := contentHash(SessionItem, c.data)
	if err != nil {
		return fmt.Errorf("hash archive: %w", err)
	}
	words := indexOf(c, "", "")
	r := row{
		id: schemas.ItemID(rec.ID), typ: SessionItem, owner: agent, author: agent, visibility: schemas.Private, version: 1,
		data: string(c.data), name: c.name(), tags: "[]", confidence: DefaultConfidence, source: FromArchive, hash: hash[:],
		terms: words.terms, tokens: words.tokens, current: true, created: tx.Micros(), updated: tx.Micros(),
		provenance: encodeProvenance(Provenance{Author: agent, Via: []schemas.EntityID{access.NodeEntity}, Source: FromArchive,
			ContentHash: hex.EncodeToString(hash[:]), At: events.Timestamp(tx.Micros())}),
	}
	if r.scope, err = scopeOf(g, schemas.Private, string(agent)); err != nil {
		return err
	}
	var rel relation // an agent deactivated twice with nothing in between leaves one archive
	if err := ownEqual(tx, &r, &rel); err != nil || rel.equal {
		return err
	}
	if err := insert(tx, &r, words); err != nil {
		return err
	}
	return g.Audit("item/"+rec.ID, map[string]any{"archive_of": agent})
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
