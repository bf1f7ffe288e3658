package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// briefView is what whoever does an item is told beside its intent.
type briefView struct {
	Inputs       json.RawMessage `json:"inputs"`
	Criteria     []string        `json:"criteria"`
	Constraints  []string        `json:"constraints"`
	Context      []string        `json:"context"`
	AnswerSchema json.RawMessage `json:"answer_schema"`
	ReportSchema json.RawMessage `json:"report_schema"`
}

// brief appends a brief, part by part.
func (f *fields) brief(b briefView) {
	for i, c := range b.Criteria {
		f.add(fmt.Sprintf("criterion %d", i+1), clean(c))
	}
	for i, c := range b.Constraints {
		f.add(fmt.Sprintf("constraint %d", i+1), clean(c))
	}
	f.add("read first", clean(strings.Join(b.Context, " ")))
	f.inputs(b.Inputs)
	f.add("result fits", clean(string(b.AnswerSchema)))
	f.add("report fits", clean(string(b.ReportSchema)))
}

// paragraphs appends a text with a row for each of its lines.
func (f *fields) paragraphs(name, text string) {
	for _, l := range strings.Split(text, "\n") {
		f.add(name, clean(l))
		name = ""
	}
}

// inputs appends each field of an object in the order it has there, and anything else
// as it is.
func (f *fields) inputs(raw json.RawMessage) {
	parts, ok := partsOf(raw)
	if !ok {
		f.add("inputs", clean(string(raw)))
		return
	}
	for _, p := range parts {
		f.add("inputs."+clean(p.name), clean(inWords(p.value)))
	}
}

// part is a field of an object.
type part struct {
	name  string
	value json.RawMessage
}

// partsOf lists the fields of an object in the order they have there; ok is false for
// anything else.
func partsOf(raw json.RawMessage) (parts []part, ok bool) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil, false
		}
		parts = append(parts, part{fmt.Sprint(name), value})
	}
	return parts, true
}

// inWords is a text without its quotes, a list of texts in one line, and an object of
// single values as those; anything else stays JSON.
func inWords(value json.RawMessage) string {
	var said string
	var list []string
	if json.Unmarshal(value, &said) == nil {
		return said
	}
	if json.Unmarshal(value, &list) == nil {
		return strings.Join(list, "; ")
	}
	parts, ok := partsOf(value)
	for _, p := range parts {
		ok = ok && !strings.ContainsAny(string(p.value[:1]), "[{")
		list = append(list, p.name+" "+strings.Trim(string(p.value), `"`))
	}
	if !ok {
		return string(value)
	}
	return strings.Join(list, ", ")
}
