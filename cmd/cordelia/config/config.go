package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	strictjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cordelia/agents"
	"cordelia/internal/keys"
	vectors "cordelia/memory/embedding"
	"cordelia/node"
	"cordelia/schemas"
)

// Settings is the optional file config.json in the home folder. A field left out
// keeps its default; an unknown one is an error. Durations are Go's, as "30m".
type Settings struct {
	// address of a PostgreSQL database that keeps the state, without a password
	Database string `json:"database" default:"a file in the home folder"`
	// how long an agent that is not autonomous works unattended
	Presence duration `json:"presence" default:"30m"`
	// between deactivated and removed
	Grace    duration `json:"grace" default:"168h"`
	Cooldown duration `json:"cooldown" default:"5m"` // of the node's own suspensions
	// refused calls of an agent before the node suspends it, slowed down from half of them on
	RefusedPerMinute int `json:"refused_per_minute" default:"60"`
	// calls with arguments that are not valid before it does, slowed down likewise
	FailedPerMinute int `json:"failed_per_minute" default:"20"`
	// a model of meanings that search asks
	Embeddings *embeddings `json:"embeddings" default:"search by words and the built-in word vectors"`
	// folders that machine checks are made in
	CheckRoots []string `json:"check_roots" default:"none"`
	Checks     checks   `json:"checks"` // what those may do
	// folders that get copies of the audit record's checkpoints
	CheckpointDirs []string          `json:"checkpoint_dirs" default:"none"`
	Retention      retentionSettings `json:"retention"` // how old events get before they are removed
	Tasks          taskSettings      `json:"tasks"`     // of the pipeline
	Trust          trustSettings     `json:"trust"`     // in agents
	Seats          Seats             `json:"seats"`     // of tasks that cordelia run and cordelia worker work on
	// NATS JetStream that cordelia serve hands events of groups to
	NATS *outward `json:"nats" default:"none goes out"`
}

type duration time.Duration

// UnmarshalJSON reads a positive duration.
func (d *duration) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return errors.New(`a duration is a string, such as "30m"`)
	}
	v, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf(`%q is no duration, such as "30m" or "1h30m"`, text)
	case v <= 0:
		return errors.New("a duration must be positive")
	}
	*d = duration(v)
	return nil
}

// File is where the settings are.
func File(home node.Home) string { return filepath.Join(string(home), "config.json") }

// Read reads the home's settings; without a file they are empty.
func Read(home node.Home) (s Settings, err error) {
	raw, err := keys.ReadSettings(File(home))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	return Decode(raw)
}

// Decode reads the content of a settings file.
func Decode(raw []byte) (s Settings, err error) {
	err = misread(strictjson.Unmarshal(raw, &s, strictjson.RejectUnknownMembers(true)))
	if err == nil && (s.RefusedPerMinute < 0 || s.FailedPerMinute < 0 || s.Checks.MaxOutput < 0) {
		err = errors.New("a limit must be positive")
	}
	if err == nil {
		_, err = s.Trust.Prior.read()
	}
	if err == nil {
		err = s.Seats.check()
	}
	if err == nil {
		err = s.Retention.check()
	}
	for name, folders := range map[string][]string{"check_roots": s.CheckRoots, "checkpoint_dirs": s.CheckpointDirs} {
		for _, folder := range folders {
			if err == nil && !filepath.IsAbs(folder) {
				err = fmt.Errorf("%s names %q, which is not an absolute path", name, folder)
			}
		}
	}
	return s, err
}

// misread words what the decoder says of settings without Go's names.
func misread(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errors.New("a setting stands there twice")
	}
	wrong, ok := errors.AsType[*strictjson.SemanticError](err)
	if !ok {
		return errors.New("it is not JSON")
	}
	at := cmp.Or(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "it")
	switch {
	case errors.Is(err, strictjson.ErrUnknownName):
		err = fmt.Errorf("there is no setting %q", at)
		if near := schemas.Nearest(wrong.JSONPointer.LastToken(), fieldsOf(wrong.GoType)); near != "" {
			err = fmt.Errorf("%w; did you mean %s?", err, near)
		}
		return err
	case errors.Is(err, strconv.ErrSyntax), errors.Is(err, strconv.ErrRange):
		kind := "a whole number"
		if wrong.GoType.Kind() == reflect.Float64 {
			kind = "a number"
		}
		return fmt.Errorf("%s must be %s, and not that large", at, kind)
	case wrong.Err != nil:
		return fmt.Errorf("%s: %w", at, wrong.Err)
	}
	kinds := map[jsontext.Kind]string{'{': "an object", '[': "a list", '"': "a string", '0': "a number"}
	return fmt.Errorf("%s must not be %s", at, cmp.Or(kinds[wrong.JSONKind], "true or false"))
}

// fieldsOf lists the settings that a part of them has.
func fieldsOf(part reflect.Type) (names []string) {
	if part == nil || part.Kind() != reflect.Struct {
		return nil
	}
	for f := range part.Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	return names
}

// Unusable words an error of the settings.
func Unusable(home node.Home, err error) error {
	if schemas.CodeOf(err) == schemas.CodeDenied { // the rights of the file are wrong, not its content
		return err
	}
	refusal := schemas.Invalidf("%s cannot be used: %s", File(home), schemas.MessageOf(err)).
		Expecting(`for example {"presence":"30m","grace":"168h","cooldown":"5m","refused_per_minute":60,` +
			`"failed_per_minute":20}`).
		Try("mend it, or move it away to use the defaults")
	if e, ok := errors.AsType[*schemas.Error](err); ok {
		refusal.Expected = e.Expected
		if len(e.Hint) > 0 {
			refusal.Hint = e.Hint
		}
	}
	return refusal
}

// Configure puts the home's settings into c.
func Configure(c *node.Config) error {
	s, err := Read(c.Home)
	if err != nil {
		return Unusable(c.Home, err)
	}
	if err := s.Configure(c); err != nil {
		return Unusable(c.Home, err)
	}
	return nil
}

// Configure puts the settings into c. Its error names the setting, and not the file.
func (s Settings) Configure(c *node.Config) error {
	c.Access.Presence = time.Duration(s.Presence)
	c.Access.RefusedPerMinute, c.Access.FailedPerMinute = s.RefusedPerMinute, s.FailedPerMinute
	s.Checks.Configure(c, s.CheckRoots)
	c.CheckpointDirs = s.CheckpointDirs
	c.Retention = s.Retention.read()
	c.Periods = agents.DefaultPeriods()
	if s.Grace != 0 {
		c.Periods.Grace = time.Duration(s.Grace)
	}
	if s.Cooldown != 0 {
		c.Periods.Cooldown = time.Duration(s.Cooldown)
	}
	if err := s.Tasks.Configure(c); err != nil {
		return err
	}
	if err := s.Trust.Configure(c); err != nil {
		return err
	}
	if s.Embeddings == nil {
		c.Embedder, c.Embeddings = vectors.Words{}, vectors.Options{Private: true}
		return nil
	}
	return s.Embeddings.Configure(c)
}
