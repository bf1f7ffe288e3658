package schemas

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pipelineRecords are what the roles of the pipeline send one another, and what
// who sits in a role answers.
var pipelineRecords = []any{
	AuditEvent{}, AuditQuery{}, AuditReport{}, CorrectionSignal{}, CriterionVerdict{}, DispatchManifest{},
	ExecutionReport{}, ExecutionResult{}, FinalResult{}, MemoryEntry{}, MergeReport{}, Perception{}, Plan{},
	PlanDirective{}, ReplanRequest{}, SubTask{}, SubTaskOutcome{}, TaskSpec{}, VerdictReport{},
}

var pipelineEnums = map[reflect.Type][]string{
	reflect.TypeFor[PipelineRole]():    Strings(PipelineRoles()),
	reflect.TypeFor[CriterionMode]():   Strings(CriterionModes()),
	reflect.TypeFor[ExecutionStatus](): Strings(ExecutionStatuses()),
	reflect.TypeFor[Verdict]():         Strings(Verdicts()),
	reflect.TypeFor[Basis]():           Strings([]Basis{ByCheck, ByRecord, ByHook, ByClaim, ByJudgeCall, ByJudge}),
	reflect.TypeFor[OutcomeStatus]():   Strings([]OutcomeStatus{Matched, OutcomeFailed, OutcomeHeld}),
	reflect.TypeFor[Recommendation]():  Strings([]Recommendation{RecommendReplan, RecommendAbandon}),
	reflect.TypeFor[Directive]():       Strings(Directives()),
	reflect.TypeFor[Gradient]():        Strings([]Gradient{Improving, Stable, Worsening, Plateau}),
	reflect.TypeFor[TaskResult]():      Strings([]TaskResult{ResultAccepted, ResultAbandoned, ResultCancelled}),
	reflect.TypeFor[MemoryEntryType](): Strings(MemoryEntryTypes()),
	reflect.TypeFor[Detection]():       Strings(Detections()),
	reflect.TypeFor[CheckKind]():       Strings(CheckKinds()),
	reflect.TypeFor[Strategy]():        Strings(Strategies()),
	reflect.TypeFor[AgentType]():       Strings(AgentTypes()),
}

// describe gives the schema of a type, and puts those of its structs into defs.
func describe(t *testing.T, typ reflect.Type, defs map[string]any) map[string]any {
	switch {
	case typ == reflect.TypeFor[json.RawMessage]():
		return map[string]any{}
	case typ == reflect.TypeFor[GroupID](), typ == reflect.TypeFor[EntityID]():
		return map[string]any{"type": "string"}
	case typ == reflect.TypeFor[FailureClass]():
		return map[string]any{"enum": []any{"logical", "environmental", nil}}
	case typ == reflect.TypeFor[FailureReason]():
		return map[string]any{"type": []any{"string", "null"}}
	case typ.Kind() == reflect.Pointer:
		return describe(t, typ.Elem(), defs)
	case typ.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": describe(t, typ.Elem(), defs)}
	case typ.Kind() == reflect.Struct:
		name := typ.Name()
		ref := map[string]any{"$ref": "#/$defs/" + name}
		if _, known := defs[name]; known {
			return ref
		}
		properties, required := map[string]any{}, []string{}
		defs[name] = nil
		for _, f := range reflect.VisibleFields(typ) {
			if f.Anonymous {
				continue
			}
			field, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
			require.NotEmpty(t, field, "%s.%s has no JSON name", name, f.Name)
			properties[field] = describe(t, f.Type, defs)
			if rest == "" {
				required = append(required, field)
			}
		}
		if typ == reflect.TypeFor[PlanDirective]() { // a tie is the directive's to name
			properties["failure_class"] = map[string]any{"enum": []any{"logical", "environmental", "mixed", nil}}
		}
		if typ == reflect.TypeFor[CriterionVerdict]() { // what no call proves is held, on record alone
			properties["verdict"] = map[string]any{"enum": []any{Pass, Fail, Held}}
		}
		slices.Sort(required)
		defs[name] = map[string]any{"type": "object", "additionalProperties": false, "required": required,
			"properties": properties}
		if typ == reflect.TypeFor[Criterion]() {
			defs[name].(map[string]any)["required"] = []string{"criterion"}
			defs[name] = map[string]any{"description": "A bare string is verifiable if it names a command (`make " +
				"test` exits 0), else plausible.",
				"anyOf": []any{map[string]any{"type": "string"}, defs[name]}}
		}
		return ref
	}
	if words, ok := pipelineEnums[typ]; ok {
		return map[string]any{"enum": words}
	}
	kinds := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Int64: "integer",
		reflect.Float64: "number"}
	require.Contains(t, kinds, typ.Kind(), typ)
	require.True(t, typ.PkgPath() == "", "%s is a type of its own: name its words in pipelineEnums", typ)
	return map[string]any{"type": kinds[typ.Kind()]}
}

