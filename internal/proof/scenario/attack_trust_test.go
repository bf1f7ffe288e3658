package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// judge is the person's verdict on items.
func (f *field) judge(verdict string, ids ...string) {
	f.Helper()
	for _, id := range ids {
		f.person("trust", "assess", id, verdict)
	}
}

// tier is the one in force of an agent, and its mean, as the person sees them.
func (f *field) tier(name string) (tier string, mean float64) {
	f.Helper()
	s := Answer{Value: f.person("trust", "show", name)}
	return at[string](f, s, "tier"), at[float64](f, s, "accuracy")
}

// The owner of a group vouches for an agent that the person's verdicts made Untrusted: that
// opens nothing, to the agent or to those below it.
func TestAttackAVouchOverThePerson(t *testing.T) {
	f := newField(t, `, "trust": {"prior": {"mean": 0.6, "strength": 2}}`)
	f.tries(func(i int) {
		friend := f.top("friend")
		owner := f.as(friend)
		group := f.group(owner)
		mallory := ""
		if i%4 < 2 { // a child of the owner's, or a stranger that the person let into the group
			mallory = f.child(owner, "mallory", 1, group)
		} else {
			mallory = f.top("mallory")
			f.join(owner, friend, group, mallory)
		}
		m := f.as(mallory)
		imp := f.child(m, "imp", 0)
		f.join(owner, friend, group, imp)
		var ids []string
		for range 6 {
			ids = append(ids, f.note(m, group, f.sentence(f.name("claim"))))
		}
		vouch := func() {
			for k, id := range ids {
				f.tryTo(owner, "trust_assess", `{"id": %q, "verdict": "right", "relayed": %t}`, id, k%2 == 1)
			}
		}
		if i%3 == 0 {
			vouch()
		}
		f.judge("wrong", ids...)
		vouch()
		tier, _ := f.tier(mallory)
		f.hit(tier != "untrusted", "the tier is %s", tier)

		secret := f.name("secret")
		kept := f.note(owner, group, f.sentence(secret))
		poison := f.name("poison")
		imps := f.as(imp)
		for who, c := range map[string]Client{"itself": m, "its child": imps} {
			for _, as := range []string{"", fmt.Sprintf(`, "as": %q`, imp)} {
				if who != "itself" && as != "" {
					continue
				}
				f.tryTo(c, "memory_write_warm", `{"type": "learning", "group": %q, "data": {"type": "insight", "content": %q}%s}`,
					group, f.sentence(poison), as)
				f.tryTo(c, "memory_write_warm", `{"id": %q, "data": {"type": "insight", "content": %q}%s}`, ids[0],
					f.sentence(poison), as)
				f.tryTo(c, "memory_write_warm", `{"type": "learning", "group": %q, "supersedes": %q,
					"data": {"type": "insight", "content": %q}%s}`, group, kept, f.sentence(poison), as)
				f.tryTo(c, "task_submit", `{"intent": %q, "group": %q%s}`, poison, group, as)
				found := f.tryTo(c, "memory_search", `{"query": %q, "detail": "full"%s}`, secret, as)
				f.hit(strings.Contains(string(found.Raw), secret+" "), "%s%s finds what the group holds", who, as)
				read := f.tryTo(c, "memory_read_warm", `{"ids": [%q]%s}`, kept, as)
				f.hit(read.Code == "", "%s%s reads what the group holds", who, as)
			}
		}
		found := string(f.must(owner, "memory_search", `{"query": %q, "group": %q, "detail": "full"}`, poison, group).Raw)
		f.hit(strings.Contains(found, poison+" "), "it writes to the group: %s", found)
		work := string(f.must(owner, "task_status", `{"group": %q}`, group).Raw)
		f.hit(strings.Contains(work, poison), "it gives the group work: %s", work)
	})
}

// Agents predict what they bring about themselves, in each kind of check: of an agent no more
// than two such predictions count on a day, each half.
func TestAttackPredictionsOfOwnMaking(t *testing.T) {
	root := t.TempDir()
	f := newField(t, fmt.Sprintf(`, "check_roots": [%q]`, root))
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	var seers []string
	texts := map[string]string{} // what makes each file's prediction true
	predict := func(name string) {
		seers = append(seers, name)
		c := f.as(name)
		due := time.Now().UTC().Add(time.Hour + time.Duration(5+f.random.IntN(50))*time.Minute)
		for range 4 + f.random.IntN(6) {
			path := f.name("p")
			check := fmt.Sprintf(`"kind": "file", "path": %q`, path)
			switch texts[path] = "anything"; f.random.IntN(3) {
			case 0:
				texts[path] = "version 2"
				check = fmt.Sprintf(`"kind": "regex", "path": %q, "pattern": "^version 2"`, path)
				write(path, "version 1")
			case 1:
				texts[path] = `{"done": true}`
				check = fmt.Sprintf(`"kind": "json_path", "path": %q, "json_path": "$.done", "equals": true`, path)
				write(path, `{"done": false}`)
			}
			f.must(c, "memory_write_warm", `{"type": "learning", "data": {"type": "insight", "content": %q,
				"prediction": {"due": %q, "check": {%s}}}}`, f.sentence(path), due.Format(time.RFC3339), check)
		}
	}
	f.tries(func(i int) {
		name := f.top("seer")
		predict(name)
		if i%3 == 0 { // one below it says the like
			predict(f.child(f.as(name), "seer", 0))
		}
	})
	db := openDB(t, f.Node)
	open := func(seen string) func() bool {
		return func() bool {
			return count(t, db, `SELECT count(*) FROM predictions WHERE outcome = '' AND `+seen) == 0
		}
	}
	require.Eventually(t, open("seen_at = 0"), time.Minute, 50*time.Millisecond, "the node looks at each once")
	for path, text := range texts {
		if f.random.IntN(3) == 0 { // by a link
			write(path+".real", text)
			require.NoError(t, os.RemoveAll(filepath.Join(root, path)))
			require.NoError(t, os.Symlink(path+".real", filepath.Join(root, path)))
			continue
		}
		write(path, text)
	}
	require.NoError(t, f.MoveClock(2*time.Hour))
	require.Eventually(t, open("1"), time.Minute, 50*time.Millisecond, "each is due")
	counted := 0
	for i, name := range seers {
		f.turn = i
		tier, mean := f.tier(name)
		f.hit(tier == "high" || mean > 4.0/6+0.0005, "%s is %s at %.3f", name, tier, mean)
		if mean > 0.6 {
			counted++
		}
	}
	require.Equal(t, len(seers), counted, "some of what each predicted counts")
	f.over(len(seers))
}

