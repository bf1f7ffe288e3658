package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/internal/clientsettings"
	"cordelia/node"
	"cordelia/schemas"
)

func configCommand(a *cli.App) *cobra.Command {
	return cli.Group("config", "Read and change the settings of this node",
		&cobra.Command{
			Use: "list", Short: "List the settings there are, with what is set", Args: cli.Wants(0),
			Example: "  cordelia config list",
			RunE:    func(*cobra.Command, []string) error { return configList(a) },
		},
		&cobra.Command{
			Use: "get KEY", Short: "Print one setting", Args: cli.Wants(1, "KEY"),
			Example:           "  cordelia config get tasks.retries",
			ValidArgsFunction: completeSettings,
			RunE:              func(_ *cobra.Command, words []string) error { return configGet(a, words[0]) },
		},
		&cobra.Command{
			Use: "set KEY VALUE", Short: "Change one setting; an empty VALUE takes it out, and the default holds",
			Long: `Change one setting of config.json in the home folder; an empty VALUE takes it out, and
the default holds. VALUE is a word, or JSON for objects and lists of several. What the settings
mean: docs/settings.md. Processes that run keep what they began with.`,
			Args: cli.Wants(2, "KEY", "VALUE"),
			Example: "  cordelia config set cooldown 10m\n  cordelia config set check_roots " +
				"'[\"/src\"]'\n  cordelia config set cooldown ''",
			ValidArgsFunction: completeSettings,
			RunE:              func(_ *cobra.Command, words []string) error { return configSet(a, words[0], words[1]) },
		},
	)
}

// configHome is the home with its settings as they are in the file, and in use. It needs no
// user: a node that joined a database has none, and an empty home may be given its database.
func configHome(a *cli.App, empty bool) (home node.Home, file clientsettings.File, err error) {
	if home, err = a.AbsoluteHome(); err != nil {
		return home, file, err
	}
	if !empty && home.Fresh() && !cli.Exists(home.NodeKey()) && !cli.Exists(config.File(home)) {
		return home, file, a.NoHome()
	}
	if file, err = clientsettings.ReadFile(config.File(home)); err != nil {
		return home, file, err
	}
	if _, err := config.Read(home); err != nil {
		return home, file, config.Unusable(home, err)
	}
	return home, file, nil
}

// settingKeys lists the keys of a part of the settings and of those in it, with dots.
func settingKeys(part reflect.Type, prefix string) (keys []string) {
	for part.Kind() == reflect.Pointer {
		part = part.Elem()
	}
	if part.Kind() != reflect.Struct {
		return nil
	}
	for f := range part.Fields() {
		key := prefix + f.Tag.Get("json")
		if inner := settingKeys(f.Type, key+"."); inner != nil {
			keys = append(keys, inner...)
		} else {
			keys = append(keys, key)
		}
	}
	return keys
}

func allSettings() []string { return settingKeys(reflect.TypeFor[config.Settings](), "") }

// defaultOf words what holds while a key is not set; "" for one without a default.
func defaultOf(key string) string {
	_, usual := settingOf(key)
	return usual
}

// settingOf gives the type of a setting, and words its default.
func settingOf(key string) (part reflect.Type, usual string) {
	part = reflect.TypeFor[config.Settings]()
	for step := range strings.SplitSeq(key, ".") {
		for part.Kind() == reflect.Pointer {
			part = part.Elem()
		}
		for f := range part.Fields() {
			if f.Tag.Get("json") == step {
				part, usual = f.Type, f.Tag.Get("default")
				break
			}
		}
	}
	return part, usual
}

// valueOf is what a word means as the value of a setting: JSON, or a text; where a list of texts is
// wanted, one text is a list of it alone.
func valueOf(key, word string) json.RawMessage {
	value := json.RawMessage(word)
	if !json.Valid(value) {
		value = mustMarshal(word)
	}
	var text string
	if part, _ := settingOf(key); part == reflect.TypeFor[[]string]() && json.Unmarshal(value, &text) == nil {
		value = append(append(json.RawMessage("["), value...), ']')
	}
	return value
}

func completeSettings(_ *cobra.Command, words []string, typed string) (fit []string, _ cobra.ShellCompDirective) {
	for _, key := range allSettings() {
		if len(words) == 0 && strings.HasPrefix(key, typed) {
			fit = append(fit, key)
		}
	}
	return fit, cobra.ShellCompDirectiveNoFileComp
}

// settingAt finds the value of a key in a settings file, nil if it is not set.
func settingAt(raw []byte, key string) json.RawMessage {
	at := json.RawMessage(raw)
	for step := range strings.SplitSeq(key, ".") {
		fields := map[string]json.RawMessage{}
		if json.Unmarshal(at, &fields) != nil {
			return nil
		}
		at = fields[step]
	}
	return at
}

func unknownSetting(key string) error {
	err := schemas.NotFoundf("there is no setting %q", key).Try("run: cordelia config list")
	if near := schemas.Nearest(key, allSettings()); near != "" {
		err.Expected = near
	}
	return err
}

func isSetting(key string) bool {
	for _, known := range allSettings() {
		if known == key || strings.HasPrefix(known, key+".") {
			return true
		}
	}
	return false
}

