package pipeline

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

const done = `{"status":"completed","output":"ok","tool_calls":[{"tool":"bash","input":"make","exit":0}]}`

func decoded[T Answer](t *testing.T, answer string) (T, []string) {
	t.Helper()
	out, notes, err := Decode[T](answer)
	require.NoError(t, err, answer)
	return out, notes
}

func refused[T Answer](t *testing.T, answer, why string) *schemas.Error {
	t.Helper()
	_, _, err := Decode[T](answer)
	require.ErrorIs(t, err, schemas.ErrInvalid, answer)
	require.ErrorContains(t, err, why, answer)
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Hint)
	return e
}

func TestProseAroundJSON(t *testing.T) {
	for _, answer := range []string{
		done,
		"Sure! Here is the result:\n\n```json\n" + done + "\n```\nLet me know {if} anything {else} is {{needed}}.",
		"func main() { println(1) }\n" + done,
		"OUTPUT:\n" + done, "ExecutionResult " + done, "json\n" + done, // labels before JSON
		"[" + done + "]",
	} {
		got, _ := decoded[schemas.ExecutionReport](t, answer)
		require.Equal(t, schemas.ExecutionCompleted, got.Status)
		require.Equal(t, "bash", got.ToolCalls[0].Tool)
	}
	refused[schemas.ExecutionReport](t, "I could not do it, sorry.", "no JSON object")
	refused[schemas.ExecutionReport](t, "", "no JSON object")
	refused[schemas.ExecutionReport](t, `{status: 'completed'}`, "no JSON object")
}

func TestTwoObjects(t *testing.T) {
	got, notes := decoded[schemas.ExecutionReport](t, `{"plan":"first make"} `+done)
	require.Equal(t, schemas.ExecutionCompleted, got.Status)
	require.Len(t, notes, 1)
	decoded[schemas.ExecutionReport](t, done+done) // the same said twice
	failed := strings.Replace(done, "completed", "failed", 1)
	refused[schemas.ExecutionReport](t, done+failed, "2 different objects")
	refused[schemas.ExecutionReport](t, failed+"\nWait:\n"+done, "2 different objects")
	refused[schemas.ExecutionReport](t, `{"status":"comp`+"\n"+done, "")
}

func TestThoughtsAreNotAnswers(t *testing.T) {
	failed := strings.Replace(done, "completed", "failed", 1)
	for _, answer := range []string{
		"<think>maybe " + failed + "?</think>" + done,
		"<thinking>" + failed + "</thinking>\n" + done,
		"maybe " + failed + " no</think>" + done, // opened in the prompt
	} {
		got, _ := decoded[schemas.ExecutionReport](t, answer)
		require.Equal(t, schemas.ExecutionCompleted, got.Status, answer)
	}
	refused[schemas.ExecutionReport](t, "<think>"+done, "no JSON object")
	got, _ := decoded[schemas.ExecutionReport](t, strings.Replace(done, `"ok"`, `"wrote <think>x</think>"`, 1))
	require.JSONEq(t, `"wrote <think>x</think>"`, string(got.Output))
}

func TestUnescapedQuotes(t *testing.T) {
	for in, want := range map[string]string{
		`he said "hi" to me`:      `he said "hi" to me`,
		`"hello"`:                 `"hello"`,
		`ends with "hello"`:       `ends with "hello"`,
		`{"a":"b"}`:               `{"a":"b"}`,
		`a "b", and "c", too`:     `a "b", and "c", too`,
		"two\nlines\tand a \"q\"": "two\nlines\tand a \"q\"",
		`an \"escaped\" one`:      `an "escaped" one`,
		`日本 "語" です`:               `日本 "語" です`,
	} {
		got, _ := decoded[schemas.ExecutionReport](t, strings.Replace(done, `"ok"`, `"`+in+`"`, 1))
		text, err := json.Marshal(want)
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(got.Output), in)
		require.Equal(t, schemas.ExecutionCompleted, got.Status)
	}
	_, notes := decoded[schemas.ExecutionReport](t, strings.Replace(done, `"ok"`, `"a "b" c"`, 1))
	require.Len(t, notes, 1)

	plan := `{"subtasks":[{"intent":"x","success_criteria":[%],"sequence":0,"tools":["bash"]}],"task_criteria":["all"]}`
	refused[schemas.Plan](t, strings.Replace(plan, "%", `"say "a", "b" aloud", "c"`, 1), "several ways")
	got, _ := decoded[schemas.Plan](t, strings.Replace(plan, "%", `"prints "a" once"`, 1))
	require.Equal(t, `prints "a" once`, got.SubTasks[0].SuccessCriteria[0].Criterion)
	for _, cut := range []int{10, 40, 70} {
		refused[schemas.ExecutionReport](t, done[:cut], "not JSON")
	}
	// What a string quotes never becomes what was said.
	refused[schemas.ExecutionReport](t, `{"status":"failed","output":"log: ","status":"completed","tool_calls":[]}`,
		"twice")
	refused[schemas.ExecutionReport](t, `{"output":"a "b" ","status":"completed","tool_calls":[],"x":"","status":"failed"}`, "")
	refused[schemas.ExecutionReport](t, `{"a":"`+strings.Repeat(`"",`, 20_000)+`}`, "")
	refused[schemas.ExecutionReport](t, strings.Repeat(`{"a" "}`, 100_000), "")
	long := strings.Repeat("a \\n", 50_000) + `he said "hi" `
	text, _ := decoded[schemas.ExecutionReport](t, strings.Replace(done, `"ok"`, `["`+long+`",1]`, 1))
	require.Contains(t, string(text.Output), `said \"hi\"`)
}

