package drive

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Build compiles the program, as a release does it, to file. The working directory
// lies in the module.
func Build(file string, tags ...string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-tags", strings.Join(tags, ","), "-o", file,
		"cordelia/cmd/cordelia")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}
