package memory

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	vectors "cordelia/memory/embedding"
	"cordelia/memory/rank"
	"cordelia/memory/sentence"
	"cordelia/schemas"
)

// The sets in testdata/recall were written for this program, apart from its rules: nothing in
// the ranking was chosen by them. Each line is a note, what it is found by, and what is asked.

// ownSet reads a set: its lines, cut at |.
func ownSet(t testing.TB, name string) (lines [][]string) {
	raw, err := os.ReadFile(filepath.Join("testdata", "recall", name+".txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		lines = append(lines, strings.Split(strings.TrimSpace(line), "|"))
	}
	return lines
}

// besideThem are notes of a project that no question asks for.
func besideThem() (texts []string) {
	parts := strings.Fields("ledger planner resizer notifier catalogue basket courier scheduler indexer billing")
	for _, part := range parts {
		for _, say := range []string{
			"The %s reads its settings once, when it starts.", "Whoever changes the %s adds a line to its journal.",
			"The %s was split from the monolith two years ago.", "A panic in the %s is caught at the edge and counted.",
			"The %s writes nothing while it is in read-only mode.", "Two teams have asked for a client of the %s in Python.",
			"The %s keeps one goroutine for each partition.", "Metrics of the %s are named after its package.",
			"The %s has no owner since the last reorganisation.", "The interface of the %s is generated from its schema.",
		} {
			texts = append(texts, fmt.Sprintf(say, part))
		}
	}
	return texts
}

// longTurn is what an assistant answers at length, with one thing in it that matters.
func longTurn(i int, matters string) string {
	filler := []string{
		"Thank you for the question; let me go through it step by step, so that nothing is left out.",
		"First of all it helps to look at what you have today, and at what you would like to have in the end.",
		"Many people in your place begin with the simplest way, and only later find out what they would rather have had.",
		"There are several options, each with advantages and drawbacks, and none of them is right for everybody.",
		"I would recommend to write down the requirements before you decide, since that saves time afterwards.",
		"Please tell me if one of these points is not clear, then I can explain it in more detail.",
		"Another aspect is how much effort the solution needs in the long run, not only on the first day.",
		"In summary, take small steps, check after each of them, and keep a way back open.",
	}
	var b strings.Builder
	b.WriteString("assistant: ")
	for j := range 3 * len(filler) {
		if j == 3+2*i {
			b.WriteString(matters + " ")
		}
		b.WriteString(filler[(i+j)%len(filler)] + " ")
	}
	return b.String()
}

// ownNotes is a store with one set in it, and the notes beside it. Each note is of a session of
// its own, and they are written in an order that has nothing to do with what they tell.
type ownNotes struct {
	*meaningNode
	ids map[string]schemas.ItemID // by text
}

// The vectors are those that every program makes, if by is nil.
func newOwn(t *testing.T, set string, by vectors.Embedder) ownNotes {
	n := ownNotes{&meaningNode{warmNode: newWarmNode(t)}, map[string]schemas.ItemID{}}
	put := func(text, key string, change func(*Write)) {
		data, err := json.Marshal(map[string]any{"type": "insight", "content": text,
			"source_session": fmt.Sprintf("session %d", len(n.ids))})
		require.NoError(t, err)
		w := Write{Type: LearningItem, Data: data}
		if change != nil {
			change(&w)
		}
		n.ids[key] = n.write(ada, w).ID
	}
	file := set
	if set == "replaced" { // the same updates, each saying which item it supersedes instead of what of
		file = "updates"
	}
	lines, beside := ownSet(t, file), besideThem()
	for i := range max(len(lines), len(beside)) {
		if i < len(beside) {
			put(beside[i], beside[i], nil)
		}
		if i >= len(lines) {
			continue
		}
		l := lines[i]
		switch set {
		case "long":
			put(longTurn(i, l[0]), l[0], nil)
		case "dated":
			put(l[0]+": "+l[2], l[2], func(w *Write) { w.ValidFrom = l[1] + "T08:00:00Z" })
		case "updates":
			for _, text := range l[2:4] {
				put(text, text, func(w *Write) { w.Subject, w.Key = l[0], l[1] })
			}
		case "replaced":
			put(l[2], l[2], nil)
			put(l[3], l[3], func(w *Write) { w.Supersedes = n.ids[l[2]] })
		case "asked", "german":
			put(l[0], l[0], nil)
		}
	}
	n.clock.micros.Store(time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC).UnixMicro())
	if by == nil {
		by = vectors.Words{}
	}
	n.m = NewVectors(by, vectors.Options{Private: true, Wait: time.Minute})
	n.refresh(n.m)
	return n
}

