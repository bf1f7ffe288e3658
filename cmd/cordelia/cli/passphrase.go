package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"cordelia/cmd/cordelia/platform"
	"cordelia/schemas"
)

// maxPassphrase bounds what is read as one, in bytes.
const maxPassphrase = 1024

// ErrNoPassphrase is the cause where the line that should hold a passphrase is empty or missing.
var ErrNoPassphrase = errors.New("no passphrase")

// AskPassphrase reads the passphrase of the person's key: from the descriptor of
// --passphrase-fd, else typed at the terminal. It is never taken from the
// arguments or the environment, which other programs can read.
func (a *App) AskPassphrase() ([]byte, error) { return a.AskPassphraseOf("your key") }

// AskPassphraseOf is AskPassphrase where a command opens more than one key.
func (a *App) AskPassphraseOf(key string) ([]byte, error) {
	if a.PassphraseFile != nil {
		return Answer(a, func() ([]byte, error) { return firstLine(a.PassphraseFile) })
	}
	tty, err := os.OpenFile(platform.Terminal, os.O_RDWR, 0)
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnauthenticated,
			"the person's key needs a passphrase, and there is no terminal to ask at").
			Try("run it in a terminal, or hand the passphrase over: cordelia --passphrase-fd 3 … 3<FILE").Because(err)
	}
	defer tty.Close() //nolint:errcheck // only read
	show, err := platform.HideInput(tty)
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnauthenticated, "the terminal cannot hide a passphrase").
			Try("hand it over: cordelia --passphrase-fd 3 … 3<FILE").Because(err)
	}
	defer show()
	fmt.Fprintf(a.ErrOut, "Passphrase of %s: ", Clean(key))
	defer fmt.Fprintln(a.ErrOut)
	return Answer(a, func() ([]byte, error) { return firstLine(tty) })
}

// Answer is what ask reads from the user, or ExitInterrupted once they stop the command: a read of a terminal
// goes on after Ctrl-C, and one more would end the program before the terminal shows again what is typed.
func Answer[T any](a *App, ask func() (T, error)) (answer T, err error) {
	read := make(chan struct{})
	var got T
	var failed error
	go func() {
		defer close(read)
		got, failed = ask()
	}()
	select {
	case <-read:
		return got, failed
	case <-a.Stopped:
		return answer, ExitInterrupted
	}
}

// OpenPassphrase takes the descriptor of --passphrase-fd. It runs before this program opens
// anything, so that the number cannot mean one of the program's own files.
func (a *App) OpenPassphrase() error {
	if a.PassphraseFD < 0 {
		return nil
	}
	f := os.NewFile(uintptr(a.PassphraseFD), "passphrase")
	if f != nil {
		if _, err := f.Stat(); err == nil {
			a.PassphraseFile = f
			return nil
		}
	}
	return schemas.Invalidf("--passphrase-fd %d is not an open descriptor", a.PassphraseFD).
		Try("open it in the shell: cordelia --passphrase-fd 3 … 3<FILE")
}

// UnreadablePassphrase is the error of a passphrase that was given and cannot be read.
func UnreadablePassphrase(err error) error {
	return schemas.Errorf(schemas.CodeUnauthenticated,
		"the passphrase cannot be read").Try("repeat the command").Because(err)
}

// firstLine reads up to the end of the first line, byte by byte: what follows
// is not ours.
func firstLine(r io.Reader) ([]byte, error) {
	line := make([]byte, 0, maxPassphrase) // never grown, so that no copy stays behind
	one := make([]byte, 1)
	for len(line) < maxPassphrase {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' || errors.Is(err, io.EOF) {
			if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
				return nil, schemas.Errorf(schemas.CodeUnauthenticated,
					"no passphrase was given").Try("repeat the command").Because(ErrNoPassphrase)
			}
			return line, nil
		}
		if err != nil {
			return nil, UnreadablePassphrase(err)
		}
		line = append(line, one[:n]...)
	}
	clear(line)
	return nil, schemas.Invalidf("the passphrase is too long").Expecting("at most %d bytes in the first line",
		maxPassphrase-1)
}
