package schemas

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Workspace is a workspace as its file says it (role seed §4.1, §4.9): the namespace, the
// isolation boundary and the policy of its roles.
type Workspace struct {
	Workspace     string                  `json:"workspace"`
	Name          string                  `json:"name,omitempty"`
	Owner         EntityID                `json:"owner"` // a person; default who applies the file
	Policy        WorkspacePolicy         `json:"policy,omitzero"`
	Operators     map[string]Operator     `json:"operators,omitempty"`
	Webhooks      map[string]Webhook      `json:"webhooks,omitempty"`
	NodeEvents    []EventType             `json:"node_events,omitempty"`
	Roles         []Role                  `json:"roles,omitempty"`
	RoleTemplates map[string]RoleTemplate `json:"role_templates,omitempty"`
}

// Isolation says who reads the memory group of a workspace.
type Isolation string

// The isolations.
const (
	StrictIsolation Isolation = "strict"      // the owner alone
	SharedRead      Isolation = "shared_read" // every role
)

// WorkspacePolicy binds all roles of a workspace.
type WorkspacePolicy struct {
	MaxRoles              *int      `json:"max_roles,omitempty"`     // default 100
	DefaultTrust          *float64  `json:"default_trust,omitempty"` // 0–1, default 0.3
	SpawnRequiresApproval bool      `json:"spawn_requires_approval,omitempty"`
	MemoryIsolation       Isolation `json:"memory_isolation,omitempty"` // default strict
}

// Authority says of actions whether a role may do them; an action that no list names needs
// an approval (role seed §2).
type Authority struct {
	Autonomous    []string `json:"autonomous,omitempty"`
	NeedsApproval []string `json:"needs_approval,omitempty"`
	Forbidden     []string `json:"forbidden,omitempty"`
}

// Classification says how secret what an event tells is.
type Classification string

// The classifications, the least secret first.
const (
	PublicInfo   Classification = "public"
	InternalInfo Classification = "internal" // of an event that names none
	Confidential Classification = "confidential"
	Restricted   Classification = "restricted"
)

// Classifications lists them, the least secret first.
func Classifications() []Classification {
	return []Classification{PublicInfo, InternalInfo, Confidential, Restricted}
}

// Wake says which events a role gets.
type Wake string

// The wake rules.
const (
	WakeAlways Wake = "always" // every event of its domains
	WakeNamed  Wake = "named"  // events that name it, alone
	WakeNever  Wake = "never"
)

// RoleBudget is what a role may use in a day (UTC); 0 is no limit.
type RoleBudget struct {
	Tasks  int     `json:"tasks,omitempty"`  // delegations
	Tokens int64   `json:"tokens,omitempty"` // of the runs that worked on them
	Money  float64 `json:"money,omitempty"`  // US dollars, of the same
}

// Schedule is an event that comes again and again.
type Schedule struct {
	Every   string            `json:"every"` // as 30m, 24h, 7d
	Type    string            `json:"type"`
	Domain  string            `json:"domain,omitempty"` // default the role's first
	Payload map[string]string `json:"payload,omitempty"`
}

// AfterDeadline says what happens to an item that was not decided in time. No value approves
// it.
type AfterDeadline string

// What follows a deadline.
const (
	ThenEscalate AfterDeadline = "escalate" // to whom the person or role asked reports
	ThenRefuse   AfterDeadline = "refuse"
)

// AskPolicy says how long what a role asks waits, and what happens then.
type AskPolicy struct {
	Within string        `json:"within,omitempty"` // as 30m, 24h, 7d; default 24h
	Then   AfterDeadline `json:"then,omitempty"`   // default escalate
}

// ObjectiveStatus says how an objective stands.
type ObjectiveStatus string

// The states of an objective.
const (
	GoalActive    ObjectiveStatus = "active"
	GoalAchieved  ObjectiveStatus = "achieved"
	GoalAtRisk    ObjectiveStatus = "at_risk"
	GoalAbandoned ObjectiveStatus = "abandoned"
)

// Objective is what a role pursues (role seed §4.5): data, set by a person.
type Objective struct {
	ID          string          `json:"id"`
	Description string          `json:"description"`
	Status      ObjectiveStatus `json:"status,omitempty"` // default active
	KeyResults  []KeyResult     `json:"key_results,omitempty"`
}

