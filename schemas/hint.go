package schemas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Call is a call of an operation that a hint names, as data: each face words it in its own
// way, as a tool's call or as a command.
type Call struct {
	Tool string
	Args []Arg
	Bare bool // without arguments, where that means something else
	// Other: the reader of the hint cannot make the call itself, an agent or person above it can.
	Other bool
	Do    bool // in a sentence that says to make it: "call X", "run X"
	// Lacked: the reader of the hint does not have the tool.
	Lacked bool
}

// Arg is an argument of a call.
type Arg struct {
	Name  string
	Value any
}

// Blank stands for a value that is left to the caller, in the words in which every face
// shows it: {…}.
type Blank string

// Raw is the argument's value as JSON; a Blank is its words, which are no JSON.
func (a Arg) Raw() json.RawMessage {
	if blank, ok := a.Value.(Blank); ok {
		return json.RawMessage(blank)
	}
	raw, err := json.Marshal(a.Value)
	if err != nil { // of texts, numbers and lists
		return json.RawMessage("null")
	}
	return raw
}

// Tool is the call of a tool with arguments, given as names and values in turn.
func Tool(name string, args ...any) Call {
	c := Call{Tool: name}
	for i := 0; i+1 < len(args); i += 2 {
		c.Args = append(c.Args, Arg{fmt.Sprint(args[i]), args[i+1]})
	}
	return c
}

// Alone is the call of a tool without arguments, for tools that then do something else.
func Alone(name string) Call { return Call{Tool: name, Bare: true} }

// Other is Tool for a call that an agent or person above the reader makes.
func Other(name string, args ...any) Call {
	c := Tool(name, args...)
	c.Other = true
	return c
}

// Do is Tool in a sentence that says to make the call.
func Do(name string, args ...any) Call {
	c := Tool(name, args...)
	c.Do = true
	return c
}

// String words the call for an agent that has tools.
func (c Call) String() string {
	text := c.Tool
	if c.Do {
		text = "call " + text
	}
	if c.Bare && len(c.Args) == 0 {
		text += " without arguments"
	} else if len(c.Args) > 0 {
		var args []string
		for _, a := range c.Args {
			args = append(args, fmt.Sprintf("%q: %s", a.Name, a.Raw()))
		}
		text += " {" + strings.Join(args, ", ") + "}"
	}
	if c.Lacked {
		text += " (not a tool of yours: ask your parent or the user)"
	}
	return text
}

// HintPart is words, or a call among them.
type HintPart struct {
	Text string
	Call *Call
}

// Hint is what to do next: words, with calls of operations among them.
type Hint []HintPart

// Hintf makes a Hint as fmt.Sprintf would; each argument that is a Call stays one.
func Hintf(format string, args ...any) Hint {
	var calls []Call
	shown := slices.Clone(args)
	for i, a := range args {
		if c, ok := a.(Call); ok {
			shown[i] = callMark
			calls = append(calls, c)
		}
	}
	var h Hint
	for i, text := range strings.Split(fmt.Sprintf(format, shown...), callMark) {
		if i > 0 && i <= len(calls) {
			h = append(h, HintPart{Call: &calls[i-1]})
		}
		if text != "" {
			h = append(h, HintPart{Text: text})
		}
	}
	return h
}

// callMark stands for a call while a hint is formatted. No text of a hint holds it.
const callMark = "\x00call\x00"

// String words the hint for an agent that has tools.
func (h Hint) String() string { return h.In(nil, nil) }

// In words the hint: its texts by words, its calls by call; nil leaves them as they are
// for an agent that has tools.
func (h Hint) In(words func(string) string, call func(Call) string) string {
	var b strings.Builder
	for _, p := range h {
		switch {
		case p.Call == nil && words == nil:
			b.WriteString(p.Text)
		case p.Call == nil:
			b.WriteString(words(p.Text))
		case call == nil:
			b.WriteString(p.Call.String())
		default:
			b.WriteString(call(*p.Call))
		}
	}
	return b.String()
}

// As has the calls of the hint made as agent, but those of others, those that name an agent
// already, and those that mine does not report.
func (h Hint) As(agent string, mine func(Call) bool) {
	for _, p := range h {
		if c := p.Call; c != nil && !c.Other && mine(*c) &&
			!slices.ContainsFunc(c.Args, func(a Arg) bool { return a.Name == "as" }) {
			c.Args = append(slices.Clip(c.Args), Arg{"as", agent})
		}
	}
}

// Lack marks the calls of the hint whose tools its reader lacks. Those that others make are worded so already.
func (h Hint) Lack(lacks func(tool string) bool) {
	for _, p := range h {
		if p.Call != nil && !p.Call.Other {
			p.Call.Lacked = lacks(p.Call.Tool)
		}
	}
}

// MarshalJSON writes the hint in the words for agents: what goes out as JSON goes to them.
func (h Hint) MarshalJSON() ([]byte, error) { return json.Marshal(h.String()) }

// UnmarshalJSON reads what MarshalJSON wrote: words.
func (h *Hint) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	*h = nil
	if text != "" {
		*h = Hint{{Text: text}}
	}
	return nil
}
