package memory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Who asks in other words than were written finds it, without any model, and is told why.
func TestOtherWordsFind(t *testing.T) {
	n := newWarmNode(t)
	hit := n.write(ada, learning("The automobile stands behind the bakery.")).ID
	for i := range 40 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	found := n.search(ada, "where is the car")
	require.NotEmpty(t, found.Hits)
	require.Equal(t, hit, found.Hits[0].ID)
	require.Contains(t, found.Hits[0].Why, "close to: car")
	require.True(t, found.Weak, "it has no word of the question")
	other := n.write(ada, learning("The car stands in front of the school.")).ID
	found = n.search(ada, "where is the car")
	require.Equal(t, other, found.Hits[0].ID, "the word itself counts for more")
}

// A word of the trade finds what it stands for there, though in general the two are not used alike,
// and the word itself counts for more.
func TestWordsOfTheTradeFind(t *testing.T) {
	n := newWarmNode(t)
	hit := n.write(ada, learning("flake8 runs before each commit.")).ID
	for i := range 40 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	const question = "which linter do we have"
	found := n.search(ada, question)
	require.NotEmpty(t, found.Hits)
	require.Equal(t, hit, found.Hits[0].ID)
	require.Contains(t, found.Hits[0].Why, "close to: linter")
	require.True(t, found.Weak, "it has no word of the question")
	for _, other := range []string{"which linter_id do we have", "what did Linter say", "linters.yaml"} {
		for _, h := range n.search(ada, other).Hits {
			require.NotContains(t, h.Why, "close to", other)
		}
	}
	f, err := n.trySearch(ada, Search{Text: question, Without: ByUse})
	require.NoError(t, err)
	require.NotContains(t, idsOf(f), hit)
	itself := n.write(ada, learning("The linter takes a minute.")).ID
	require.Equal(t, itself, n.search(ada, question).Hits[0].ID)
}

// Names and identifiers stand for nothing but themselves.
func TestNamesAndCodeStandForThemselves(t *testing.T) {
	n := newWarmNode(t)
	n.write(ada, learning("The automobile stands behind the bakery."))
	n.write(ada, learning("Elizabeth wrote the parser."))
	n.write(ada, learning("vehicle_id is the primary key."))
	for i := range 40 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	for _, question := range []string{"what does the Car say", "where is car_id", "what did Caroline write",
		"carFactory", "автомобиль", "Tuesday three"} {
		for _, h := range n.search(ada, question).Hits {
			require.NotContains(t, h.Why, "close to", question)
		}
	}
}

// A date in a question finds what was told of that day, week or month, without any word of it.
func TestADateFinds(t *testing.T) {
	n := newWarmNode(t)
	at := func(text, day string) schemas.ItemID {
		w := learning(text)
		w.ValidFrom = day
		return n.write(ada, w).ID
	}
	for i := range 60 {
		at("Somebody will report on topic "+strings.Repeat("x", i+3), fmt.Sprintf("2026-%02d-%02dT10:00:00Z", 1+i%7, 1+i%28))
	}
	dorota := at("Dorota: the replica lags by nine seconds", "2026-09-15T10:00:00Z")
	at("Emil: the lunch was late", "2026-09-15T12:00:00Z")
	noted := n.write(ada, learning("Emil (3 October 2026): the index is rebuilt")).ID
	yesterday := at("The crane was moved", "2026-11-19T10:00:00Z")
	week := at("The gate was painted", "2026-11-10T10:00:00Z")
	for question, want := range map[string]schemas.ItemID{
		"what did Dorota report on 15 September":      dorota,
		"what did Dorota report on 2026-09-15?":       dorota,
		"what was noted on 3 October":                 noted,
		"what happened yesterday":                     yesterday,
		"what happened last week":                     week,
		"what did Emil find in October 2026":          noted,
		"anything from ten days ago, on 10 November?": week,
	} {
		found := n.search(ada, question)
		require.NotEmpty(t, found.Hits, question)
		require.Equal(t, want, found.Hits[0].ID, question)
		require.Contains(t, found.Hits[0].Why, "of the date named", question)
	}
	f, err := n.trySearch(ada, Search{Text: "what happened yesterday", Type: SessionItem})
	require.NoError(t, err)
	require.Empty(t, f.Hits, "filters hold")
	f, err = n.trySearch(ada, Search{Text: "what happened yesterday", Until: "2026-01-01"})
	require.NoError(t, err)
	require.Empty(t, f.Hits)
	n.clock.move(24 * time.Hour)
	for _, h := range n.search(ada, "what happened yesterday").Hits {
		require.NotEqual(t, yesterday, h.ID)
	}
	// What the asker may not read is not found by its date.
	for _, h := range n.search(eve, "what did Dorota report on 15 September").Hits {
		require.Equal(t, eve, h.AuthorID)
	}
}

// What is current is found with what was, though the question has no word of it.
func TestTheCurrentItemIsFoundWithTheOld(t *testing.T) {
	n := newWarmNode(t)
	version := func(text string) schemas.ItemID {
		w := learning(text)
		w.Subject, w.Key = "gw-17", "number"
		return n.write(ada, w).ID
	}
	was := version("Kestrels listen on 8080.")
	for i := range 40 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	is := version("9090.")
	found := idsOf(n.search(ada, "where do kestrels listen"))
	require.Equal(t, is, found[0])
	require.Contains(t, found, was)
	f, err := n.trySearch(ada, Search{Text: "where do kestrels listen", Without: BySubject})
	require.NoError(t, err)
	require.NotContains(t, idsOf(f), is)
}

// What replaced a match is found by its words and says so, however often it was replaced; what it
// replaced stays away, and who may not read the successor does not find it.
func TestWhatReplacesAMatchIsFound(t *testing.T) {
	n := newWarmNode(t)
	for i := range 40 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	last, first := schemas.ItemID(""), schemas.ItemID("")
	for _, text := range []string{
		"The backups of the ledger lie in Dublin.", "They went to Frankfurt.", "Oslo since June.",
	} {
		w := learning(text)
		w.Supersedes = last
		last = n.write(ada, w).ID
		if first == "" {
			first = last
		}
	}
	const question = "where do backups of the ledger lie"
	found := n.search(ada, question)
	require.NotEmpty(t, found.Hits)
	require.Equal(t, last, found.Hits[0].ID)
	require.Contains(t, found.Hits[0].Why, "replaces a match")
	require.NotContains(t, found.Hits[0].Why, "words:", "it has none of them itself")
	require.False(t, found.Weak, "what it replaced answered the question")
	require.NotContains(t, idsOf(found), first)
	f, err := n.trySearch(ada, Search{Text: question, Without: BySubject})
	require.NoError(t, err)
	require.NotContains(t, idsOf(f), last)
	f, err = n.trySearch(ada, Search{Text: question, Type: SessionItem})
	require.NoError(t, err)
	require.Empty(t, f.Hits, "filters hold")
	require.NotContains(t, idsOf(n.search(eve, question)), last)
}
