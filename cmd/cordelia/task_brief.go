package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/work"
)

// brief appends a brief, part by part.
func brief(f *cli.Fields, b work.Brief) {
	for i, c := range b.Criteria {
		f.Add(fmt.Sprintf("criterion %d", i+1), cli.Clean(c))
	}
	for i, c := range b.Constraints {
		f.Add(fmt.Sprintf("constraint %d", i+1), cli.Clean(c))
	}
	f.Add("read first", cli.Shorts(b.Context))
	briefInputs(f, b.Inputs)
	shape(f, "result fits", b.AnswerSchema)
	shape(f, "report fits", b.ReportSchema)
}

// paragraphs appends a text with a row for each of its lines.
func paragraphs(f *cli.Fields, name, text string) {
	for l := range strings.SplitSeq(text, "\n") {
		f.Add(name, cli.Clean(l))
		name = ""
	}
}

// shape appends what an answer has to fit, as JSON to fill in.
func shape(f *cli.Fields, name string, schema json.RawMessage) {
	for _, l := range cli.FormOf(schema) {
		f.Add(name, cli.Block(l))
		name = ""
	}
}

// briefInputs appends each field of an object in the order it has there, and anything else
// as it is.
func briefInputs(f *cli.Fields, raw json.RawMessage) {
	parts, ok := cli.PartsOf(raw)
	if !ok {
		f.Add("inputs", cli.Clean(cli.InWords(raw)))
		return
	}
	for _, p := range parts {
		f.Add("inputs."+cli.Clean(p.Name), cli.Clean(cli.InWords(p.Value)))
	}
}
