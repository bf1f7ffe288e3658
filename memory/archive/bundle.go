package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cordelia/memory"
	"cordelia/schemas"
)

// Limits of what is imported.
const (
	maxRecord  = 4 << 20 // bytes of one line
	maxRecords = 1_000_000
	maxWheres  = 5 // places named for one reason of a refusal
)

// Input is one file to import.
type Input struct {
	Name string // as its items tell where they come from; "" for a stream
	Open func() (io.ReadCloser, error)
}

// InputOf is the text of r as an input.
func InputOf(name string, r io.Reader) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// Bundle is what was read from files and checked, ready to import.
type Bundle struct {
	from    []schemas.EntityID // whose exports
	hots    []recordAt[[]byte]
	groups  []recordAt[memory.GroupRecord]
	items   []recordAt[memory.Incoming]
	refused refusals
	records int
}

// recordAt is a record, where it stood, and what it is signed with.
type recordAt[T any] struct {
	where string // file:line
	value T
	seal  *seal
	of    schemas.EntityID // whose export it stood in
}

// Refused counts records that were not imported for one reason.
type Refused struct {
	Why   string   `json:"why"`
	Count int      `json:"count"`
	Where []string `json:"where"` // the first of them
}

type refusals []Refused

func (r *refusals) add(where, why string) {
	at := slices.IndexFunc(*r, func(o Refused) bool { return o.Why == why })
	if at < 0 {
		*r, at = append(*r, Refused{Why: why, Where: []string{}}), len(*r)
	}
	o := &(*r)[at]
	if o.Count++; len(o.Where) < maxWheres {
		o.Where = append(o.Where, where)
	}
}

// ReadBundle reads files: exports in either format, the JSONL of the reference memory
// server, transcripts of conversations, and plain Markdown. It finds out which is which. A record that is not right is
// refused by itself; there is an error only if nothing can be imported.
func ReadBundle(inputs ...Input) (*Bundle, error) {
	b := &Bundle{refused: refusals{}}
	for _, in := range inputs {
		if err := b.read(in); err != nil {
			return nil, err
		}
	}
	if len(b.items)+len(b.groups)+len(b.hots) == 0 && len(b.refused) > 0 {
		err := schemas.Invalidf("nothing was imported").
			Expecting("a file of cordelia export, the JSONL of the memory server, a transcript, Markdown, or a folder with " +
				"such files").
			Try("correct what is listed, then import again")
		for _, r := range b.refused {
			err = err.With(schemas.Violation{Path: strings.Join(r.Where, ", "), Msg: r.Why})
		}
		return nil, err
	}
	return b, nil
}

// lineReader reads the lines of an input. One that is too long is refused alone.
type lineReader struct {
	from   *bufio.Reader
	long   func(number int)        // refuses a line
	check  func(line []byte) error // nil: any line is right
	text   []byte                  // of the line read last, without its end, until the next is read
	number int
	err    error
}

func (b *Bundle) lines(s *source, from *bufio.Reader) *lineReader {
	return &lineReader{from: from, long: func(number int) {
		b.refused.add(s.at(number), fmt.Sprintf("the line is longer than %d bytes", maxRecord))
	}}
}

