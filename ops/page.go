package ops

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"

	"cordelia/schemas"
)

// pageSize checks a limit argument; 0 means usual.
func pageSize(limit, usual, most int) (int, error) {
	if limit == 0 {
		return usual, nil
	}
	if limit < 1 || limit > most {
		return 0, schemas.Invalidf("limit is %d", limit).Expecting("1–%d", most).
			Try("call again with such a limit; the cursor of a long list leads to the rest of it")
	}
	return limit, nil
}

// encodeCursor makes an opaque cursor of a position. It carries no right: what
// it leads to is authorized like any other read.
func encodeCursor(place any) string {
	raw, err := json.Marshal(place)
	if err != nil {
		panic(err) // positions are plain structs
	}
	return base64.RawURLEncoding.EncodeToString(append(mark(place), raw...))
}

// mark begins the cursors of one kind of position.
func mark(place any) []byte {
	t := reflect.TypeOf(place)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return []byte(t.Name() + " ")
}

// decodeCursor reads a cursor back; an empty one leaves place as it is.
func decodeCursor(cursor string, place any) error {
	if cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	raw, known := bytes.CutPrefix(raw, mark(place))
	if err == nil && known {
		err = json.Unmarshal(raw, place)
	}
	if err != nil || !known {
		return schemas.Invalidf("the cursor is not one this node gave out").
			Try("call again without cursor to begin anew").Because(err)
	}
	return nil
}

// fitting cuts list where it no longer fits into room bytes of JSON; the first
// element always stays.
func fitting[T any](list []T, room int) (kept, rest []T, err error) {
	for i, v := range list {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, nil, err
		}
		if room -= len(raw); room < 0 && i > 0 {
			return list[:i], list[i:], nil
		}
	}
	return list, nil, nil
}
