package pipeline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// pass is the word of a judge that names nothing.
func pass(criterion string) schemas.JudgedCriterion {
	return schemas.JudgedCriterion{Criterion: criterion, Verdict: schemas.Pass, Evidence: "it is so"}
}

// A verifiable criterion that the judge lets pass passes with a named call that exited 0
// after the last change, fails with a named one that failed, and waits for a person with
// neither.
func TestVerifiableNeedsProof_INV_PROOF(t *testing.T) {
	test, free := "`go test ./...` exits 0", "tests pass"
	goTest, edit, list := call("Bash", " go test  ./...\n", 0), call("Edit", "a.go", 0), call("bash",
		"git status; ls | wc -l 2>&1", 0)
	failing := goTest
	failing.Exit = 1
	for name, tt := range map[string]struct {
		criterion string
		names     int // the call the judge names, from 1
		calls     []schemas.Evidence
		want      schemas.Verdict
		class     schemas.FailureClass
	}{
		"no call at all":                      {free, 0, nil, schemas.Held, ""},
		"its only call exits 1":               {free, 0, []schemas.Evidence{failing}, schemas.Fail, schemas.Logical},
		"its only call exits 1, and is named": {free, 1, []schemas.Evidence{failing}, schemas.Fail, schemas.Logical},
		"a call that nothing names":           {free, 0, []schemas.Evidence{goTest}, schemas.Held, ""},
		"a call that is not there":            {free, 7, []schemas.Evidence{goTest}, schemas.Held, ""},
		"a named call":                        {free, 1, []schemas.Evidence{goTest}, schemas.Pass, ""},
		"the command of the criterion":        {test, 0, []schemas.Evidence{edit, goTest}, schemas.Pass, ""},
		"another command than the criterion's": {test, 1, []schemas.Evidence{call("bash", "go vet ./...", 0)},
			schemas.Held, ""},
		"a change after it": {test, 0, []schemas.Evidence{goTest, edit}, schemas.Held, ""},
		"a change by shell after it": {test, 0,
			[]schemas.Evidence{goTest, call("bash", "sed -i s/a/b/ a.go", 0)}, schemas.Held, ""},
		"a shell that writes a file": {test, 0, []schemas.Evidence{goTest, call("bash", "echo x > a.go", 0)},
			schemas.Held, ""},
		"an unknown tool after it": {test, 0, []schemas.Evidence{goTest, call("mcp__x__apply", "y", 0)},
			schemas.Held, ""},
		"reading after it": {test, 0, []schemas.Evidence{goTest, list, call("Read", "a.go", 0)},
			schemas.Pass, ""},
		"it is run again and fails": {test, 0, []schemas.Evidence{goTest, failing}, schemas.Fail,
			schemas.Logical},
		"it failed and is run again": {test, 0, []schemas.Evidence{failing, edit, goTest}, schemas.Pass, ""},
		"its exit is replaced": {test, 0, []schemas.Evidence{call("bash", "go test ./... || true", 0)},
			schemas.Held, ""},
		"its output is piped": {test, 0, []schemas.Evidence{call("bash", "go test ./... | tail", 0)},
			schemas.Held, ""},
		"it is only printed": {test, 0, []schemas.Evidence{call("bash", "echo go test ./...", 0)},
			schemas.Held, ""},
		"it stands in a comment": {test, 0,
			[]schemas.Evidence{call("bash", "true # && go test ./...", 0)}, schemas.Held, ""},
		"it stands in a text": {test, 0,
			[]schemas.Evidence{call("bash", `echo "ok && go test ./... "`, 0)}, schemas.Held, ""},
		"the shell ends before it": {test, 0,
			[]schemas.Evidence{call("bash", "exit 0 && go test ./...", 0)}, schemas.Held, ""},
		"a part of the shell ends before it": {test, 0,
			[]schemas.Evidence{call("bash", "( exit 0 && go test ./... )", 0)}, schemas.Held, ""},
		"its name means something else": {test, 0,
			[]schemas.Evidence{call("bash", "go() (true) && go test ./...", 0)}, schemas.Held, ""},
		"steps before it": {test, 0, []schemas.Evidence{call("bash", "cd x && go test ./...", 0)},
			schemas.Held, ""},
		"steps after it":       {test, 0, []schemas.Evidence{call("bash", "go test ./... && echo ok", 0)}, schemas.Held, ""},
		"more arguments":       {test, 0, []schemas.Evidence{call("bash", "go test ./... -n", 0)}, schemas.Held, ""},
		"a variable before it": {test, 0, []schemas.Evidence{call("bash", "GOFLAGS=-n go test ./...", 0)}, schemas.Held, ""},
		"a variable on its own line": {test, 0, []schemas.Evidence{call("bash", "export GOFLAGS=-n\ngo test ./...", 0)},
			schemas.Held, ""},
		"it is cut in two lines":  {test, 0, []schemas.Evidence{call("bash", "go test\n./...", 0)}, schemas.Held, ""},
		"a comment that names it": {test, 0, []schemas.Evidence{call("bash", "true # go test ./...", 0)}, schemas.Held, ""},
		"a search for it":         {test, 0, []schemas.Evidence{call("grep", "go test ./...", 0)}, schemas.Held, ""},
		"git writes a file after it": {test, 0,
			[]schemas.Evidence{goTest, call("bash", "git diff --output=a.go", 0)}, schemas.Held, ""},
		"sort writes a file after it": {test, 0,
			[]schemas.Evidence{goTest, call("bash", "sort -u -o a.go a.go", 0)}, schemas.Held, ""},
		"uniq writes a file after it": {test, 0,
			[]schemas.Evidence{goTest, call("bash", "uniq -c a.txt a.go", 0)}, schemas.Held, ""},
		"find writes a file after it": {test, 0,
			[]schemas.Evidence{goTest, call("bash", "find . -fprint a.go", 0)}, schemas.Held, ""},
		"programs that only read after it": {test, 0,
			[]schemas.Evidence{goTest, call("bash", "find . -name a.go | sort -u | uniq -c; git diff --stat", 0)},
			schemas.Pass, ""},
		"an unplanned tool changes something": {test, 0, []schemas.Evidence{goTest}, schemas.Held, ""},
		"there is no such program": {test, 0, []schemas.Evidence{call("bash", "go test ./...", 127)},
			schemas.Fail, schemas.Environmental},
		"the tool is no shell": {test, 0, []schemas.Evidence{call("go", "test ./...", 0)}, schemas.Held, ""},
	} {
		var c schemas.Criterion
		raw, err := json.Marshal(map[string]string{"criterion": tt.criterion, "mode": "verifiable"})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &c))
		r := schemas.ExecutionResult{Attempt: 1,
			ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionCompleted, ToolCalls: tt.calls}}
		if strings.HasPrefix(name, "an unplanned tool") {
			r.Unplanned = []schemas.Evidence{edit}
		}
		said := pass(tt.criterion)
		said.Call = tt.names
		sub := schemas.SubTask{PlannedSubTask: schemas.PlannedSubTask{SuccessCriteria: []schemas.Criterion{c}}}
		o, _ := Aggregate(sub, r, []schemas.JudgedCriterion{said}, callsOf(r), schemas.SubTaskOutcome{})
		v := o.CriteriaVerdicts[0]
		require.Equal(t, tt.want, v.Verdict, "%s: %+v", name, v)
		require.Equal(t, tt.class, v.FailureClass, name)
		require.NotEmpty(t, v.Evidence, name)
		require.Equal(t, map[schemas.Verdict]schemas.OutcomeStatus{schemas.Pass: schemas.Matched,
			schemas.Fail: schemas.OutcomeFailed, schemas.Held: schemas.OutcomeHeld}[tt.want], o.Status, name)
		state := FanIn(schemas.DispatchManifest{SubTaskIDs: []string{""}}, []schemas.SubTaskOutcome{o}).State
		require.Equal(t, tt.want == schemas.Fail, state == GateShut, name)
		_, again := Correct(o, RetryBudget, "")
		require.Equal(t, tt.want == schemas.Fail, again, "%s: what waits for a person is no failure", name)
	}
}

