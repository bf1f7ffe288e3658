package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/memory/text"
	"cordelia/schemas"
)

// wordIndex is what is stored of an item's text so that it can be found and
// ranked without being read again.
type wordIndex struct {
	cues
	terms  string // stems in order, last those of who said it and when
	tokens int    // how many of terms are what is said
	grams  string
	bands  []int64
}

// indexOf cuts an item's text into what is indexed. Who said it and when finds
// an item, but is weighed apart from its words.
func indexOf(c content, subject, key string) wordIndex {
	cues, spoken, head := cuesOf(c)
	words := text.Words(spoken.prose() + subject + " " + key)
	w := wordIndex{cues: cues, tokens: len(words)}
	words = append(words, text.Words(head)...)
	w.terms, w.grams = text.JoinTerms(words), strings.Join(text.Grams(words), " ")
	w.bands = bandsOf(setOf(w.terms))
	return w
}

// Kinds of entries. Every entry begins with its audience, so that a search walks only what its
// reader may see and does not slow down with the items of others.
const (
	wordEntry = "w" // a stem
	gramEntry = "g" // three letters of a word
	metaEntry = "m" // alone: the item is there; followed by a filter's value
)

// audience begins the entries of a scope; what is in quarantine has one of its
// own, so that no search comes across it.
func audience(scope int64, quarantined bool) string {
	if quarantined {
		return "q" + strconv.FormatInt(scope, 10)
	}
	return "s" + strconv.FormatInt(scope, 10)
}

// lessonToken finds what the node learnt from tasks: it is in no list of tags, so that no agent
// crowds lessons out with items tagged like them.
const lessonToken = "lesson"

// entry is the form of a value in the index, after its audience: SQLite splits
// the line of entries at all of ASCII but letters and digits.
func entry(kind, value string) string { return kind + indexed(value) }

// indexed is a value as the index has it.
func indexed(value string) string { return strings.ReplaceAll(value, "_", "·") }

// token is a word of a filter: a kind, and a value of any form.
func token(kind, value string) string {
	sum := sha256.Sum256([]byte(value))
	return kind + hex.EncodeToString(sum[:8])
}

func authorToken(id schemas.EntityID) string { return token("a", string(id)) }
func tagToken(tag string) string             { return token("g", strings.ToLower(tag)) }
func typeToken(t ItemType) string            { return "t" + string(t) }

// monthToken lets a search by time leave out other months within the index.
func monthToken(micros int64) string {
	return "d" + time.UnixMicro(micros).UTC().Format("200601")
}

// entries is the line of the full-text index that finds r.
func (r *row) entries(w wordIndex) string {
	var b strings.Builder
	to := audience(r.scope, r.inQuarantine())
	b.Grow(len(w.terms) + len(w.grams) + (strings.Count(w.terms, " ")+strings.Count(w.grams, " "))*(len(to)+2))
	add := func(kind, value string) {
		b.WriteString(to)
		b.WriteString(kind)
		b.WriteString(indexed(value))
		b.WriteByte(' ')
	}
	add(metaEntry, "")
	for _, filter := range []string{typeToken(r.typ), authorToken(r.author), monthToken(r.created)} {
		add(metaEntry, filter)
	}
	for _, t := range r.tagList() {
		add(metaEntry, tagToken(t))
	}
	if r.isLesson() {
		add(metaEntry, lessonToken)
	}
	for t := range strings.FieldsSeq(w.terms) {
		add(wordEntry, t)
	}
	for g := range strings.FieldsSeq(w.grams) {
		add(gramEntry, g)
	}
	return b.String()
}

func (r *row) tagList() []string {
	var tags []string
	if json.Unmarshal([]byte(r.tags), &tags) != nil {
		return nil // the column is written by this package alone
	}
	return tags
}

// cues are what an item's text tells about itself: who said it, when, and which
// kinds of questions it could answer.
type cues struct {
	saidBy string // stems of the speaker's name, "" = the text names none
	told   int64  // the date the text bears, UTC microseconds; 0 = none
	shapes text.Shapes
}

// cuesOf reads the cues of an item. Notes of a talk have the speaker's name in front ("Ada (3
// May 2026): …") or the speaker and time in the context ("said_by: Ada", "Ada, 3 May 2026"). It
// also splits the item into the spoken text and the words that give speaker and time.
func cuesOf(c content) (out cues, spoken content, head string) {
	spoken = content{value: maps.Clone(c.value)}
	body, _ := c.value["content"].(string)
	context, _ := c.value["context"].(string)
	if name, told, rest := text.SplitSpeaker(body); name != "" {
		out.saidBy, out.told, spoken.value["content"] = name, told, rest
		head = body[:len(body)-len(rest)]
	}
	if name, told, signed, others := text.SpeakerIn(context); name != "" || told != 0 {
		spoken.value["context"] = others
		head += " " + signed
		if out.saidBy == "" {
			out.saidBy = name
		}
		if out.told == 0 {
			out.told = told
		}
	}
	if s, ok := c.value["date"].(string); ok {
		out.told = micros(s)
	}
	out.saidBy = text.JoinTerms(text.Words(out.saidBy))
	out.shapes = text.ShapesIn(spoken.body())
	return out, spoken, head
}

// reindexPage is how many items are read at a time.
const reindexPage = 200

// Reindex puts the words of all items into the index of a database that has the items and no
// index: the index is not copied with a state, for each engine has its own.
func Reindex(g access.Grant) error {
	if !g.IsNode() || g.Tx() == nil {
		return access.ErrNoGrant
	}
	for last := int64(0); ; {
		found, err := rowsOf(g.Tx(), selectIndexed, last, reindexPage)
		if err != nil {
			return err
		}
		for i := range found {
			r := &found[i]
			if _, err := g.Tx().Exec(insertWords, r.n, r.entries(rewords(r))); err != nil {
				return fmt.Errorf("index item: %w", err)
			}
			last = r.n
		}
		if len(found) < reindexPage {
			return nil
		}
	}
}
