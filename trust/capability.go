package trust

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Feedback is a person's judgement of an agent's work with a capability; "" is none.
type Feedback string

const (
	Good Feedback = "good"
	Bad  Feedback = "bad"
)

// Capability trust, in hundredths (role seed §4.8).
const (
	skillStart   = 30
	skillGain    = 5
	skillLoss    = 15
	reviewBelow  = 30
	silentAbove  = 70
	skillHighest = 100
)

// adjust moves capability trust. Bad feedback comes first: it counts whether or
// not the work succeeded.
func adjust(hundredths int, success bool, f Feedback) int {
	switch {
	case f == Bad:
		return max(0, hundredths-skillLoss)
	case f == Good || success:
		return min(skillHighest, hundredths+skillGain)
	}
	return hundredths
}

// Level says who watches an execution.
type Level string

const (
	Deny   Level = "deny"   // it does not happen
	Review Level = "review" // a person looks before it counts
	Report Level = "report" // it counts, and is reported
	Silent Level = "silent" // it counts, and is logged
)

func levelOf(hundredths int) Level {
	switch {
	case hundredths < reviewBelow:
		return Review
	case hundredths > silentAbove:
		return Silent
	}
	return Report
}

// Authority is how far an agent may act by itself, by its charter (role seed §4.4).
type Authority string

const (
	Autonomously  Authority = "autonomous"
	NeedsApproval Authority = "needs_approval"
	Forbidden     Authority = "forbidden"
)

// Watch gives the strictest of what authority, accuracy tier and capability trust ask for. An
// unknown authority denies.
func Watch(a Authority, tier schemas.Tier, hundredths int) Level {
	level := levelOf(hundredths)
	switch {
	case a == NeedsApproval:
		return Review
	case a != Autonomously:
		return Deny
	case tier == schemas.Medium || tier == schemas.High:
		return level
	case tier == schemas.Low && level == Silent:
		return Report
	case tier == schemas.Low:
		return level
	}
	return Review
}

// Skill is the capability trust of an agent.
type Skill struct {
	Capability string `json:"capability"`
	Hundredths int    `json:"hundredths"`
	Level      Level  `json:"level"`
	From       string `json:"from,omitempty"` // how many results each kind of proof spoke of
}

// Proof is the source of a result's outcome: a person, a check or the task pipeline.
type Proof string

const (
	ByPerson       Proof = "person"
	ByMachineCheck Proof = "machine_check" // of every criterion, by the node
	ByRecordedExit Proof = "recorded_exit" // a call that the node recorded, which exited 0
	ByCode         Proof = "code"          // a seat that code or a model of the operator's fills
	ByAgent        Proof = "agent"         // another agent's judgement
)

// Outcome is how an agent's work with a capability ended.
type Outcome struct {
	Agent      schemas.EntityID
	Capability string
	Success    bool
	Feedback   Feedback
	Proof      Proof            // "" = the kind that Judge is
	Judge      schemas.EntityID // the judge; "" = the actor
	About      string           // the result, which counts once; "" = a result without a name
}

// report is a row of the ledger of feedback.
type report struct {
	Seq        int64            `json:"seq"`
	Agent      schemas.EntityID `json:"agent"`
	Capability string           `json:"capability"`
	Success    bool             `json:"success"`
	Feedback   Feedback         `json:"feedback"`
	By         schemas.EntityID `json:"by"`
	At         int64            `json:"at"`
	Proof      Proof            `json:"proof,omitempty"`
	About      string           `json:"about,omitempty"`
}

func scanReport(r *sql.Rows) (p report, err error) {
	return p, r.Scan(&p.Seq, &p.Agent, &p.Capability, &p.Success, &p.Feedback, &p.By, &p.At, &p.Proof, &p.About)
}

func reports(tx *store.Tx, after int64, limit int) ([]report, error) {
	rows, err := tx.Query(feedbackFrom, after, limit)
	found, err := store.Collect(rows, err, scanReport)
	if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}
	return found, nil
}

var capabilityName = regexp.MustCompile(`^[a-z][a-z0-9_.:-]{0,63}$`)

// Note writes down how an agent's work with a capability ended, and gives the capability
// trust it has now, in hundredths. A result counts once, and good work earns nothing by the
// word of a judge that is the agent itself or of its lineage (INV-EARNED). Who may say so
// is the caller's to decide.
func Note(g access.Grant, o Outcome) (int, error) {
	if g.Tx() == nil {
		return 0, access.ErrNoGrant
	}
	if !capabilityName.MatchString(o.Capability) || o.Feedback != "" && o.Feedback != Good && o.Feedback != Bad {
		return 0, schemas.Invalidf("there is no capability trust for %q, %q", o.Capability, o.Feedback).
			Expecting("a seat or a class of tools, as executor or shell, with feedback good or bad")
	}
	o.Judge = cmp.Or(o.Judge, g.Actor())
	earns, err := o.earns(g)
	if err != nil {
		return 0, err
	}
	if earns && o.About != "" {
		var counted bool
		if err := g.Tx().QueryRow(selectCountedAbout, o.Agent, o.Capability, o.About).Scan(&counted); err != nil {
			return 0, fmt.Errorf("read feedback: %w", err)
		}
		earns = !counted
	}
	if !earns {
		return skillOf(g.Tx(), o.Agent, o.Capability)
	}
	return report{Agent: o.Agent, Capability: o.Capability, Success: o.Success, Feedback: o.Feedback, By: o.Judge,
		At:    g.Tx().Micros(),
		Proof: o.Proof, About: o.About}.note(g)
}

