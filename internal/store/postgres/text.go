package postgres

import (
	"regexp"
	"strconv"
	"strings"
)

// token is a word, a literal, a space or a sign of a statement; depth counts the open
// parentheses around it.
type token struct {
	text  string
	depth int
}

func (t token) is(word string) bool { return strings.EqualFold(t.text, word) }

// Translate gives a statement as PostgreSQL writes it.
func Translate(query string) string {
	tokens := split(newest.ReplaceAllString(ownWords.Replace(query), `n FROM newest($1, $2) AS n`))
	var out strings.Builder
	params := 0
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.text[0] == '?':
			n, err := strconv.Atoi(t.text[1:])
			if err != nil { // without a number: the next one
				n = params + 1
			}
			params = max(params, n)
			out.WriteString("$" + strconv.Itoa(n))
			if start(tokens, i) {
				out.WriteString(` COLLATE "C"`)
			}
		case strings.HasPrefix(t.text, "x'"):
			out.WriteString(`'\x` + t.text[2:] + "::bytea")
		case t.is("CROSS") && condition(tokens[i:]): // CROSS tells SQLite to keep the order
		case t.is("items_fts") && i+2 < len(tokens) && tokens[i+2].is("MATCH"): // full text
			out.WriteString("entries")
		case t.is("MATCH"):
			out.WriteString("~@")
		case t.is("LIKE"):
			out.WriteString("ILIKE") // SQLite's ignores case
		case names[t.text] != "":
			out.WriteString(names[t.text])
		case t.is("INDEXED"):
			i += 4 // INDEXED BY name, with the spaces between
		default:
			out.WriteString(t.text)
		}
	}
	return out.String()
}

// newest is how a statement asks for the newest rows that match, which SQLite's index has in order.
var newest = regexp.MustCompile(
	`rowid AS n FROM items_fts WHERE items_fts MATCH (\S+)\s+ORDER BY rowid DESC LIMIT (\?\d)`)

// ownWords are comments to SQLite.
var ownWords = strings.NewReplacer("/*+ ", "", " */", "")

// names are functions that go by another name: PostgreSQL has its own of SQLite's.
var names = map[string]string{
	"substr":           "cut", // a negative start counts from the end
	"json_array":       "jsonb_build_array",
	"json_group_array": "jsonb_agg",
}

// start reports whether the parameter at i is the id that a recursion starts with, as in
// (SELECT ?1 UNION …: it must compare as the column does that follows.
func start(tokens []token, i int) bool {
	return i >= 3 && i+2 < len(tokens) && tokens[i-3].text == "(" && tokens[i-2].is("SELECT") && tokens[i+2].is("UNION")
}

// condition reports whether the join that tokens begin with has an ON, which PostgreSQL
// refuses behind CROSS JOIN.
func condition(tokens []token) bool {
	for i, t := range tokens {
		switch {
		case t.depth < tokens[0].depth:
			return false
		case t.depth > tokens[0].depth || i < 3: // CROSS, space, JOIN
		case t.is("ON"):
			return true
		case ends[strings.ToUpper(t.text)]:
			return false
		}
	}
	return false
}

// ends begin what cannot belong to a join any more.
var ends = map[string]bool{"JOIN": true, "CROSS": true, "LEFT": true, "WHERE": true, "GROUP": true, "ORDER": true,
	"LIMIT": true, "UNION": true, "ON": true, ",": true, ")": true, "RETURNING": true, "SET": true, "WINDOW": true}

// split cuts a statement into its tokens.
func split(query string) []token {
	var out []token
	depth := 0
	for i := 0; i < len(query); {
		end := i + 1
		switch c := query[i]; {
		case c == '\'' || c == '"':
			end = quoted(query, i)
		case c == 'x' && strings.HasPrefix(query[end:], "'") && (i == 0 || !wordByte(query[i-1])):
			end = quoted(query, end)
		case strings.HasPrefix(query[i:], "--"):
			end = i + strings.IndexByte(query[i:]+"\n", '\n')
		case c == '?':
			for end < len(query) && '0' <= query[end] && query[end] <= '9' {
				end++
			}
		case wordByte(c):
			for end < len(query) && wordByte(query[end]) {
				end++
			}
		case strings.IndexByte(" \t\n\r", c) >= 0:
			for end < len(query) && strings.IndexByte(" \t\n\r", query[end]) >= 0 {
				end++
			}
		case c == ')':
			depth--
		}
		out = append(out, token{query[i:end], depth})
		if query[i] == '(' {
			depth++
		}
		i = end
	}
	return out
}

// quoted is where the literal that begins at i ends; a doubled quote is one of its characters.
func quoted(query string, i int) int {
	q := query[i]
	for j := i + 1; j < len(query); j++ {
		if query[j] != q {
			continue
		}
		if j+1 == len(query) || query[j+1] != q {
			return j + 1
		}
		j++
	}
	return len(query)
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
