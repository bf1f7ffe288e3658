package memory

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// dates are the parts of a date a query names.
type dates struct {
	years, days []int
	months      []time.Month
}

// datesIn finds years, months and days in a query.
func datesIn(text string) dates {
	var d dates
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' })
	for i, w := range fields {
		if t, err := time.Parse(time.DateOnly, w); err == nil {
			d.years, d.months, d.days = append(d.years, t.Year()), append(d.months, t.Month()), append(d.days, t.Day())
			continue
		}
		if m := monthNamed(w); m != 0 && (w != "may" || i > 0 && namesTime(fields[i-1])) {
			d.months = append(d.months, m)
			continue
		}
		ordinal := strings.TrimRight(w, "sthndr")
		n, err := strconv.Atoi(ordinal)
		switch {
		case err != nil:
		case n >= 1900 && n <= 2100 && ordinal == w:
			d.years = append(d.years, n)
		case n >= 1 && n <= 31 && (ordinal != w || i > 0 && monthNamed(fields[i-1]) != 0 || i+1 < len(fields) && monthNamed(fields[i+1]) != 0):
			d.days = append(d.days, n)
		}
	}
	return d
}

func namesTime(w string) bool {
	switch w {
	case "in", "on", "of", "since", "until", "before", "after", "during", "last", "this", "next":
		return true
	}
	_, err := strconv.Atoi(strings.TrimRight(w, "sthndr"))
	return err == nil
}

func monthNamed(w string) time.Month {
	if len(w) < 3 {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		if name := strings.ToLower(m.String()); w == name || w == name[:3] || m == time.September && w == "sept" {
			return m
		}
	}
	return 0
}

// share is how much of what is named t has, 0 to 1.
func (d dates) share(t time.Time) float64 {
	named, met := 0, 0
	test := func(n int, hit bool) {
		if n > 0 {
			named++
			if hit {
				met++
			}
		}
	}
	test(len(d.years), slices.Contains(d.years, t.Year()))
	test(len(d.days), slices.Contains(d.days, t.Day()))
	test(len(d.months), slices.Contains(d.months, t.Month()))
	if named == 0 {
		return 0
	}
	return float64(met) / float64(named)
}

// shapeOf is the kind of answer a question wants: when, how many, where, who, or
// "" for any.
func shapeOf(text string) string {
	s := " " + strings.ToLower(strings.Join(strings.Fields(text), " "))
	switch {
	case strings.Contains(s, " when "), strings.Contains(s, " how long "):
		return "when"
	case strings.Contains(s, " how many "), strings.Contains(s, " how much "), strings.Contains(s, " how often "):
		return "how many"
	case strings.Contains(s, " where "):
		return "where"
	case strings.Contains(s, " who "), strings.Contains(s, " whom "), strings.Contains(s, " whose "):
		return "who"
	}
	return ""
}

// hasShape reports whether text could be an answer of that kind.
func hasShape(shape, text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		first := []rune(w)[0]
		switch shape {
		case "when":
			if timeWord(strings.ToLower(w)) || monthNamed(strings.ToLower(w)) != 0 || len(w) == 4 && unicode.IsDigit(first) {
				return true
			}
		case "how many":
			if unicode.IsDigit(first) || numberWord(strings.ToLower(w)) {
				return true
			}
		case "where":
			if unicode.IsUpper(first) && i > 0 && (words[i-1] == "in" || words[i-1] == "at" || words[i-1] == "to" || words[i-1] == "from") {
				return true
			}
		case "who":
			if unicode.IsUpper(first) && len(w) > 1 && i > 0 {
				return true
			}
		}
	}
	return false
}

func timeWord(w string) bool {
	switch w {
	case "yesterday", "today", "tomorrow", "tonight", "ago", "week", "weeks", "month", "months", "year", "years", "day", "days",
		"hour", "hours", "morning", "evening", "weekend", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "last", "next":
		return true
	}
	return false
}

func numberWord(w string) bool {
	switch w {
	case "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "dozen",
		"hundred", "thousand", "million", "twice", "once", "several", "few":
		return true
	}
	return false
}
