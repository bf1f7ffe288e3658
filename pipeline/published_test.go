package pipeline

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What is published for those who answer is what Decode takes.
func TestAnswersFitThePublishedSchema(t *testing.T) {
	text, err := schemas.Schema("pipeline")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource(schemas.SchemaURN("pipeline"), doc))
	agree := func(name, answer string, taken bool) {
		t.Helper()
		s, err := compiler.Compile(schemas.SchemaURN("pipeline") + "#/$defs/" + name)
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
		require.NoError(t, err)
		require.Equal(t, taken, s.Validate(value) == nil, "%s: %s", name, answer)
	}
	for answer, taken := range map[string]bool{
		done: true, `{}`: false, `{"status":"done","output":1,"tool_calls":[]}`: false,
		`{"status":"failed","output":null,"tool_calls":[],"reason":"r"}`: true,
		`{"status":"failed","output":1,"tool_calls":[{}]}`:               false,
		`{"status":"failed","output":1,"tool_calls":[],"more":1}`:        false,
	} {
		_, _, err := Decode[schemas.ExecutionReport](answer)
		require.Equal(t, taken, err == nil, answer)
		agree("ExecutionReport", answer, taken)
	}
	for answer, taken := range map[string]bool{
		`{"subtasks":[{"intent":"x","success_criteria":["y",{"criterion":"z"},{"criterion":"w","mode":"plausible"}],"sequence":0,"tools":["t"]}],"task_criteria":[]}`: true,
		`{"subtasks":[],"task_criteria":[{"criterion":"z","check":{"kind":"file","path":"a"}}]}`:                                                                      true,
		`{"subtasks":[],"task_criteria":[{"criterion":"z","check":{"kind":"command","command":["make"],"dir":"a","exit":2}}]}`:                                        true,
		`{"subtasks":[],"task_criteria":[{"criterion":"z","check":{"kind":"command","command":"make"}}]}`:                                                             false,
		`{"subtasks":[],"task_criteria":[{"mode":"plausible"}]}`:                                                                                                      false,
		`{"subtasks":[],"task_criteria":[{"criterion":"z","mode":"sure"}]}`:                                                                                           false,
		`{"subtasks":[],"task_criteria":[7]}`:                                                                                                                         false,
		`{"subtasks":{},"task_criteria":[]}`:                                                                                                                          false,
	} {
		_, _, err := Decode[schemas.Plan](answer)
		require.Equal(t, taken, err == nil, answer)
		agree("Plan", answer, taken)
	}
	for answer, taken := range map[string]bool{
		`{"verdicts":[{"criterion":"a","verdict":"fail","failure_class":null,"evidence":"e"}]}`:    true,
		`{"verdicts":[{"criterion":"a","verdict":"fail","failure_class":"mixed","evidence":"e"}]}`: false,
		`{"verdicts":[{"criterion":"a","verdict":"pass"}],"what_to_do":"w"}`:                       false,
	} {
		_, _, err := Decode[schemas.VerdictReport](answer)
		require.Equal(t, taken, err == nil, answer)
		agree("VerdictReport", answer, taken)
	}
}
