package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/work"
)

// brief appends a brief, part by part.
func brief(f *fields, b work.Brief) {
	for i, c := range b.Criteria {
		f.add(fmt.Sprintf("criterion %d", i+1), clean(c))
	}
	for i, c := range b.Constraints {
		f.add(fmt.Sprintf("constraint %d", i+1), clean(c))
	}
	f.add("read first", shorts(b.Context))
	briefInputs(f, b.Inputs)
	f.add("result fits", clean(shapeOf(b.AnswerSchema)))
	f.add("report fits", clean(shapeOf(b.ReportSchema)))
}

// paragraphs appends a text with a row for each of its lines.
func paragraphs(f *fields, name, text string) {
	for _, l := range strings.Split(text, "\n") {
		f.add(name, clean(l))
		name = ""
	}
}

// briefInputs appends each field of an object in the order it has there, and anything else
// as it is.
func briefInputs(f *fields, raw json.RawMessage) {
	parts, ok := partsOf(raw)
	if !ok {
		f.add("inputs", clean(inWords(raw)))
		return
	}
	for _, p := range parts {
		f.add("inputs."+clean(p.name), clean(inWords(p.value)))
	}
}
