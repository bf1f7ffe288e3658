package config

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cordelia/node"
	"cordelia/schemas"
)

// DatabaseVariable names the address of a PostgreSQL database in the environment. It may hold
// the password, which other places may not.
const DatabaseVariable = "CORDELIA_DB"

// DatabaseSetting is how a refusal names the setting.
const DatabaseSetting = "the setting database"

// WithoutPassword refuses an address with a password where others may read it.
func WithoutPassword(address, where string) error {
	if !node.HasPassword(address) {
		return nil
	}
	return schemas.Invalidf("%s holds a password, which others may read there", where).
		Expecting("an address without it, such as postgres://user@host:5432/database").
		Try("put the password into ~/.pgpass (mode 0600; PGPASSFILE names another file), or the whole address into " +
			DatabaseVariable)
}

// CheckDatabase refuses the setting database where no node starts with it.
func (s Settings) CheckDatabase() error {
	if err := WithoutPassword(s.Database, DatabaseSetting); err != nil {
		return err
	}
	return node.CheckDatabase(s.Database)
}

// HoldsPassword reports whether the value of a setting, as JSON, holds what others must not
// read: a setting that a person wrote by hand may.
func HoldsPassword(key string, value jsontext.Value) bool {
	text := value.Clone()
	if text.Canonicalize() != nil { // which undoes escapes
		text = value
	}
	nats := key == "nats" || strings.HasPrefix(key, "nats.") // a user there is a token, too
	_, address, found := strings.Cut(string(text), "://")
	return node.HasPassword(string(text)) || nats && found && strings.Contains(address, "@")
}
