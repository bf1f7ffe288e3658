package platform

import (
	"os"

	"golang.org/x/sys/windows"
)

// Terminal is the terminal of this process, also when its input and output are redirected.
const Terminal = "CONIN$"

// TerminalSize is the size of the terminal f in characters, 0 if f is none.
func TerminalSize(f *os.File) (columns, rows int) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}

// HideInput stops the terminal from showing what is typed, until restored.
func HideInput(f *os.File) (restore func(), err error) {
	console := windows.Handle(f.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	quiet := before&^windows.ENABLE_ECHO_INPUT | windows.ENABLE_LINE_INPUT | windows.ENABLE_PROCESSED_INPUT
	if err := windows.SetConsoleMode(console, quiet); err != nil {
		return nil, err
	}
	return func() { windows.SetConsoleMode(console, before) }, nil //nolint:errcheck // nothing left to do
}

// Ready reports whether to read from f would surely not wait, as from a file.
func Ready(f *os.File) bool {
	kind, err := windows.GetFileType(windows.Handle(f.Fd()))
	return err == nil && kind == windows.FILE_TYPE_DISK
}
