package roles

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// known answers as for a role that did nothing yet.
func known() Known {
	return Known{Trust: func(*Member, string) int { return trustStart }, Used: func(*Member) Used { return Used{} },
		Wakes: func(*Member) int { return 0 }}
}

func member(id string, domains ...string) *Member {
	return &Member{Role: schemas.Role{RoleID: id, Soul: "s", Domains: domains, OperatorIDs: []string{"op"},
		Authority: schemas.Authority{Autonomous: []string{"do"}}},
		Agent: schemas.EntityID("agent-" + id), State: schemas.RoleActive}
}

func workspace() schemas.Workspace {
	return schemas.Workspace{Workspace: "w", Owner: "ann", Operators: map[string]schemas.Operator{
		"op": {Triggers: map[string]schemas.OneOrMore{"do": {"thing.*"}}, Does: schemas.Recipe{Intent: "do it"}}}}
}

// Each step of a decision, the one that settles it last.
func TestHandle(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(w *schemas.Workspace, m *Member, e *Event, k *Known)
		action   Action
		step     string
		says     string
		approval bool
	}{
		"delegates": {func(*schemas.Workspace, *Member, *Event, *Known) {}, Delegate, "trust",
			"30/100 with do: report", false},
		"draft": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) { m.State = schemas.RoleDraft },
			Ignore, "lifecycle", "draft", false},
		"suspended": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) { m.State = schemas.RoleSuspended },
			Ignore, "lifecycle", "suspended", false},
		"its own": {func(_ *schemas.Workspace, m *Member, e *Event, _ *Known) { e.By = m.Agent },
			Ignore, "origin", "itself", false},
		"never wakes": {func(_ *schemas.Workspace, m *Member, e *Event, _ *Known) {
			m.Wake, e.Names = schemas.WakeNever, "a"
		}, Ignore, "wake", "no event", false},
		"wakes when named": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) { m.Wake = schemas.WakeNamed },
			Ignore, "wake", "names a", false},
		"named": {func(_ *schemas.Workspace, m *Member, e *Event, _ *Known) {
			m.Wake, e.Names = schemas.WakeNamed, "a"
		}, Delegate, "trust", "report", false},
		"another's domain": {func(_ *schemas.Workspace, _ *Member, e *Event, _ *Known) { e.Domain = "y" },
			Forward, "domain", "belongs to b", false},
		"nobody's domain": {func(_ *schemas.Workspace, _ *Member, e *Event, _ *Known) { e.Domain = "z" },
			Ignore, "domain", "no active role", false},
		"no domains own nothing": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) { m.Domains = nil },
			Ignore, "domain", "no active role", false},
		"all domains": {func(_ *schemas.Workspace, m *Member, e *Event, _ *Known) {
			m.Domains, e.Domain = []string{"*"}, "z"
		}, Delegate, "trust", "report", false},
		"woken too often": {func(_ *schemas.Workspace, _ *Member, e *Event, k *Known) {
			e.Thread, k.Wakes = "issue:1", func(*Member) int { return 20 }
		}, Ignore, "thread", "20 times", false},
		"more secret": {func(_ *schemas.Workspace, _ *Member, e *Event, _ *Known) { e.Secrecy = schemas.Restricted },
			Escalate, "clearance", "may be told what is internal", false},
		"cleared": {func(_ *schemas.Workspace, m *Member, e *Event, _ *Known) {
			e.Secrecy = schemas.Restricted
			m.Clearance = map[string]schemas.Classification{"x": schemas.Restricted}
		}, Delegate, "trust", "report", false},
		"unknown": {func(_ *schemas.Workspace, _ *Member, e *Event, _ *Known) { e.Type = "other.thing" },
			Escalate, "trigger", "no operator", false},
		"operator not declared": {func(w *schemas.Workspace, _ *Member, _ *Event, _ *Known) { w.Operators = nil },
			Escalate, "trigger", "no operator", false},
		"forbidden": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) {
			m.Authority = schemas.Authority{Forbidden: []string{"do"}}
		}, Escalate, "authority", "do is forbidden", false},
		"forbidden by its type": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) {
			m.Authority = schemas.Authority{Forbidden: []string{"thing.came"}}
		}, Escalate, "authority", "thing.came is forbidden", false},
		"needs an approval": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) {
			m.Authority = schemas.Authority{NeedsApproval: []string{"do"}}
		}, Escalate, "trust", "needs an approval", true},
		"no authority": {func(_ *schemas.Workspace, m *Member, _ *Event, _ *Known) { m.Authority = schemas.Authority{} },
			Escalate, "trust", "no authority names do", true},
		"little trust": {func(_ *schemas.Workspace, _ *Member, _ *Event, k *Known) {
			k.Trust = func(*Member, string) int { return 29 }
		}, Escalate, "trust", "29/100 with do: review", true},
		"much trust": {func(_ *schemas.Workspace, _ *Member, _ *Event, k *Known) {
			k.Trust = func(*Member, string) int { return 71 }
		}, Delegate, "trust", "71/100 with do: silent", false},
		"budget": {func(_ *schemas.Workspace, m *Member, _ *Event, k *Known) {
			m.Budget, k.Used = schemas.RoleBudget{Tasks: 3}, func(*Member) Used { return Used{Tasks: 3} }
		}, Escalate, "budget", "3 tasks", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, m, e, k := workspace(), member("a", "x"), Event{Type: "thing.came", Domain: "x", By: "claude"}, known()
			c.change(&w, m, &e, &k)
			d := NewWorld(w, []*Member{m, member("b", "y")}).Handle(m, e, k)
			require.Equal(t, c.action, d.Action, d)
			require.Equal(t, c.step, d.Steps[len(d.Steps)-1].Step, d)
			require.Contains(t, d.Reason, c.says)
			require.Equal(t, c.approval, d.Approval)
			if d.Action == Escalate {
				require.Equal(t, "ann", d.Target)
			}
		})
	}
}