// Two criteria name a command each: the later one is no change to the earlier one.
func TestACheckIsNoChange(t *testing.T) {
	list := []schemas.Criterion{{Criterion: "vet", Mode: schemas.Verifiable, Command: "go vet ./..."},
		{Criterion: "tests pass", Mode: schemas.Verifiable}}
	said := []schemas.JudgedCriterion{pass("vet"), {Criterion: "tests pass", Verdict: schemas.Pass,
		Evidence: "bash:go test ./... → ok"}}
	p := Proof{Calls: []Call{{call("bash", "go vet ./...", 0), schemas.ByClaim, 1, 1, false},
		{call("bash", "go test ./...", 0), schemas.ByClaim, 1, 1, false}}}
	verdicts, _ := Verdicts(list, said, p)
	require.True(t, AllPass(verdicts), "%+v", verdicts)
	p.Calls = append(p.Calls, Call{call("write", "x", 1), schemas.ByClaim, 1, 1, false})
	verdicts, _ = Verdicts(list, said, p)
	require.Len(t, Unproven(verdicts), 2, "a write that failed may have written a part")
	require.Len(t, p.Unproven(list), 1, "of what names a command the judge is told")
}

// demanded are rules that ask for a record.
func demanded(judge bool) EvidenceRules {
	return EvidenceRules{RequireRecorded: true, JudgeCalls: judge}
}

