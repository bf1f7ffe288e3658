package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"cordelia/schemas"
)

// Bounds of an answer.
const (
	MaxAnswer = 1 << 20 // bytes
	MaxDepth  = 32      // objects and arrays inside one another
)

// Answer is what a role that needs judgement can be asked for.
type Answer interface {
	schemas.Perception | schemas.Plan | schemas.ExecutionReport | schemas.VerdictReport | schemas.MergeReport
}

// Decode finds the one object of type T in what a model or an agent answered,
// among prose, labels and thoughts. Notes say what was passed over or mended.
// Ids are the node's, so those in an answer are dropped. Error: CodeInvalid,
// with the violations of the object that came nearest, at most twenty.
func Decode[T Answer](answer string) (out T, notes []string, err error) {
	if len(answer) > MaxAnswer {
		return out, nil, wrong("the answer is %d bytes long, more than %d", len(answer), MaxAnswer)
	}
	if !utf8.ValidString(answer) {
		return out, nil, wrong("the answer is not UTF-8")
	}
	typ := reflect.TypeFor[T]()
	found, err := objects(answer, typ)
	if err != nil {
		return out, nil, err
	}
	var matching []reading
	var nearest []schemas.Violation
	for i, f := range found {
		r, bad := fit(f.text, typ)
		if len(bad) == 0 {
			r.repaired = f.repaired
			if !slices.ContainsFunc(matching, func(o reading) bool { return bytes.Equal(o.text, r.text) }) {
				matching = append(matching, r)
			}
		} else if i == 0 || len(bad) < len(nearest) {
			nearest = bad
		}
	}
	switch {
	case len(matching) > 1:
		return out, nil, wrong("the answer holds %d different objects that could be meant", len(matching))
	case len(matching) == 0 && len(found) == 0:
		return out, nil, wrong("the answer holds no JSON object").Expecting("one object with %s",
			strings.Join(memberNames(typ), ", "))
	case len(matching) == 0:
		return out, nil, wrong("the answer is not what was asked for").With(first(nearest)...)
	}
	if err := json.Unmarshal(matching[0].text, &out); err != nil {
		return out, nil, wrong("the answer cannot be read").Because(err)
	}
	if len(found) > 1 {
		notes = append(notes, fmt.Sprintf("%d objects in the answer; the one that fits was taken", len(found)))
	}
	if matching[0].repaired {
		notes = append(notes, "quotes or line breaks within strings were escaped")
	}
	return out, append(notes, matching[0].notes...), nil
}

func wrong(format string, args ...any) *schemas.Error {
	return schemas.Invalidf(format, args...).
		Try("answer again with one JSON object and nothing else; inside strings write quotes as \\\"")
}

// object is the text of an object in an answer.
type object struct {
	text     []byte
	repaired bool
}

// objects cuts the outermost JSON objects out of an answer. Thoughts are passed
// over. A broken object is an error unless it can be read in one way: what comes
// after it, or lies within it, might be anything.
func objects(answer string, typ reflect.Type) (found []object, err error) {
	effort := repairEffort
	for i := 0; i < len(answer); {
		rest := answer[i:]
		if after, ok := thought(rest); ok {
			i += len(rest) - len(after)
			continue
		}
		if end, ok := closedThought(rest); ok {
			found, i = nil, i+end // it was opened in the prompt: what came before was thinking
			continue
		}
		if !startsObject(rest) {
			i++
			continue
		}
		text, deep, err := leading(rest)
		if deep {
			return nil, wrong("the answer is nested deeper than %d levels", MaxDepth)
		}
		if err == nil {
			found = append(found, object{text: text})
			i += len(text)
			continue
		}
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return nil, wrong("an object in the answer names a member twice").Because(err)
		}
		mended, length, rerr := repair(rest, typ, &effort)
		if rerr != nil {
			return nil, rerr
		}
		found = append(found, object{mended, true})
		i += length
	}
	return found, nil
}

// startsObject keeps braces in prose and code apart from objects.
func startsObject(s string) bool {
	if s[0] != '{' {
		return false
	}
	inner := strings.TrimLeft(s[1:], " \t\r\n")
	return inner == "" || inner[0] == '"' || inner[0] == '}'
}

// thought passes over a block of thinking at the start of s; one that does not
// end is the rest of the answer.
func thought(s string) (after string, ok bool) {
	for _, tag := range []string{"think", "thinking", "thought"} {
		if inner, ok := strings.CutPrefix(s, "<"+tag+">"); ok {
			_, after, _ := strings.Cut(inner, "</"+tag+">")
			return after, true
		}
	}
	return s, false
}

func closedThought(s string) (length int, ok bool) {
	for _, tag := range []string{"</think>", "</thinking>", "</thought>"} {
		if strings.HasPrefix(s, tag) {
			return len(tag), true
		}
	}
	return 0, false
}

// leading reads the value at the start of s, strictly: no name twice, valid
// strings, bounded depth.
func leading(s string) (text []byte, deep bool, err error) {
	d := jsontext.NewDecoder(strings.NewReader(s))
	for first := true; first || d.StackDepth() > 0; first = false {
		if _, err := d.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, false, err
		}
		if d.StackDepth() > MaxDepth {
			return nil, true, nil
		}
	}
	return []byte(s[:d.InputOffset()]), false, nil
}
