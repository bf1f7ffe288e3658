package figures

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteKeepsWhatPeopleWrote(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page, []byte("# Why\n"+begin+"\nold\n"+end+"\nwhat it says\n"), 0o600))
	for range 2 { // the second time changes nothing
		require.NoError(t, Write(page, "\n| new |\n\n"))
		got, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Equal(t, "# Why\n"+begin+"\n\n| new |\n\n"+end+"\nwhat it says\n", string(got))
	}
}

func TestAPageWithoutAPlaceIsLeftAlone(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	for _, text := range []string{"", begin, end, end + begin} {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o600))
		require.ErrorContains(t, Write(page, "new"), "has no place")
		got, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
}
