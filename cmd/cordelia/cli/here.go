package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// nextCommand is the beginning of a command of ours among words that say what to run.
var nextCommand = regexp.MustCompile(`(^|[\s(:])cordelia ([a-z])`)

// Given keeps the flags that say which home a command is about, so that what it names to run
// next is about the same.
func (a *App) Given(flags ...*pflag.Flag) { a.given = append(a.given, flags...) }

// Here gives the commands in words of the program the flags that say which home this run is
// about, as far as they were given. What others wrote must not be among the words.
func (a *App) Here(words string) string { return withFlags(words, a.givenFlags()) }

// hereFormat is Here of a format.
func (a *App) hereFormat(format string) string {
	return withFlags(format, strings.ReplaceAll(a.givenFlags(), "%", "%%"))
}

func (a *App) givenFlags() (flags string) {
	for _, f := range a.given {
		if f.Changed {
			flags += " --" + f.Name + " " + Quoted(f.Value.String())
		}
	}
	return flags
}

func withFlags(words, flags string) string {
	if flags == "" {
		return words
	}
	return nextCommand.ReplaceAllStringFunc(words, func(begin string) string {
		return begin[:len(begin)-2] + flags + begin[len(begin)-2:]
	})
}
