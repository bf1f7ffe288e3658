package memory

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"cordelia/memory/rank"
	"cordelia/schemas"
)

// page is where a search goes on: after an item, as of the moment the first page
// was made. It holds nothing the caller did not see: no row numbers, no counts.
type page struct {
	At     int64          `json:"t"`
	After  schemas.ItemID `json:"a"`
	Offset int            `json:"o"`           // if the item is gone
	Of     string         `json:"q"`           // fingerprint of the search
	Meant  bool           `json:"m,omitempty"` // the pages so far were by meaning, too
}

// cursor encodes p for the search with this fingerprint.
func (p page) cursor(fingerprint string) string {
	p.Of = fingerprint
	b, err := json.Marshal(p)
	if err != nil { // strings and numbers
		panic("memory: encode cursor: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

var errCursor = errors.New("is not a cursor of this search; repeat it without cursor")

// parseCursor reads a cursor back; it must belong to the same search.
func parseCursor(s, fingerprint string) (page, error) {
	var p page
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) > 512 || json.Unmarshal(b, &p) != nil {
		return page{}, errCursor
	}
	if p.Of != fingerprint || p.At <= 0 || p.Offset < 0 || p.Offset > 10*candidates {
		return page{}, errCursor
	}
	return p, nil
}

// start is where p begins among the ranked.
func (p page) start(ranked []*rank.Doc) int {
	if p.At == 0 {
		return 0
	}
	if i := slices.IndexFunc(ranked, func(d *rank.Doc) bool { return d.ID == p.After }); i >= 0 {
		return i + 1
	}
	return min(p.Offset, len(ranked))
}

// fingerprint identifies a search without its page and detail.
func (s Search) fingerprint() string {
	parts := append([]string{s.Text, string(s.Type), string(s.Group), s.Author, s.Since, s.Until, s.AsOf}, s.Tags...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}