// KeyResult measures an objective.
type KeyResult struct {
	ID            string  `json:"id"`
	Description   string  `json:"description"`
	Target        float64 `json:"target"`
	Current       float64 `json:"current,omitempty"`
	Start         float64 `json:"start,omitempty"` // where it began; with lower_is_better the distance counts from there
	Unit          string  `json:"unit,omitempty"`
	LowerIsBetter bool    `json:"lower_is_better,omitempty"`
}

// Progress is how far a key result is, 0–1.
func (k KeyResult) Progress() float64 {
	switch {
	case k.LowerIsBetter && k.Current <= k.Target:
		return 1
	case k.LowerIsBetter && k.Start <= k.Target, !k.LowerIsBetter && k.Target == k.Start:
		return 0
	}
	return max(0, min(1, (k.Current-k.Start)/(k.Target-k.Start)))
}

// String says how far a key result is.
func (k KeyResult) String() string {
	unit := ""
	if k.Unit != "" {
		unit = " " + k.Unit
	}
	way := "of"
	if k.LowerIsBetter {
		way = "down to"
	}
	return fmt.Sprintf("%s: %g %s %g%s, %.0f %%", k.Description, k.Current, way, k.Target, unit, 100*k.Progress())
}

// RoleTrust is where capability trust of a role begins, 0–1.
type RoleTrust struct {
	Default *float64           `json:"default,omitempty"`
	Scores  map[string]float64 `json:"scores,omitempty"` // action → trust
}

// MemoryPolicy says what becomes of a role's memory when it ends.
type MemoryPolicy string

// The memory policies.
const (
	ArchiveMemory MemoryPolicy = "archive" // the default: it stays the role's own
	MergeToParent MemoryPolicy = "merge_to_parent"
	DeleteMemory  MemoryPolicy = "delete" // with the end of the grace period
)

// Role is a role as a workspace's file says it, or as a template makes it (role seed §4.9,
// RoleSpec).
type Role struct {
	RoleID       string                    `json:"role_id"`
	Soul         string                    `json:"soul"` // a paragraph, or the name of a .md file beside the YAML
	Domains      []string                  `json:"domains,omitempty"`
	ReportsTo    string                    `json:"reports_to,omitempty"` // a role or a person; default the owner
	OperatorIDs  []string                  `json:"operator_ids,omitempty"`
	Authority    Authority                 `json:"authority,omitzero"`
	Clearance    map[string]Classification `json:"clearance,omitempty"` // domain → up to which classification
	Goals        []Objective               `json:"goals,omitempty"`
	Trust        RoleTrust                 `json:"trust,omitzero"`
	Wake         Wake                      `json:"wake,omitempty"` // default always
	Budget       RoleBudget                `json:"budget,omitzero"`
	Schedules    []Schedule                `json:"every,omitempty"`
	Asks         AskPolicy                 `json:"asks,omitzero"`
	Status       RoleStatus                `json:"status,omitempty"` // draft, testing or active; default active
	TTL          string                    `json:"ttl,omitempty"`    // task, or as 90d; default none
	MemoryPolicy MemoryPolicy              `json:"memory_policy,omitempty"`
}

// Operator is what a role can have done: which events trigger which of its actions, and
// what a delegation becomes.
type Operator struct {
	Triggers map[string]OneOrMore `json:"triggers"` // action → types of events, * for any part
	Does     Recipe               `json:"does"`
}

// OneOrMore is a list that may be written as a single text.
type OneOrMore []string

// RecipeKind says what a delegation becomes.
type RecipeKind string

// The kinds.
const (
	AsWork RecipeKind = "work" // an item that the role does: the default
	AsTask RecipeKind = "task" // a task of the pipeline, planned and judged by others
)

// Recipe is what a delegation becomes.
type Recipe struct {
	Kind        RecipeKind      `json:"kind,omitempty"`
	Intent      string          `json:"intent"` // {action}, {type} and {payload.FIELD} are filled in
	Criteria    []RoleCriterion `json:"criteria,omitempty"`
	Constraints []string        `json:"constraints,omitempty"`
	Tools       []string        `json:"tools,omitempty"`
	Client      string          `json:"client,omitempty"` // does work where a worker serves the role; default the worker's
	Model       string          `json:"model,omitempty"`  // that the client is asked to use; default its own
	Within      string          `json:"within,omitempty"` // until its deadline, as 2h
	Budget      string          `json:"budget,omitempty"` // of work, for a task, as 30m
	Hold        bool            `json:"hold,omitempty"`   // a person looks at a task's result
}

