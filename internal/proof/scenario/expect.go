package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// look follows a path into an answer; ok is false where it leads nowhere.
func look(a Answer, path string) (value any, ok bool) {
	switch path {
	case "$text":
		return a.Text, true
	case "$answer":
		return a.Value, true
	}
	return walk(a.Value, strings.Split(path, "."))
}

func walk(v any, steps []string) (any, bool) {
	if len(steps) == 0 {
		return v, true
	}
	step, rest := steps[0], steps[1:]
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[step]
		if !ok {
			return nil, false
		}
		return walk(next, rest)
	case []any:
		switch {
		case step == "#":
			return float64(len(v)), len(rest) == 0
		case step == "*":
			all := []any{}
			for _, element := range v {
				if found, ok := walk(element, rest); ok {
					all = append(all, found)
				}
			}
			return all, true
		}
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return walk(v[i], rest)
		}
	}
	return nil, false
}

// meets checks an expectation about the answer; value is its text with variables filled in. The
// error says what is so instead.
func meets(a Answer, path, op, value string) error {
	got, ok := look(a, path)
	switch op {
	case "exists":
		return only(ok, path+" is absent")
	case "absent":
		return only(!ok, fmt.Sprintf("%s is %v", path, got))
	}
	if !ok {
		return fmt.Errorf("%s is absent", path)
	}
	want := literal(value)
	failed := fmt.Errorf("%s is %s, not %s %s", path, compact(got), op, value)
	met := false
	switch op {
	case "==":
		met = reflect.DeepEqual(got, want)
	case "!=":
		met = !reflect.DeepEqual(got, want)
	case "contains", "lacks":
		if path == "$answer" { // its text: what stands anywhere in it counts
			got = compact(got)
		}
		met = contains(got, want) == (op == "contains")
	case "matches":
		expr, err := regexp.Compile(value)
		if err != nil {
			return err
		}
		met = expr.MatchString(fmt.Sprint(got))
	default:
		x, okX := got.(float64)
		y, okY := want.(float64)
		if okX && okY {
			met = op == "<" && x < y || op == "<=" && x <= y || op == ">" && x > y || op == ">=" && x >= y
		}
	}
	if met {
		return nil
	}
	return failed
}

// literal reads a value: JSON where it is, else the text as it stands.
func literal(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

func contains(got, want any) bool {
	switch got := got.(type) {
	case []any:
		for _, v := range got {
			if reflect.DeepEqual(v, want) {
				return true
			}
		}
		return false
	case map[string]any:
		_, ok := got[fmt.Sprint(want)]
		return ok
	}
	return strings.Contains(fmt.Sprint(got), fmt.Sprint(want))
}

func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
