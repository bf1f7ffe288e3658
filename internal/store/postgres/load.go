package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
)

// Load inserts rows into a table in one statement, within the transaction of the connection
// c (what sql.Conn.Raw gives), and sets the counter of a generated key, which is the first
// column, behind the greatest one.
func Load(ctx context.Context, c any, table string, columns []string, rows iter.Seq2[[]any, error]) error {
	own, ok := c.(*conn)
	if !ok {
		return errors.New("postgres: not a connection of this package")
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	in := &copyInput{next: next, left: []byte(copyHeader)}
	list := make([]string, len(columns))
	for i, name := range columns {
		list[i] = identifier(name)
	}
	_, err := own.pg.CopyFrom(ctx, in,
		"COPY "+identifier(table)+" ("+strings.Join(list, ", ")+") FROM STDIN (FORMAT binary)")
	in.close()
	if in.err != nil { // the server only hears that the copy failed
		err = in.err
	}
	if err != nil {
		return fmt.Errorf("load table %s: %w", table, marked(own.pg, err))
	}
	_, err = own.simple(ctx, fmt.Sprintf(`DO $$ DECLARE counter text; greatest bigint; BEGIN
		counter := pg_get_serial_sequence('%s', '%s');
		IF counter IS NOT NULL THEN
			SELECT max(%s) INTO greatest FROM %s;
			IF greatest > 0 THEN PERFORM setval(counter, greatest); END IF;
		END IF;
	END $$`, identifier(table), columns[0], list[0], identifier(table)))
	return marked(own.pg, err)
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// The beginning and the end of the server's binary format of rows.
const (
	copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	copyEnd    = "\xff\xff"
)

// copyInput gives rows in that format. pgx reads it in a goroutine, and does not wait for that one
// when the connection is lost.
type copyInput struct {
	next func() ([]any, error, bool)
	left []byte
	end  bool
	err  error // of a row

	reading sync.Mutex
	closed  bool
}

// close waits for a Read that runs, and leaves the rows alone from then on.
func (r *copyInput) close() {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.closed = true
}

// Read implements io.Reader.
func (r *copyInput) Read(p []byte) (int, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.closed {
		return 0, io.ErrClosedPipe
	}
	for len(r.left) == 0 {
		if r.end {
			return 0, io.EOF
		}
		row, err, more := r.next()
		if more && err == nil {
			err = r.row(row)
		}
		if err != nil {
			r.err = err
			return 0, err
		}
		if !more {
			r.left, r.end = append(r.left, copyEnd...), true
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// row appends a row: the number of its fields, and each with its length, -1 = NULL.
func (r *copyInput) row(values []any) error {
	b := binary.BigEndian.AppendUint16(r.left[:0], uint16(len(values)))
	for _, v := range values {
		if v == nil {
			b = binary.BigEndian.AppendUint32(b, ^uint32(0))
			continue
		}
		data, _, err := encode(v) // text is the same in both formats
		if err != nil {
			return err
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...)
	}
	r.left = b
	return nil
}
