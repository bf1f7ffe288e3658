package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// The parts of SQLite's log, in bytes (sqlite.org/fileformat2.html, "The Write-Ahead Log").
const (
	logHeader   = 32
	frameHeader = 24
)

// wholeFrames counts the frames at the beginning of a log that are what was written:
// each holds a checksum of all before it.
func wholeFrames(log io.ReaderAt) (n int, err error) {
	big := binary.BigEndian
	head := make([]byte, logHeader)
	if err := readFull(log, head, 0); err != nil {
		return 0, ignoreEOF(err)
	}
	sum := logSum{order: binary.LittleEndian}
	switch magic := big.Uint32(head); magic {
	case 0x377f0682:
	case 0x377f0683:
		sum.order = big
	default:
		return 0, nil
	}
	if sum.add(head[:24]); !sum.is(head[24:]) {
		return 0, nil
	}
	salts := head[16:24]
	frame := make([]byte, frameHeader+int(big.Uint32(head[8:])))
	for at := int64(logHeader); ; at += int64(len(frame)) {
		if err := readFull(log, frame, at); err != nil {
			return n, ignoreEOF(err)
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if !bytes.Equal(frame[8:16], salts) || !sum.is(frame[16:]) {
			return n, nil
		}
		n++
	}
}

// logSum is the checksum that runs through a log.
type logSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (s *logSum) add(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		s.s0 += s.order.Uint32(p) + s.s1
		s.s1 += s.order.Uint32(p[4:]) + s.s0
	}
}

// is reports whether the sum so far is the one stored at p.
func (s *logSum) is(p []byte) bool {
	return s.s0 == binary.BigEndian.Uint32(p) && s.s1 == binary.BigEndian.Uint32(p[4:])
}

// readFull fills p; io.EOF if the file ends before.
func readFull(r io.ReaderAt, p []byte, at int64) error {
	if n, err := r.ReadAt(p, at); n < len(p) {
		return err
	}
	return nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
