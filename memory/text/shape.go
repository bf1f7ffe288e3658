package text

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Dates are the parts of a date a query names.
type Dates struct {
	years, days []int
	months      []time.Month
}

// DatesIn finds years, months and days in a query.
func DatesIn(text string) Dates {
	var d Dates
	fields := strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' })
	for i, w := range fields {
		if t, err := time.Parse(time.DateOnly, w); err == nil {
			d.years, d.months, d.days = append(d.years, t.Year()), append(d.months, t.Month()), append(d.days, t.Day())
			continue
		}
		if m := monthNamed(w); m != 0 && (w != "may" || i > 0 && namesTime(fields[i-1]) || i+1 < len(fields) &&
			namesDay(fields[i+1])) {
			d.months = append(d.months, m)
			continue
		}
		ordinal := strings.TrimRight(w, "sthndr")
		n, err := strconv.Atoi(ordinal)
		switch {
		case err != nil:
		case n >= 1900 && n <= 2100 && ordinal == w:
			d.years = append(d.years, n)
		case n >= 1 && n <= 31 && (ordinal != w || i > 0 && monthNamed(fields[i-1]) != 0 || i+1 < len(fields) &&
			monthNamed(fields[i+1]) != 0):
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
	return namesDay(w)
}

func namesDay(w string) bool {
	_, err := strconv.Atoi(strings.TrimRight(w, "sthndr"))
	return err == nil
}

func monthNamed(w string) time.Month {
	switch w {
	case "jan", "january":
		return time.January
	case "feb", "february":
		return time.February
	case "mar", "march":
		return time.March
	case "apr", "april":
		return time.April
	case "may":
		return time.May
	case "jun", "june":
		return time.June
	case "jul", "july":
		return time.July
	case "aug", "august":
		return time.August
	case "sep", "sept", "september":
		return time.September
	case "oct", "october":
		return time.October
	case "nov", "november":
		return time.November
	case "dec", "december":
		return time.December
	}
	return 0
}

// Share is how much of what is named t has, 0 to 1.
func (d Dates) Share(t time.Time) float64 {
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

// Shapes is a set of the kinds of answers a text could be.
type Shapes uint8

const (
	TellsWhen Shapes = 1 << iota
	TellsHowMany
	TellsWhere
	TellsWho
)

// ShapeOf is the kind of answer a question wants, 0 for any.
func ShapeOf(text string) Shapes {
	s := " " + strings.ToLower(strings.Join(strings.Fields(text), " "))
	switch {
	case strings.Contains(s, " when "), strings.Contains(s, " how long "):
		return TellsWhen
	case strings.Contains(s, " how many "), strings.Contains(s, " how much "), strings.Contains(s, " how often "):
		return TellsHowMany
	case strings.Contains(s, " where "):
		return TellsWhere
	case strings.Contains(s, " who "), strings.Contains(s, " whom "), strings.Contains(s, " whose "):
		return TellsWho
	}
	return 0
}

// String words what a single shape answers.
func (s Shapes) String() string {
	switch s {
	case TellsWhen:
		return "when"
	case TellsHowMany:
		return "how many"
	case TellsWhere:
		return "where"
	case TellsWho:
		return "who"
	}
	return ""
}

// ShapesIn finds the kinds of answers text could be.
func ShapesIn(text string) Shapes {
	var found Shapes
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		lower := strings.ToLower(w)
		digit := unicode.IsDigit(first)
		if digit && len(w) == 4 || !digit && (timeWord(lower) || monthNamed(lower) != 0) {
			found |= TellsWhen
		}
		if digit || numberWord(lower) {
			found |= TellsHowMany
		}
		if i > 0 && unicode.IsUpper(first) {
			if len(w) > 1 {
				found |= TellsWho
			}
			switch words[i-1] {
			case "in", "at", "to", "from":
				found |= TellsWhere
			}
		}
	}
	return found
}

func timeWord(w string) bool {
	switch w {
	case "yesterday", "today", "tomorrow", "tonight", "ago", "week", "weeks", "month", "months", "year", "years", "day",
		"days",
		"hour", "hours", "morning", "evening", "weekend", "monday", "tuesday", "wednesday", "thursday", "friday",
		"saturday", "sunday", "last", "next":
		return true
	}
	return false
}

func numberWord(w string) bool {
	switch w {
	case "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty",
		"dozen",
		"hundred", "thousand", "million", "twice", "once", "several", "few":
		return true
	}
	return false
}
