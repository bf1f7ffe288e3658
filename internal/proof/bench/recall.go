//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// page is how many results are asked for: what R@20 needs.
const page = 20

// A mapping says how a conversation is written to the memory.
type mapping string

const (
	// bySpeakers gives each speaker an agent of their own, who writes what they say.
	bySpeakers mapping = "speakers"
	// byNotes has one agent note everything, with who said it in front.
	byNotes mapping = "notes"
	// byContext has one agent note everything, with who and when as context.
	byContext mapping = "context"
)

// A layout says where the conversations lie.
type layout string

const (
	apart    layout = "apart"    // one store each, private items
	together layout = "together" // one store, a group each; the question names its group
	crowded  layout = "crowded"  // the same beside items of other scopes
	member   layout = "member"   // one store, a group each; who asks is a member of one and names none
)

// outcome is what became of one question.
type outcome struct {
	Conversation string   `json:"conversation"`
	Question     string   `json:"question"`
	Category     int      `json:"category"`
	Gold         []string `json:"gold"`
	Found        []string `json:"found"` // turns, best first
	Ranks        []int    `json:"ranks"` // of the gold found, from 1
	Millis       float64  `json:"ms"`
}

// score sums up outcomes; shares are percent.
type score struct {
	Questions int     `json:"questions"`
	R5        float64 `json:"r5"`
	R10       float64 `json:"r10"`
	R20       float64 `json:"r20"`
	Hit10     float64 `json:"hit10"`
	MRR       float64 `json:"mrr"`
	Empty     float64 `json:"empty"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// recallResult is one configuration, measured.
type recallResult struct {
	Mapping    mapping          `json:"mapping"`
	Layout     layout           `json:"layout"`
	Others     int              `json:"other_items"`
	Written    int              `json:"written"`
	Duplicates int              `json:"duplicates"`
	WriteP50   float64          `json:"write_p50_ms"`
	Headline   score            `json:"headline"` // categories 1–4
	Categories map[string]score `json:"categories"`
	Outcomes   []outcome        `json:"outcomes,omitempty"`
}

// scoreOf sums up outcomes.
func scoreOf(list []outcome) score {
	var s score
	var times latencies
	for _, o := range list {
		times = append(times, time.Duration(o.Millis*float64(time.Millisecond)))
		if len(o.Found) == 0 {
			s.Empty++
		}
		if len(o.Gold) == 0 {
			continue
		}
		s.Questions++
		within := func(k int) float64 {
			n := 0
			for _, r := range o.Ranks {
				if r <= k {
					n++
				}
			}
			return float64(n) / float64(len(o.Gold))
		}
		s.R5, s.R10, s.R20 = s.R5+within(5), s.R10+within(10), s.R20+within(20)
		if within(10) > 0 {
			s.Hit10++
		}
		if len(o.Ranks) > 0 {
			s.MRR += 1 / float64(slices.Min(o.Ranks))
		}
	}
	for _, share := range []*float64{&s.R5, &s.R10, &s.R20, &s.Hit10, &s.MRR} {
		*share *= 100 / max(float64(s.Questions), 1)
	}
	s.Empty *= 100 / max(float64(len(list)), 1)
	s.P50, s.P99 = times.at(0.5), times.at(0.99)
	return s
}

// recall measures one configuration in a new folder.
func recall(binary, folder string, data []conversation, m mapping, l layout, others int) (recallResult, error) {
	res := recallResult{Mapping: m, Layout: l, Categories: map[string]score{}}
	var times latencies
	var n *node
	for i, c := range data {
		if n == nil || l == apart {
			n = &node{binary: binary, home: filepath.Join(folder, fmt.Sprintf("%s-%s-%d", m, l, i))}
			if l == crowded {
				res.Others = others
				if err := fillOthers(n, data, others); err != nil {
					return res, fmt.Errorf("fill: %w", err)
				}
			}
		}
		t, err := writeTurns(n, fmt.Sprintf("c%d", i), c, m, l)
		if err != nil {
			return res, fmt.Errorf("%s: %w", c.ID, err)
		}
		times = append(times, t.times...)
		res.Written += len(c.Turns)
		res.Duplicates += t.duplicates
		out, err := asked(n, fmt.Sprintf("c%d", i), c, t, l)
		if err != nil {
			return res, fmt.Errorf("%s: %w", c.ID, err)
		}
		res.Outcomes = append(res.Outcomes, out...)
	}
	res.WriteP50 = times.at(0.5)
	var headline []outcome
	byCategory := map[string][]outcome{}
	for _, o := range res.Outcomes {
		name := fmt.Sprint(o.Category)
		byCategory[name] = append(byCategory[name], o)
		if o.Category >= 1 && o.Category <= 4 {
			headline = append(headline, o)
		}
	}
	res.Headline = scoreOf(headline)
	for name, list := range byCategory {
		res.Categories[name] = scoreOf(list)
	}
	return res, nil
}

// telling is what became of a conversation's turns.
type telling struct {
	items      map[string]string   // turn → item
	turns      map[string][]string // item → turns
	times      latencies
	duplicates int
}

// writeTurns writes every turn of a conversation, in order. Its sessions are not killed: items whose
// vectors a killed one was making wait for five minutes.
func writeTurns(n *node, name string, c conversation, m mapping, l layout) (t telling, err error) {
	t = telling{items: map[string]string{}, turns: map[string][]string{}}
	lead, err := n.open("")
	if err != nil {
		return t, err
	}
	defer lead.close() //nolint:errcheck // it wrote all
	var groups []string
	if l != apart || m == bySpeakers { // what one's agents keep private is theirs
		groups = []string{name}
		if err := gather(lead, name); err != nil {
			return t, err
		}
	}
	if l == member {
		if err := enrol(lead, name+"-reader", name+" reader", groups...); err != nil {
			return t, err
		}
	}
	writers := map[string]*client{}
	defer func() {
		for _, w := range writers {
			if w != lead {
				w.close() //nolint:errcheck // it wrote all
			}
		}
	}()
	for _, utterance := range c.Turns {
		w := writers[utterance.Speaker]
		if w == nil {
			w = lead
			if m == bySpeakers {
				agent := name + "-" + strings.ToLower(utterance.Speaker)
				if err := enrol(lead, agent, utterance.Speaker, groups...); err != nil {
					return t, err
				}
				if w, err = n.open(agent); err != nil {
					return t, err
				}
			}
			writers[utterance.Speaker] = w
		}
		args := itemOf(utterance, m)
		if len(groups) > 0 {
			args["group"] = name
		}
		var answer struct {
			ID     string
			Stored bool
		}
		took, err := w.call("memory_write_warm", args, &answer)
		if err != nil {
			return t, fmt.Errorf("%s: %w", utterance.ID, err)
		}
		t.times = append(t.times, took)
		if !answer.Stored {
			t.duplicates++
		}
		t.items[utterance.ID] = answer.ID
		t.turns[answer.ID] = append(t.turns[answer.ID], utterance.ID)
	}
	return t, nil
}

// itemOf is the item that tells a turn.
func itemOf(utterance turn, m mapping) map[string]any {
	data := map[string]any{"type": "insight", "content": utterance.Text, "source_session": utterance.Session}
	if strings.TrimSpace(utterance.Text) == "" {
		data["content"] = "…"
	}
	var context []string
	if utterance.Caption != "" {
		context = append(context, utterance.Caption)
	}
	switch m {
	case byNotes:
		data["content"] = utterance.Speaker + ": " + utterance.Text
	case byContext:
		context = append([]string{utterance.Speaker + ", " + utterance.When.Format("2 January 2006")}, context...)
	}
	if len(context) > 0 {
		data["context"] = strings.Join(context, "\n")
	}
	return map[string]any{"type": "learning", "data": data, "valid_from": utterance.When.Format(time.RFC3339)}
}

// asked asks every question of a conversation, verbatim.
func asked(n *node, name string, c conversation, t telling, l layout) ([]outcome, error) {
	as := ""
	if l == member {
		as = name + "-reader"
	}
	reader, err := n.open(as)
	if err != nil {
		return nil, err
	}
	defer reader.kill()
	var out []outcome
	for _, q := range c.Questions {
		args := map[string]any{"query": q.Text, "limit": page}
		if l == together || l == crowded {
			args["group"] = name
		}
		var answer struct{ Results []struct{ ID string } }
		took, err := reader.call("memory_search", args, &answer)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", q.Text, err)
		}
		o := outcome{Conversation: c.ID, Question: q.Text, Category: q.Category, Gold: q.Gold,
			Millis: milliseconds(took)}
		rank := map[string]int{}
		for i, r := range answer.Results {
			rank[r.ID] = i + 1
			o.Found = append(o.Found, strings.Join(t.turns[r.ID], "="))
		}
		for _, id := range q.Gold {
			if r := rank[t.items[id]]; r > 0 {
				o.Ranks = append(o.Ranks, r)
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// fillOthers writes items of the same words into the private memory of an
// agent that no reader of the conversations can see.
func fillOthers(n *node, data []conversation, count int) error {
	lead, err := n.open("")
	if err != nil {
		return err
	}
	defer lead.kill()
	if err := enrol(lead, "stranger", "Stranger"); err != nil {
		return err
	}
	w, err := n.open("stranger")
	if err != nil {
		return err
	}
	defer w.kill()
	texts := shuffledTexts(data, count)
	return w.pour(count, 64, func(i int) []byte {
		return w.request("memory_write_warm", map[string]any{"type": "learning",
			"data": map[string]any{"type": "insight", "content": texts[i],
				"source_session": fmt.Sprintf("other %d", i/50)}})
	}, func(line []byte) error { return decode(line, nil) })
}

// printRecall prints results as a table.
func printRecall(w io.Writer, results []recallResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "mapping\tlayout\tothers\tcategory\tquestions\tR@5\tR@10\tR@20\thit@10\tMRR\tempty %\tp50 "+
		"ms\tp99 ms")
	for _, r := range results {
		row := func(name string, s score) {
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%.1f\t%.1f\n",
				r.Mapping, r.Layout, r.Others, name, s.Questions, s.R5, s.R10, s.R20, s.Hit10, s.MRR, s.Empty, s.P50,
				s.P99)
		}
		row("1–4", r.Headline)
		for _, name := range []string{"1", "2", "3", "4", "5"} {
			if s, ok := r.Categories[name]; ok {
				row(name, s)
			}
		}
	}
	return t.Flush()
}

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