func TestPipelineSchemaFitsTheRecords(t *testing.T) {
	defs, names := map[string]any{}, []any{}
	for _, r := range pipelineRecords {
		names = append(names, describe(t, reflect.TypeOf(r), defs))
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SchemaURN("pipeline"),
		"title":       "Records of the task pipeline",
		"description": "What its roles send one another, and what who sits in a role answers.",
		"anyOf":       names, "$defs": defs,
	}))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile("pipeline"+schemaSuffix, want.Bytes(), 0o600))
	}
	got, err := os.ReadFile("pipeline" + schemaSuffix)
	require.NoError(t, err)
	require.Equal(t, want.String(), string(got), "run UPDATE_GOLDEN=1 go test ./schemas and read the change")
}

func TestACriterionMayBeAString(t *testing.T) {
	var list []Criterion
	require.NoError(t, json.Unmarshal(
		[]byte(`["tests pass",{"criterion":"reads well","mode":"plausible"},{"criterion":"there"}]`), &list))
	require.Equal(t, []Criterion{{Criterion: "tests pass", Mode: Plausible}, {Criterion: "reads well", Mode: Plausible},
		{Criterion: "there", Mode: Plausible}}, list)
	require.Error(t, json.Unmarshal([]byte(`[7]`), &list))
}

func TestUnclassifiedFailuresAreNull(t *testing.T) {
	text, err := json.Marshal(FailedCriterion{Criterion: "x"})
	require.NoError(t, err)
	require.JSONEq(t, `{"criterion":"x","failure_class":null}`, string(text))
	var back FailedCriterion
	require.NoError(t, json.Unmarshal(text, &back))
	require.Empty(t, back.FailureClass)
}

func TestEvidenceKeepsBothEnds(t *testing.T) {
	long := "begin" + strings.Repeat("日本", 5000) + "end"
	e := NewEvidence("bash", "make test", 2, long)
	require.True(t, strings.HasPrefix(e.Head, "begin日"))
	require.True(t, strings.HasSuffix(e.Tail, "本end"))
	require.LessOrEqual(t, len(e.Head), EvidenceEnd)
	require.LessOrEqual(t, len(e.Tail), EvidenceEnd)
	require.Equal(t, strings.ToValidUTF8(e.Head+e.Tail, "?"), e.Head+e.Tail)
	require.True(t, strings.HasPrefix(e.String(), "bash:make test → (exit 2) begin"))
	require.Equal(t, "bash:true → no output", NewEvidence("bash", "true", 0, "").String())
	require.Equal(t, "ls:. → a b", NewEvidence("ls", ".", 0, "a b").String())
	middling := strings.Repeat("x", EvidenceEnd+7)
	e = NewEvidence("t", "i", 0, middling)
	require.Equal(t, middling, e.Head+e.Tail, "what fits is whole")
}