// earns reports whether o counts, and notes what proves it.
func (o *Outcome) earns(g access.Grant) (bool, error) {
	if o.Proof != "" {
		return true, nil
	}
	switch {
	case o.Judge == access.NodeEntity:
		o.Proof = ByCode
		return true, nil
	case !schemas.IsAgentID(string(o.Judge)):
		o.Proof = ByPerson
		return true, nil
	}
	o.Proof = ByAgent
	if o.Feedback == Bad {
		return true, nil
	}
	related, err := g.Related(o.Judge, o.Agent)
	return !related, err
}

// note writes p down and gives the capability trust that follows.
func (p report) note(g access.Grant) (int, error) {
	tx := g.Tx()
	if err := tx.QueryRow(lastFeedback).Scan(&p.Seq); err != nil {
		return 0, fmt.Errorf("read feedback: %w", err)
	}
	p.Seq++
	now, err := skillOf(tx, p.Agent, p.Capability)
	if err != nil {
		return 0, err
	}
	if _, err := tx.Exec(insertFeedback, p.Seq, p.Agent, p.Capability, p.Success, p.Feedback, p.By, p.At, p.Proof,
		p.About); err != nil {
		return 0, fmt.Errorf("write feedback: %w", err)
	}
	t, err := target(feedbackTarget, p.Seq, p)
	if err != nil {
		return 0, err
	}
	if err := g.Audit(t, nil); err != nil {
		return 0, err
	}
	now = adjust(now, p.Success, p.Feedback)
	if _, err := tx.Exec(upsertSkill, p.Agent, p.Capability, now, p.At); err != nil {
		return 0, fmt.Errorf("write capability trust: %w", err)
	}
	return now, nil
}

// Rate is a person's feedback on the work of an agent below them. Errors:
// CodeNotFound, CodeDenied for agents, who do not rate each other's work.
func Rate(g access.Grant, ref, capability string, f Feedback) (schemas.EntityID, Skill, error) {
	id, err := scored(g, ref)
	if err != nil {
		return "", Skill{}, err
	}
	if !g.IsHuman() {
		return "", Skill{}, schemas.Deniedf("feedback on an agent's work is the user's to give").
			Expecting("an item and a verdict, from an agent").
			Try("ask the user to run: cordelia trust assess --agent NAME --capability %s --feedback %s", capability, f)
	}
	if _, err := Note(g, Outcome{Agent: id, Capability: capability, Feedback: f}); err != nil {
		return "", Skill{}, err
	}
	all, err := skillsOf(g.Tx(), id)
	at := slices.IndexFunc(all, func(s Skill) bool { return s.Capability == capability })
	if err != nil || at < 0 {
		return "", Skill{}, err
	}
	return id, all[at], nil
}

func skillOf(tx *store.Tx, agent schemas.EntityID, capability string) (int, error) {
	n := skillStart
	err := tx.QueryRow(selectSkill, agent, capability).Scan(&n)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return 0, fmt.Errorf("read capability trust: %w", err)
	}
	return n, nil
}

// Of gives the capability trust of an agent, in hundredths.
func Of(g access.Grant, agent schemas.EntityID, capability string) (int, error) {
	if g.Tx() == nil {
		return 0, access.ErrNoGrant
	}
	return skillOf(g.Tx(), agent, capability)
}

// LevelOf says who watches when an agent of this tier and authority works with a
// capability.
func LevelOf(g access.Grant, agent schemas.EntityID, capability string, a Authority) (Level, error) {
	if g.Tx() == nil {
		return Deny, access.ErrNoGrant
	}
	chain, err := g.ChainOf(agent)
	if err != nil || len(chain) == 0 {
		return Deny, err
	}
	prior, err := priors.Of(g, agent, func() (Score, error) { return priorOf(g.Tx(), agent) })
	if err != nil {
		return Deny, err
	}
	if err := g.Tx().Ahead(selectSkill, agent, capability); err != nil {
		return Deny, err
	}
	c, err := openFrom(g.Tx(), prior, chain[0].ID, agent)
	if err != nil {
		return Deny, err
	}
	n, err := skillOf(g.Tx(), agent, capability)
	if err != nil {
		return Deny, err
	}
	return Watch(a, c.tierAt(g.Tx().Micros()), n), nil
}

func skillsOf(tx *store.Tx, agent schemas.EntityID) ([]Skill, error) {
	rows, err := tx.Query(selectSkills, agent)
	skills, err := store.Collect(rows, err, func(r *sql.Rows) (s Skill, err error) {
		err = r.Scan(&s.Capability, &s.Hundredths)
		s.Level = levelOf(s.Hundredths)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read capability trust: %w", err)
	}
	type told struct {
		capability string
		proof      Proof
		n          int
	}
	rows, err = tx.Query(countProofs, agent)
	proofs, err := store.Collect(rows, err, func(r *sql.Rows) (p told, err error) {
		return p, r.Scan(&p.capability, &p.proof, &p.n)
	})
	if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}
	for i := range skills {
		var from []string
		for _, p := range proofs {
			if p.capability == skills[i].Capability {
				from = append(from, fmt.Sprintf("%s %d", p.proof.words(), p.n))
			}
		}
		skills[i].From = strings.Join(from, ", ")
	}
	return skills, nil
}

// words names a proof to people.
func (p Proof) words() string {
	if p == "" {
		return "unknown"
	}
	return strings.ReplaceAll(string(p), "_", " ")
}