// A record wins over the claim, and may be asked for. A claim that the record does not
// have fails its criterion.
func TestRecordedWins(t *testing.T) {
	list := []schemas.Criterion{{Criterion: "tests pass", Mode: schemas.Verifiable, Command: "make test"}}
	claim, record := []schemas.Evidence{call("bash", "make test", 0)}, []schemas.Evidence{call("bash", "make test", 2)}
	for name, tt := range map[string]struct {
		recorded []schemas.Evidence
		rules    EvidenceRules
		own      []schemas.Evidence
		want     schemas.Verdict
		by       schemas.Basis
	}{
		"a claim":              {nil, EvidenceRules{}, nil, schemas.Pass, schemas.ByClaim},
		"a record that fails":  {record, EvidenceRules{}, nil, schemas.Fail, schemas.ByRecord},
		"a record that passes": {claim, EvidenceRules{}, nil, schemas.Pass, schemas.ByRecord},
		"a record without it": {[]schemas.Evidence{}, EvidenceRules{}, nil, schemas.Fail,
			schemas.ByRecord},
		"a record is asked for":              {nil, EvidenceRules{RequireRecorded: true}, nil, schemas.Held, ""},
		"the judge's call":                   {nil, demanded(true), claim, schemas.Pass, schemas.ByJudgeCall},
		"the judge's call, which fails":      {nil, demanded(true), record, schemas.Fail, schemas.ByJudgeCall},
		"the judge's call where not allowed": {nil, demanded(false), claim, schemas.Held, ""},
		"the judge's call that fails over a record that passes": {claim, demanded(true), record, schemas.Fail,
			schemas.ByJudgeCall},
		"the same where it decides nothing": {claim, EvidenceRules{}, record, schemas.Fail, schemas.ByJudgeCall},
		"no judge's call beside a false claim": {[]schemas.Evidence{}, EvidenceRules{JudgeCalls: true}, claim,
			schemas.Fail, schemas.ByRecord},
		"no judge's call over a failed one": {record, EvidenceRules{JudgeCalls: true}, claim, schemas.Fail,
			schemas.ByRecord},
	} {
		r := schemas.ExecutionResult{Recorded: tt.recorded, ExecutionReport: schemas.ExecutionReport{ToolCalls: claim}}
		raw, err := json.Marshal(r)
		require.NoError(t, err)
		r = schemas.ExecutionResult{}
		require.NoError(t, json.Unmarshal(raw, &r), "an empty record is kept")
		v, _ := Verdicts(list, []schemas.JudgedCriterion{pass("tests pass")},
			Proof{Calls: Counted(r, tt.rules, 1, 1), Unrecorded: Unrecorded(r), Own: tt.own, Rules: tt.rules})
		require.Equal(t, tt.want, v[0].Verdict, name)
		require.Equal(t, tt.by, v[0].By, name)
	}
}

