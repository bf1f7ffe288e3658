package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"cordelia/schemas"
)

// wordIndex is what the full-text index holds of an item's text.
type wordIndex struct {
	terms  string // stems in order
	tokens int
	grams  string
	bands  []int64
}

// indexOf cuts an item's text into what is indexed.
func indexOf(c content, subject, key string) wordIndex {
	words := wordsOf(c.prose() + subject + " " + key)
	w := wordIndex{terms: joinTerms(words), tokens: len(words), grams: strings.Join(grams(words), " ")}
	w.bands = bandsOf(setOf(w.terms))
	return w
}

// token is a word of the index's meta column: a kind, and a value of any form.
func token(kind, value string) string {
	sum := sha256.Sum256([]byte(value))
	return kind + hex.EncodeToString(sum[:8])
}

// scopeToken is the audience of an item; what is in quarantine has one of its
// own, so that no search comes across it.
func scopeToken(scope int64, quarantined bool) string {
	if quarantined {
		return "q" + strconv.FormatInt(scope, 10)
	}
	return "s" + strconv.FormatInt(scope, 10)
}

func authorToken(id schemas.EntityID) string { return token("a", string(id)) }
func tagToken(tag string) string             { return token("g", strings.ToLower(tag)) }
func typeToken(t ItemType) string            { return "t" + string(t) }

// monthToken lets a search by time leave out other months within the index.
func monthToken(micros int64) string {
	return "d" + time.UnixMicro(micros).UTC().Format("200601")
}

// meta is the meta column of r.
func (r *row) meta() string {
	words := []string{scopeToken(r.scope, r.inQuarantine()), typeToken(r.typ), authorToken(r.author), monthToken(r.created)}
	for _, t := range r.tagList() {
		words = append(words, tagToken(t))
	}
	return strings.Join(words, " ")
}

func (r *row) tagList() []string {
	var tags []string
	if json.Unmarshal([]byte(r.tags), &tags) != nil {
		return nil // the column is written by this package alone
	}
	return tags
}
