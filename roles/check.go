package roles

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordelia/schemas"
)

// Limits of a workspace. Sizes are in bytes.
const (
	DefaultRoles = 100
	maxRolesEver = 10_000
	maxSoul      = 1000 // a paragraph: it stands in every brief
	maxGoals     = 10
	maxNames     = 100 // of a list
	maxText      = 2000
	maxSchedules = 20
	minEvery     = time.Minute
	maxSpan      = 3650 * 24 * time.Hour
)

var (
	roleName   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	actionName = regexp.MustCompile(`^[a-z][a-z0-9_.:-]{0,63}$`)
	domainName = regexp.MustCompile(`^[a-z0-9][a-z0-9_./-]{0,63}$`)
	eventName  = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+){0,5}$`)
	paramName  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	clientName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$`)
	hole       = regexp.MustCompile(`\{([^{}]*)\}`)
)

// say notes what is wrong at a path.
type say func(path, format string, args ...any)

// check notes everything that is wrong with a workspace.
func check(w *schemas.Workspace, say say) {
	if !roleName.MatchString(w.Workspace) {
		say("/workspace", "must be 1–40 of a-z 0-9 -, starting with a letter")
	}
	if err := schemas.CheckHumanID(string(w.Owner)); w.Owner != "" && err != nil {
		say("/owner", "must be the id of a person; cordelia status shows yours")
	}
	checkPolicy(w.Policy, say)
	for _, id := range slices.Sorted(maps.Keys(w.Operators)) {
		checkOperator(w.Operators[id], id, say)
	}
	for _, id := range slices.Sorted(maps.Keys(w.Webhooks)) {
		checkWebhook(w.Webhooks[id], id, say)
	}
	for i, t := range w.NodeEvents {
		if !t.Known() {
			say(fmt.Sprintf("/node_events/%d", i), "there is no event %q%s", t,
				schemas.DidYouMean(string(t), schemas.Strings(schemas.EventTypes())))
		}
	}
	ids := map[string]bool{}
	for i, r := range w.Roles {
		at := fmt.Sprintf("/roles/%d", i)
		if ids[r.RoleID] {
			say(at+"/role_id", "%q is there twice", r.RoleID)
		}
		ids[r.RoleID] = true
		checkRole(r, at, say)
	}
	for i, r := range w.Roles {
		checkReports(w, r, fmt.Sprintf("/roles/%d/reports_to", i), say)
	}
	for _, id := range slices.Sorted(maps.Keys(w.RoleTemplates)) {
		at := "/role_templates" + schemas.Pointer(id)
		if !roleName.MatchString(id) {
			say(at, "a template's id must be 1–40 of a-z 0-9 -, starting with a letter")
		}
		checkTemplate(w.RoleTemplates[id], at, say)
	}
}

func oneOf[S ~string](say say, path string, got S, allowed ...S) {
	if got != "" && !slices.Contains(allowed, got) {
		say(path, "must be one of %s%s", schemas.Joined(allowed),
			schemas.DidYouMean(string(got), schemas.Strings(allowed)))
	}
}

func fraction(say say, path string, v *float64) {
	if v != nil && (*v < 0 || *v > 1) {
		say(path, "must be 0 to 1")
	}
}

func checkPolicy(p schemas.WorkspacePolicy, say say) {
	if p.MaxRoles != nil && (*p.MaxRoles < 1 || *p.MaxRoles > maxRolesEver) {
		say("/policy/max_roles", "must be 1 to %d", maxRolesEver)
	}
	fraction(say, "/policy/default_trust", p.DefaultTrust)
	oneOf(say, "/policy/memory_isolation", p.MemoryIsolation, schemas.StrictIsolation, schemas.SharedRead)
}

func checkNames(say say, path string, list []string, form *regexp.Regexp, what string) {
	if len(list) > maxNames {
		say(path, "has more than %d names", maxNames)
	}
	for i, s := range list {
		if !form.MatchString(s) || slices.Contains(list[:i], s) {
			say(fmt.Sprintf("%s/%d", path, i), "%q is no %s, or stands here twice", schemas.Shorten(s, 64), what)
		}
	}
}

