package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"time"

	"cordelia/schemas"
)

//go:embed pages
var sources embed.FS

// pages are the templates by name, each within the frame.
type pages map[string]*template.Template

// parse reads the templates, which are in the program.
func parse() pages {
	all := pages{}
	frame := template.Must(template.New("frame.html").Funcs(words).
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
	"percent": func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
	"two":     func(f float64) string { return fmt.Sprintf("%.2f", f) },
	"root":    func() string { return Root },
	"plural":  schemas.Count,
	"name":    person,
}

// short is an id as people read it, which every form and command takes.
func short(id any) string { return schemas.ShortID(fmt.Sprint(id)) }

// person is a name, or the beginning of an id.
func person(name any) string {
	s := fmt.Sprint(name)
	if len(s) == 64 {
		return s[:12]
	}
	return s
}

// moment is a time as a page shows it: how long ago, with the exact one beside it.
type moment struct{ Exact, Ago string }

func when(stamp string) moment {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return moment{stamp, stamp}
	}
	return moment{at.UTC().Format("2006-01-02 15:04:05 UTC"), ago(time.Since(at))}
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

// pretty is JSON with its members on lines of their own.
func pretty(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
