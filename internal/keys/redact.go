package keys

import (
	"fmt"
	"io"
	"log/slog"
)

// mask is what every printer shows instead of a secret.
const mask = "[secret]"

// redacted makes the type that embeds it print as the mask. The embedding type keeps its secret
// behind a function: where fmt cannot call methods (unexported fields of another package's
// struct) it prints the function's address. A pointer would not do, because %s looks through
// it.
type redacted struct{}

// Format answers every verb of fmt with the mask.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// String gives the mask.
func (redacted) String() string { return mask }

// GoString gives the mask.
func (redacted) GoString() string { return mask }

// MarshalText gives the mask, to JSON too.
func (redacted) MarshalText() ([]byte, error) { return []byte(mask), nil }

// LogValue gives the mask.
func (redacted) LogValue() slog.Value { return slog.StringValue(mask) }