// What hooks of a client told supports a claim or contradicts it. It is no record, proves
// nothing that is not claimed, and a record wins over it.
func TestHooksSupportAndContradict(t *testing.T) {
	list := []schemas.Criterion{{Criterion: "tests pass", Mode: schemas.Verifiable, Command: "make test"}}
	worked, broke := []schemas.Evidence{call("bash", "make test", 0)}, []schemas.Evidence{call("Bash", "make  test", 2)}
	failed := []schemas.Evidence{call("bash", "make test", 2)}
	for name, tt := range map[string]struct {
		claimed, told, recorded []schemas.Evidence
		rules                   EvidenceRules
		want                    schemas.Verdict
		by                      schemas.Basis
		doubts                  int
	}{
		"claimed, and told":         {worked, worked, nil, EvidenceRules{}, schemas.Pass, schemas.ByHook, 0},
		"claimed, and told to fail": {worked, broke, nil, EvidenceRules{}, schemas.Fail, schemas.ByHook, 1},
		"it failed, and was run again": {worked, append(slices.Clone(broke), worked...), nil, EvidenceRules{},
			schemas.Pass, schemas.ByHook, 0},
		"it was run again, and failed": {worked, append(slices.Clone(worked), broke...), nil, EvidenceRules{},
			schemas.Fail, schemas.ByHook, 1},
		"other calls were told": {worked, []schemas.Evidence{call("bash", "ls", 0)}, nil, EvidenceRules{},
			schemas.Fail, schemas.ByHook, 1},
		"told as a step of another": {worked, []schemas.Evidence{call("bash", "cd src && make test", 0)}, nil,
			EvidenceRules{}, schemas.Pass, schemas.ByClaim, 0},
		"told as a step of one that failed": {worked, []schemas.Evidence{call("bash", "ls && make test", 2)}, nil,
			EvidenceRules{}, schemas.Fail, schemas.ByHook, 1},
		"claimed to fail, told to work": {failed, worked, nil, EvidenceRules{}, schemas.Fail, schemas.ByHook, 1},
		"told, and not claimed":         {nil, worked, nil, EvidenceRules{}, schemas.Held, "", 1},
		"a record is asked for":         {worked, worked, nil, EvidenceRules{RequireRecorded: true}, schemas.Held, "", 0},
		"a record wins":                 {worked, broke, worked, EvidenceRules{}, schemas.Pass, schemas.ByRecord, 0},
	} {
		r := schemas.ExecutionResult{Recorded: tt.recorded, Hooked: tt.told,
			ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionCompleted, ToolCalls: tt.claimed}}
		v, _ := Verdicts(list, []schemas.JudgedCriterion{pass("tests pass")},
			Proof{Calls: Counted(r, tt.rules, 1, 1), Unrecorded: Unrecorded(r), Rules: tt.rules})
		require.Equal(t, tt.want, v[0].Verdict, name)
		require.Equal(t, tt.by, v[0].By, name)
		sub := schemas.SubTask{PlannedSubTask: schemas.PlannedSubTask{SuccessCriteria: list}}
		require.Len(t, Suspicions(sub, r), tt.doubts, name)
	}
}

// What looked like a secret is left out of what hooks tell, and of no claim.
func TestSecretsDoNotContradict(t *testing.T) {
	for told, claimed := range map[string][]string{
		"grep -q [secret]":        {"grep -q token main.go", "grep -q secret main.go"},
		"a [secret] b [secret] c": {"a token=abcdef b token=ghijkl c"},
		"make test":               {"make  test"},
	} {
		for _, one := range claimed {
			require.True(t, masked(told, one), one)
		}
		for _, other := range []string{"", "make", "grep token main.go", "a b c", "a token=abcdef b", "x a 1 b 2 c"} {
			require.False(t, masked(told, other), "%s: %s", told, other)
		}
	}
	list := []schemas.Criterion{{Criterion: "it is gone", Mode: schemas.Verifiable, Command: "grep -q token main.go"}}
	r := schemas.ExecutionResult{Hooked: []schemas.Evidence{call("Bash", "grep -q [secret]", 0)},
		ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionCompleted,
			ToolCalls: []schemas.Evidence{call("bash", "grep -q token main.go", 0)}}}
	v, _ := Verdicts(list, []schemas.JudgedCriterion{pass("it is gone")},
		Proof{Calls: Counted(r, EvidenceRules{}, 1, 1), Unrecorded: Unrecorded(r)})
	require.Equal(t, []any{schemas.Pass, schemas.ByHook}, []any{v[0].Verdict, v[0].By})
}

