package main

import (
	"cordelia/cmd/cordelia/cli"
	"os"
	"strings"
)

// notify tells the user at the terminal that something is over, as that can; elsewhere
// nothing happens.
func notify(a *cli.App, text string) {
	if cli.Drawable(a.ErrOut) {
		a.ErrOut.WriteString(notification(os.Getenv, text)) //nolint:errcheck // as any print
	}
}

// notification is what has a terminal notify its user: OSC 9 or OSC 777 where it is known
// to read them, else the bell. A terminal that does not know a sequence may print it.
func notification(getenv func(string) string, text string) string {
	text = strings.NewReplacer(";", ",", "\x1b", "", "\x07", "").Replace(cli.Clean(text))
	program, term := getenv("TERM_PROGRAM"), getenv("TERM")
	switch {
	case getenv("TMUX") != "", strings.HasPrefix(term, "screen"), strings.HasPrefix(term, "tmux"):
		return "\x07" // which passes a bell on, and no other sequence
	case program == "iTerm.app", program == "WezTerm", program == "ghostty", getenv("WT_SESSION") != "",
		getenv("ConEmuPID") != "", strings.Contains(term, "kitty"):
		return "\x1b]9;" + text + "\x07"
	case strings.HasPrefix(term, "rxvt"), strings.HasPrefix(term, "foot"), getenv("VTE_VERSION") != "":
		return "\x1b]777;notify;Cordelia;" + text + "\x07"
	}
	return "\x07"
}
