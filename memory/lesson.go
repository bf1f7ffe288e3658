package memory

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// LessonScope is where the lessons of a task lie: in its group or, without one,
// private to who submitted it.
type LessonScope struct {
	Owner schemas.EntityID // the submitter
	Group schemas.GroupID  // "" = none
}

// submitTool is what an owner of lessons may call: whose tasks run here may have
// what they taught in the group they ran in.
const submitTool = "task_submit"

// Learn writes a lesson of a task (pipeline v0.7, R5), in the submitter's name. It
// is the node's alone: what it writes may bind later plans, and no tool leads here.
// Of the two lists of approaches the one of the entry's kind is kept. Where the
// submitter may not write in the group now, the lesson is private to it.
//
// Errors: CodeInvalid for an entry without id, task, kind or words.
func Learn(g access.Grant, scope LessonScope, e schemas.MemoryEntry) error {
	if !g.IsNode() || g.Tx() == nil {
		return access.ErrNoGrant
	}
	c, err := lessonContent(e)
	if err != nil {
		return err
	}
	hash, err := ContentHash(LearningItem, c.data)
	if err != nil {
		return fmt.Errorf("hash lesson: %w", err)
	}
	r, err := lessonRow(g, scope, c, hash[:])
	if err != nil {
		return err
	}
	r.id, r.thread = schemas.ItemID(e.EntryID), e.TaskID
	p := Provenance{Author: r.author, Via: []schemas.EntityID{access.NodeEntity}, Source: r.source, Task: e.TaskID,
		ContentHash: hex.EncodeToString(hash[:]), At: events.Timestamp(r.created)}
	r.provenance = encodeProvenance(p)

	words := indexOf(c, "", "")
	r.terms, r.tokens = words.terms, words.tokens
	if err := insert(g.Tx(), &r, words); err != nil {
		return err
	}
	if _, err := g.Tx().Exec(insertLesson, r.n, e.TaskID, e.Type, r.hash); err != nil {
		return fmt.Errorf("note lesson: %w", err)
	}
	return announce(g, &r, nil)
}

// lessonRow is the item a lesson becomes, but for its id and provenance. Its words
// come from who sat in the seats, and they had read what tools printed.
func lessonRow(g access.Grant, scope LessonScope, c content, hash []byte) (row, error) {
	now := g.Tx().Micros()
	r := row{typ: LearningItem, owner: scope.Owner, author: scope.Owner, visibility: schemas.Private, version: 1,
		data: string(c.data),
		name: c.name(), tags: store.List(c.tags()), confidence: DefaultConfidence, source: FromExternal, hash: hash,
		current: true, created: now, updated: now}
	ref := string(scope.Owner)
	if scope.Group != "" {
		may, err := g.Could(scope.Owner, []string{submitTool}, need(access.KindWrite, schemas.Group, "", scope.Group))
		if err != nil {
			return r, err
		}
		if may {
			r.visibility, r.group, ref = schemas.Group, scope.Group, string(scope.Group)
		}
	}
	var err error
	if r.scope, err = scopeOf(g, r.visibility, ref); err != nil {
		return r, err
	}
	there, err := within(g.Tx(), r.scope)
	r.hidden = there.hides(r.scope, r.author)
	return r, err
}

// lessonContent is the item's data: the lesson with the verdicts it rests on, the intent it was
// learnt on, and the approaches that failed or worked there. The ids in it keep equal lessons
// of two tasks apart, and keep an agent from taking a lesson's place by writing the same text
// first.
func lessonContent(e schemas.MemoryEntry) (content, error) {
	approaches := e.Content.Prefer
	if e.Type == schemas.Procedural {
		approaches = e.Content.Avoid
	}
	tags := slices.DeleteFunc(slices.Clone(e.Tags),
		func(t string) bool { return slices.Contains(schemas.MemoryEntryTypes(), schemas.MemoryEntryType(t)) })
	if !slices.Contains(schemas.MemoryEntryTypes(), e.Type) || e.EntryID == "" || e.TaskID == "" {
		return content{}, schemas.Invalidf("lesson %q of task %q, of kind %q, cannot be kept", e.EntryID, e.TaskID,
			e.Type).
			Expecting("an entry of kind %v with ids of the node", schemas.MemoryEntryTypes())
	}
	data, err := json.Marshal(map[string]any{
		"type": "insight", "content": bounded(e.Content.Lesson+verdictLines(e.Content.Verdicts), maxContent),
		"context": bounded(e.Content.Intent, maxContent/4),
		"tools":   fitting(approaches), "tags": fitting(append([]string{string(e.Type)}, tags...)),
		"source_session": e.TaskID + "/" + e.EntryID,
	})
	if err != nil {
		return content{}, fmt.Errorf("encode lesson: %w", err)
	}
	c, found := parseContent(LearningItem, data, "/content")
	if len(found) > 0 {
		return c, schemas.Invalidf("lesson %s cannot be kept", e.EntryID).With(found...)
	}
	return c, nil
}

// How much of a verdict a lesson repeats, in bytes of its criterion and of its evidence.
const maxVerdict = 160

// verdictLines gives verdicts as text, a line each.
func verdictLines(list []schemas.CriterionVerdict) string {
	var b strings.Builder
	for _, v := range list {
		class := ""
		if v.FailureClass != "" {
			class = " (" + string(v.FailureClass) + ")"
		}
		fmt.Fprintf(&b, "\n%s%s: %s: %s", v.Verdict, class, oneLine(v.Criterion, maxVerdict),
			oneLine(v.Evidence, maxVerdict))
	}
	return b.String()
}

// bounded is the beginning of s, at most limit bytes.
func bounded(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// fitting drops from names what no list of tags takes.
func fitting(names []string) []string {
	out := []string{}
	for _, s := range names {
		if strings.TrimSpace(s) != "" && len(s) <= maxTag && !slices.Contains(out, s) && len(out) < maxList {
			out = append(out, s)
		}
	}
	return out
}
