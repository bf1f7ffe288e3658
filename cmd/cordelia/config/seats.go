package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cordelia/internal/endpoint"
	"cordelia/internal/keys"
	"cordelia/node"
	runner "cordelia/run"
	"cordelia/run/cost"
	"cordelia/schemas"
)

// Seats is the part of config.json that says who fills the seats of tasks.
type Seats struct {
	// who fills them, the first that can be used: claude-code, codex, gemini-cli, or the name of an API
	Client []string `json:"client" default:"claude-code"`
	R1     []string `json:"R1" default:"as client"` // who carries the request over, if others
	R2     []string `json:"R2" default:"as client"` // who plans
	R3     []string `json:"R3" default:"as client"` // who carries a subtask out
	// who judges a subtask; code does where each criterion names a command
	R4a  []string `json:"R4a" default:"code, then as client"`
	R4b  []string `json:"R4b" default:"as client"` // who judges the whole
	APIs []API    `json:"apis" default:"none"`     // models that are asked over HTTP
}

// API is a model that is asked over HTTP.
type API struct {
	Name string `json:"name"` // what flags and settings call it
	// messages (Anthropic), responses (OpenAI), or chat: chat completions of any server
	Kind      string `json:"kind"`
	URL       string `json:"url" default:"Anthropic's or OpenAI's"`   // up to and with /v1
	Model     string `json:"model"`                                   // the server's name for it
	KeyEnv    string `json:"key_env"`                                 // environment variable with the key
	KeyFile   string `json:"key_file"`                                // file with the key, mode 0600
	MaxOutput int    `json:"max_output" default:"16000 for messages"` // tokens of one reply
}

// SeatedRoles are the roles that a client fills.
var SeatedRoles = []schemas.PipelineRole{schemas.Perceiver, schemas.Planner, schemas.Executor, schemas.AgentValidator,
	schemas.MetaValidator}

// Clients are those that are programs of the user's, by their names here.
var Clients = map[string]string{"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini"}

// ClientName is the name of a client that may be called as its program is.
func ClientName(name string) string {
	for client, program := range Clients {
		if program == name {
			return client
		}
	}
	return name
}

// apiName is how an API may be called.
var apiName = regexp.MustCompile(`\A[a-z0-9][a-z0-9._-]{0,39}\z`)

// Order gives who fills a role in turn, as the settings say.
func (s Seats) Order(role schemas.PipelineRole) []string {
	own := map[schemas.PipelineRole][]string{schemas.Perceiver: s.R1, schemas.Planner: s.R2, schemas.Executor: s.R3,
		schemas.AgentValidator: s.R4a, schemas.MetaValidator: s.R4b}[role]
	given := own
	if len(own) == 0 {
		given = s.Client
	}
	var all []string
	for _, name := range given {
		all = append(all, ClientName(name))
	}
	switch {
	case len(own) > 0:
		return all
	case len(all) == 0:
		all = []string{"claude-code"}
	}
	if role == schemas.AgentValidator && !slices.Contains(all, runner.CodeName) {
		return append([]string{runner.CodeName}, all...)
	}
	return all
}

// check refuses names that mean nothing.
func (s Seats) check() error {
	known := map[string]bool{}
	for _, a := range s.APIs {
		switch {
		case !apiName.MatchString(a.Name) || a.Name == runner.CodeName || Clients[ClientName(a.Name)] != "":
			return fmt.Errorf("seats.apis: %q is no name for an API: take small letters, digits, dots and dashes",
				a.Name)
		case known[a.Name]:
			return fmt.Errorf("seats.apis: there are two of the name %s", a.Name)
		case a.KeyEnv != "" && a.KeyFile != "":
			return fmt.Errorf("seats.apis: key_env and key_file of %s exclude each other", a.Name)
		}
		known[a.Name] = true
		if _, err := runner.NewAPI(a.config(endpoint.Key{}, "", "")); err != nil {
			return err
		}
	}
	for _, role := range SeatedRoles {
		if err := Fillable(role, s.Order(role), known); err != nil {
			return fmt.Errorf("seats: %w", err)
		}
	}
	return nil
}

// Fillable refuses an order of names that cannot fill a role.
func Fillable(role schemas.PipelineRole, order []string, apis map[string]bool) error {
	for i, name := range order {
		switch {
		case name == runner.CodeName && role != schemas.AgentValidator:
			return fmt.Errorf("%s cannot be filled by code: only R4a can", role)
		case name == runner.CodeName && (i > 0 || len(order) == 1):
			return errors.New("code comes first, and a client after it, for what no command decides")
		case name != runner.CodeName && Clients[name] == "" && !apis[name]:
			return fmt.Errorf("there is no client or API %q", name)
		}
	}
	return nil
}

// config is that of the API.
func (a API) config(key endpoint.Key, payer, self string) runner.APIConfig {
	return runner.APIConfig{Name: a.Name, Kind: runner.APIKind(a.Kind), URL: a.URL, Model: a.Model, Key: key,
		Payer: payer, MaxOutput: a.MaxOutput, Self: self}
}

// Client makes the API with its key.
func (a API) Client(home node.Home, self string) (c *runner.API, err error) {
	var key endpoint.Key
	payer := "no key"
	switch {
	case a.KeyEnv != "":
		payer = "the variable " + a.KeyEnv
		key, err = endpoint.KeyFromEnv(a.KeyEnv)
	case a.KeyFile != "":
		path := a.KeyFile
		if !filepath.IsAbs(path) {
			path = filepath.Join(string(home), path)
		}
		payer = "the file " + path
		key, err = endpoint.KeyFromFile(path)
	}
	if err != nil {
		return nil, err
	}
	return runner.NewAPI(a.config(key, payer, self))
}

// ReadPrices reads the prices that the user wrote down, none if there is no file.
func ReadPrices(home node.Home) (cost.Prices, error) {
	path := pricesFile(home)
	raw, err := keys.ReadSettings(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := cost.ReadPrices(raw)
	if err != nil {
		return nil, schemas.Invalidf("%s cannot be used: %s", path, strings.TrimSpace(err.Error())).
			Try("mend it, or move it away: what has no price is then shown as unknown")
	}
	return p, nil
}

// pricesFile is where the user writes prices down.
func pricesFile(home node.Home) string { return filepath.Join(string(home), "prices.json") }