// RoleCriterion is what the result of a role's work must meet. One with a command is decided
// by the node, which runs it on the result: exit 0 shows it.
type RoleCriterion struct {
	Criterion string `json:"criterion"`
	Command   string `json:"command,omitempty"`
}

// NewRoleCriterion reads a criterion that is a text: as of tasks, one that says of a command in
// backticks that it exits 0 names that command.
func NewRoleCriterion(text string) RoleCriterion {
	return RoleCriterion{Criterion: text, Command: namedCommand(text)}
}

// UnmarshalJSON reads a criterion, or a text that is one.
func (c *RoleCriterion) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = NewRoleCriterion(text)
		return nil
	}
	type plain RoleCriterion
	return json.Unmarshal(raw, (*plain)(c))
}

// String words the criterion with its command.
func (c RoleCriterion) String() string {
	if c.Command == "" || strings.Contains(c.Criterion, c.Command) {
		return c.Criterion
	}
	return c.Criterion + ": `" + c.Command + "` exits 0"
}

// RoleTemplate is what roles can be spawned from (role seed §4.9): people fix its structure,
// an agent fills in parameters.
type RoleTemplate struct {
	NamePattern     string                    `json:"name_pattern"`
	SoulTemplate    string                    `json:"soul_template"`
	Domains         []string                  `json:"domains,omitempty"`
	Authority       Authority                 `json:"authority,omitzero"`
	Clearance       map[string]Classification `json:"clearance,omitempty"`
	OperatorIDs     []string                  `json:"operator_ids,omitempty"`
	DefaultTrust    *float64                  `json:"default_trust,omitempty"`
	Budget          RoleBudget                `json:"budget,omitzero"`
	Wake            Wake                      `json:"wake,omitempty"`
	TTL             string                    `json:"ttl,omitempty"`
	MemoryPolicy    MemoryPolicy              `json:"memory_policy,omitempty"`
	Parameters      []string                  `json:"parameters,omitempty"`
	AllowedSpawners []string                  `json:"allowed_spawners,omitempty"`
	SpawnSignals    []SpawnSignal             `json:"spawn_signals,omitempty"`
}

// SpawnSignal says when a role may need a child: all conditions hold.
type SpawnSignal struct {
	ID            string            `json:"id"`
	Description   string            `json:"description"`
	Conditions    []SpawnCondition  `json:"conditions"`
	ExtractParams map[string]string `json:"extract_params,omitempty"` // parameter → field of the payload
}

// SpawnMetric is what a condition measures.
type SpawnMetric string

// The metrics.
const (
	EpisodesByTag  SpawnMetric = "episodes_by_tag" // episodes with the most frequent value of tag_field
	TimeShare      SpawnMetric = "time_share"      // that value's share of the time spent, 0–1
	UniqueEntities SpawnMetric = "unique_entities" // different values of field
	PayloadField   SpawnMetric = "payload_field"   // episodes whose field is at least min_value
)

// SpawnCondition is one condition of a signal, over the window before now.
type SpawnCondition struct {
	Metric     SpawnMetric `json:"metric"`
	Threshold  float64     `json:"threshold"`
	WindowDays int         `json:"window_days,omitempty"` // default 30
	TagField   string      `json:"tag_field,omitempty"`
	Field      string      `json:"field,omitempty"`
	MinValue   float64     `json:"min_value,omitempty"`
}

// Webhook says how requests to /hooks/SOURCE become events. The secret that signs them lies
// in a file of the node, never here.
type Webhook struct {
	Kind      string            `json:"kind,omitempty"` // github, or "" for the table below
	Domain    string            `json:"domain"`         // of its events
	Signature string            `json:"signature,omitempty"`
	Delivery  string            `json:"delivery,omitempty"` // header with the delivery's id
	Type      string            `json:"type,omitempty"`     // field of the body, as event.name
	Thread    string            `json:"thread,omitempty"`   // field of the body
	Author    string            `json:"author,omitempty"`   // field of the body
	Events    map[string]string `json:"events,omitempty"`   // type in the body → type of the event; others are ignored
	Self      []string          `json:"self,omitempty"`     // authors whose events are effects of ours
	Fields    map[string]string `json:"fields,omitempty"`   // name in the payload → field of the body
}
