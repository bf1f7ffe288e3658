package postgres

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Types of PostgreSQL, by their numbers in its catalogue.
const (
	typeBool    = 16
	typeBytes   = 17
	typeInt8    = 20
	typeInt2    = 21
	typeInt4    = 23
	typeText    = 25
	typeFloat8  = 701
	typeNumeric = 1700
)

const (
	asText   = 0
	asBinary = 1
)

// typeOf is the type in which an argument is sent; 0 lets the server choose one.
func typeOf(v driver.Value) uint32 {
	switch v.(type) {
	case int64:
		return typeInt8
	case float64:
		return typeFloat8
	case string:
		return typeText
	case []byte:
		return typeBytes
	}
	return 0
}

// encode gives an argument as it is sent; nil is NULL.
func encode(v driver.Value) (data []byte, format int16, err error) {
	switch v := v.(type) {
	case nil:
		return nil, asText, nil
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(v)), asBinary, nil
	case bool: // as text it is a number for a column and a truth for a condition
		if v {
			return []byte("1"), asText, nil
		}
		return []byte("0"), asText, nil
	case float64:
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(v)), asBinary, nil
	case string:
		return []byte(v), asText, nil
	case []byte:
		if v == nil {
			return nil, asBinary, nil
		}
		return append([]byte{}, v...), asBinary, nil
	}
	return nil, 0, fmt.Errorf("postgres: no way to send a %T", v)
}

// formats asks for the columns in the form that decode reads.
func formats(fields []pgconn.FieldDescription) []int16 {
	out := make([]int16, len(fields))
	for i, f := range fields {
		switch f.DataTypeOID {
		case typeBool, typeBytes, typeInt8, typeInt2, typeInt4, typeFloat8:
			out[i] = asBinary
		}
	}
	return out
}

// decode gives a column as SQLite would: every whole number and truth as int64.
func decode(field pgconn.FieldDescription, data []byte) (driver.Value, error) {
	if data == nil {
		return nil, nil
	}
	if field.Format == asText {
		return decodeText(field.DataTypeOID, string(data))
	}
	switch field.DataTypeOID {
	case typeBool:
		return int64(data[0]), nil
	case typeInt2:
		return int64(int16(binary.BigEndian.Uint16(data))), nil
	case typeInt4:
		return int64(int32(binary.BigEndian.Uint32(data))), nil
	case typeInt8:
		return int64(binary.BigEndian.Uint64(data)), nil
	case typeFloat8:
		return math.Float64frombits(binary.BigEndian.Uint64(data)), nil
	case typeBytes:
		return append([]byte{}, data...), nil
	}
	return nil, fmt.Errorf("postgres: no way to read type %d", field.DataTypeOID)
}

// decodeText is decode of what came as text.
func decodeText(kind uint32, text string) (driver.Value, error) {
	switch kind {
	case typeBool:
		if text == "t" {
			return int64(1), nil
		}
		return int64(0), nil
	case typeInt2, typeInt4, typeInt8:
		return strconv.ParseInt(text, 10, 64)
	case typeFloat8:
		return strconv.ParseFloat(text, 64)
	case typeBytes:
		return hex.DecodeString(strings.TrimPrefix(text, `\x`))
	case typeNumeric: // what sum gives of bigints
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		return strconv.ParseFloat(text, 64)
	}
	return text, nil
}
