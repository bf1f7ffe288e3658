package store

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"fmt"

	"modernc.org/sqlite"
)

// init gives SQLite the function that PostgreSQL has in its schema.
func init() { sqlite.MustRegisterDeterministicScalarFunction("audit_leaf", 4, auditLeaf) }

// auditLeaf is the hash of an entry of the audit record (RFC 6962): of its JSON, of which it gets
// what stands before its number, the number, what stands behind it, and the hash before it.
func auditLeaf(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	head, isHead := args[0].(string)
	seq, isNumber := args[1].(int64)
	middle, isMiddle := args[2].(string)
	if !isHead || !isNumber || !isMiddle {
		return nil, fmt.Errorf("audit_leaf: want text, a number and text, got %T, %T and %T", args[0], args[1], args[2])
	}
	prev, _ := args[3].([]byte) // of the first entry there is none
	sum := sha256.Sum256(fmt.Appendf([]byte{0}, `%s%d%s%s"}`, head, seq, middle, base64.StdEncoding.EncodeToString(prev)))
	return sum[:], nil
}