// One role decides within 100 µs, and a thousand are routed among within a millisecond. The
// machine does other things, too: the best of many counts.
func TestDecisionsAreFast(t *testing.T) {
	for roles, bar := range map[int]time.Duration{1: 100 * time.Microsecond, 1000: time.Millisecond} {
		var members []*Member
		for i := range roles {
			members = append(members, member(fmt.Sprintf("r%d", i), fmt.Sprintf("d%d", i%500)))
		}
		domain := fmt.Sprintf("d%d", min(7, roles-1))
		w, e, k := NewWorld(workspace(), members), Event{Type: "thing.came", Domain: domain, By: "x"}, known()
		const n = 200
		best := time.Hour
		for range 20 {
			begin := time.Now()
			for range n {
				require.Equal(t, Delegate, w.Handle(w.First(e), e, k).Action)
			}
			best = min(best, time.Since(begin)/n)
		}
		t.Logf("%s a decision among %d", best, roles)
		require.Less(t, best, bar)
	}
}

// What is the child's lies inside template and parent, whatever the two say.
func TestNoChildExceeds_INV_ROLE_CEILING(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	actions, domains := []string{"a", "b", "c", "d"}, []string{"x", "y", "z", "*"}
	some := func(of []string) (out []string) {
		for _, s := range of {
			if r.IntN(2) == 0 {
				out = append(out, s)
			}
		}
		return out
	}
	authority := func() (a schemas.Authority) {
		for _, action := range actions {
			switch r.IntN(4) {
			case 0:
				a.Autonomous = append(a.Autonomous, action)
			case 1:
				a.NeedsApproval = append(a.NeedsApproval, action)
			case 2:
				a.Forbidden = append(a.Forbidden, action)
			}
		}
		return a
	}
	clearance := func() map[string]schemas.Classification {
		out := map[string]schemas.Classification{}
		for _, d := range some(domains) {
			out[d] = schemas.Classifications()[r.IntN(4)]
		}
		return out
	}
	budget := func() schemas.RoleBudget {
		return schemas.RoleBudget{Tasks: r.IntN(4), Tokens: int64(r.IntN(4)), Money: float64(r.IntN(4)) / 2}
	}
	trusts := func() *float64 {
		if r.IntN(3) == 0 {
			return nil
		}
		v := float64(r.IntN(101)) / 100
		return &v
	}
	scores := func() map[string]float64 {
		out := map[string]float64{}
		for _, action := range some(actions) {
			out[action] = float64(r.IntN(101)) / 100
		}
		return out
	}
	count := 100_000
	if testing.Short() {
		count = 10_000
	}
	for range count {
		template := schemas.RoleTemplate{Domains: some(domains), OperatorIDs: some(actions), Authority: authority(),
			Clearance: clearance(), DefaultTrust: trusts(),
			Budget: budget()}
		parent := schemas.Role{RoleID: "p", Domains: some(domains), OperatorIDs: some(actions), Authority: authority(),
			Clearance: clearance(), Trust: schemas.RoleTrust{Default: trusts(), Scores: scores()},
			Budget: budget()}
		child, _ := Clamp(template, parent, schemas.WorkspacePolicy{})
		c, p := &Member{Role: child}, &Member{Role: parent}
		of := &Member{Role: schemas.Role{Domains: template.Domains, Clearance: template.Clearance}}
		for _, action := range append(actions, "unheard") {
			mine, _ := authorityOn(child.Authority, action, "")
			theirs, _ := authorityOn(template.Authority, action, "")
			above, _ := authorityOn(parent.Authority, action, "")
			require.GreaterOrEqual(t, strictness(mine), max(strictness(theirs), strictness(above)), action)
		}
		for _, d := range []string{"x", "y", "z", "other"} {
			require.True(t, !c.owns(d) || p.owns(d) && of.owns(d), d)
			require.LessOrEqual(t, rank(c.clearanceFor(d)), min(rank(p.clearanceFor(d)), rank(of.clearanceFor(d))), d)
		}
		for _, id := range child.OperatorIDs {
			require.True(t, slices.Contains(parent.OperatorIDs, id) && slices.Contains(template.OperatorIDs, id))
		}
		for _, b := range []schemas.RoleBudget{template.Budget, parent.Budget} {
			require.True(t, b.Tasks == 0 || child.Budget.Tasks > 0 && child.Budget.Tasks <= b.Tasks)
			require.True(t, b.Tokens == 0 || child.Budget.Tokens > 0 && child.Budget.Tokens <= b.Tokens)
			require.True(t, b.Money == 0 || child.Budget.Money > 0 && child.Budget.Money <= b.Money)
		}
		if parent.Trust.Default != nil {
			require.LessOrEqual(t, *child.Trust.Default, *parent.Trust.Default)
		}
		for action, most := range parent.Trust.Scores {
			begins, ok := child.Trust.Scores[action]
			require.True(t, ok && begins <= most || !ok && *child.Trust.Default <= most, action)
		}
	}
}

