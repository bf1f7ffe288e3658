package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/setup"
	"cordelia/internal/clientsettings"
	"cordelia/plugin"
	"cordelia/schemas"
)

func (x *examination) path() {
	found, err := exec.LookPath("cordelia")
	if err != nil {
		x.report("PATH", Warning, "add the folder of the program to PATH; clients do not need it",
			"cordelia is not on PATH")
		return
	}
	x.report("PATH", Fine, "", "%s", found)
}

// clients checks what each client would start, and starts it if that is safe:
// starting migrates an old database and mends a fresh home, which a doctor does
// not do.
func (x *examination) clients(ctx context.Context, m clientsettings.Machine, start bool) {
	var entries []clientsettings.Entry
	configured := 0
	for _, c := range m.Clients() {
		settings := c
		if c.Plugin != "" {
			c = c.Manifest()
		}
		file, err := clientsettings.ReadFile(c.Settings)
		if err != nil {
			x.refused(c.Title, err)
			continue
		}
		found, err := c.Find(file.Content)
		switch {
		case err != nil && c.Plugin != "":
			x.report(c.Title, Problem, "cordelia setup --client "+string(c.ID), "%s", schemas.MessageOf(err))
		case err != nil:
			x.refused(c.Title, err)
		case !found.Present && c.Installed:
			x.report(c.Title, Warning, "cordelia setup --client "+string(c.ID), "is here and not connected")
		case !found.Present:
		case found.Entry.Command == "" || len(found.Entry.Args) == 0:
			x.report(c.Title, Problem, "cordelia setup --force --client "+string(c.ID), "the entry in %s is incomplete",
				file.Path)
		case !found.Ours:
			x.report(c.Title, Problem, "cordelia setup --force --client "+string(c.ID)+" replaces it",
				"%s starts another program as cordelia: %s", file.Path, found.Entry.Command)
		default:
			configured++
			x.plugin(settings, found.Entry)
			x.permissions(settings)
			x.skipped(settings)
			if x.program(ctx, c, found.Entry) && !slices.ContainsFunc(entries, func(e clientsettings.Entry) bool {
				return e.Command == found.Entry.Command && slices.Equal(e.Args, found.Entry.Args)
			}) {
				entries = append(entries, found.Entry)
			}
		}
	}
	if configured == 0 {
		x.report("clients", Warning, "cordelia setup --client claude-code", "none is connected")
	}
	for _, e := range entries {
		x.handshake(ctx, m, e, start)
	}
}

// plugin checks that the plugin is whole, and that nothing keeps its server from
// starting.
func (x *examination) plugin(c clientsettings.Client, e clientsettings.Entry) {
	if c.Plugin == "" {
		return
	}
	fix := "cordelia setup --client " + string(c.ID)
	for _, f := range plugin.Files(setup.PluginOf(e)) {
		path := filepath.Join(c.Plugin, filepath.FromSlash(f.Path))
		if file, err := clientsettings.ReadFile(path); err != nil || !bytes.Equal(file.Content, f.Content) {
			x.report(c.Title, Warning, fix, "%s is not as this version has it", path)
			return
		}
	}
	file, err := clientsettings.ReadFile(c.Settings)
	if err != nil {
		x.refused(c.Title, err)
		return
	}
	found, err := c.Find(file.Content)
	switch {
	case err != nil:
		x.refused(c.Title, err)
	case found.Present && c.Doubles(found.Entry):
		x.report(c.Title, Problem, fix, "%s starts cordelia too, so the plugin's hooks reach no server", c.Settings)
	}
}

// permissions says whether the client calls our tools without asking.
func (x *examination) permissions(c clientsettings.Client) {
	rules, ok := c.Permissions()
	if !ok {
		return
	}
	const check = "permissions"
	file, err := clientsettings.ReadFile(rules.Settings)
	if err != nil {
		x.refused(check, err)
		return
	}
	found, err := rules.Find(file.Content)
	switch {
	case err != nil:
		x.refused(check, err)
	case found.Present:
		x.report(check, Fine, "", "%s calls cordelia's tools without asking", c.Title)
	default:
		x.report(check, Fine, "", "%s asks before each of cordelia's tools and refuses them without a terminal; "+
			"cordelia setup --allow adds the rule %s",
			c.Title, clientsettings.Rule)
	}
}

