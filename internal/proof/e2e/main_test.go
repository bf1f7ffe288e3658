//go:build e2e

package e2e

import (
	"cordelia/internal/drive"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// binary is the real command, as it is released, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "cordelia-e2e")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the temp folder
		binary = filepath.Join(folder, "cordelia")
		if err := drive.Build(binary); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}
