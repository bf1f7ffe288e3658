package hooks

import (
	"context"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// Call is a tool call that ended, as the client tells it.
type Call struct {
	Tool    string `json:"tool_name"`
	Command string `json:"command"` // of a shell
	Path    string `json:"file_path"`
	Out     string `json:"stdout"`
	Err     string `json:"stderr"`
	Error   string `json:"error"` // of a call that failed
}

// observe records a call that ended, as the client reports it, while the agent that made it holds
// a lease of R3. It supports or contradicts what that agent claims later.
func (h *Hooks) observe(ctx context.Context, caller schemas.EntityID, in Input) error {
	if in.AgentID != "" {
		caller = h.seatedAs(in.AgentID)
	}
	if !h.node.HookCalls() || caller == "" || in.Tool == "" {
		return nil
	}
	works := false
	if err := h.node.Look(ctx, "hook_call", func(g access.Grant) (err error) {
		works, err = work.Executing(g, caller)
		return err
	}); err != nil || !works {
		return err
	}
	return h.node.Routine(ctx, "hook_call", func(g access.Grant) error {
		return work.NoteHooked(g, caller, in.evidence())
	})
}

// evidence is the call as evidence. A client says of a call that failed how, in words.
func (in Input) evidence() schemas.Evidence {
	input := given(in.Command)
	if input == "" {
		input = given(in.Path)
	}
	if in.Event != FailedTool {
		return schemas.NewEvidence(in.Tool, input, 0, given(in.Out)+given(in.Err))
	}
	exit := 1
	if n, err := fmt.Sscanf(given(in.Error), "Exit code %d", &exit); n != 1 || err != nil || exit == 0 {
		exit = 1
	}
	return schemas.NewEvidence(in.Tool, input, exit, given(in.Error))
}

// given is a value of a hook, "" where the client left the name of one that is not there.
func given(value string) string {
	if strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") && !strings.Contains(value, " ") {
		return ""
	}
	return value
}
