package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

func keyCommand(a *app) *cobra.Command {
	return group("key", "Keys of yourself and your agents", keyInfoCommand(a), keyPassphraseCommand(a),
		keyUnwrapCommand(a), keyRotateCommand(a))
}

func keyInfoCommand(a *app) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use: "info [AGENT]", Short: "Show which key someone has and where it is",
		Example: "  cordelia key info researcher",
		Args:    wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.act(cmd.Context(), as, func(w *acting) error {
				id := w.caller.Entity
				if len(words) > 0 {
					var err error
					if id, err = find(cmd.Context(), w, words[0]); err != nil {
						return err
					}
				}
				info, err := w.node.KeyInfo(cmd.Context(), id)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(info)
				}
				f := fields{}
				f.add("name", clean(info.Name))
				f.add("id", clean(string(info.EntityID)))
				f.add("key", fmt.Sprintf("number %d", info.KeySeq))
				f.add("public key", base64.StdEncoding.EncodeToString(info.PublicKey))
				f.add("sealed to", clean(string(info.SealedTo)))
				f.add("file", clean(info.File))
				switch {
				case info.File == "":
					f.add("file", "none on this machine")
				case !info.Current:
					f.styled("warning", fmt.Sprintf("the file holds an old key (number %d)", info.FileSeq), yellow)
				case info.Locked:
					f.styled("protection", "passphrase", green)
				default:
					f.add("protection", "file mode alone")
				}
				a.list(f)
				return nil
			})
		},
	}
	asFlag(cmd, &as)
	return cmd
}

func keyUnwrapCommand(a *app) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   "unwrap AGENT",
		Short: "Open an agent's sealed key and write its key file here",
		Long: `Open the key of an agent that is sealed to its parent in the database, with the
parent's key (yours or, with --as, that of an agent on this machine), and write
the agent's key file, so that its own process can run here.`,
		Example: "  cordelia key unwrap researcher",
		Args:    wants(1, "AGENT"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.act(cmd.Context(), as, func(w *acting) error {
				id, err := find(cmd.Context(), w, words[0])
				if err != nil {
					return err
				}
				done, err := w.node.UnwrapKey(cmd.Context(), w.keyring, id)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(done)
				}
				a.say("The key of %s is in %s", clean(done.Name), done.File)
				if done.Kept != "" {
					a.say("the old one is kept as %s", done.Kept)
				}
				a.say("run it: cordelia mcp --as %s", clean(done.Name))
				return nil
			})
		},
	}
	asFlag(cmd, &as)
	return cmd
}

// find gives the id of an agent as agent_list names it.
func find(ctx context.Context, w *acting, ref string) (schemas.EntityID, error) {
	if schemas.IsAgentID(ref) || ref == string(w.caller.Entity) {
		return schemas.EntityID(ref), nil
	}
	found, err := ask[ops.AgentListOut](ctx, w, "agent_list", map[string]any{"agent": ref})
	if err != nil {
		return "", err
	}
	if len(found.Agents) != 1 {
		return "", fmt.Errorf("agent_list names %d agents", len(found.Agents))
	}
	return found.Agents[0].AgentID, nil
}

func keyRotateCommand(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "rotate [AGENT]",
		Short: "Replace someone's key; the id stays",
		Long: `Replace the key of an agent or, without AGENT, your own. The old key and the
parent's sign the change; if the old one is lost or compromised, the parent's
alone, with --reason. Tokens end at once, and running processes of the agent
with the old key. The keys sealed to it are sealed anew. The old key file is
kept as *.key.old-NUMBER. Repeat the command if it was interrupted.`,
		Example: "  cordelia key rotate researcher --reason compromised",
		Args:    wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if reason != "" && reason != "compromised" && reason != "lost" {
				return schemas.Invalidf("there is no reason %q", reason).Expecting("compromised or lost")
			}
			return a.person(cmd.Context(), func(w *acting) error {
				ref := string(w.caller.Entity)
				if len(words) > 0 {
					ref = words[0]
				}
				done, err := w.node.RotateKey(cmd.Context(), w.caller.Principal, w.keyring, ref, reason)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(done)
				}
				a.say("%s now has key number %d, in %s", clean(done.Name), done.KeySeq, done.File)
				if done.Kept != "" {
					a.say("the old one is kept as %s", done.Kept)
				}
				if len(done.Rewrapped) > 0 {
					a.say("sealed anew: the keys of %s", clean(strings.Join(done.Rewrapped, ", ")))
				}
				if len(done.Unopened) > 0 {
					a.note("could not be sealed anew, rotate them too: %s", clean(strings.Join(done.Unopened, ", ")))
				}
				if reason == "compromised" && len(done.Rewrapped) > 0 {
					a.note("whoever had the old key could open the keys sealed to it; rotate those too")
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
