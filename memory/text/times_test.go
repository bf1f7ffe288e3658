package text

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Friday, 20 November 2026.
func TestSpansIn(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for question, want := range map[string]string{
		"what did Dorota report on 2026-09-15":      "2026-09-15/2026-09-16",
		"what happened on 15 September 2026":        "2026-09-15/2026-09-16",
		"what happened on September 15th, 2026":     "2026-09-15/2026-09-16",
		"what did we decide in March 2025":          "2025-03-01/2025-04-01",
		"what broke today":                          "2026-11-20/2026-11-21",
		"what did Dorota report yesterday":          "2026-11-19/2026-11-20",
		"which builds failed last week":             "2026-11-09/2026-11-16",
		"what is planned this week":                 "2026-11-16/2026-11-23",
		"who left last month":                       "2026-10-01/2026-11-01",
		"what did we ship this month":               "2026-11-01/2026-12-01",
		"what was said on Monday":                   "2026-11-16/2026-11-17",
		"what was said last Friday":                 "2026-11-13/2026-11-14",
		"what was decided three days ago":           "2026-11-17/2026-11-18",
		"what was decided 2 weeks ago":              "2026-11-03/2026-11-10",
		"what was decided a month ago":              "2026-10-01/2026-11-01",
		"what was measured in 2025":                 "",
		"what may fail":                             "",
		"which of the 20 cats":                      "",
		"how long ago":                              "",
		"30 February 2026":                          "",
		"what happens on 1 May 2026 and 2 May 2026": "2026-05-01/2026-05-02 2026-05-02/2026-05-03",
	} {
		var got []string
		for _, s := range SpansIn(question, now) {
			got = append(got, s.From.Format(time.DateOnly)+"/"+s.To.Format(time.DateOnly))
		}
		require.Equal(t, want, strings.Join(got, " "), question)
	}
	spans := SpansIn("what did Dorota report on 15 September", now)
	require.Len(t, spans, yearsBack, "of any year")
	require.Equal(t, "2026-09-15", spans[0].From.Format(time.DateOnly), "the latest first")
	require.True(t, spans[0].Has(time.Date(2026, 9, 15, 23, 59, 0, 0, time.UTC)))
	require.False(t, spans[0].Has(time.Date(2026, 9, 16, 0, 0, 0, 0, time.UTC)))
}

func FuzzSpansIn(f *testing.F) {
	for _, s := range []string{"ago", "1 ago", "last", "on 31 2 2026", "may 99", "2 weeks ago", "\xff ago"} {
		f.Add(s, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, s string, at int64) {
		for _, span := range SpansIn(s, time.Unix(at%4_000_000_000, 0)) {
			require.True(t, span.From.Before(span.To), fmt.Sprint(s, span))
		}
	})
}
