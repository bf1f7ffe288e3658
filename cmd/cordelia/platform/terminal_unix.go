//go:build unix

package platform

import (
	"os"

	"golang.org/x/sys/unix"
)

// Terminal is the terminal of this process, also when its input and output are redirected.
const Terminal = "/dev/tty"

// TerminalSize is the size of the terminal f in characters, 0 if f is none.
func TerminalSize(f *os.File) (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	if size.Col == 0 || size.Row == 0 { // a terminal that does not tell
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

// HideInput stops the terminal from showing what is typed, until restored.
func HideInput(f *os.File) (restore func(), err error) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	quiet := *before
	quiet.Lflag &^= unix.ECHO
	quiet.Lflag |= unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(fd, setTermios, &quiet); err != nil {
		return nil, err
	}
	return func() { unix.IoctlSetTermios(fd, setTermios, before) }, nil //nolint:errcheck // nothing left to do
}

// Ready reports whether to read from f would not wait: something is there, or its end.
func Ready(f *os.File) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}
