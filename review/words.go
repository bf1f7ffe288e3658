package review

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"cordelia/access"
	"cordelia/schemas"
)

// wordsHash stands for what data says, whatever is claimed beside it: letters and
// digits alone, so that other spacing, signs or kind are not other words.
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

// before says what became of the same words of the same author: whether they were
// rejected, and whether they were brought as something a person decides over and
// no one approved them.
func before(g access.Grant, author schemas.EntityID, words []byte) (rejected, person bool, err error) {
	if err = g.Tx().QueryRow(selectSameWords, words, author).Scan(&rejected, &person); err != nil {
		err = fmt.Errorf("read earlier reviews: %w", err)
	}
	return rejected, person, err
}
