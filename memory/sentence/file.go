package sentence

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"io"
	"os"
)

// A model's file is a checksum of the rest, how long its head is, the head, which is the model
// without the cells of its matrices, and these.
const (
	sumSize  = sha256.Size
	headAt   = sumSize + 4
	mostFile = 64 << 20
)

// matrices are those of e, in the order of the file.
func (e *encoder) matrices() []*matrix {
	list := []*matrix{&e.Table, &e.Last}
	for i := range e.Layers {
		l := &e.Layers[i]
		list = append(list, &l.Wider, &l.Ask, &l.Answer, &l.Inner, &l.Outer)
	}
	return list
}

// bytes is e as a file.
func (e *encoder) bytes() ([]byte, error) {
	var head bytes.Buffer
	if err := gob.NewEncoder(&head).Encode(e); err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32(make([]byte, sumSize), uint32(head.Len())) //nolint:gosec // some 100 kB
	out = append(out, head.Bytes()...)
	for _, m := range e.matrices() {
		out = append(out, m.cells...)
	}
	sum := sha256.Sum256(out[sumSize:])
	copy(out, sum[:])
	return out, nil
}

var errDamaged = errors.New("the file is damaged")

// read reads a model's file. The cells stay where they were read.
func read(path string) (*encoder, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read
	info, err := f.Stat()
	if err != nil || info.Size() > mostFile || info.Size() < headAt {
		return nil, errors.Join(err, errDamaged)
	}
	raw := make([]byte, info.Size())
	if _, err := io.ReadFull(f, raw); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(raw[sumSize:]); !bytes.Equal(sum[:], raw[:sumSize]) {
		return nil, errDamaged
	}
	length := int64(binary.LittleEndian.Uint32(raw[sumSize:]))
	if headAt+length > int64(len(raw)) {
		return nil, errDamaged
	}
	e, cells := &encoder{}, raw[headAt+length:]
	if err := gob.NewDecoder(bytes.NewReader(raw[headAt : headAt+length])).Decode(e); err != nil {
		return nil, err
	}
	for _, m := range e.matrices() {
		size := m.In * m.Out
		if m.In < 0 || m.Out < 0 || size < 0 || size > len(cells) {
			return nil, errDamaged
		}
		m.cells, cells = cells[:size], cells[size:]
	}
	return e, e.ready()
}
