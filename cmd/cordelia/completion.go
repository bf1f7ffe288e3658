package main

import (
	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/schemas"
)

func completionCommand(a *cli.App) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell", "man"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print completions for a shell, or the manual page",
		Long: `Print completions for bash, zsh, fish or powershell, or with man the manual page.
Where each shell looks for them:

  bash         ~/.local/share/bash-completion/completions/cordelia
  zsh          _cordelia, in a folder of $fpath
  fish         ~/.config/fish/completions/cordelia.fish
  powershell   what $PROFILE runs
  man          ~/.local/share/man/man1/cordelia.1`,
		Example:   "  cordelia completion fish >~/.config/fish/completions/cordelia.fish",
		Args:      cli.Wants(1, "SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, words []string) error {
			root := cmd.Root()
			switch words[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Out)
			case "man":
				_, err := a.Out.WriteString(manual(root))
				return err
			}
			return schemas.Invalidf("there are no completions for %q",
				words[0]).Expecting("bash, zsh, fish, powershell or man").Try("run: cordelia completion --help")
		},
	}
}