// One agent says again and again that the user found another's work wrong, or a friend's right.
// No tier moves, and all its words together weigh half a verdict.
func TestAttackForgedRelays(t *testing.T) {
	f := newField(t, "")
	group := f.group(f.lead)
	f.tries(func(i int) {
		forger, victim, friend := f.top("forger"), f.top("victim"), f.top("friend")
		f.join(f.lead, "claude-code", group, forger, victim, friend)
		m := f.as(forger)
		liars := []Client{m}
		if i%2 == 1 { // agents below it say the same
			imp := f.child(m, "imp", 0)
			f.join(f.lead, "claude-code", group, imp)
			liars = append(liars, f.as(imp))
		}
		v, w := f.as(victim), f.as(friend)
		for range 6 {
			wrong, right := f.note(v, group, f.sentence(f.name("v"))), f.note(w, group, f.sentence(f.name("w")))
			for _, liar := range liars {
				f.tryTo(liar, "trust_assess", `{"id": %q, "verdict": "wrong", "relayed": true}`, wrong)
				f.tryTo(liar, "trust_assess", `{"id": %q, "verdict": "right", "relayed": true}`, right)
				f.tryTo(liar, "trust_assess", `{"id": %q, "verdict": "right", "relayed": true}`, wrong)
				f.tryTo(liar, "trust_assess", `{"id": %q, "verdict": "wrong", "relayed": true}`, wrong)
			}
		}
		tier, mean := f.tier(victim)
		f.hit(tier != "medium", "%s is %s", victim, tier)
		least, most := 3/5.5, 3.5/5.5
		if len(liars) > 1 { // each is a relayer
			least, most = 3/6.0, 4/6.0
		}
		f.hit(mean < least-0.0005, "%s stands at %.3f", victim, mean)
		tier, mean = f.tier(friend)
		f.hit(tier != "medium" || mean > most+0.0005, "%s is %s at %.3f", friend, tier, mean)
		stored := f.tryTo(v, "memory_write_warm",
			`{"type": "learning", "group": %q, "data": {"type": "insight", "content": %q}}`, group, f.sentence())
		f.hit(stored.Code != "" || text(stored, "proposal") != "", "%s writes no more: %s", victim, stored.Text)
	})
}

// Peers judge a new agent wrong: no right goes. The person does: then what the agent writes to
// groups waits for the person, whoever below it writes it, and neither it nor those agents decide.
func TestAttackAnAgentOnTheEdge(t *testing.T) {
	f := newField(t, "")
	group := f.group(f.lead)
	f.tries(func(i int) {
		newcomer, peer, other := f.top("newcomer"), f.top("peer"), f.top("peer")
		f.join(f.lead, "claude-code", group, newcomer, peer, other)
		c := f.as(newcomer)
		imp := f.child(c, "imp", 0)
		f.join(f.lead, "claude-code", group, imp)
		imps := f.as(imp)
		var ids []string
		for range 3 + f.random.IntN(3) {
			id := f.note(c, group, f.sentence(f.name("n")))
			ids = append(ids, id)
			for _, who := range []string{peer, other} {
				f.tryTo(f.as(who), "trust_assess", `{"id": %q, "verdict": "wrong"}`, id)
			}
		}
		tier, _ := f.tier(newcomer)
		f.hit(tier != "medium", "peers made it %s", tier)

		f.judge("wrong", ids[:3]...)
		tier, _ = f.tier(newcomer)
		require.Equal(t, "low", tier)
		poison := f.name("poison")
		if i%2 == 1 {
			imp = f.child(c, "imp", 0)
			f.join(f.lead, "claude-code", group, imp)
			imps = f.as(imp)
		}
		for _, way := range []struct {
			c  Client
			as string
		}{{c, ""}, {c, fmt.Sprintf(`, "as": %q`, imp)}, {imps, ""}} {
			a := f.must(way.c, "memory_write_warm", `{"type": "learning", "group": %q,
				"data": {"type": "insight", "content": %q}%s}`, group, f.sentence(poison, f.name("p")), way.as)
			id := text(a, "proposal")
			f.hit(id == "", "it writes at once%s", way.as)
			for _, decider := range []Client{c, imps} {
				seen := f.tryTo(decider, "review_list", `{"ids": [%q]}`, id)
				f.tryTo(decider, "review_decide", `{"decisions": [{"id": %q, "decision": "approve", "hash": %q}]}`, id,
					text(seen, "waiting.0.hash"))
			}
		}
		found := f.must(f.as(peer), "memory_search", `{"query": %q, "group": %q}`, poison, group).Text
		f.hit(strings.Contains(found, poison), "what it wrote reached the group: %s", found)
	})
}