// found asks for the first ten hits, some ways of finding left out.
func (n ownNotes) found(question string, without Way) Found {
	f, down := n.byMeaning(n.m, ada, Search{Text: question, Without: without})
	require.False(n.t, down)
	return f
}

// share is the part of a set whose note is among the first k hits, in percent.
func (n ownNotes) share(lines [][]string, text, question, k int, without Way) float64 {
	hits := 0
	for _, l := range lines {
		ids := idsOf(n.found(l[question], without))
		if slices.Contains(ids[:min(k, len(ids))], n.ids[l[text]]) {
			hits++
		}
	}
	return 100 * float64(hits) / float64(len(lines))
}

// currentFirst counts the updates of which what is stands before what was.
func (n ownNotes) currentFirst(without Way) (first int) {
	for _, l := range ownSet(n.t, "updates") {
		ids := idsOf(n.found(l[4], without))
		was, is := slices.Index(ids, n.ids[l[2]]), slices.Index(ids, n.ids[l[3]])
		if is >= 0 && (was < 0 || is < was) {
			first++
		}
	}
	return first
}

// foundBy measures the sets with vectors of a model, and what each way of finding is worth.
func foundBy(t *testing.T, by vectors.Embedder, floors map[string]float64) {
	shares := map[string]float64{}
	for _, set := range []struct {
		name           string
		text, question int
	}{{"asked", 0, 1}, {"german", 0, 1}, {"long", 0, 1}, {"dated", 2, 3}} {
		lines, n := ownSet(t, set.name), newOwn(t, set.name, by)
		all := n.share(lines, set.text, set.question, 10, 0)
		shares[set.name] = all
		row := fmt.Sprintf("%-7s %3d questions · R@1 %5.1f · R@10 %5.1f", set.name, len(lines),
			n.share(lines, set.text, set.question, 1, 0), all)
		for _, way := range Ways() {
			row += fmt.Sprintf(" · without %s %5.1f", way, n.share(lines, set.text, set.question, 10, way))
		}
		t.Log(row)
		require.GreaterOrEqual(t, all, floors[set.name], set.name)
	}
	n := newOwn(t, "updates", by)
	current := n.currentFirst(0)
	t.Logf("updates 50 questions · current first %d · without subject %d", current, n.currentFirst(BySubject))
	require.Equal(t, 50, current)
	t.Logf("asked, updates and dated together: 200 questions · R@10 %.1f",
		(100*shares["asked"]+50*100*float64(current)/50+50*shares["dated"])/200)
}

// namedFirst is the part of the notes that come first where a question has a word that no other
// note has, beside words that none has, in percent.
func (n ownNotes) namedFirst() float64 {
	in, first, asked := map[string]int{}, 0, 0
	lines := ownSet(n.t, "asked")
	for _, l := range lines {
		for _, w := range rank.Words(l[0]) {
			in[w.Term]++
		}
	}
	for _, l := range lines {
		for _, w := range rank.Words(l[0]) {
			if in[w.Term] > 1 || len(w.Lower) < 5 {
				continue
			}
			asked++
			if ids := idsOf(n.found("what did my colleague tell me about "+w.Lower, 0)); ids[0] == n.ids[l[0]] {
				first++
			}
			break
		}
	}
	return 100 * float64(first) / float64(asked)
}