func TestPatterns(t *testing.T) {
	for pattern, types := range map[string]struct{ is, isNot []string }{
		"lead.created": {[]string{"lead.created"}, []string{"lead", "lead.created.x", "lead.lost"}},
		"lead.*":       {[]string{"lead.created", "lead.a.b"}, []string{"lead", "deal.created"}},
		"*.created":    {[]string{"lead.created"}, []string{"lead.lost", "created"}},
		"*":            {[]string{"lead", "a.b.c"}, nil},
		"a.*.c":        {[]string{"a.b.c"}, []string{"a.b.d", "a.c"}},
	} {
		for _, e := range types.is {
			require.True(t, matches(pattern, e), "%s %s", pattern, e)
		}
		for _, e := range types.isNot {
			require.False(t, matches(pattern, e), "%s %s", pattern, e)
		}
	}
}

// Signals speak if all conditions hold within their windows, by each of the four metrics.
func TestSignals(t *testing.T) {
	now := int64(100 * dayMicros)
	at := func(day, took int64, payload map[string]any) lived { return lived{day * dayMicros, took, payload} }
	apac, emea := map[string]any{"t": "APAC", "v": 7.0}, map[string]any{"t": "EMEA", "v": 3.0}
	episodes := []lived{at(1, 9, apac), at(90, 5, apac), at(95, 10, emea), at(96, 5, apac), at(99, 5, emea)}
	for name, c := range map[string]struct {
		of    schemas.SpawnCondition
		value float64
		top   string
	}{
		"episodes_by_tag": {schemas.SpawnCondition{Metric: schemas.EpisodesByTag, TagField: "t"}, 2, "APAC"},
		"time_share":      {schemas.SpawnCondition{Metric: schemas.TimeShare, TagField: "t"}, 0.6, "EMEA"},
		"unique_entities": {schemas.SpawnCondition{Metric: schemas.UniqueEntities, Field: "t"}, 2, ""},
		"payload_field":   {schemas.SpawnCondition{Metric: schemas.PayloadField, Field: "v", MinValue: 5}, 2, ""},
	} {
		value, top := measure(c.of, episodes[1:])
		require.InDelta(t, c.value, value, 1e-9, name)
		require.Equal(t, c.top, top, name)
	}
	w := workspace()
	w.RoleTemplates = map[string]schemas.RoleTemplate{
		"kid": {Parameters: []string{"t", "p"}, AllowedSpawners: []string{"a"},
			SpawnSignals: []schemas.SpawnSignal{
				{ID: "s", Description: "much", ExtractParams: map[string]string{"p": "v"},
					Conditions: []schemas.SpawnCondition{
						{Metric: schemas.EpisodesByTag, TagField: "t", Threshold: 2, WindowDays: 30},
						{Metric: schemas.UniqueEntities, Field: "t", Threshold: 2, WindowDays: 30}}},
			}},
	}
	m := member("a", "x")
	got := Recommend(NewWorld(w, []*Member{m}), m, episodes, now)
	require.Len(t, got, 1)
	require.Equal(t, map[string]string{"t": "APAC", "p": "3"}, got[0].Params)
	require.Equal(t, 0.5, got[0].Strength)
	require.Contains(t, got[0].Reason, "episodes_by_tag t: 2 of 2", "what lies before the window does not count")
	require.Empty(t, Recommend(NewWorld(w, []*Member{m}), m, episodes[1:4:4][1:], now), "one condition fails")
	require.Empty(t, Recommend(NewWorld(w, []*Member{m}), m, append(episodes[:1:1], episodes[2:4]...), now),
		"two episodes, one of them before the window")
	require.Empty(t, Recommend(NewWorld(w, []*Member{m}), member("b", "x"), episodes, now), "not its template")
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		k    schemas.KeyResult
		want float64
	}{{schemas.KeyResult{Target: 200, Current: 142}, 0.71}, {schemas.KeyResult{Target: 200, Current: 300}, 1},
		{schemas.KeyResult{}, 0}, {schemas.KeyResult{Target: 10, Current: -5}, 0},
		{schemas.KeyResult{Target: 2, Start: 10, Current: 6, LowerIsBetter: true}, 0.5},
		{schemas.KeyResult{Target: 2, Start: 10, Current: 1, LowerIsBetter: true}, 1},
		{schemas.KeyResult{Target: 2, Start: 10, Current: 12, LowerIsBetter: true}, 0}} {
		require.InDelta(t, c.want, c.k.Progress(), 1e-9, c.k)
	}
	require.Equal(t, "leads: 142 of 200 leads, 71 %", schemas.KeyResult{Description: "leads", Target: 200, Current: 142,
		Unit: "leads"}.String())
	require.Equal(t, "open: 12 down to 0, 40 %", schemas.KeyResult{Description: "open", Start: 20, Current: 12,
		LowerIsBetter: true}.String())
}

// What a charter adds to the brief of a role's work has at most 400 tokens, at four bytes each,
// however much it says; its soul stands there whole. Goals word briefs and decide nothing.
func TestBriefsAreShort(t *testing.T) {
	w, m := workspace(), member(strings.Repeat("r", 40), "x")
	w.Workspace = strings.Repeat("w", 40)
	m.Soul = strings.Repeat("y", maxSoul)
	for range maxNames {
		m.Authority.Forbidden = append(m.Authority.Forbidden, strings.Repeat("f", 60))
	}
	e, world := Event{Type: "thing.came", Domain: "x", By: "someone"}, NewWorld(w, []*Member{m})
	before := world.Handle(m, e, known())
	for range maxGoals {
		m.Goals = append(m.Goals, schemas.Objective{ID: "g", Description: strings.Repeat("grow ", 300)})
	}
	require.Equal(t, before, world.Handle(m, e, known()))
	lines := briefLines(world, m, ambient)
	require.LessOrEqual(t, len(strings.Join(lines, "\n")), 400*4)
	require.Contains(t, lines[0], m.Soul)
	require.Contains(t, lines[1], "your goals: grow grow")
	require.Contains(t, lines[2], "you must not: fff")
	require.Equal(t, ambient, lines[3])
}
