package ops

import (
	"errors"
	"reflect"

	"cordelia/schemas"
)

// addressed has the calls that the hints of an answer or an error name made as the agent that this
// call was made as. A tool that this agent has not is left to the caller, and so is all while the
// agent may not act.
func (c *Call) addressed(answer any, err error) {
	if c.As == "" || c.acted.Actor() == "" {
		return
	}
	if e, ok := errors.AsType[*schemas.Error](err); ok {
		e.Hint.As(c.As, c.mine)
	}
	c.addressedIn(reflect.ValueOf(answer))
}

// mine reports whether a call is one for the agent that acts. That this very call is to be made
// again needs no arguments: they are those that it had.
func (c *Call) mine(to schemas.Call) bool {
	again := to.Do && to.Tool == c.Op.Name && len(to.Args) == 0
	return !again && !inPerson[to.Tool] && c.acted.Has(to.Tool)
}

func (c *Call) addressedIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.addressedIn(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.addressedIn(v.Field(i))
			}
		}
	case reflect.Slice:
		if h, ok := v.Interface().(schemas.Hint); ok {
			h.As(c.As, c.mine)
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
