package hooks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordelia/memory"
	"cordelia/memory/rank"
	"cordelia/ops"
	"cordelia/schemas"
)

// recall finds what shares at least two words with the prompt, by words alone: a prompt is
// sent to no embedding server. No line of agents fills more than half of the lines while
// others' items match about as well (rank.Inject). What is second-hand comes only when it is asked for: words
// from outside, shown unasked, would mark every session they turn up in. The lines take at
// most room bytes.
func (h *Hooks) recall(ctx context.Context, caller ops.Caller, in Input, room int) ([]string, error) {
	prompt := strings.TrimSpace(schemas.Shorten(in.Prompt, searched))
	if prompt == "" || strings.HasPrefix(prompt, "/") { // a command of the client
		return nil, nil
	}
	if alone, err := h.blindRole(ctx, caller, in, toolSearch); alone || err != nil {
		return nil, err
	}
	least := 2
	if len(strings.Fields(prompt)) <= 3 { // one of them may be all that says something
		least = 1
	}
	h.mu.Lock()
	shown := maps.Clone(h.shown)
	h.mu.Unlock()
	hits, err := ops.Recall(ctx, h.node, caller, prompt, rank.Inject{Lines: recalled, Words: least,
		Without: func(id schemas.ItemID) bool { return shown[id] }})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	for _, hit := range hits {
		text := hit.Snippet
		if text == "" {
			text = hit.Name
		}
		source := inert(fmt.Sprintf("(%s, %s, %s%s)", hit.Author, hit.Date, schemas.ShortID(string(hit.ID)),
			contradicted(hit, hits)))
		line := "- " + schemas.Shorten(inert(text), recallLine-len(source)) + " " + source
		if room -= len(line) + 1; room < 0 {
			break
		}
		h.shown[hit.ID] = true
		lines = append(lines, line)
	}
	return lines, nil
}

// contradicted names, of what a search found, what speaks against a hit, unless it was
// judged wrong.
func contradicted(hit memory.Hit, hits []memory.Hit) string {
	var against []string
	for _, other := range hits {
		if !other.Wrong && slices.Contains(hit.ConflictsWith, other.ID) && len(against) < 2 {
			against = append(against, schemas.ShortID(string(other.ID)))
		}
	}
	if len(against) == 0 {
		return ""
	}
	return ", conflicts with " + strings.Join(against, ", ")
}