func configList(a *cli.App) error {
	_, file, err := configHome(a, false)
	if err != nil {
		return err
	}
	if a.AsJSON {
		set, usual := map[string]json.RawMessage{}, map[string]string{}
		for _, key := range allSettings() {
			usual[key] = defaultOf(key)
			if v := shown(key, settingAt(file.Content, key)); v != nil {
				set[key] = v
			}
		}
		return a.PrintJSON(map[string]any{"file": file.Path, "known": allSettings(), "set": set, "default": usual})
	}
	t := cli.Table{Firm: 1, Head: []string{"SETTING", "VALUE", "DEFAULT"}}
	for _, key := range allSettings() {
		usual := defaultOf(key)
		value := cli.Styled(usual, cli.Dim)
		if v := shown(key, settingAt(file.Content, key)); v != nil {
			value = cli.Text(cli.Clean(plainValue(v)))
		}
		t.Add(cli.Text(key), value, cli.Styled(usual, cli.Dim))
	}
	a.Print(t)
	a.Note("those that differ are in %s; what they mean: docs/settings.md", file.Path)
	return nil
}

// shown is the value of a setting, but for one with a password.
func shown(key string, v json.RawMessage) json.RawMessage {
	if v != nil && config.HoldsPassword(key, jsontext.Value(v)) {
		return mustMarshal("(holds a password, so it is not shown)")
	}
	return v
}

// plainValue is a JSON value as a person writes it.
func plainValue(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

func configGet(a *cli.App, key string) error {
	_, file, err := configHome(a, false)
	if err != nil {
		return err
	}
	if !isSetting(key) {
		return unknownSetting(key)
	}
	v := shown(key, settingAt(file.Content, key))
	switch {
	case a.AsJSON:
		return a.PrintJSON(map[string]any{"key": key, "value": v})
	case v == nil:
		a.Say("%s", defaultOf(key))
		a.Note("%s is not set, so its default holds", key)
	default:
		a.Say("%s", cli.Clean(plainValue(v)))
	}
	overridden(a, key)
	return nil
}

// overridden tells where the environment goes before the setting that names the database.
func overridden(a *cli.App, key string) {
	if key == "database" && os.Getenv(cli.DatabaseVariable) != "" {
		a.Note("%s names the database here, and goes before this setting", cli.DatabaseVariable)
	}
}

func configSet(a *cli.App, key, word string) error {
	home, file, err := configHome(a, key == "database")
	if err != nil {
		return err
	}
	if !isSetting(key) {
		return unknownSetting(key)
	}
	var value json.RawMessage
	if word != "" {
		value = valueOf(key, word)
	}
	content := file.Content
	if len(bytes.TrimSpace(content)) == 0 {
		content = []byte("{}")
	}
	if content, err = withSetting(content, strings.Split(key, "."), value); err != nil {
		return err
	}
	s, err := config.Decode(content)
	if err == nil {
		err = cmp.Or(s.Configure(&node.Config{Home: home}), s.CheckDatabase(), s.CheckOutward(home, false))
	}
	if err != nil {
		refusal := schemas.Invalidf("%s was not changed: %s", key,
			schemas.MessageOf(err)).Try("correct the value; cordelia config list shows the settings")
		if why, ok := errors.AsType[*schemas.Error](err); ok {
			if refusal.Expected = why.Expected; len(why.Hint) > 0 {
				refusal.Hint = why.Hint
			}
		}
		return refusal
	}
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "%s cannot be made", home).
			Try("look who owns the folder above it, or name another with --home").Because(err)
	}
	if err := file.Replace(content); err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(map[string]any{"key": key, "value": value, "file": config.File(home)})
	}
	a.Say("%s is %s in %s.", key, settingWords(value), config.File(home))
	a.Note("processes that run keep what they began with: restart open sessions and cordelia serve")
	overridden(a, key)
	return nil
}

func settingWords(v json.RawMessage) string {
	if v == nil {
		return "left to its default"
	}
	return cli.Clean(plainValue(v))
}

func mustMarshal(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string: a defect
	}
	return raw
}

// withSetting puts a value at a path of a settings file, or takes it out if it is nil;
// everything else stays in its order. A null has no members yet, as decoding has it.
func withSetting(raw []byte, path []string, value json.RawMessage) ([]byte, error) {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = []byte("{}")
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b, jsontext.WithIndent("  "))
	if _, err := d.ReadToken(); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return nil, err
	}
	found := false
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		if key == path[0] {
			found = true
			if v, err = changedSetting(v.Clone(), path[1:], value); err != nil {
				return nil, err
			}
		}
		if err := writeMember(e, key, v); err != nil {
			return nil, err
		}
	}
	if !found && value != nil {
		v, err := changedSetting(jsontext.Value("{}"), path[1:], value)
		if err != nil {
			return nil, err
		}
		if err := writeMember(e, path[0], v); err != nil {
			return nil, err
		}
	}
	if err := e.WriteToken(jsontext.EndObject); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// changedSetting is what stands under the first name of a path: value itself, or what is there
// with value at the rest of the path.
func changedSetting(there jsontext.Value, rest []string, value json.RawMessage) (jsontext.Value, error) {
	if len(rest) == 0 {
		return jsontext.Value(value), nil
	}
	changed, err := withSetting(there, rest, value)
	return changed, err
}

// writeMember writes a member of an object, nothing if it has no value.
func writeMember(e *jsontext.Encoder, name string, v jsontext.Value) error {
	if v == nil {
		return nil
	}
	if err := e.WriteToken(jsontext.String(name)); err != nil {
		return err
	}
	return e.WriteValue(v)
}
