//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// turn is one thing said in a conversation.
type turn struct {
	ID      string    `json:"dia_id"`
	Speaker string    `json:"speaker"`
	Text    string    `json:"text"`
	Caption string    `json:"blip_caption"`
	Session string    `json:"-"`
	When    time.Time `json:"-"`
}

// question is asked of a conversation; gold are the turns that answer it.
type question struct {
	Text     string
	Category int
	Gold     []string
}

// conversation is one of a data set in the form of LoCoMo (Maharana et al. 2024).
type conversation struct {
	ID        string
	Turns     []turn
	Questions []question
}

// readConversations reads a data set.
func readConversations(path string) ([]conversation, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var samples []struct {
		ID           string                     `json:"sample_id"`
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []struct {
			Question string   `json:"question"`
			Category int      `json:"category"`
			Evidence []string `json:"evidence"`
		} `json:"qa"`
	}
	if err := json.Unmarshal(raw, &samples); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []conversation
	for _, s := range samples {
		c := conversation{ID: s.ID}
		if c.Turns, err = turnsOf(s.Conversation); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, s.ID, err)
		}
		exists := map[string]bool{}
		for _, t := range c.Turns {
			exists[t.ID] = true
		}
		for _, q := range s.QA {
			c.Questions = append(c.Questions, question{Text: q.Question, Category: q.Category,
				Gold: goldOf(q.Evidence, exists)})
		}
		out = append(out, c)
	}
	return out, nil
}

func turnsOf(fields map[string]json.RawMessage) ([]turn, error) {
	var out []turn
	for n := 1; ; n++ {
		session := fmt.Sprintf("session_%d", n)
		date, dated := fields[session+"_date_time"]
		raw, ok := fields[session]
		if !ok && !dated {
			return out, nil
		}
		if !ok { // a session without turns
			continue
		}
		var utterances []turn
		var when string
		if err := json.Unmarshal(raw, &utterances); err != nil {
			return nil, fmt.Errorf("%s: %w", session, err)
		}
		if err := json.Unmarshal(date, &when); err != nil {
			return nil, fmt.Errorf("%s_date_time: %w", session, err)
		}
		at, err := time.Parse("3:04 pm on 2 January, 2006", when)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", session, err)
		}
		for _, t := range utterances {
			t.Session, t.When = session, at
			out = append(out, t)
		}
	}
}

var turnID = regexp.MustCompile(`D\d+:\d+`)

// goldOf reads evidence as annotated, several ids in one string at times, and
// keeps each turn that exists once.
func goldOf(evidence []string, exists map[string]bool) []string {
	var gold []string
	seen := map[string]bool{}
	for _, id := range turnID.FindAllString(strings.Join(evidence, " "), -1) {
		if exists[id] && !seen[id] {
			seen[id] = true
			gold = append(gold, id)
		}
	}
	return gold
}