// Criteria of a task use the calls of any of its executors: of what ran at once nobody
// knows which was later.
func TestCallsOfAllExecutors(t *testing.T) {
	list := []schemas.Criterion{{Criterion: "tests pass", Mode: schemas.Verifiable, Command: "make test"}}
	at := func(e schemas.Evidence, stage, run int) Call { return Call{e, schemas.ByClaim, stage, run, false} }
	test, edit := call("bash", "make test", 0), call("edit", "a.go", 0)
	for name, tt := range map[string]struct {
		calls []Call
		want  schemas.Verdict
	}{
		"after all changes":     {[]Call{at(edit, 1, 1), at(edit, 1, 2), at(test, 2, 3)}, schemas.Pass},
		"beside another's":      {[]Call{at(edit, 1, 1), at(edit, 1, 2), at(test, 1, 2)}, schemas.Held},
		"before a later change": {[]Call{at(test, 1, 1), at(edit, 2, 2)}, schemas.Held},
	} {
		v, _ := Verdicts(list, []schemas.JudgedCriterion{pass("tests pass")}, Proof{Calls: tt.calls})
		require.Equal(t, tt.want, v[0].Verdict, name)
	}
}

// A bare string is verifiable if it names a command, and plausible if not.
func TestModeOfABareString(t *testing.T) {
	for text, want := range map[string]schemas.Criterion{
		`"tests pass"`: {Criterion: "tests pass", Mode: schemas.Plausible},
		"\"`make test` exits 0\"": {Criterion: "`make test` exits 0",
			Mode: schemas.Verifiable, Command: "make test"},
		"\"`make test`: exit code = 0\"": {Criterion: "`make test`: exit code = 0",
			Mode: schemas.Verifiable, Command: "make test"},
		"\"`make test` exits 1\"": {Criterion: "`make test` exits 1",
			Mode: schemas.Plausible},
		"\"`report.txt` is whole\"": {Criterion: "`report.txt` is whole",
			Mode: schemas.Plausible},
		`{"criterion":"x"}`:                     {Criterion: "x", Mode: schemas.Plausible},
		`{"criterion":"x","mode":"verifiable"}`: {Criterion: "x", Mode: schemas.Verifiable},
		`{"criterion":"x","command":"make test"}`: {Criterion: "x", Mode: schemas.Verifiable,
			Command: "make test"},
		`{"criterion":"x","check":{"kind":"file","path":"x"}}`: {Criterion: "x", Mode: schemas.Verifiable,
			Check: &schemas.Check{Kind: schemas.CheckFile, Path: "x"}},
	} {
		var c schemas.Criterion
		require.NoError(t, json.Unmarshal([]byte(text), &c))
		require.Equal(t, want, c, text)
	}
}

// Calls of tools that were not planned keep their place in a record: a change before the
// call that shows a criterion takes nothing from it, one after it does.
func TestRecordKeepsTheOrder(t *testing.T) {
	list := []schemas.Criterion{{Criterion: "tests pass", Mode: schemas.Verifiable, Command: "make test"}}
	edit, test := call("edit", "a.go", 0), call("bash", "make test", 0)
	for name, tt := range map[string]struct {
		recorded []schemas.Evidence
		want     schemas.Verdict
	}{
		"before": {[]schemas.Evidence{edit, test}, schemas.Pass},
		"after":  {[]schemas.Evidence{test, edit}, schemas.Held},
	} {
		r := schemas.ExecutionResult{Recorded: tt.recorded, Unplanned: []schemas.Evidence{edit}}
		v, _ := Verdicts(list, []schemas.JudgedCriterion{pass("tests pass")},
			Proof{Calls: Counted(r, EvidenceRules{}, 1, 1)})
		require.Equal(t, tt.want, v[0].Verdict, name)
	}
}

// Places beyond the calls that were not planned count for nothing.
func TestPlacesBeyondTheCalls(t *testing.T) {
	r := schemas.ExecutionResult{Unplanned: []schemas.Evidence{call("edit", "a.go", 0)}, UnplannedAt: []int{0, 1}}
	r.ToolCalls = []schemas.Evidence{call("bash", "make", 0), call("bash", "make test", 0)}
	var tools []string
	for _, c := range claimed(r) {
		tools = append(tools, c.Tool)
	}
	require.Equal(t, []string{"edit", "bash", "bash"}, tools)
}
