package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cordelia/cmd/cordelia/cli"
	"github.com/stretchr/testify/require"

	"cordelia/node"
)

// The doctor says what agents can have looked at and run, and what is missing.
func TestDoctorOfMachineChecks(t *testing.T) {
	dir := t.TempDir()
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	for _, folder := range []string{home, project} {
		require.NoError(t, os.Mkdir(folder, 0o700))
	}
	type set = map[string]any
	commands := set{"commands": true}
	for name, tt := range map[string]struct {
		settings    set
		want        Verdict
		detail, fix string
	}{
		"off":   {set{}, "", "", ""},
		"files": {set{"check_roots": []string{project}}, Fine, "may look at files in " + project, ""},
		"commands": {set{"check_roots": []string{project}, "checks": commands}, Fine,
			"because checks.commands is set, run commands that agents name in " + project, ""},
		"commands, and nowhere": {set{"checks": commands}, Warning, "no folder is named", "checks.commands"},
		"a folder that is away": {set{"check_roots": []string{project, project + "2"}, "checks": commands}, Warning,
			project + "2 is no folder", "check_roots"},
		"the keys within reach":  {set{"check_roots": []string{dir}}, Warning, "reach its keys", "check_roots"},
		"the keys within a root": {set{"check_roots": []string{home}}, Warning, "reach its keys", "check_roots"},
	} {
		raw, err := json.Marshal(tt.settings)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), raw, 0o600))
		x := &examination{app: &cli.App{}, home: home}
		x.settings(t.Context(), node.Home(home))
		if tt.want == "" {
			require.Empty(t, x.findings, name)
			continue
		}
		require.Len(t, x.findings, 1, name)
		f := x.findings[0]
		require.Equal(t, tt.want, f.Verdict, name)
		require.Contains(t, f.Detail, tt.detail, name)
		require.Contains(t, f.Fix, tt.fix, name)
		require.True(t, f.Fix != "" || f.Verdict == Fine, name)
	}
}
