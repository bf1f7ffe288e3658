package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"cordelia/node"
)

// nextCommand is the beginning of a command of ours among words that say what to run.
var nextCommand = regexp.MustCompile(`(^|[\s(:])cordelia ([a-z])`)

// Given keeps the flags that say which home a command is about, so that what it names to run
// next is about the same.
func (a *App) Given(flags ...*pflag.Flag) { a.given = append(a.given, flags...) }

// Here gives the commands in words of the program what says which home and which database this
// run is about, as far as it was given. What others wrote must not be among the words.
func (a *App) Here(words string) string { return here(words, a.givenDatabase(), a.givenFlags()) }

// hereFormat is Here of a format.
func (a *App) hereFormat(format string) string {
	verbatim := strings.NewReplacer("%", "%%").Replace
	return here(format, verbatim(a.givenDatabase()), verbatim(a.givenFlags()))
}

func (a *App) givenFlags() (flags string) {
	for _, f := range a.given {
		if f.Changed {
			flags += " --" + f.Name + " " + Quoted(f.Value.String())
		}
	}
	return flags
}

// givenDatabase is the address from the command line as part of the environment, where every
// command reads it; only those that serve have the flag. An address with a password is refused,
// and stays out.
func (a *App) givenDatabase() string {
	if a.DB == "" || node.HasPassword(a.DB) {
		return ""
	}
	return DatabaseVariable + "=" + Quoted(a.DB) + " "
}

// here puts before and after the name of our program what its commands are to begin with.
func here(words, before, after string) string {
	if before+after == "" {
		return words
	}
	return nextCommand.ReplaceAllStringFunc(words, func(begin string) string {
		at, end := strings.Index(begin, "cordelia"), len(begin)-len(" x")
		return begin[:at] + before + begin[at:end] + after + begin[end:]
	})
}
