package cli

import "github.com/spf13/cobra"

// StrictHelp has the help command of root refuse words that are no command.
func StrictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) //nolint:errcheck // it was just made
	help.Run = nil
	help.RunE = func(_ *cobra.Command, words []string) error {
		cmd, rest, err := root.Find(words)
		if err == nil && len(rest) > 0 && cmd.HasSubCommands() {
			err = cmd.ValidateArgs(rest)
		}
		if err != nil {
			return Misunderstood(root, err)
		}
		cmd.InitDefaultHelpFlag()
		return cmd.Help()
	}
}
