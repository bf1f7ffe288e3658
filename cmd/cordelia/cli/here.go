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
func (a *App) Here(words string) string {
	return here(words, a.givenAddress(), a.givenFlags())
}

// hereFormat is Here of a format.
func (a *App) hereFormat(format string) string {
	verbatim := strings.NewReplacer("%", "%%").Replace
	return here(format, verbatim(a.givenAddress()), verbatim(a.givenFlags()))
}

func (a *App) givenFlags() (flags string) {
	for _, f := range a.given {
		if f.Changed {
			flags += " --" + f.Name + " " + Quoted(f.Value.String())
		}
	}
	return flags
}

// givenAddress is the address from the command line as a word of a shell. An address with a password
// is refused, and stays out.
func (a *App) givenAddress() string {
	if a.DB == "" || node.HasPassword(a.DB) {
		return ""
	}
	return Quoted(a.DB)
}

// here puts into the commands of our program in words what they are about: the database before the name,
// as part of the environment, where every command reads it (only those that serve have the flag), and flags
// behind it. The two commands that are to change which database that is are not about the one given.
func here(words, database, flags string) string {
	if database+flags == "" {
		return words
	}
	if database != "" {
		words = strings.ReplaceAll(words, "cordelia migrate --to ADDRESS", "cordelia migrate --to "+database)
	}
	var b strings.Builder
	done := 0
	for _, found := range nextCommand.FindAllStringIndex(words, -1) {
		name, end := found[0]+strings.Index(words[found[0]:], "cordelia"), found[1]-len(" x")
		b.WriteString(words[done:name])
		next := words[end+1:]
		if database != "" && !strings.HasPrefix(next, "migrate ") && !strings.HasPrefix(next, "config ") {
			b.WriteString(DatabaseVariable + "=" + database + " ")
		}
		b.WriteString(words[name:end] + flags)
		done = end
	}
	return b.String() + words[done:]
}