func checkAuthority(a schemas.Authority, at string, say say) {
	in := map[string]string{}
	for _, l := range []struct {
		key  string
		list []string
	}{{"autonomous", a.Autonomous}, {"needs_approval", a.NeedsApproval}, {"forbidden", a.Forbidden}} {
		checkNames(say, at+"/authority/"+l.key, l.list, actionName, "action (a-z 0-9 _ . : -)")
		for i, action := range l.list {
			if other := in[action]; other != "" && other != l.key {
				say(fmt.Sprintf("%s/authority/%s/%d", at, l.key, i), "%s stands among %s, too", action, other)
			}
			in[action] = l.key
		}
	}
}

func checkDomains(domains []string, at string, say say) {
	for i, d := range domains {
		if d != "*" && !domainName.MatchString(d) {
			say(fmt.Sprintf("%s/domains/%d", at, i), "%q is no domain: a-z 0-9 _ . / -, or * for all", schemas.Shorten(d, 64))
		}
	}
}

func checkClearance(c map[string]schemas.Classification, at string, say say) {
	for _, d := range slices.Sorted(maps.Keys(c)) {
		oneOf(say, at+"/clearance"+schemas.Pointer(d), c[d], schemas.Classifications()...)
	}
}

func checkBudget(b schemas.RoleBudget, at string, say say) {
	if b.Tasks < 0 || b.Tokens < 0 || b.Money < 0 {
		say(at+"/budget", "must not be below 0")
	}
}

func checkRole(r schemas.Role, at string, say say) {
	if !roleName.MatchString(r.RoleID) {
		say(at+"/role_id", "must be 1–40 of a-z 0-9 -, starting with a letter")
	}
	if r.RoleID == theOwner {
		say(at+"/role_id", "must not be %s: messages name you so", theOwner)
	}
	if strings.TrimSpace(r.Soul) == "" || len(r.Soul) > maxSoul {
		say(at+"/soul", "must be a paragraph of 1 to %d bytes, or the name of a .md file beside this one", maxSoul)
	}
	checkDomains(r.Domains, at, say)
	checkNames(say, at+"/operator_ids", r.OperatorIDs, actionName, "operator")
	checkAuthority(r.Authority, at, say)
	checkClearance(r.Clearance, at, say)
	checkGoals(r.Goals, at, say)
	fraction(say, at+"/trust/default", r.Trust.Default)
	for _, a := range slices.Sorted(maps.Keys(r.Trust.Scores)) {
		v := r.Trust.Scores[a]
		fraction(say, at+"/trust/scores"+schemas.Pointer(a), &v)
	}
	oneOf(say, at+"/wake", r.Wake, schemas.WakeAlways, schemas.WakeNamed, schemas.WakeNever)
	checkBudget(r.Budget, at, say)
	if len(r.Schedules) > maxSchedules {
		say(at+"/every", "has more than %d schedules", maxSchedules)
	}
	for i, s := range r.Schedules {
		path := fmt.Sprintf("%s/every/%d", at, i)
		if d, err := span(s.Every); err != nil || d < minEvery {
			say(path+"/every", "must be a time of a minute or more, as 30m, 24h or 7d")
		}
		if s.Domain == "" && len(r.Domains) == 0 || s.Domain != "" && !domainName.MatchString(s.Domain) {
			say(path+"/domain", "must be the domain of the event; the role has none")
		}
		if !eventName.MatchString(s.Type) {
			say(path+"/type", "must be a type of event, as report.due")
		}
	}
	if d, err := span(r.Asks.Within); r.Asks.Within != "" && (err != nil || d < minEvery) {
		say(at+"/asks/within", "must be a time of a minute or more, as 30m, 24h or 7d")
	}
	oneOf(say, at+"/asks/then", r.Asks.Then, schemas.ThenEscalate, schemas.ThenRefuse)
	oneOf(say, at+"/status", r.Status, schemas.RoleDraft, schemas.RoleTesting, schemas.RoleActive)
	checkTTL(r.TTL, at, say)
	oneOf(say, at+"/memory_policy", r.MemoryPolicy, schemas.ArchiveMemory, schemas.MergeToParent, schemas.DeleteMemory)
}

func checkTTL(ttl, at string, say say) {
	if _, err := span(ttl); ttl != "" && ttl != ttlTask && err != nil {
		say(at+"/ttl", "must be task, or a time as 24h or 90d")
	}
}

