package memory

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/memory/text"
	"cordelia/schemas"
)

// Recall on notes in scripts without blanks and on notes about code. The floors
// lie well under what is measured.
func TestRecallOfScriptsAndCode(t *testing.T) {
	for file, floor := range map[string]struct{ recall, mrr float64 }{
		"recall_cjk.json":  {0.90, 0.65},
		"recall_code.json": {0.90, 0.80},
	} {
		raw, err := os.ReadFile("testdata/" + file)
		require.NoError(t, err)
		var set struct {
			Items     []string
			Questions []struct {
				Ask  string
				Want []int
			}
		}
		require.NoError(t, json.Unmarshal(raw, &set))
		n := newWarmNode(t)
		ids := make([]schemas.ItemID, len(set.Items))
		require.NoError(t, n.do(ada, access.Write, func(g access.Grant) error {
			for i, text := range set.Items {
				d, err := Prepare(learning(text), ada, nil)
				if err != nil {
					return err
				}
				w, err := Put(g, d)
				if err != nil {
					return err
				}
				ids[i] = w.ID
			}
			return nil
		}))
		recall, mrr := 0.0, 0.0
		for _, q := range set.Questions {
			hits := idsOf(n.search(ada, q.Ask))
			best := len(hits)
			for _, want := range q.Want {
				if at := slices.Index(hits, ids[want]); at >= 0 {
					recall += 1 / float64(len(q.Want)*len(set.Questions))
					best = min(best, at)
				} else {
					t.Logf("%s: %q does not find %q", file, q.Ask, set.Items[want])
				}
			}
			if best < len(hits) {
				mrr += 1 / float64((best+1)*len(set.Questions))
			}
		}
		t.Logf("%s: recall@10 %.3f, MRR %.3f of %d questions", file, recall, mrr, len(set.Questions))
		require.GreaterOrEqual(t, recall, floor.recall, file)
		require.GreaterOrEqual(t, mrr, floor.mrr, file)
	}
}

// Who said something and when counts the same, whether they wrote it themselves
// or somebody took notes.
func TestCuesOfNotes(t *testing.T) {
	for _, c := range []struct{ content, context, saidBy, date string }{
		{"Ada: we ship on Monday", "", "ada", ""},
		{"Ada Lovelace (3 May 2026): we ship", "", "ada lovelac", "2026-05-03"},
		{"[2026-05-03 10:15] Ada: we ship", "", "ada", "2026-05-03"},
		{"Ada, May 3, 2026: we ship", "", "ada", "2026-05-03"},
		{"user: please ship", "", "user", ""},
		{"李雷：周一发布", "", "", ""}, // a colon of another script
		{"we ship on Monday", "Ada, 3 May 2026\na picture of a boat", "ada", "2026-05-03"},
		{"we ship on Monday", "said_by: Ada; date: 2026-05-03", "ada", "2026-05-03"},
		{"we ship on Monday", "speaker: Ada\nchannel: ops", "ada", ""},
		{"Decision: use Postgres", "", "", ""},
		{"Root cause: a full disk", "", "", ""},
		{"http://example.org is down", "", "", ""},
		{"the error is this: none", "", "", ""},
		{"a note", "Lisbon, Portugal", "", ""},
		{"func main: entry", "", "", ""},
		{": nothing", "", "", ""},
	} {
		data := map[string]any{"content": c.content}
		if c.context != "" {
			data["context"] = c.context
		}
		got, _, _ := cuesOf(content{value: data})
		require.Equal(t, c.saidBy, got.saidBy, c)
		require.Equal(t, micros(c.date), got.told, c)
	}
	n := newWarmNode(t)
	second := n.write(ada, learning("Bob: the ibis cache holds forty entries by now")).ID
	first := n.write(ada, learning("Eve: the ibis cache holds many entries by now")).ID
	require.Equal(t, []schemas.ItemID{second, first}, idsOf(n.search(ada, "what did Bob say of the ibis cache")))
	require.Equal(t, []schemas.ItemID{first, second}, idsOf(n.search(ada, "what did Eve say of the ibis cache")))
	third := n.write(ada, learning("Zed (27 March 2023): nothing to report")).ID
	require.Equal(t, []schemas.ItemID{third}, idsOf(n.search(ada, "27 March 2023")), "by its date alone")
	require.Equal(t, []schemas.ItemID{third}, idsOf(n.search(ada, "Zed")), "by its speaker alone")
	require.Contains(t, n.search(ada, "Eve ibis").Hits[0].Why, "said by who is named")
}

// A topic in front of one text is no speaker: what other texts say of it keeps
// its words, and so does the text.
func TestTopicsAreNoSpeakers(t *testing.T) {
	n := newWarmNode(t)
	for i, topic := range []string{"ledger", "gateway", "relay", "resizer", "indexer", "planner"} {
		n.write(ada, learning(fmt.Sprintf("the %s timeout was set to %d seconds", topic, 10+i)))
	}
	front := n.write(ada, learning("Harbour: port four answers to the crane")).ID
	within := n.write(ada, learning(
		"after the incident of last spring the harbour timeout was set to ninety seconds")).ID
	require.Equal(t, within, idsOf(n.search(ada, "what is the timeout of the harbour"))[0])
	require.Equal(t, front, idsOf(n.search(ada, "which port has the harbour"))[0])
	for _, h := range n.search(ada, "harbour crane").Hits {
		require.NotContains(t, h.Why, "said by")
	}
	require.Contains(t, n.search(ada, "harbour crane").Hits[0].Why, "harbour")
}

func FuzzCues(f *testing.F) {
	for _, s := range []string{"Ada (3 May 2026): x", "(: ", "[]:", ",:", "a:", "\xff:\n", "Ada, : ", "said_by:",
		"by: (\n;|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _, _ := cuesOf(content{value: map[string]any{"content": s, "context": s, "date": s}})
		require.LessOrEqual(t, len(got.saidBy), 4*text.MaxHeadBytes)
	})
}

func TestShapes(t *testing.T) {
	for said, want := range map[string]text.Shapes{
		"We moved last week":        text.TellsWhen,
		"It was built in 1999":      text.TellsWhen | text.TellsHowMany,
		"There are three of them":   text.TellsHowMany,
		"She went to Lisbon":        text.TellsWhere | text.TellsWho,
		"nothing of the kind":       0,
		"the call came from Ada":    text.TellsWhere | text.TellsWho,
		"":                          0,
		"部署之前必须先备份":                 0,
		"the meeting is on Tuesday": text.TellsWhen | text.TellsWho,
	} {
		require.Equal(t, want, text.ShapesIn(said), said)
	}
	for question, want := range map[string]text.Shapes{"When did it start?": text.TellsWhen,
		"how many are there": text.TellsHowMany, "Where is it": text.TellsWhere, "who did it": text.TellsWho,
		"why": 0} {
		require.Equal(t, want, text.ShapeOf(question), question)
	}
}
