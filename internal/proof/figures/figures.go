package figures

import (
	"fmt"
	"os"
	"strings"
)

// The lines between which figures stand.
const (
	begin = "<!-- figures:begin -->"
	end   = "<!-- figures:end -->"
)

// Write puts text, in Markdown, in place of the figures of the page.
func Write(page, text string) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return fmt.Errorf("%s has no place for the figures: want %s and %s", page, begin, end)
	}
	whole := before + begin + "\n\n" + strings.TrimSpace(text) + "\n\n" + end + after
	return os.WriteFile(page, []byte(whole), 0o644) //nolint:gosec // a public page
}
