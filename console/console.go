package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/work"
)

// Root is where the pages are.
const Root = "/console/"

// policy lets a page load what this server serves, and nothing else; nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Console serves the pages of one node.
type Console struct {
	node  *ops.Service
	price work.Pricing
	mux   *http.ServeMux
	pages pages
}

// New makes the pages of a node; price gives what the use of a model costs, and commands words a hint
// for a terminal.
func New(n *ops.Service, price work.Pricing, commands func(schemas.Hint) string) *Console {
	c := &Console{node: n, price: price, mux: http.NewServeMux(), pages: parse(commands)}
	c.mux.HandleFunc("GET "+Root+"assets/{name}", serveFiles())
	c.mux.HandleFunc("GET "+Root+"login", c.showLogin)
	c.mux.HandleFunc("POST "+Root+"login", c.login)
	c.mux.HandleFunc("POST "+Root+"logout", c.logout)
	c.mux.HandleFunc("GET "+Root+"live", c.live)
	for path, show := range c.screens() {
		c.mux.HandleFunc("GET "+Root+path, c.page(show))
	}
	for path, do := range forms() {
		c.mux.HandleFunc("POST "+Root+path, c.form(do))
	}
	c.mux.HandleFunc("POST "+Root+"verify", c.page(verify))
	return c
}

// screens are the pages, by their path below Root.
func (c *Console) screens() map[string]func(context.Context, *visit) (view, error) {
	return map[string]func(context.Context, *visit) (view, error){
		"{$}":                    c.now,
		"tasks":                  tasks,
		"tasks/{id}":             oneTask,
		"tasks/{id}/replay":      replay,
		"agents":                 agentTree,
		"agents/{id}":            oneAgent,
		"memory":                 search,
		"memory/{id}":            oneItem,
		"groups":                 groups,
		"groups/{id}":            oneGroup,
		"review":                 reviews,
		"review/{id}":            oneReview,
		"swarms":                 swarms,
		"swarms/{id}":            oneSwarm,
		"roles":                  allRoles,
		"roles/{workspace}/{id}": oneRole,
		"events":                 record,
		"health":                 c.health,
	}
}

// forms are what the pages' forms do, by their path below Root.
func forms() map[string]func(context.Context, *visit) (string, error) {
	return map[string]func(context.Context, *visit) (string, error){
		"decide":             decide,
		"answer":             answer,
		"release":            release,
		"relayed":            decideRelayed,
		"retry":              giveAgain,
		"agents/{id}/move":   moveAgent,
		"memory/{id}/judge":  judge,
		"tasks/{id}/cancel":  cancelTask,
		"memory/{id}/delete": deleteItem,
		"memory/{id}/write":  writeItem,
	}
}

// ServeHTTP serves a page, a form or a file.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		http.Error(w, "this form came from another site", http.StatusForbidden)
		return
	}
	c.mux.ServeHTTP(w, r)
}

// visit is one request of a person.
type visit struct {
	node   *ops.Service
	caller ops.Caller
	name   string // the person's
	at     int64  // the number of the newest entry of the record, before anything was read
	r      *http.Request
}

// nameOf is the name of an agent, or its id where it has none that the person may know.
func (v *visit) nameOf(ctx context.Context, id schemas.EntityID) string {
	if id == v.caller.Entity {
		return v.name
	}
	out, err := ask[ops.AgentListOut](ctx, v, "agent_list", map[string]any{"agent": id})
	if err != nil || len(out.Agents) == 0 {
		return string(id)
	}
	return out.Agents[0].Name
}

// view is a page: its template, its title and what it shows. One that is still is not
// fetched anew when something changes.
type view struct {
	template, title string
	body            any
	still           bool
}

