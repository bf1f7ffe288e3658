//go:build unix

package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTemplatesGrowOnce(t *testing.T) {
	b := &bench{cache: t.TempDir(), folder: t.TempDir(), items: 100_000}
	require.Equal(t, []int{1000, 10_000, 100_000}, b.sizes())
	var grown [][2]int
	grow := func(folder string, at, until int) error {
		grown = append(grown, [2]int{at, until})
		old, err := os.ReadFile(filepath.Join(folder, "data"))
		if at > 0 && err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, "data"), append(old, 'x'), 0o600)
	}
	for range 2 {
		folder, err := b.template("shape", "kind", 100_000, grow)
		require.NoError(t, err)
		raw, err := os.ReadFile(filepath.Join(folder, "data"))
		require.NoError(t, err)
		require.Equal(t, "xxx", string(raw))
	}
	require.Equal(t, [][2]int{{0, 1000}, {1000, 10_000}, {10_000, 100_000}}, grown)

	// Half a store is not the store.
	_, err := b.template("other", "kind", 1000, func(string, int, int) error { return errors.New("broken") })
	require.Error(t, err)
	_, err = b.template("other", "kind", 1000, grow)
	require.NoError(t, err)
}

func TestFoldersAreCopiedWithoutSockets(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.Mkdir(filepath.Join(from, "keys"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(from, "keys", "a"), []byte("secret"), 0o600))
	l, err := net.Listen("unix", filepath.Join(from, "s"))
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, copyFolder(from, to))
	raw, err := os.ReadFile(filepath.Join(to, "keys", "a"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(raw))
	require.NoFileExists(t, filepath.Join(to, "s"))
	require.Error(t, copyFolder(from, to), "a store in use is never written over")
}

func TestChartsAreDrawn(t *testing.T) {
	for _, c := range []chart{
		{Title: "a < b", Log: true, Lines: map[string][]point{"one": {{1000, 0.4}, {100_000, 12}}, "two": {{1000, 3}}}},
		{Title: "steps", Lines: map[string][]point{"one": {{0, 0}, {40, 7}}}},
	} {
		svg := c.svg()
		require.NotContains(t, svg, "NaN")
		require.NotContains(t, svg, "Inf")
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, svg)
		}
	}
	require.Equal(t, []float64{1, 10, 100}, axis{least: 1, most: 100, log: true}.ticks())
	require.Equal(t, []float64{0, 2, 4, 6}, axis{most: 7}.ticks())
}

// The peers are pinned by content, and by nothing that only this machine knows.
func TestPeersArePinned(t *testing.T) {
	var lock struct {
		Packages map[string]struct {
			Version, Integrity, Resolved string
			Dependencies                 map[string]string
		}
	}
	require.NoError(t, json.Unmarshal(peerLock, &lock))
	var wanted struct{ Dependencies map[string]string }
	require.NoError(t, json.Unmarshal(peerPackages, &wanted))
	require.Equal(t, wanted.Dependencies, lock.Packages[""].Dependencies)
	for name, p := range lock.Packages {
		if name != "" {
			require.NotEmpty(t, p.Integrity, name)
			require.Empty(t, p.Resolved, name)
		}
	}
	for name, version := range wanted.Dependencies {
		require.Equal(t, version, lock.Packages["node_modules/"+name].Version)
	}
}

func TestLastData(t *testing.T) {
	require.Equal(t, `{"id":1}`, string(
		lastData([]byte("event: message\ndata: {\"method\":\"x\"}\n\nevent: message\ndata: {\"id\":1}\n\n"))))
}
