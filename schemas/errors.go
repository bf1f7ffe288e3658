package schemas

import (
	"errors"
	"fmt"
	"strings"
)

// Code classifies an error for the caller. The list is append-only.
type Code string

const (
	CodeInvalid         Code = "invalid"         // the request is malformed; nothing was written
	CodeUnauthenticated Code = "unauthenticated" // no or no longer valid proof of identity
	CodeDenied          Code = "denied"          // known, but not allowed
	CodeRevoked         Code = "revoked"         // was allowed when it began, is not any more; nothing was written
	CodeNotFound        Code = "not_found"       // absent, or hidden from this caller: the answer is the same
	CodeConflict        Code = "conflict"        // the state moved on; re-read and try again
	CodeBusy            Code = "busy"            // a limit is reached; try again later
	// a needed part (disk, network) failed; nothing was written, unless Msg says so
	CodeUnavailable Code = "unavailable"
	CodeInternal    Code = "internal" // a defect here; the reference leads to the log
)

// Violation is one thing wrong with a request.
type Violation struct {
	Path string `json:"path"` // JSON pointer of the field, "" for the whole
	Msg  string `json:"msg"`  // what is wrong with it
}

// pointerEscapes are those of RFC 6901.
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer is the JSON pointer (RFC 6901) to what steps lead to, "" for the whole.
func Pointer(steps ...string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("/" + pointerEscapes.Replace(s))
	}
	return b.String()
}

// FieldPath is a JSON Pointer as people and models write a field: subtasks[1].tools.
func FieldPath(pointer string) string {
	var b strings.Builder
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch {
		case step != "" && strings.Trim(step, "0123456789") == "":
			b.WriteString("[" + step + "]")
		case b.Len() > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

// Error is what every layer returns and only the faces turn into answers.
type Error struct {
	Code       Code
	Msg        string      // what is so, one sentence
	Expected   string      // what would have been right; may be empty
	Hint       Hint        // what to do next
	Violations []Violation // every violation found, for CodeInvalid
	Err        error       // cause, for the log only; never shown to a caller
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	b.WriteString(": ")
	b.WriteString(e.Msg)
	for _, v := range e.Violations {
		fmt.Fprintf(&b, "; %s: %s", v.Path, v.Msg)
	}
	if e.Expected != "" {
		b.WriteString(" (expected: " + e.Expected + ")")
	}
	if len(e.Hint) > 0 {
		b.WriteString(". Next: " + e.Hint.String())
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is match by code against a bare code error such as ErrNotFound.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Msg == "" && t.Code == e.Code
}

// Expecting returns e with what would have been right.
func (e *Error) Expecting(format string, args ...any) *Error {
	e.Expected = fmt.Sprintf(format, args...)
	return e
}

// Try returns e with the next step; each argument that is a Call is worded by the face.
func (e *Error) Try(format string, args ...any) *Error {
	e.Hint = Hintf(format, args...)
	return e
}

// Because returns e with its cause, kept for the log.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

// With returns e with violations appended.
func (e *Error) With(v ...Violation) *Error {
	e.Violations = append(e.Violations, v...)
	return e
}

// Errorf makes an Error of any code.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Invalidf makes a CodeInvalid error.
func Invalidf(format string, args ...any) *Error { return Errorf(CodeInvalid, format, args...) }

// Deniedf makes a CodeDenied error.
func Deniedf(format string, args ...any) *Error { return Errorf(CodeDenied, format, args...) }

// NotFoundf makes a CodeNotFound error.
func NotFoundf(format string, args ...any) *Error { return Errorf(CodeNotFound, format, args...) }

// Conflictf makes a CodeConflict error.
func Conflictf(format string, args ...any) *Error { return Errorf(CodeConflict, format, args...) }

// Bare errors for errors.Is.
var (
	ErrInvalid         = &Error{Code: CodeInvalid}
	ErrUnauthenticated = &Error{Code: CodeUnauthenticated}
	ErrDenied          = &Error{Code: CodeDenied}
	ErrRevoked         = &Error{Code: CodeRevoked}
	ErrNotFound        = &Error{Code: CodeNotFound}
	ErrConflict        = &Error{Code: CodeConflict}
	ErrBusy            = &Error{Code: CodeBusy}
	ErrUnavailable     = &Error{Code: CodeUnavailable}
)

// ErrPerson is the cause of a CodeDenied that a person's own key would not have met.
var ErrPerson = errors.New("a person decides")

// ErrSpent is the cause of a CodeInvalid after which no answer of the caller is taken: it was the last,
// and what follows from that was written.
var ErrSpent = errors.New("no more answers are taken")

// ErrAbandoned is ErrSpent where the task ended as abandoned by it.
var ErrAbandoned = fmt.Errorf("the task was abandoned: %w", ErrSpent)

// MessageOf is what err says, without its code and hint.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Msg
	}
	return err.Error()
}

// CodeOf gives the code of err: CodeInternal for anything unclassified.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
