package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

func keyCommand(a *cli.App) *cobra.Command {
	return cli.Group("key", "Keys of yourself and your agents", keyInfoCommand(a), keyPassphraseCommand(a),
		keyUnwrapCommand(a), keyRotateCommand(a))
}

func keyInfoCommand(a *cli.App) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use: "info [AGENT]", Short: "Show an agent's key, or yours, and where its file is",
		Example: "  cordelia key info researcher",
		Args:    cli.Wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Act(cmd.Context(), as, func(w *cli.Acting) error {
				id := w.Caller.Entity
				if len(words) > 0 {
					var err error
					if id, err = find(cmd.Context(), w, words[0]); err != nil {
						return err
					}
				}
				info, err := w.Node.KeyInfo(cmd.Context(), id)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(info)
				}
				f := cli.Fields{}
				f.Add("name", cli.Clean(info.Name))
				f.Add("id", cli.Clean(string(info.EntityID)))
				f.Add("key", fmt.Sprintf("number %d", info.KeySeq))
				f.Add("public key", base64.StdEncoding.EncodeToString(info.PublicKey))
				f.Add("sealed to", cli.Clean(string(info.SealedTo)))
				f.Add("file", cli.Clean(info.File))
				switch {
				case info.File == "":
					f.Add("file", "none on this machine")
				case !info.Current:
					f.Styled("warning", fmt.Sprintf("the file holds an old key (number %d)", info.FileSeq), cli.Yellow)
				case info.Locked:
					f.Styled("protection", "passphrase", cli.Green)
				default:
					f.Add("protection", "file mode alone")
				}
				a.List(f)
				return nil
			})
		},
	}
	cli.AsFlag(cmd, &as)
	return cmd
}

func keyUnwrapCommand(a *cli.App) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   "unwrap AGENT",
		Short: "Open an agent's sealed key and write its key file here",
		Long: `Open the key of an agent that is sealed to its parent in the database, with the
parent's key (yours or, with --as, that of an agent on this machine), and write
the agent's key file, so that its own process can run here.`,
		Example: "  cordelia key unwrap researcher",
		Args:    cli.Wants(1, "AGENT"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Act(cmd.Context(), as, func(w *cli.Acting) error {
				id, err := find(cmd.Context(), w, words[0])
				if err != nil {
					return err
				}
				done, err := w.Node.UnwrapKey(cmd.Context(), w.Keyring, id)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(done)
				}
				a.Say("The key of %s is in %s", cli.Clean(done.Name), done.File)
				if done.Kept != "" {
					a.Say("the old one is kept as %s", done.Kept)
				}
				a.Say("run it: cordelia mcp --as %s", done.Ref)
				return nil
			})
		},
	}
	cli.AsFlag(cmd, &as)
	return cmd
}

// find gives the id of an agent as agent_list names it.
func find(ctx context.Context, w *cli.Acting, ref string) (schemas.EntityID, error) {
	if schemas.IsAgentID(ref) || ref == string(w.Caller.Entity) {
		return schemas.EntityID(ref), nil
	}
	found, err := cli.Ask[ops.AgentListOut](ctx, w, "agent_list", map[string]any{"agent": ref})
	if err != nil {
		return "", err
	}
	if len(found.Agents) != 1 {
		return "", fmt.Errorf("agent_list names %d agents", len(found.Agents))
	}
	return found.Agents[0].AgentID, nil
}

func keyRotateCommand(a *cli.App) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "rotate [AGENT]",
		Short: "Replace an agent's key, or yours; the id stays",
		Long: `Replace the key of an agent or, without AGENT, your own. The old key and the
parent's sign the change; if the old one is lost or compromised, the parent's
alone, with --reason. Tokens end at once, and running processes of the agent
with the old key. The keys sealed to it are sealed anew. The old key file is
kept as *.key.old-NUMBER. Repeat the command if it was interrupted.

After your own: backups made before open with the old key alone, so keep its file, and
put a copy of the new one where you keep one.`,
		Example: "  cordelia key rotate researcher --reason compromised",
		Args:    cli.Wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if reason != "" && reason != "compromised" && reason != "lost" {
				return schemas.Invalidf("there is no reason %q", reason).Expecting("compromised or lost")
			}
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				ref := string(w.Caller.Entity)
				if len(words) > 0 {
					ref = words[0]
				}
				done, err := w.Node.RotateKey(cmd.Context(), w.Caller.Principal, w.Keyring, ref, reason)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(done)
				}
				a.Say("%s now has key number %d, in %s", cli.Clean(done.Name), done.KeySeq, done.File)
				if done.Kept != "" {
					a.Say("the old one is kept as %s", done.Kept)
				}
				if done.EntityID == w.Caller.Entity {
					a.Note("backups made before need the old key file; renew the copy of your key that you keep elsewhere")
				}
				if len(done.Rewrapped) > 0 {
					a.Say("sealed anew: the keys of %s", cli.Clean(strings.Join(done.Rewrapped, ", ")))
				}
				if len(done.Unopened) > 0 {
					a.Note("could not be sealed anew, rotate them too: %s",
						cli.Clean(strings.Join(done.Unopened, ", ")))
				}
				if reason == "compromised" && len(done.Rewrapped) > 0 {
					a.Note("the old key opens the keys that were sealed to it: rotate those too")
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why the old key does not sign: compromised or lost")
	cmd.RegisterFlagCompletionFunc("reason", cobra.FixedCompletions([]string{"compromised", "lost"},
		cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag exists
	return cmd
}
