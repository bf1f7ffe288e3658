package console

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops/opstest"
)

var (
	formOf   = regexp.MustCompile(`(?s)<form method="post" action="` + Root + `([^"]+)"[^>]*>(.*?)</form>`)
	fieldOf  = regexp.MustCompile(`<input( type="hidden")? name="([^"]+)"(?: value="([^"]*)")?`)
	textOf   = regexp.MustCompile(`(?s)<textarea name="([^"]+)"[^>]*>(.*?)</textarea>`)
	buttonOf = regexp.MustCompile(`<button(?: name="([^"]+)" value="([^"]*)")?[^>]*>([^<]*)</button>`)
)

// button is one of a page, with what its form sends.
type button struct {
	path, says string
	form       url.Values
}

// buttons are those of a page, but the one that ends the session.
func buttons(page string) (list []button) {
	for _, form := range formOf.FindAllStringSubmatch(page, -1) {
		if form[1] == "logout" {
			continue
		}
		sent := url.Values{}
		for _, field := range fieldOf.FindAllStringSubmatch(form[2], -1) {
			if sent.Set(field[2], "because"); field[1] != "" {
				sent.Set(field[2], html.UnescapeString(field[3]))
			}
		}
		for _, text := range textOf.FindAllStringSubmatch(form[2], -1) {
			sent.Set(text[1], strings.Replace(html.UnescapeString(text[2]), "harbour", "harbour now", 1))
		}
		for _, found := range buttonOf.FindAllStringSubmatch(form[2], -1) {
			one := button{form[1], html.UnescapeString(found[3]), url.Values{}}
			maps.Copy(one.form, sent)
			if found[1] != "" {
				one.form.Set(found[1], found[2])
			}
			list = append(list, one)
		}
	}
	return list
}

// A page shows the buttons that the server takes, and no others: each that is there does what
// it says, also after those before it changed what the page is about.
func TestEveryButtonThatIsShownWorks(t *testing.T) {
	f := furnish(t, "the harbour")
	mine := f.Must(f.Person(), "memory_write_warm", opstest.Note("a person saw the harbour"))["id"].(string)
	shared := f.Must(f.Caller("spy"), "memory_write_warm", opstest.With(opstest.Note("the spy shares the harbour"),
		map[string]any{"visibility": "group", "group": "harbour"}))["id"].(string)
	paths := append([]string{"memory/" + mine, "memory/" + shared}, f.paths...)
	paths = append(paths, "agents/odd", "agents/doer", "agents/claude-code")
	done := map[string]bool{}
	for _, path := range paths {
		for again := true; again; {
			again = false
			_, page := f.get(path) // what was decided has no page to decide it on
			for _, one := range buttons(page) {
				key := one.path + strings.TrimRight(one.says, "0123456789")
				if strings.HasPrefix(one.path, "agents/") && !strings.HasPrefix(path, "agents/") || done[key] {
					continue
				}
				done[key], again = true, true
				status, body, _ := f.post(one.path, one.form)
				require.Contains(t, []int{http.StatusSeeOther, http.StatusOK}, status, "%s: %q: %s", path, one.says, body)
				break
			}
		}
	}
	require.Greater(t, len(done), 25, "%v", done)
	t.Logf("%d buttons", len(done))
}

// What the server would refuse has no button: another's private item, a person's words, a task
// that another runs.
func TestNoButtonIsShownThatIsRefused(t *testing.T) {
	f := furnish(t, "the harbour")
	says := func(path string) (list []string) {
		for _, one := range buttons(f.page(path)) {
			list = append(list, one.says)
		}
		return list
	}
	for _, refused := range []string{"Delete it", "Supersede it with this"} {
		require.NotContains(t, says("memory/"+f.item), refused, "an agent's own")
	}
	require.Contains(t, says("memory/"+f.item), "It is right")
	mine := f.Must(f.Person(), "memory_write_warm", opstest.Note("a person saw the harbour"))["id"].(string)
	require.Equal(t, []string{"Save as version 2", "Supersede it with this", "Delete it"}, says("memory/"+mine))
	f.post("memory/"+mine+"/delete", nil)
	require.Equal(t, []string{"Bring it back"}, says("memory/"+mine))
	require.Equal(t, []string{"Verify the record"}, says("events"))
}
