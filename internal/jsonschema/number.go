package jsonschema

import (
	"encoding/json"
	"strconv"
	"strings"

	"cordelia/schemas"
)

// maxDigits bounds the digits of a number, and the power of ten it is given with.
const maxDigits = 400

// tooLarge finds the numbers that are not to be compared. The validator makes an
// exact fraction of each: a power of ten in eight bytes of text takes it a tenth of
// a second, and one more digit makes it panic.
func tooLarge(value any, at []string, found []schemas.Violation) []schemas.Violation {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			found = tooLarge(inner, append(at, key), found)
		}
	case []any:
		for i, inner := range v {
			found = tooLarge(inner, append(at, strconv.Itoa(i)), found)
		}
	case json.Number:
		if tooLargeText(string(v)) {
			found = append(found, schemas.Violation{Path: schemas.Pointer(at...),
				Msg: "is a number too large to be compared"})
		}
	}
	return found
}

func tooLargeText(number string) bool {
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	digits := strings.TrimLeft(power, "+-0")
	exponent, err := strconv.Atoi("0" + digits[:min(len(digits), 4)])
	return len(mantissa) > maxDigits+len("-.") || len(digits) > 4 || err != nil || exponent > maxDigits
}
