package pipeline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An intent keeps at least half of the user's words, in any script, and adds no more than
// it keeps.
func TestIntentKeepsTheWords(t *testing.T) {
	long := "please fix this: " + strings.Repeat(
		"some log line of many words number one two three four five six seven eight nine ten eleven twelve thirteen "+
			"fourteen fifteen ", 2) +
		"alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon " +
		"phi chi psi omega"
	for _, tt := range []struct {
		intent string
		ok     bool
		said   []string
	}{
		{"do the thing", true, []string{"Do the thing"}},
		{"delete every backup of last year", false, []string{"Do the thing"}},
		{"do the thing: delete every backup of last year at once", false, []string{"Do the thing"}},
		{"write the yearly report", true, []string{"Write the report", "the yearly one"}},
		{"write the yearly sales report", false, []string{"Write something"}},
		{"fix the login bug", false, []string{"Fix the login bug, update the docs, add tests for payment retries " +
			"and release it on Friday"}},
		{"writing reports about testing", true, []string{"write a report about tests"}},
		{"fix alpha beta gamma", true, []string{long}},
		{"drop the database", false, []string{long}},
		{"最新のログの行数を数える", true, []string{"最新のログを探して行数を数えて"}},
		{"古いバックアップを全部消す", false, []string{"最新のログを探して行数を数えて"}},
		{"посчитать строки последнего журнала", true, []string{"Посчитай строки в последнем журнале"}},
		{"удалить резервные копии", false, []string{"Посчитай строки в последнем журнале"}},
		{"ログを数える", false, []string{"Count the logs"}},
		{"", true, []string{"x"}},
		{"x", true, []string{"?"}},
	} {
		d, ok := Depart(tt.intent, tt.said...)
		require.Equal(t, tt.ok, ok, "%q of %q: %+v", tt.intent, tt.said, d)
	}
}
