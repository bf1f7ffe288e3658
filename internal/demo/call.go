package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/internal/drive"
	"cordelia/schemas"
)

type object = map[string]any

// call calls a tool that has to succeed and reads its result into out, which may be
// nil.
func call(ctx context.Context, c drive.Client, tool string, args object, out any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	a, err := c.Call(ctx, tool, raw)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if a.Code != "" {
		return fmt.Errorf("%s was refused (%s): %s", tool, a.Code, a.Text)
	}
	if out == nil {
		return nil
	}
	var result struct {
		Value json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(a.Raw, &result); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if err := json.Unmarshal(result.Value, out); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	return nil
}

// refused calls a tool that has to be refused with one of the codes, and gives the
// words of the refusal.
func refused(ctx context.Context, c drive.Client, tool string, args object, codes ...string) (words string, err error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	a, err := c.Call(ctx, tool, raw)
	if err != nil {
		return "", fmt.Errorf("%s: %w", tool, err)
	}
	if slices.Contains(codes, a.Code) {
		return refusal(a), nil
	}
	return "", check(false, "%s is refused with %s; it answered %q: %s", tool, strings.Join(codes, " or "), a.Code,
		a.Text)
}

// refusal is what an error says, in a line.
func refusal(a drive.Answer) string {
	value, _ := a.Value.(object)
	fields, _ := value["error"].(object)
	parts := []string{fmt.Sprint(fields["message"])}
	list, _ := fields["violations"].([]any)
	for _, v := range list {
		if v, ok := v.(object); ok {
			parts = append(parts, fmt.Sprintf("%v %v", v["path"], v["msg"]))
		}
	}
	return fmt.Sprintf("%s: %s", a.Code, strings.Join(parts, "; "))
}

// command gives a command as the person and reads what it prints into out. It has to
// end with the exit code code.
func (s *stage) command(ctx context.Context, out any, code int, words ...string) (stderr string, err error) {
	stdout, stderr, got, err := s.node.Run(ctx, append(words, "--json")...)
	what := "cordelia " + strings.Join(words, " ")
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if err := check(got == code, "%s ends with exit code %d; it ended with %d: %s", what, code, got,
		stderr); err != nil {
		return "", err
	}
	if out == nil {
		return stderr, nil
	}
	if err := json.Unmarshal([]byte(stdout), out); err != nil {
		return "", fmt.Errorf("%s: %w: %s", what, err, stdout)
	}
	return stderr, nil
}

// seat is what a claim gives.
type seat struct {
	WorkID  string `json:"work_id"`
	Fence   int64  `json:"fence"`
	Lease   int    `json:"lease_seconds"`
	Expires string `json:"expires_at"`
	Intent  string `json:"intent"`
	Brief   brief
}

// brief is what of a brief the story needs.
type brief struct {
	Inputs struct {
		Correction struct {
			Wrong string `json:"what_was_wrong"`
		}
		Directive struct {
			Alternatives []string `json:"suggested_alternatives"`
		}
	}
	Constraints []string
}

// forbids lists the constraints that forbid a tool.
func (b brief) forbids(tool string) (list []string) {
	for _, c := range b.Constraints {
		if strings.HasPrefix(c, "MUST NOT use tool "+tool+":") {
			list = append(list, c)
		}
	}
	return list
}

// claim takes work, nil if there is none.
func claim(ctx context.Context, c drive.Client, args object) (*seat, error) {
	var out struct{ Work *seat }
	err := call(ctx, c, "task_claim", args, &out)
	return out.Work, err
}

// claimRole takes a seat of a role, which has to be there.
func claimRole(ctx context.Context, c drive.Client, role string) (*seat, error) {
	got, err := claim(ctx, c, object{"role": role})
	if err == nil {
		err = check(got != nil, "there is a seat of role %s to take", role)
	}
	return got, err
}

// done is a report that w is done.
func (w *seat) done(result any, evidence ...object) object {
	return object{"work_id": w.WorkID, "fence": w.Fence, "outcome": "done", "result": result,
		"evidence": append([]object{}, evidence...)}
}

// short is enough of an id or a hash to know it again.
func short(id string) string {
	id = schemas.ShortID(id)
	return id[:min(12, len(id))]
}

// clock shows the time of day of a stamp, with its zone.
func clock(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return stamp
	}
	return t.UTC().Format("15:04:05 UTC")
}