// ask calls an operation of the catalogue as the person.
func ask[Out any](ctx context.Context, v *visit, name string, in map[string]any) (out Out, err error) {
	args, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("arguments of %s: %w", name, err)
	}
	answer, err := ops.Find(name).Call(ctx, v.node, v.caller, args)
	if err != nil {
		return out, err
	}
	out, ok := answer.(Out)
	if !ok {
		return out, fmt.Errorf("the answer of %s is a %T", name, answer)
	}
	return out, nil
}

// page serves what show gives, to a visitor with a session.
func (c *Console) page(show func(context.Context, *visit) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.visitor(w, r)
		if !ok {
			return
		}
		var err error
		if v.at, err = c.node.Newest(r.Context(), v.caller.Principal); err != nil { // before the page, which may be newer
			c.fail(w, v, err)
			return
		}
		page, err := show(r.Context(), v)
		if err != nil {
			c.fail(w, v, err)
			return
		}
		c.render(w, v, http.StatusOK, page)
	}
}

// form does what do does, then shows the page that it names.
func (c *Console) form(do func(context.Context, *visit) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.visitor(w, r)
		if !ok {
			return
		}
		next, err := do(r.Context(), v)
		if err != nil {
			c.fail(w, v, err)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

// fail shows what went wrong, and what to do next.
func (c *Console) fail(w http.ResponseWriter, v *visit, err error) {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok || e.Code == schemas.CodeInternal {
		slog.Error("a page", "path", v.r.URL.Path, "err", err)
		e = schemas.Errorf(schemas.CodeInternal, "this page failed for a reason of the server's own").
			Try("load it again; what the server writes to its terminal says why")
	}
	status := http.StatusBadRequest
	switch e.Code {
	case schemas.CodeNotFound:
		status = http.StatusNotFound
	case schemas.CodeConflict:
		status = http.StatusConflict
	case schemas.CodeDenied, schemas.CodeRevoked:
		status = http.StatusForbidden
	case schemas.CodeUnauthenticated:
		status = http.StatusUnauthorized
	case schemas.CodeBusy, schemas.CodeUnavailable:
		status = http.StatusServiceUnavailable
	case schemas.CodeInternal:
		status = http.StatusInternalServerError
	}
	c.render(w, v, status, view{template: "error", title: "That did not work", body: e})
}

// render writes a page, once it is whole.
func (c *Console) render(w http.ResponseWriter, v *visit, status int, page view) {
	f := frame{Title: page.title, Person: v.name, Path: v.r.URL.RequestURI(), Nav: nav(v.r.URL.Path), Body: page.body,
		Still: page.still || status != http.StatusOK, At: v.at, Now: time.Now().UTC().Format(time.RFC3339)}
	var out bytes.Buffer
	if err := c.pages[page.template].ExecuteTemplate(&out, "frame", f); err != nil {
		slog.Error("a page", "path", v.r.URL.Path, "err", err)
		http.Error(w, "something went wrong here; the log says what", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	body := []byte(ops.Escape(out.String())) // hidden characters of agents' text are shown
	send(w, v.r, status, body, func() []byte { return compressed(body, gzip.BestSpeed) })
}

// frame is what surrounds every page.
type frame struct {
	Title, Person, Path, Now string
	Nav                      []place
	Body                     any
	Still                    bool
	At                       int64
}

// place is an entry of the navigation.
type place struct {
	Path, Name string
	Here       bool
}

func nav(path string) []place {
	list := []place{{Path: "", Name: "Now"}, {Path: "tasks", Name: "Tasks"}, {Path: "agents", Name: "Agents"},
		{Path: "memory", Name: "Memory"}, {Path: "review", Name: "Review"}, {Path: "swarms", Name: "Swarms"},
		{Path: "roles", Name: "Roles"}, {Path: "events", Name: "Record"}, {Path: "health", Name: "Cost and health"}}
	for i := range list {
		list[i].Here = list[i].Path != "" && strings.HasPrefix(path, Root+list[i].Path) || path == Root+list[i].Path
		list[i].Path = Root + list[i].Path
	}
	return list
}
