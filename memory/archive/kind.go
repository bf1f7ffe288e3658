package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"cordelia/memory"
	"cordelia/schemas"
)

// Records reports whether a file of this name has a record in each line. It is never a note.
func Records(name string) bool {
	ending := strings.ToLower(path.Ext(name))
	return ending == ".jsonl" || ending == ".ndjson"
}

// read finds out what an input is, by its name and its beginning, and reads it.
func (b *Bundle) read(in Input) error {
	r, err := in.Open()
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "%s cannot be read", memory.Title(in.Name)).
			Try("check that you may read it").Because(err)
	}
	defer r.Close() //nolint:errcheck // only read
	buffered := bufio.NewReaderSize(r, 64<<10)
	first, err := buffered.Peek(32 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read import: %w", err)
	}
	if mark := []byte("\uFEFF"); bytes.HasPrefix(first, mark) { // which some editors put in front of UTF-8
		buffered.Discard(len(mark)) //nolint:errcheck // they are in the buffer
		first = first[len(mark):]
	}
	s := &source{name: in.Name, seen: map[schemas.ItemID]int{}}
	text := bytes.TrimSpace(first)
	switch {
	case len(text) == 0:
		b.refused.add(s.at(1), "there is nothing in it to import")
		return nil
	case fences.Match(first):
		return b.readRecords(s, buffered, true)
	case Records(in.Name), text[0] == '{', text[0] == '[':
		return b.readRecords(s, buffered, false)
	case plainTranscript(first):
		return b.readNote(s, buffered, b.readTranscript)
	}
	return b.readNote(s, buffered, b.readMarkdown)
}

// fences finds a record of a Markdown export.
var fences = regexp.MustCompile(`(?m)^` + fence + `\r?$`)

// readNote reads a file that is no export by its beginning. It refuses the whole file where a
// line shows that it is no note either.
func (b *Bundle) readNote(s *source, r *bufio.Reader, read func(*source, *lineReader) error) error {
	items := len(b.items)
	lines := b.lines(s, r)
	lines.check = checkNote
	err := read(s, lines)
	if wrong, ok := errors.AsType[*notNote](err); ok {
		b.items = b.items[:items]
		b.refused.add(s.at(lines.number), wrong.why)
		return nil
	}
	return err
}

// notNote says why a file is no note.
type notNote struct{ why string }

func (n *notNote) Error() string { return n.why }

// exportLine is the beginning of a line of an export, also where it lost its first bytes.
var exportLine = regexp.MustCompile(
	`^\s*\{?"?kind":"(?:` + recordHeader + `","v":|` + recordHot + `","context":|` +
		recordGroup + `","group":\{|` + recordItem + `","item":\{)`)

// checkNote gives an error for a line that no note has.
func checkNote(line []byte) error {
	switch {
	case !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0:
		return &notNote{"is not text in UTF-8, as a note is: save the file as UTF-8"}
	case exportLine.Match(line):
		return &notNote{"is a line of an export, and the file does not begin as one: export it again, " +
			"or remove what is in front of its header"}
	}
	return nil
}
