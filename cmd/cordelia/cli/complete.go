package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordelia/ops"
)

// mostCompleted is how many names a completion offers.
const mostCompleted = 50

// completion lists what may stand for an argument, each with a word on it after a tab.
type completion func(ctx context.Context, w *Acting) ([]string, error)

// completionOf is what completes an argument of this name, nil if nothing does.
func completionOf(name string) completion {
	switch strings.TrimSuffix(name, "?") {
	case "as", "agent", "entity", "author", "assigned_to", "coordinator_agent_id", "observer":
		return completeAgents
	case "group", "groups", "bonus_groups", "share_with":
		return completeGroups
	case "swarm", "swarm_id", "add_to":
		return completeSwarms
	case "task_id", "task":
		return completeTasks
	case "work_id", "retry":
		return completeWork
	case "id", "ids", "item", "synthesis_item", "share", "supersedes", "derived_from", "context":
		return completeItems
	case "review":
		return completeReviews
	}
	return nil
}

// CompleteWords has the shell complete the positional arguments of a command.
func (a *App) CompleteWords(cmd *cobra.Command, takes []string) {
	if len(takes) == 0 {
		return
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		at := len(words)
		if at >= len(takes) {
			if !takesRest(cmd.Use) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			at = len(takes) - 1
		}
		if c := completionOf(takes[at]); c != nil {
			return a.complete(cmd, c, typed)
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// CompleteFlags has the shell complete the flags of a command, given by their arguments.
func (a *App) CompleteFlags(cmd *cobra.Command, argumentOf map[string]string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		c := completionOf(argumentOf[f.Name])
		if _, has := cmd.GetFlagCompletionFunc(f.Name); c == nil || has {
			return
		}
		offer := func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return a.complete(cmd, c, typed)
		}
		cmd.RegisterFlagCompletionFunc(f.Name, offer) //nolint:errcheck // the flag exists
	})
}

// complete asks the node, as the person whose key opens without a passphrase: a shell
// that completes asks for none, and tells no error.
func (a *App) complete(cmd *cobra.Command, c completion, typed string) (fit []string, _ cobra.ShellCompDirective) {
	const alone = cobra.ShellCompDirectiveNoFileComp
	n, err := a.OpenUsed(cmd.Context())
	if err != nil {
		return nil, alone
	}
	defer n.Close() //nolint:errcheck // nothing was written
	keyring := n.Keyring(func() ([]byte, error) { return nil, errors.New("a completion asks for no passphrase") })
	w := &Acting{App: a, Node: n, Keyring: keyring}
	defer w.Keyring.Close()
	if w.Caller, err = n.Person(cmd.Context(), w.Keyring, TerminalSession()); err != nil {
		return nil, alone
	}
	list, err := c(cmd.Context(), w)
	if err != nil {
		return nil, alone
	}
	for _, one := range list {
		if strings.HasPrefix(one, typed) {
			fit = append(fit, one)
		}
	}
	return fit, alone
}

// described is a name with a word on it, as shells show it.
func described[S ~string](name S, about ...string) string {
	return Clean(name) + "\t" + Clean(strings.Join(about, " "))
}

func completeAgents(ctx context.Context, w *Acting) (list []string, err error) {
	v, err := w.Agents(ctx, map[string]any{"limit": mostCompleted})
	for _, g := range v.Agents {
		w.learnAgent(ctx, g)
	}
	for _, g := range v.Agents {
		list = append(list, described(w.Who(g.AgentID), string(g.Type), string(g.Status)))
	}
	return list, err
}

func completeGroups(ctx context.Context, w *Acting) (list []string, err error) {
	v, err := Ask[ops.MemoryGroupOut](ctx, w, "memory_group", map[string]any{"action": "list"})
	for _, g := range v.Groups {
		list = append(list, described(g.ID, g.Description))
	}
	return list, err
}

func completeSwarms(ctx context.Context, w *Acting) (list []string, err error) {
	v, err := Ask[ops.SwarmStatusOut](ctx, w, "swarm_status", map[string]any{})
	if err != nil || v.Swarms == nil {
		return nil, err
	}
	for _, s := range *v.Swarms {
		list = append(list, described(s.SwarmID, s.Goal))
	}
	return list, err
}

func completeTasks(ctx context.Context, w *Acting) (list []string, err error) {
	v, err := w.work(ctx)
	seen := map[string]bool{}
	for _, t := range v.Tasks {
		seen[t.TaskID] = true
		list = append(list, described(Short(t.TaskID), string(t.State), t.Intent))
	}
	for _, i := range v.Items {
		if !seen[i.TaskID] {
			seen[i.TaskID] = true
			list = append(list, described(Short(i.TaskID), string(i.State), i.Intent))
		}
	}
	return list, err
}

func completeWork(ctx context.Context, w *Acting) (list []string, err error) {
	v, err := w.work(ctx)
	for _, i := range v.Items {
		list = append(list, described(Short(i.WorkID), string(i.State), i.Intent))
	}
	return list, err
}

// work lists the newest tasks and items.
func (w *Acting) work(ctx context.Context) (ops.TaskStatusOut, error) {
	return Ask[ops.TaskStatusOut](ctx, w, "task_status", map[string]any{"limit": mostCompleted})
}

func completeItems(ctx context.Context, w *Acting) (list []string, err error) {
	v, err := Ask[ops.MemorySearchOut](ctx, w, "memory_search", map[string]any{"limit": mostCompleted})
	for _, r := range v.Results {
		list = append(list, described(Short(r.ID), r.Name))
	}
	return list, err
}

func completeReviews(ctx context.Context, w *Acting) (list []string, err error) {
	v, err := Ask[ops.ReviewListOut](ctx, w, "review_list", map[string]any{"limit": mostCompleted})
	for _, r := range v.Waiting {
		list = append(list, described(Short(r.ID), r.Name))
	}
	return list, err
}

// completeTwin has the shell complete the words and flags of a command of an operation.
func (a *App) completeTwin(cmd *cobra.Command, t Command, known map[string]argument) {
	a.CompleteWords(cmd, t.Takes)
	argumentOf := map[string]string{"as": "as"}
	for name := range known {
		argumentOf[t.flagName(name)] = name
	}
	a.CompleteFlags(cmd, argumentOf)
}
