package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"cordelia/schemas"
)

// A cursor is the text with which a reader acknowledges: a version, who it was
// made for, and per stream how far. It is not secret and not signed: a forged
// one moves the forger's own places, forward, and no further than the head.
const (
	cursorVersion = 1
	maxMarks      = 128  // streams in one cursor
	maxCursor     = 4096 // characters; maxMarks of the longest marks fit
	readerTagSize = 4
	headerSize    = 1 + readerTagSize
)

// streamTag stands for a stream's name, to keep cursors short. Two streams of
// one reader with the same tag would at worst be acknowledged together.
type streamTag [6]byte

func tagOf(s Stream) streamTag {
	sum := sha256.Sum256([]byte(s))
	return streamTag(sum[:6])
}

// mark says that a stream was seen up to seq.
type mark struct {
	tag streamTag
	seq int64
}

// header tells one reader's cursors from another's, so that mixing them up in a
// swarm is an error and not a silent nothing.
func header(reader schemas.EntityID) []byte {
	sum := sha256.Sum256([]byte(reader))
	return append([]byte{cursorVersion}, sum[:readerTagSize]...)
}

// encodeCursor gives the one text for marks.
func encodeCursor(reader schemas.EntityID, list []mark) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b mark) int { return bytes.Compare(a.tag[:], b.tag[:]) })
	b := header(reader)
	for _, m := range list {
		b = append(b, m.tag[:]...)
		b = binary.AppendUvarint(b, uint64(m.seq))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor accepts exactly what encodeCursor gives for reader.
func decodeCursor(reader schemas.EntityID, text string) ([]mark, error) {
	if len(text) > maxCursor {
		return nil, badCursor("longer than any cursor")
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < headerSize {
		return nil, badCursor("not a cursor")
	}
	if b[0] != cursorVersion {
		return nil, badCursor("of an unknown version")
	}
	if !bytes.Equal(b[:headerSize], header(reader)) {
		return nil, badCursor("another agent's")
	}
	var list []mark
	for b = b[headerSize:]; len(b) > 0; {
		var m mark
		if len(list) == maxMarks || len(b) <= len(m.tag) {
			return nil, badCursor("damaged")
		}
		m.tag, b = streamTag(b), b[len(m.tag):]
		seq, n := binary.Uvarint(b)
		if n <= 0 || seq == 0 || seq > 1<<62 {
			return nil, badCursor("damaged")
		}
		m.seq, b = int64(seq), b[n:]
		if k := len(list); k > 0 && bytes.Compare(list[k-1].tag[:], m.tag[:]) >= 0 {
			return nil, badCursor("damaged")
		}
		list = append(list, m)
	}
	if encodeCursor(reader, list) != text { // a number written longer than it need be
		return nil, badCursor("damaged")
	}
	return list, nil
}

func badCursor(what string) error {
	return schemas.Invalidf("the cursor to acknowledge is %s; nothing was acknowledged", what).
		Expecting("the cursor of the caller's own last poll, unchanged").
		Try("%s without ack and acknowledge the cursor it returns", schemas.Do("events_poll"))
}
