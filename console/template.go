package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"cordelia/run/cost"
	"cordelia/schemas"
	"cordelia/work"
)

//go:embed pages
var sources embed.FS

// pages are the templates by name, each within the frame.
type pages map[string]*template.Template

// parse reads the templates, which are in the program.
func parse(commands func(schemas.Hint) string) pages {
	all := pages{}
	frame := template.Must(template.New("frame.html").Funcs(words).Funcs(template.FuncMap{"advice": advice(commands)}).
		ParseFS(sources, "pages/frame.html", "pages/parts.html"))
	names, err := fs.Glob(sources, "pages/*.html")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		if base := path.Base(name); base != "frame.html" && base != "parts.html" {
			all[strings.TrimSuffix(base, ".html")] = template.Must(template.Must(frame.Clone()).ParseFS(sources, name))
		}
	}
	return all
}

// words are what templates call.
var words = template.FuncMap{
	"short":   short,
	"when":    when,
	"pretty":  pretty,
	"two":     func(f float64) string { return fmt.Sprintf("%.2f", f) },
	"root":    func() string { return Root },
	"plural":  schemas.Count,
	"name":    person,
	"ids":     shortIDs,
	"past":    past,
	"related": func(kind string) string { return strings.ReplaceAll(kind, "_", " ") },
	"money":   money,
	"bytes":   sized,
}

// advice words what to do next for a person: a call by the page that shows what it gives, else as commands
// word it.
func advice(commands func(schemas.Hint) string) func(schemas.Hint) string {
	pages := map[string]string{"review_list": "Review", "agent_list": "Agents", "task_status": "Tasks",
		"memory_search": "Memory", "memory_group": "Memory", "swarm_status": "Swarms"}
	call := func(c schemas.Call) string {
		if page := pages[c.Tool]; page != "" {
			return "the page " + page
		}
		return commands(schemas.Hint{{Call: &c}})
	}
	return func(h schemas.Hint) string { return h.In(nil, call) }
}

// short is an id as people read it, which every form and command takes.
func short(id any) string { return person(schemas.ShortID(fmt.Sprint(id))) }

// entityLength is how long an agent's id is.
const entityLength = 64

// person is a name, or the beginning of an id.
func person(name any) string {
	s := fmt.Sprint(name)
	if len(s) == entityLength {
		return s[:12]
	}
	return s
}

// longHash is what no person reads.
var longHash = regexp.MustCompile(`[0-9a-f]{64}`)

// shortIDs is a text or a name with the short form of each id and hash in it.
func shortIDs(value any) string {
	return longHash.ReplaceAllStringFunc(schemas.ShortIDs(fmt.Sprint(value)), func(id string) string { return id[:12] })
}

// past says how long ago so many seconds are.
func past(seconds *int64) string {
	if seconds == nil {
		return "never"
	}
	return ago(time.Duration(*seconds) * time.Second)
}

// moment is a time as a page shows it: how long ago, with the exact one beside it.
type moment struct{ Stamp, Exact, Ago string }

func when(stamp string) moment {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return moment{Exact: stamp, Ago: stamp}
	}
	at = at.UTC()
	return moment{at.Format(time.RFC3339), at.Format("2006-01-02 15:04:05 UTC"), ago(time.Since(at))}
}

// ago words a distance in time.
func ago(d time.Duration) string {
	suffix := " ago"
	if d < 0 {
		d, suffix = -d, " from now"
	}
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s%s", int(d.Seconds()), suffix)
	case d < time.Hour:
		return fmt.Sprintf("%d min%s", int(d.Minutes()), suffix)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h%s", int(d.Hours()), suffix)
	}
	return fmt.Sprintf("%d days%s", int(d.Hours()/24), suffix)
}

// money is what runs cost, and how many of them have no price.
func money(c work.Cost) string {
	text := cost.Money(c.Cost)
	if c.Unpriced > 0 {
		text += fmt.Sprintf(" + %d without a price", c.Unpriced)
	}
	return text
}

// sized is a number of bytes for people.
func sized(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// pretty is JSON with its members on lines of their own.
func pretty(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