// next reads on to a line that is not too long. It reports whether there is one.
func (l *lineReader) next() bool {
	for {
		l.text = l.text[:0]
		long, read := false, false
		err := bufio.ErrBufferFull
		for errors.Is(err, bufio.ErrBufferFull) {
			var part []byte
			part, err = l.from.ReadSlice('\n')
			read = read || len(part) > 0
			part = bytes.TrimSuffix(part, []byte("\n"))
			if long = long || len(l.text)+len(part) > maxRecord; !long {
				l.text = append(l.text, part...)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			l.err = fmt.Errorf("read import: %w", err)
		}
		if l.err != nil || !read {
			return false
		}
		if l.number++; !long {
			if l.text = bytes.TrimSuffix(l.text, []byte("\r")); l.check != nil {
				l.err = l.check(l.text)
			}
			return l.err == nil
		}
		l.long(l.number)
	}
}

// source is the input being read.
type source struct {
	name   string
	head   *record // of an export
	seen   map[schemas.ItemID]int
	memory *serverMemory
	// of a transcript
	transcript bool
	session    string // where the lines do not name it themselves
	turn       *turn  // under way
}

// at names a line.
func (s *source) at(line int) string {
	if s.name == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s:%d", s.name, line)
}

// readRecords reads lines of JSON, or those inside the fences of a Markdown export.
func (b *Bundle) readRecords(s *source, r *bufio.Reader, markdown bool) error {
	lines := b.lines(s, r)
	inside := false
	before := b.records
	for lines.next() {
		line := lines.text
		if markdown {
			switch text := string(bytes.TrimRight(line, "\r")); {
			case !inside:
				inside = text == fence
				continue
			case text == "```":
				inside = false
				continue
			}
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if b.records++; b.records > maxRecords {
			return schemas.Invalidf("there are more than %d records", maxRecords).Try("import them in several files")
		}
		if goOn := b.take(s, lines.number, bytes.Clone(line)); !goOn {
			return nil
		}
	}
	if lines.err != nil {
		return lines.err
	}
	if b.records == before {
		b.refused.add(s.at(lines.number), "the file ends without a record: cut off or changed")
	}
	b.takeTurn(s.turn)
	if s.memory != nil {
		b.takeServerMemory(s)
	}
	return nil
}

// take reads one record. It reports whether the rest of the file is worth reading.
func (b *Bundle) take(s *source, line int, text []byte) bool {
	if s.head == nil {
		if s.memory == nil && b.takeTranscriptLine(s, line, text) {
			return true
		}
		if ok, done := b.takeServerLine(s, line, text); done {
			return ok
		}
	}
	if schemas.HasNUL(text) { // a signature may cover it
		b.refused.add(s.at(line), "holds the character NUL")
		return s.head != nil
	}
	var r record
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil {
		b.refused.add(s.at(line), misread(text, err))
		return s.head != nil
	}
	if s.head == nil {
		return b.takeHeader(s, line, r)
	}
	b.takeRecord(s, line, r, sealOf(*s.head, text, r.Sig))
	return true
}

// takeHeader takes the record that an export begins with, or refuses the source.
func (b *Bundle) takeHeader(s *source, line int, r record) bool {
	switch {
	case r.Kind != recordHeader:
		b.refused.add(s.at(line), "the first record is not the header of an export")
		return false
	case r.V < 1 || r.V > exportVersion:
		b.refused.add(s.at(line), fmt.Sprintf("the export is of version %d; this cordelia reads 1 to %d",
			r.V, exportVersion))
		return false
	}
	s.head = &r
	b.from = append(b.from, r.Entity)
	return true
}

// takeRecord takes a record behind the header; one that is wrong is refused alone.
func (b *Bundle) takeRecord(s *source, line int, r record, sealed *seal) {
	var wrong []schemas.Violation
	switch {
	case r.Kind == recordHot && len(r.Context) > 0:
		b.hots = append(b.hots, recordAt[[]byte]{where: s.at(line), value: r.Context, seal: sealed, of: s.head.Entity})
	case r.Kind == recordGroup && r.Group != nil:
		if wrong = memory.CheckGroup(*r.Group); len(wrong) == 0 {
			b.groups = append(b.groups, recordAt[memory.GroupRecord]{where: s.at(line), value: *r.Group, seal: sealed})
		}
	case r.Kind == recordItem && r.Item != nil:
		if before := s.seen[r.Item.ID]; before != 0 {
			b.refused.add(s.at(line), "the item stands in the file before")
			return
		}
		s.seen[r.Item.ID] = line
		var item memory.Incoming
		if item, wrong = memory.CheckRecord(*r.Item); len(wrong) == 0 {
			b.items = append(b.items, recordAt[memory.Incoming]{where: s.at(line), value: item, seal: sealed})
		}
	default:
		wrong = []schemas.Violation{{Path: "/kind", Msg: "must be l1, group or item, with what it names"}}
	}
	if len(wrong) > 0 { // one record is refused once
		b.refused.add(s.at(line), strings.TrimSpace(wrong[0].Path+" "+wrong[0].Msg))
	}
}

// misread says in what a line is no record of an export.
func misread(text []byte, err error) string {
	wrong, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok || !jsontext.Value(text).IsValid():
		return "is not JSON: cut off or changed"
	case wrong.JSONPointer == "":
		return "is JSON, but not a record of an export"
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("has a field %s, which records do not have", memory.Title(string(wrong.JSONPointer)))
	}
	return fmt.Sprintf("has something at %s that records do not have there",
		memory.Title(string(wrong.JSONPointer)))
}
