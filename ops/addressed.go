package ops

import (
	"errors"
	"reflect"

	"cordelia/schemas"
)

// addressed words the calls that the hints of an answer or an error name for the caller.
func (c *Call) addressed(answer any, err error) {
	if e, ok := errors.AsType[*schemas.Error](err); ok {
		c.address(e.Hint)
	}
	c.addressedIn(reflect.ValueOf(answer))
}

// address has the calls of a hint made as the agent that this call was made as. A tool that this agent
// has not is left to the caller, and so is all while the agent may not act. One that the caller has
// not, or its client does not offer, is said to be that.
func (c *Call) address(h schemas.Hint) {
	if c.As != "" && c.acted.Actor() != "" {
		h.As(c.As, c.mine)
	}
	h.Lack(c.lacks)
}

// lacks reports whether a tool is not among the caller's; of none while its rights are not known here.
func (c *Call) lacks(tool string) bool {
	who, had := c.Caller.Principal, c.on.Auth.Had
	return had(who, c.Op.Name) && !(had(who, tool) && c.on.specs[tool].Among(c.Caller.Toolsets))
}

// mine reports whether a call is one for the agent that acts. That this very call is to be made
// again needs no arguments: they are those that it had.
func (c *Call) mine(to schemas.Call) bool {
	again := to.Do && to.Tool == c.Op.Name && len(to.Args) == 0
	return !again && !c.on.specs[to.Tool].InPerson && c.acted.Has(to.Tool)
}

func (c *Call) addressedIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.addressedIn(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				c.addressedIn(f)
			}
		}
	case reflect.Slice:
		if h, ok := v.Interface().(schemas.Hint); ok {
			c.address(h)
			return
		}
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Slice:
			for i := range v.Len() {
				c.addressedIn(v.Index(i))
			}
		}
	}
}