func checkGoals(goals []schemas.Objective, at string, say say) {
	if len(goals) > maxGoals {
		say(at+"/goals", "has more than %d objectives", maxGoals)
	}
	for i, o := range goals {
		path := fmt.Sprintf("%s/goals/%d", at, i)
		if o.ID == "" || o.Description == "" || len(o.Description) > maxText {
			say(path, "needs an id and a description of at most %d bytes", maxText)
		}
		oneOf(say, path+"/status", o.Status, schemas.GoalActive, schemas.GoalAchieved, schemas.GoalAtRisk,
			schemas.GoalAbandoned)
		for j, k := range o.KeyResults {
			if k.ID == "" || k.Description == "" {
				say(fmt.Sprintf("%s/key_results/%d", path, j), "needs an id and a description")
			}
		}
	}
}

// checkReports refuses a line of reporting that names an unknown role or comes back to its
// start.
func checkReports(w *schemas.Workspace, r schemas.Role, path string, say say) {
	seen := map[string]bool{r.RoleID: true}
	for to := r.ReportsTo; to != "" && to != string(w.Owner); {
		at := slices.IndexFunc(w.Roles, func(o schemas.Role) bool { return o.RoleID == to })
		if at < 0 {
			if to == r.ReportsTo {
				known := []string{string(w.Owner)}
				for _, o := range w.Roles {
					known = append(known, o.RoleID)
				}
				say(path, "%q is neither a role of this file nor the owner%s", schemas.Shorten(to, 64),
					schemas.DidYouMean(to, known))
			}
			return
		}
		if seen[to] {
			say(path, "leads in a circle")
			return
		}
		seen[to] = true
		to = w.Roles[at].ReportsTo
	}
}

func checkOperator(o schemas.Operator, id string, say say) {
	at := "/operators" + schemas.Pointer(id)
	if !actionName.MatchString(id) {
		say(at, "an operator's id must be of a-z 0-9 _ . : -")
	}
	if len(o.Triggers) == 0 {
		say(at+"/triggers", "is missing: action: type of event")
	}
	for _, action := range slices.Sorted(maps.Keys(o.Triggers)) {
		path := at + "/triggers" + schemas.Pointer(action)
		if !actionName.MatchString(action) || action == spawnAction {
			say(path, "an action must be of a-z 0-9 _ . : -, and not %s", spawnAction)
		}
		for _, p := range o.Triggers[action] {
			if !patternOK(p) {
				say(path, "%q is no type of event, as lead.created or lead.*", schemas.Shorten(p, 64))
			}
		}
	}
	checkRecipe(o.Does, at, say)
}

// checkRecipe says what is wrong with what an operator makes of an event.
func checkRecipe(d schemas.Recipe, at string, say say) {
	oneOf(say, at+"/does/kind", d.Kind, schemas.AsWork, schemas.AsTask)
	if strings.TrimSpace(d.Intent) == "" || len(d.Intent) > maxText {
		say(at+"/does/intent", "must have 1 to %d bytes", maxText)
	}
	for _, h := range hole.FindAllStringSubmatch(d.Intent, -1) {
		if h[1] != "action" && h[1] != "type" && !strings.HasPrefix(h[1], "payload.") {
			say(at+"/does/intent", "{%s} stands for nothing; there are {action}, {type} and {payload.FIELD}", h[1])
		}
	}
	for key, text := range map[string]string{"within": d.Within, "budget": d.Budget} {
		if _, err := span(text); text != "" && err != nil {
			say(at+"/does/"+key, "must be a time, as 30m or 2h")
		}
	}
	for i, c := range d.Criteria {
		if strings.TrimSpace(c.Criterion) == "" || len(c.Criterion) > maxText || len(c.Command) > maxText {
			say(fmt.Sprintf("%s/does/criteria/%d", at, i), "needs a text, and text and command at most %d bytes each", maxText)
		}
	}
	for key, name := range map[string]string{"client": d.Client, "model": d.Model} {
		if name != "" && !clientName.MatchString(name) {
			say(at+"/does/"+key, "must be a name of letters, digits and . _ : / -")
		}
	}
	if d.Kind == schemas.AsTask && (d.Client != "" || d.Model != "") {
		say(at+"/does", "client and model are for kind: work; who fills the seats of a task its worker says")
	}
	if d.Kind != schemas.AsTask && (d.Budget != "" || d.Hold) {
		say(at+"/does", "budget and hold are for kind: task")
	}
	if d.Kind == schemas.AsTask && (len(d.Criteria) > 0 || len(d.Constraints) > 0) {
		say(at+"/does", "criteria and constraints are for kind: work; say in the intent what a task must reach")
	}
}

