package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/platform"
	"cordelia/schemas"
)

func keyPassphraseCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "passphrase",
		Short: "Protect your key with a passphrase, or with another one",
		Long: `Protect the file of your key with a passphrase, or with another one than it has.
It is asked for twice. From --passphrase-fd comes a line each: the present one, if
there is one, and the new one. Its end is not waited for; a line more that is there
already is an error. Copies of the file made before stay as they are; if one may be in
other hands, replace the key itself: cordelia key rotate.`,
		Example: "  cordelia key passphrase",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				passphrase, err := otherPassphrase(a)
				if err != nil {
					return err
				}
				defer clear(passphrase)
				path, err := w.Node.ProtectKey(cmd.Context(), w.Caller.Principal, w.Keyring, passphrase)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"path": path})
				}
				a.Say("Your key in %s is under the new passphrase.", path)
				return nil
			})
		},
	}
}

// otherPassphrase reads a new one, twice where it is typed.
func otherPassphrase(a *cli.App) ([]byte, error) {
	if a.PassphraseFile != nil {
		return lastPassphrase(a)
	}
	fmt.Fprintln(a.ErrOut, "Choose a new passphrase, and type it twice.")
	first, err := a.AskPassphrase()
	if err != nil {
		return nil, err
	}
	second, err := a.AskPassphrase()
	defer clear(second)
	if err == nil && !bytes.Equal(first, second) {
		err = schemas.Invalidf("the two passphrases differ; nothing was changed").Try("run: cordelia key passphrase")
	}
	if err != nil {
		clear(first)
		return nil, err
	}
	return first, nil
}

// lastPassphrase reads the new one from the descriptor. A line more that is there already
// is an error: who gives the present one of a key that has none would have that for the new
// one. Nothing waits for such a line, or for the end: the giver may keep its side open.
func lastPassphrase(a *cli.App) ([]byte, error) {
	passphrase, err := a.AskPassphrase()
	if err != nil {
		return nil, err
	}
	if cli.Columns(a.PassphraseFile) > 0 || !platform.Ready(a.PassphraseFile) { // what is typed ahead is for others
		return passphrase, nil
	}
	switch n, err := a.PassphraseFile.Read(make([]byte, 1)); {
	case n > 0:
		err = schemas.Invalidf("--passphrase-fd goes on after the new passphrase; nothing was changed").
			Expecting("a line with the present passphrase, only if there is one, and a line with the new one").
			Try("see whether your key has a passphrase: cordelia key info")
		clear(passphrase)
		return nil, err
	case err != nil && !errors.Is(err, io.EOF):
		clear(passphrase)
		return nil, cli.UnreadablePassphrase(err)
	}
	return passphrase, nil
}
