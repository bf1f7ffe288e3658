package review

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// saysHash is a hash of all that an item says. Only the case of words of letters alone, the marks
// that end a sentence and spaces do not count: a number, a sign or a type may be what was corrected.
func saysHash(i memory.Item) []byte {
	h := sha256.New()
	for _, line := range append(shownLines(i), "type: "+string(i.Type)) {
		for word := range strings.FieldsSeq(line) {
			h.Write([]byte(memory.NormalWord(word) + " ")) //nolint:errcheck // never fails
		}
		h.Write([]byte("\n")) //nolint:errcheck // never fails
	}
	return h.Sum(nil)
}

// wordsHash is a hash of the text of data alone: of its letters and digits, so that the same
// words with other spacing, signs or kind have the same hash. It only finds what to look at
// closer: texts with another sign or number may have the same hash.
func wordsHash(data json.RawMessage) []byte {
	h := sha256.New()
	for _, line := range readableLines(data) {
		if strings.HasPrefix(line, "type: ") {
			continue
		}
		h.Write([]byte(strings.Map(func(r rune) rune { //nolint:errcheck // never fails
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, line)))
	}
	return h.Sum(nil)
}

// before looks up the same words of the same author: whether they were rejected, and whether
// they were submitted as something a person decides over and not approved.
func before(g access.Grant, author schemas.EntityID, words []byte) (rejected, person bool, err error) {
	if err = g.Tx().QueryRow(selectSameWords, words, author).Scan(&rejected, &person); err != nil {
		err = fmt.Errorf("read earlier reviews: %w", err)
	}
	return rejected, person, err
}