func patternOK(p string) bool {
	return p == "*" || eventName.MatchString(strings.ReplaceAll(p, "*", "x"))
}

func checkTemplate(t schemas.RoleTemplate, at string, say say) {
	if strings.TrimSpace(t.NamePattern) == "" || len(t.NamePattern) > maxText {
		say(at+"/name_pattern", "is missing, as BDR - {territory}")
	}
	if strings.TrimSpace(t.SoulTemplate) == "" || len(t.SoulTemplate) > maxSoul {
		say(at+"/soul_template", "must be a paragraph of 1 to %d bytes", maxSoul)
	}
	checkNames(say, at+"/parameters", t.Parameters, paramName, "parameter (a-z 0-9 _)")
	for _, text := range []struct{ key, text string }{
		{"name_pattern", t.NamePattern}, {"soul_template", t.SoulTemplate}} {
		for _, h := range hole.FindAllStringSubmatch(text.text, -1) {
			if !slices.Contains(t.Parameters, h[1]) {
				say(at+"/"+text.key, "{%s} is not among parameters%s", h[1], schemas.DidYouMean(h[1], t.Parameters))
			}
		}
	}
	checkDomains(t.Domains, at, say)
	checkAuthority(t.Authority, at, say)
	checkClearance(t.Clearance, at, say)
	checkNames(say, at+"/operator_ids", t.OperatorIDs, actionName, "operator")
	checkNames(say, at+"/allowed_spawners", t.AllowedSpawners, roleName, "role")
	fraction(say, at+"/default_trust", t.DefaultTrust)
	checkBudget(t.Budget, at, say)
	oneOf(say, at+"/wake", t.Wake, schemas.WakeAlways, schemas.WakeNamed, schemas.WakeNever)
	checkTTL(t.TTL, at, say)
	oneOf(say, at+"/memory_policy", t.MemoryPolicy, schemas.ArchiveMemory, schemas.MergeToParent, schemas.DeleteMemory)
	for i, s := range t.SpawnSignals {
		checkSignal(s, t, fmt.Sprintf("%s/spawn_signals/%d", at, i), say)
	}
}

func checkSignal(s schemas.SpawnSignal, t schemas.RoleTemplate, at string, say say) {
	if s.ID == "" || len(s.Conditions) == 0 {
		say(at, "needs an id and conditions")
	}
	for i, c := range s.Conditions {
		path := fmt.Sprintf("%s/conditions/%d", at, i)
		oneOf(say, path+"/metric", c.Metric, schemas.EpisodesByTag, schemas.TimeShare, schemas.UniqueEntities,
			schemas.PayloadField)
		field := c.Field
		if c.Metric == schemas.EpisodesByTag || c.Metric == schemas.TimeShare {
			field = c.TagField
		}
		if c.Metric == "" || !paramName.MatchString(field) {
			say(path, "needs a metric, and the field of the payload it is about: tag_field, or field")
		}
		if c.WindowDays < 0 || c.WindowDays > 365 {
			say(path+"/window_days", "must be 1 to 365")
		}
	}
	for _, p := range slices.Sorted(maps.Keys(s.ExtractParams)) {
		if !slices.Contains(t.Parameters, p) {
			say(at+"/extract_params"+schemas.Pointer(p), "is not among parameters")
		}
	}
}

// ttlTask ends a role with its first task.
const ttlTask = "task"

// span reads a time: a number with s, m, h or d.
func span(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > int(maxSpan/(24*time.Hour)) {
			return 0, fmt.Errorf("no number of days: %q", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && (d <= 0 || d > maxSpan) {
		err = fmt.Errorf("out of range: %q", text)
	}
	return d, err
}
