package text

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Span is a stretch of time that a question names: from its first moment up to, not including,
// its last.
type Span struct{ From, To time.Time }

// Has reports whether t lies in s.
func (s Span) Has(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

const (
	yearsBack  = 10 // years in which a day or month named without a year is looked for
	maxAgo     = 1000
	daysInWeek = 7
)

// SpansIn finds the days, weeks and months that a question names, absolute or relative to now:
// "2026-09-15", "15 September", "September 2026", "yesterday", "three days ago", "last week",
// "on Monday". A year alone names too much to be one.
func SpansIn(question string, now time.Time) []Span {
	now = now.UTC()
	if s := relativeSpans(question, now); len(s) > 0 {
		return s
	}
	d := DatesIn(question)
	years := slices.Compact(slices.Sorted(slices.Values(d.years)))
	if len(years) == 0 {
		for back := range yearsBack {
			years = append(years, now.Year()-back)
		}
	}
	var out []Span
	for _, year := range years {
		for i, month := range d.months {
			if len(d.days) == 0 {
				from := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
				out = append(out, Span{from, from.AddDate(0, 1, 0)})
				continue
			}
			days := d.days
			if len(d.days) == len(d.months) { // each month has its own
				days = d.days[i : i+1]
			}
			for _, day := range days {
				if from := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); from.Day() == day {
					out = append(out, Span{from, from.AddDate(0, 0, 1)})
				}
			}
		}
	}
	return out
}

// relativeSpans finds the spans that are named by their distance from now.
func relativeSpans(question string, now time.Time) (out []Span) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	days := func(from time.Time, n int) { out = append(out, Span{from, from.AddDate(0, 0, n)}) }
	monday := today.AddDate(0, 0, -(int(today.Weekday())+daysInWeek-1)%daysInWeek)
	month := today.AddDate(0, 0, 1-today.Day())
	words := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return !wordRune(r) })
	for i, w := range words {
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		switch w {
		case "today", "tonight":
			days(today, 1)
		case "yesterday":
			days(today.AddDate(0, 0, -1), 1)
		case "week":
			switch before {
			case "this":
				days(monday, daysInWeek)
			case "last", "previous":
				days(monday.AddDate(0, 0, -daysInWeek), daysInWeek)
			}
		case "month":
			switch before {
			case "this":
				out = append(out, Span{month, month.AddDate(0, 1, 0)})
			case "last", "previous":
				out = append(out, Span{month.AddDate(0, -1, 0), month})
			}
		case "ago":
			if s, ok := ago(words[:i], today); ok {
				out = append(out, s)
			}
		default:
			if day, ok := weekdayNamed(w); ok && (before == "last" || before == "on" || before == "this") {
				back := (int(today.Weekday()) - int(day) + daysInWeek) % daysInWeek
				if back == 0 && before == "last" {
					back = daysInWeek
				}
				days(today.AddDate(0, 0, -back), 1)
			}
		}
	}
	return out
}

// ago is the span that "two weeks ago" names; words are those in front of "ago".
func ago(words []string, today time.Time) (Span, bool) {
	if len(words) < 2 {
		return Span{}, false
	}
	n, unit := countNamed(words[len(words)-2]), strings.TrimSuffix(words[len(words)-1], "s")
	if n <= 0 || n > maxAgo {
		return Span{}, false
	}
	switch unit {
	case "day":
		from := today.AddDate(0, 0, -n)
		return Span{from, from.AddDate(0, 0, 1)}, true
	case "week":
		from := today.AddDate(0, 0, -n*daysInWeek-daysInWeek/2)
		return Span{from, from.AddDate(0, 0, daysInWeek)}, true
	case "month":
		from := today.AddDate(0, 1-n, 1-today.Day()).AddDate(0, -1, 0)
		return Span{from, from.AddDate(0, 1, 0)}, true
	}
	return Span{}, false
}

func countNamed(w string) int {
	switch w {
	case "a", "an", "one":
		return 1
	case "two", "couple":
		return 2
	case "three":
		return 3
	case "four":
		return 4
	case "five":
		return 5
	case "six":
		return 6
	}
	n, err := strconv.Atoi(w)
	if err != nil {
		return 0
	}
	return n
}

// NamesTime reports whether a word of a question that names a span is likely one of those that name it.
func NamesTime(lower string) bool {
	switch lower {
	case "today", "tonight", "yesterday", "day", "days", "week", "weeks", "month", "months", "ago", "last", "previous":
		return true
	}
	_, weekday := weekdayNamed(lower)
	return weekday || monthNamed(lower) != 0 || countNamed(lower) > 0 || namesDay(lower)
}

func weekdayNamed(w string) (time.Weekday, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if w == strings.ToLower(day.String()) {
			return day, true
		}
	}
	return 0, false
}