// What is asked in other words, by date, in German and of long turns is found; what was
// updated stands before what it was; what has no answer is marked weak.
func TestOwnSets(t *testing.T) {
	shares := map[string]float64{}
	for _, set := range []struct {
		name              string
		text, question, k int
		floor             float64
	}{
		{"asked", 0, 1, 10, 35}, {"german", 0, 1, 10, 70}, {"long", 0, 1, 10, 50}, {"dated", 2, 3, 10, 90},
	} {
		lines, n := ownSet(t, set.name), newOwn(t, set.name, nil)
		all := n.share(lines, set.text, set.question, set.k, 0)
		shares[set.name] = all
		row := fmt.Sprintf("%-7s %3d questions · R@1 %5.1f · R@10 %5.1f", set.name, len(lines),
			n.share(lines, set.text, set.question, 1, 0), all)
		for _, way := range Ways() {
			row += fmt.Sprintf(" · without %s %5.1f", way, n.share(lines, set.text, set.question, set.k, way))
		}
		t.Log(row)
		require.GreaterOrEqual(t, all, set.floor, set.name)
	}
	n := newOwn(t, "updates", nil)
	current := n.currentFirst(0)
	t.Logf("updates 50 questions · current first %d · without %s %d", current, BySubject, n.currentFirst(BySubject))
	require.Equal(t, 50, current)
	t.Logf("asked, updates and dated together: 200 questions · R@10 %.1f",
		(100*shares["asked"]+50*100*float64(current)/50+50*shares["dated"])/200)
	n = newOwn(t, "replaced", nil)
	replaced := n.currentFirst(0)
	t.Logf("replaced 50 questions · found %d · without subject %d", replaced, n.currentFirst(BySubject))
	require.Equal(t, 50, replaced)
	newOwn(t, "asked", nil).doubts(36)
}

// doubts counts what is marked weak: at least that many of the questions without an answer.
func (n ownNotes) doubts(least int) {
	weak, hits, none := 0, 0, ownSet(n.t, "none")
	for _, l := range none {
		f := n.found(l[0], 0)
		hits += len(f.Hits)
		if f.Weak || len(f.Hits) == 0 {
			weak++
		}
	}
	asked, doubted, wrongly, right := ownSet(n.t, "asked"), 0, 0, 0
	for _, l := range asked {
		f := n.found(l[1], 0)
		hit := slices.Contains(idsOf(f), n.ids[l[0]])
		if hit {
			right++
		}
		if f.Weak {
			doubted++
			if hit {
				wrongly++
			}
		}
	}
	n.t.Logf("none    %d questions · marked weak or empty %.1f %% · %.1f results each · asked with an answer, "+
		"marked weak %d of %d · found among ten and marked weak %d of %d", len(none), 100*float64(weak)/float64(len(none)),
		float64(hits)/float64(len(none)), doubted, len(asked), wrongly, right)
	require.GreaterOrEqual(n.t, weak, least)
}

// The same with the sentence encoder, of the package that CORDELIA_ENCODER names: it finds more of
// what is asked in other words, and loses nothing that words, dates and subjects find.
func TestOwnSetsWithTheEncoder(t *testing.T) {
	name := os.Getenv("CORDELIA_ENCODER")
	if name == "" {
		t.Skip("CORDELIA_ENCODER names no package: make encoder")
	}
	pkg, err := os.ReadFile(name)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), sentence.File)
	require.NoError(t, sentence.Install(pkg, path))
	encoder, err := sentence.Open(path)
	require.NoError(t, err)
	foundBy(t, encoder, map[string]float64{"asked": 55, "german": 90, "long": 50, "dated": 90})
	n := newOwn(t, "asked", encoder)
	n.doubts(0)
	first := n.namedFirst()
	t.Logf("named   a rare word of a note in a question · R@1 %.1f", first)
	require.GreaterOrEqual(t, first, 90.)
}

// Ways are all of them.
func Ways() []Way { return []Way{ByUse, ByDate, ByAuthor, BySubject, ByMeaning} }

// String names one way.
func (w Way) String() string {
	switch w {
	case ByUse:
		return "use"
	case ByDate:
		return "date"
	case ByAuthor:
		return "author"
	case BySubject:
		return "subject"
	case ByMeaning:
		return "meaning"
	}
	return ""
}
