package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the deepest nesting of objects and arrays a message may have.
const maxDepth = 64

// envelopeKeys are the members of a JSON-RPC message, paramsKeys those members
// of params that decide what is called, by whom and for which request.
var (
	envelopeKeys = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramsKeys   = []string{
		"_meta", "name", "arguments", "uri", "cursor", "ref", "argument", "context", "level",
		"requestId", "reason", "protocolVersion", "clientInfo", "capabilities", "notifications",
		"inputResponses", "requestState", "task", "taskId", "progressToken", "progress", "total", "message",
	}
)

// checkMessage refuses every message that two JSON parsers could read
// differently: duplicate keys, keys differing from a protocol key only in
// case, NUL in keys, invalid UTF-8, data after the message, batches, and
// nesting deeper than [maxDepth]. What it accepts, encoding/json and any
// RFC 8259 parser decode alike.
//
// The decoder underneath would match keys case-insensitively (including the
// Unicode folds of k and s) and let the last duplicate win, so that a proxy or
// an audit could see another call than the one which runs.
func checkMessage(data []byte) *RPCError {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	switch dec.PeekKind() {
	case '{':
	case '[':
		return notObject(dec, "batches are not supported: send one message at a time")
	default:
		return notObject(dec, "a message must be a JSON object")
	}
	inParams := false // the object at depth 2 is the value of "params"
	for first := true; first || dec.StackDepth() > 0; first = false {
		depth := dec.StackDepth()
		isKey := false
		if depth > 0 {
			kind, n := dec.StackIndex(depth)
			isKey = kind == '{' && n%2 == 0
		}
		tok, err := dec.ReadToken()
		if err != nil {
			return refusal(err)
		}
		if dec.StackDepth() > maxDepth {
			return Errorf(CodeInvalidRequest, "nested deeper than %d levels", maxDepth)
		}
		if !isKey || tok.Kind() != '"' {
			continue
		}
		key := tok.String()
		if strings.ContainsRune(key, 0) {
			return Errorf(CodeInvalidRequest, "a key contains NUL")
		}
		switch depth {
		case 1:
			inParams = key == "params"
			if rerr := variant(key, envelopeKeys); rerr != nil {
				return rerr
			}
		case 2:
			if inParams {
				if rerr := variant(key, paramsKeys); rerr != nil {
					return rerr
				}
			}
		}
	}
	return ended(dec)
}

// ended refuses what follows a message.
func ended(dec *jsontext.Decoder) *RPCError {
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Errorf(CodeParse, "data after the end of the message")
	}
	return nil
}

// notObject refuses a message that is no object: for this reason if it is JSON, else because it is none.
func notObject(dec *jsontext.Decoder, why string) *RPCError {
	if _, err := dec.ReadValue(); err != nil {
		return refusal(err)
	}
	if rerr := ended(dec); rerr != nil {
		return rerr
	}
	return Errorf(CodeInvalidRequest, "%s", why)
}

// variant refuses a key which a case-insensitive decoder would take for a
// known one.
func variant(key string, known []string) *RPCError {
	for _, k := range known {
		if key != k && strings.EqualFold(key, k) {
			return Errorf(CodeInvalidRequest, "key %+q is not %q: keys are case-sensitive", key, k)
		}
	}
	return nil
}

// refusal says what the decoder found, without quoting input back.
func refusal(err error) *RPCError {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Errorf(CodeParse, "the message ends before it is complete")
	}
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return Errorf(CodeParse, "not valid JSON")
	}
	at := fmt.Sprintf("at byte %d", syntax.ByteOffset)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return Errorf(CodeInvalidRequest, "duplicate key %s", at)
	}
	if strings.Contains(syntax.Err.Error(), "UTF-8") || strings.Contains(syntax.Err.Error(), "surrogate") {
		return Errorf(CodeParse, "invalid UTF-8 %s", at)
	}
	return Errorf(CodeParse, "not valid JSON %s", at)
}
