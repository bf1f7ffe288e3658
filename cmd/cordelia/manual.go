package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// pageWidth is how wide lists of flags are, in columns.
const pageWidth = 72

// manual is the manual page of all commands, in the man macros of troff
// (groff_man(7)). It names no date, so that builds of one source are alike.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH CORDELIA 1 \"\" \"cordelia %s\"\n", troff(root.Version))
	fmt.Fprintf(&b, ".SH NAME\ncordelia \\- %s\n", troff(strings.ToLower(root.Short[:1])+root.Short[1:]))
	b.WriteString(".SH SYNOPSIS\n.B cordelia\n.I COMMAND\n[flags]\n.SH DESCRIPTION\n")
	verbatim(&b, root.Long)
	b.WriteString(".SH OPTIONS OF ALL COMMANDS\n")
	root.PersistentFlags().Lookup("home").DefValue = "~/.cordelia" // also where another user prints this
	options(&b, root.PersistentFlags().FlagUsagesWrapped(pageWidth))
	b.WriteString(".SH COMMANDS\n")
	section(&b, root)
	b.WriteString(`.SH ENVIRONMENT
.TP
.B CORDELIA_HOME
The folder of keys and database; \-\-home wins.
.TP
.B CORDELIA_AS
The agent that a client's session acts as; \-\-as wins.
.TP
.B NO_COLOR
If it is set, nothing is coloured.
.SH FILES
.TP
.I ~/.cordelia/cordelia.db
The database, with the audit record. Back it up with
.BR "cordelia backup" .
.TP
.I ~/.cordelia/keys
Private keys, which only you can read.
.TP
.I ~/.cordelia/config.json
The settings; without it, or a field of it, the defaults hold.
.TP
.I ~/.cordelia/checkpoints
Signed checkpoints of the audit record.
`)
	return b.String()
}

// section writes what each command below parent does.
func section(b *strings.Builder, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if c.HasAvailableSubCommands() {
			section(b, c)
			continue
		}
		fmt.Fprintf(b, ".SS %s\n", troff(strings.TrimSuffix(c.UseLine(), " [flags]")))
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		verbatim(b, text)
		options(b, c.LocalNonPersistentFlags().FlagUsagesWrapped(pageWidth))
		if c.Example != "" {
			b.WriteString(".PP\nExample:\n.PP\n.nf\n")
			asItStands(b, c.Example)
			b.WriteString(".fi\n")
		}
	}
}

// verbatim writes text as it is set for a terminal: its paragraphs are filled anew,
// and what is indented keeps its lines.
func verbatim(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		b.WriteString(".PP\n")
		if strings.HasPrefix(paragraph, " ") {
			b.WriteString(".nf\n")
			asItStands(b, paragraph)
			b.WriteString(".fi\n")
			continue
		}
		asItStands(b, paragraph)
	}
}

func asItStands(b *strings.Builder, text string) {
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		b.WriteString(troff(line) + "\n")
	}
}

// options writes a list of flags, as help shows it.
func options(b *strings.Builder, usage string) {
	if usage == "" {
		return
	}
	b.WriteString(".PP\n.nf\n")
	asItStands(b, usage)
	b.WriteString(".fi\n")
}

// troff writes text so that nothing in it is a request or an escape, in ASCII, which
// every troff reads.
func troff(text string) string {
	var b strings.Builder
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		b.WriteString(`\&`)
	}
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
