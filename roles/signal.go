package roles

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Recommendation is a child that a role's episodes speak for (role seed §4.9, path 4).
type Recommendation struct {
	Template string            `json:"template_id"`
	Signal   string            `json:"signal"`
	Reason   string            `json:"reason"`
	Strength float64           `json:"confidence"` // 0.5 at its thresholds, 1 at twice of them
	Params   map[string]string `json:"suggested_params,omitempty"`
}

// lived is an episode as signals see it.
type lived struct {
	at, took int64
	payload  map[string]any
}

// Recommend measures the signals of all templates that a role may use against its episodes:
// a signal speaks if all its conditions hold over their windows.
func Recommend(w *World, m *Member, episodes []lived, now int64) (out []Recommendation) {
	for _, id := range slices.Sorted(maps.Keys(w.Workspace.RoleTemplates)) {
		t := w.Workspace.RoleTemplates[id]
		if !slices.Contains(t.AllowedSpawners, m.RoleID) {
			continue
		}
		for _, s := range t.SpawnSignals {
			rec, ok := signal{s, t}.measure(episodes, now)
			if rec.Template = id; ok {
				out = append(out, rec)
			}
		}
	}
	return out
}

// signal is a signal with its template.
type signal struct {
	schemas.SpawnSignal
	of schemas.RoleTemplate
}

// defaultWindow is that of a condition, in days.
const defaultWindow = 30

func (s signal) measure(episodes []lived, now int64) (rec Recommendation, ok bool) {
	rec = Recommendation{Signal: s.ID, Reason: s.Description, Strength: 1, Params: map[string]string{}}
	for _, c := range s.Conditions {
		window := int64(cmp.Or(c.WindowDays, defaultWindow)) * (24 * time.Hour).Microseconds()
		recent := slices.DeleteFunc(slices.Clone(episodes), func(e lived) bool { return e.at < now-window })
		value, top := measure(c, recent)
		if value < c.Threshold || c.Threshold <= 0 && value == 0 {
			return rec, false
		}
		if c.Threshold > 0 {
			rec.Strength = min(rec.Strength, value/(2*c.Threshold))
		}
		if top != "" && slices.Contains(s.of.Parameters, c.TagField) {
			rec.Params[c.TagField] = top
		}
		rec.Reason += fmt.Sprintf(" (%s %s: %.4g of %.4g)", c.Metric, cmp.Or(c.TagField, c.Field), value, c.Threshold)
	}
	if n := len(episodes); n > 0 {
		for _, p := range slices.Sorted(maps.Keys(s.ExtractParams)) {
			param := ""
			for i := n - 1; i >= 0 && param == ""; i-- {
				param = field(episodes[i].payload, s.ExtractParams[p])
			}
			if param != "" {
				rec.Params[p] = param
			}
		}
	}
	return rec, true
}

// measure gives the value of a metric, and the tag it is about.
func measure(c schemas.SpawnCondition, episodes []lived) (value float64, top string) {
	counts, times, total := map[string]float64{}, map[string]float64{}, 0.0
	n := 0.0
	for _, e := range episodes {
		tag, v := field(e.payload, c.TagField), field(e.payload, c.Field)
		if c.Metric == schemas.UniqueEntities {
			tag = v
		}
		total += float64(e.took)
		if tag != "" {
			counts[tag]++
			times[tag] += float64(e.took)
		}
		if number, err := strconv.ParseFloat(v, 64); err == nil && number >= c.MinValue {
			n++
		}
	}
	most := func(of map[string]float64) (best string) {
		for _, tag := range slices.Sorted(maps.Keys(of)) {
			if best == "" || of[tag] > of[best] {
				best = tag
			}
		}
		return best
	}
	switch c.Metric {
	case schemas.EpisodesByTag:
		top = most(counts)
		return counts[top], top
	case schemas.TimeShare:
		top = most(times)
		if total == 0 {
			return 0, top
		}
		return times[top] / total, top
	case schemas.UniqueEntities:
		return float64(len(counts)), ""
	}
	return n, ""
}

// recommend measures a role's signals and keeps what they speak for.
func (r *Roles) recommend(g access.Grant, w *World, m *Member) error {
	now := g.Tx().Micros()
	rows, err := g.Tx().Query(selectEpisodes, m.Agent, now-(365*24*time.Hour).Microseconds())
	episodes, err := store.Collect(rows, err, func(r *sql.Rows) (e lived, err error) {
		var ended int64
		var outcome, action, payload string
		if err := r.Scan(&e.at, &ended, &outcome, &action, &payload); err != nil {
			return e, err
		}
		if ended > 0 {
			e.took = ended - e.at
		}
		return e, json.Unmarshal([]byte(payload), &e.payload)
	})
	if err != nil {
		return fmt.Errorf("read episodes: %w", err)
	}
	for _, rec := range Recommend(w, m, episodes, now) {
		if _, err := g.Tx().Exec(upsertRecommendation, schemas.NewID(), m.Agent, rec.Template, rec.Signal,
			encoded(rec.Params), rec.Reason, rec.Strength, now); err != nil {
			return fmt.Errorf("write recommendation: %w", err)
		}
	}
	return nil
}

// Recommendations lists what a role's episodes speak for, the strongest first.
func Recommendations(g access.Grant, agent schemas.EntityID) ([]Recommendation, error) {
	rows, err := g.Tx().Query(selectRecommendations, agent)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (rec Recommendation, err error) {
		var params string
		if err := r.Scan(&rec.Template, &rec.Signal, &params, &rec.Reason, &rec.Strength); err != nil {
			return rec, err
		}
		return rec, unmarshal(params, &rec.Params)
	})
	if err != nil {
		return nil, fmt.Errorf("read recommendations: %w", err)
	}
	return list, nil
}