func TestMadeUpIDsAreDropped_INV_IDS(t *testing.T) {
	got, notes := decoded[schemas.Plan](t,
		`{"task_id":"t","subtasks":[{"subtask_id":"s1","id":7,"parent_task_id":null,"round":3,"intent":"x",
		"success_criteria":["y"],"sequence":1,"tools":[]}],"subtask_ids":["s1"],"task_criteria":["z"]}`)
	require.Len(t, notes, 7)
	require.Equal(t, schemas.Plan{SubTasks: []schemas.PlannedSubTask{{Intent: "x", Sequence: 1, Tools: []string{},
		SuccessCriteria: []schemas.Criterion{{Criterion: "y", Mode: schemas.Plausible}}}},
		TaskCriteria: []schemas.Criterion{{Criterion: "z", Mode: schemas.Plausible}}}, got)
	perceived, notes := decoded[schemas.Perception](t,
		`{"task_id":"find_it","intent":"find it","constraints":{"scope":null},"success_criteria":["found"]}`)
	require.Equal(t, "find it", perceived.Intent)
	require.Equal(t, []string{"/success_criteria was dropped: criteria are the planner's to derive",
		"/task_id was dropped: ids are made by the node"}, notes)
}

func TestUnknownMembersAreRefused(t *testing.T) {
	e := refused[schemas.VerdictReport](t,
		`{"verdict":[],"verdicts":[{"criterion":"a","verdict":"maybe","evidense":"b"}],"zeal":1}`,
		"not what was asked for")
	said := map[string]string{}
	for _, v := range e.Violations {
		said[v.Path] = v.Msg
	}
	require.Equal(t, map[string]string{
		"/verdict":             "there is no such member; did you mean verdicts?",
		"/zeal":                "there is no such member, only verdicts, what_to_do",
		"/verdicts/0/verdict":  "must be one of pass, fail",
		"/verdicts/0/evidense": "there is no such member; did you mean evidence?",
		"/verdicts/0/evidence": "is missing",
	}, said)
	refused[schemas.VerdictReport](t, `{"Verdicts":[]}`, "did you mean verdicts?")
	refused[schemas.ExecutionReport](t, strings.Replace(done, `"exit":0`, `"exit":"0"`, 1),
		"/tool_calls/0/exit: must be a whole number")
	refused[schemas.Perception](t, `{"intent":"x","constraints":{"deadline":"tomorrow"}}`,
		"/constraints/deadline: must be a time")
	refused[schemas.Plan](t, `{"subtasks":[{"intent":"x","success_criteria":[{"criterion":"c","check":{"kind":"shell"}}],"sequence":0,"tools":[]}],"task_criteria":[]}`, "/subtasks/0/success_criteria/0/check/kind")
}

func TestAnswersAreBounded(t *testing.T) {
	refused[schemas.ExecutionReport](t, strings.Repeat("x", MaxAnswer+1), "bytes long")
	refused[schemas.ExecutionReport](t, "\xff"+done, "UTF-8")
	deep := func(n int) string {
		return strings.Replace(done, `"ok"`, strings.Repeat("[", n)+strings.Repeat("]", n), 1)
	}
	decoded[schemas.ExecutionReport](t, deep(MaxDepth-1))
	refused[schemas.ExecutionReport](t, deep(MaxDepth), "deeper than")
	refused[schemas.VerdictReport](t, `{"verdicts":[`+strings.Repeat("{},", maxElements)+`{}]}`, "more than 100")
	refused[schemas.Perception](t, `{"intent":"`+strings.Repeat("x", maxText+1)+`"}`, "/intent: is")
}

func TestUnclassedVerdictsAreRead(t *testing.T) {
	got, _ := decoded[schemas.VerdictReport](t,
		`{"verdicts":[{"criterion":"合格","mode":"plausible","verdict":"fail","failure_class":null,"evidence":""}]}`)
	require.Empty(t, got.Verdicts[0].FailureClass)
	require.Equal(t, "合格", got.Verdicts[0].Criterion)
	refused[schemas.VerdictReport](t, `{"verdicts":[{"criterion":"a","verdict":"fail","failure_class":"mixed","evidence":""}]}`, "logical, environmental")
}

// Whatever is accepted says the same when it is written out and read again, and
// nothing makes the reader fail.
func FuzzDecode(f *testing.F) {
	f.Add(done)
	f.Add("<think>{</think>```json\n" + strings.Replace(done, "ok", `a "b" c`, 1))
	f.Add(`{"verdicts":[{"criterion":"a","verdict":"pass","evidence":"e"}]}{"x":1}`)
	f.Add(`{"a":"` + strings.Repeat(`"","`, 50))
	f.Fuzz(func(t *testing.T, answer string) {
		again(t, answer, Decode[schemas.ExecutionReport])
		again(t, answer, Decode[schemas.VerdictReport])
		again(t, answer, Decode[schemas.Plan])
	})
}

func again[T any](t *testing.T, answer string, decode func(string) (T, []string, error)) {
	first, _, err := decode(answer)
	if err != nil {
		return
	}
	text, err := json.Marshal(first)
	require.NoError(t, err)
	second, _, err := decode(string(text))
	require.NoError(t, err, "%s", text)
	written, err := json.Marshal(second)
	require.NoError(t, err)
	var a, b any
	require.NoError(t, json.Unmarshal(text, &a))
	require.NoError(t, json.Unmarshal(written, &b))
	require.True(t, reflect.DeepEqual(a, b))
}