// skipped finds, and with --fix mends, that the client leaves our server out because it
// could not start it once.
func (x *examination) skipped(c clientsettings.Client) {
	path := c.SkippedFile()
	if path == "" {
		return
	}
	file, err := clientsettings.ReadFile(path)
	if err != nil || !file.Exists {
		return // a cache of the client's: what is not in order there is made anew
	}
	content, err := clientsettings.Unskip(file.Content)
	if err != nil || len(content) == len(file.Content) {
		return
	}
	if !x.fix {
		x.report(c.Title, Problem, "cordelia doctor --fix, then start a new session",
			"leaves cordelia out, as it could not start it once: %s says so", path)
		return
	}
	if err := file.Replace(content); err != nil {
		x.refused(c.Title, err)
		return
	}
	x.report(c.Title, Fine, "", "tries cordelia again in a new session: its entry is taken out of %s", path)
}

// patience bounds how long a started program may take to answer.
const patience = 10 * time.Second

// program checks that what the client would start is there and is this version.
func (x *examination) program(ctx context.Context, c clientsettings.Client, e clientsettings.Entry) bool {
	fix := "cordelia setup --client " + string(c.ID)
	if !filepath.IsAbs(e.Command) {
		x.report(c.Title, Warning, fix, "starts %s from wherever PATH leads", e.Command)
		return false
	}
	if info, err := os.Stat(e.Command); err != nil || !info.Mode().IsRegular() {
		x.report(c.Title, Problem, fix, "starts %s, which is not there", e.Command)
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, e.Command, "version", "--json").Output()
	var is struct {
		Version string `json:"version"`
	}
	if err != nil || json.Unmarshal(out, &is) != nil {
		x.report(c.Title, Problem, fix, "%s does not run: %v", e.Command, err)
		return false
	}
	if is.Version != cli.Version() {
		x.report(c.Title, Problem, fix, "starts version %s, this is %s", is.Version, cli.Version())
		return false
	}
	x.report(c.Title, Fine, "", "starts %s", e.Command)
	return true
}

// handshake starts the program the way a client does and asks what it is.
func (x *examination) handshake(ctx context.Context, m clientsettings.Machine, e clientsettings.Entry, start bool) {
	const check = "MCP handshake"
	home := filepath.Join(m.Home, ".cordelia")
	if dir := os.Getenv("CORDELIA_HOME"); dir != "" {
		home = dir
	}
	if i := slices.Index(e.Args, "--home"); i >= 0 && i+1 < len(e.Args) {
		home = e.Args[i+1]
	}
	if home != x.home {
		x.report(check, Skipped, "", "clients use another home folder; check it with: cordelia doctor --home %s",
			cli.Quoted(home))
		return
	}
	if !start {
		x.report(check, Skipped, "", "not tried before the rest is in order")
		return
	}
	took, err := discover(ctx, e)
	if err != nil {
		line := cli.Quoted(e.Command)
		for _, arg := range e.Args {
			line += " " + cli.Quoted(arg)
		}
		x.report(check, Problem, fmt.Sprintf("see what it says: %s --verbose </dev/null", line), "%v", err)
		return
	}
	x.report(check, Fine, "", "answered in %d ms", took.Milliseconds())
}

// DiscoverRequest is the first message of a client (MCP 2026-07-28).
const DiscoverRequest = `{"jsonrpc":"2.0","id":"doctor","method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"cordelia-doctor","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"

// discover starts e, asks, and ends it. It returns the time from start to
// answer.
func discover(ctx context.Context, e clientsettings.Entry) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Command, e.Args...)
	cmd.Stdin = strings.NewReader(DiscoverRequest) // and then its end, on which a server ends
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	took = time.Since(began)
	waitErr := cmd.Wait()
	var answer struct {
		ID     string          `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(line, &answer) == nil && answer.ID == "doctor" && len(answer.Result) > 0 {
		return took, nil
	}
	last := strings.TrimSpace(stderr.String())
	if i := strings.LastIndexByte(last, '\n'); i >= 0 {
		last = last[i+1:]
	}
	return took, fmt.Errorf("no answer: %s",
		strings.Join(strings.Fields(fmt.Sprint(last, " ", errors.Join(readErr, waitErr))), " "))
}
