package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/schemas"
)

// renamed gives the new ids of items whose own are taken.
type renamed map[schemas.ItemID]schemas.ItemID

// rename finds the ids of items that the actor cannot have: those of others' items, those that
// the node gives to the archives of others and, for a record that no signature holds for,
// those of the actor's own items with other words.
func rename(g access.Grant, items []Incoming) (renamed, error) {
	ids := renamed{}
	for _, o := range items {
		id := o.ID
		there, err := rowsOf(g.Tx(), selectOwn, id)
		if err != nil {
			return nil, err
		}
		taken := len(there) > 0 && !sameHere(g, &there[0], o.Record) &&
			(there[0].owner != g.Actor() || !o.Signed && hex.EncodeToString(there[0].hash) != o.ContentHash)
		if !taken && !reservedID(id, g.Actor()) {
			continue
		}
		parts := []string{string(g.Actor()), string(id)}
		if !o.Signed {
			parts = append(parts, o.ContentHash)
		}
		ids[id] = importID(parts...)
	}
	return ids, nil
}

// importID is the id of an imported item that cannot keep its id, always the same for the same
// parts.
func importID(parts ...string) schemas.ItemID {
	sum := sha256.Sum256([]byte("cordelia/v1/import\x00" + strings.Join(parts, "\x00")))
	return schemas.ItemID("import-" + hex.EncodeToString(sum[:16]))
}

func reservedID(id schemas.ItemID, actor schemas.EntityID) bool {
	return strings.HasPrefix(string(id), schemas.ArchivePrefix) &&
		!strings.HasPrefix(string(id), schemas.ArchivePrefix+string(actor)+"-")
}

// in is i with the new ids. A signature names the id it was made for.
func (ids renamed) in(i Record) Record {
	if len(ids) == 0 {
		return i
	}
	signedAs := i.ID
	for _, ref := range []*schemas.ItemID{&i.ID, &i.Origin, &i.Parent, &i.Supersedes, &i.SupersededBy} {
		if id, ok := ids[*ref]; ok {
			*ref = id
		}
	}
	i.Links = slices.Clone(i.Links)
	for n := range i.Links {
		if id, ok := ids[i.Links[n].Other]; ok {
			i.Links[n].Other = id
		}
	}
	if i.ID == signedAs {
		return i
	}
	i.Provenance = i.Provenance.signedAs(signedAs)
	i.Versions = slices.Clone(i.Versions)
	for n := range i.Versions {
		i.Versions[n].Provenance = i.Versions[n].Provenance.signedAs(signedAs)
	}
	return i
}

// signedAs is p for an item that had another id when it was signed.
func (p Provenance) signedAs(id schemas.ItemID) Provenance {
	if p.SignedID == "" && p.Signature != "" {
		p.SignedID = id
	}
	return p
}
