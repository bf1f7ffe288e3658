package trust

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

func TestWorkIsRatedByPeopleAlone(t *testing.T) {
	n := newNode(t)
	rate := func(who schemas.EntityID, capability string, f Feedback) (s Skill, err error) {
		err = n.do(who, access.Write, func(g access.Grant) error {
			_, s, err = Rate(g, string(work), capability, f)
			return err
		})
		return s, err
	}
	s, err := rate(ann, "shell", Bad)
	require.NoError(t, err)
	require.Equal(t, Skill{"shell", 15, Review, "person 1"}, s)
	_, err = rate(lead, "shell", Good)
	require.ErrorIs(t, err, schemas.ErrDenied)
	_, err = rate(bea, "shell", Good)
	require.Equal(t, access.NotKnown(string(work)), err)
	for _, bad := range []string{"", "Shell", "a b", "-x"} {
		_, err = rate(ann, bad, Good)
		require.ErrorIs(t, err, schemas.ErrInvalid, bad)
	}
	_, err = rate(ann, "shell", "great")
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.Equal(t, []Skill{{"shell", 15, Review, "person 1"}}, n.standing(work).Skills)
	require.Equal(t, defaultPrior(), n.score(work), "one score is never made from the other")
	require.NoError(t, n.verify())
}

// Who watches follows from all three: authority, accuracy tier, capability.
func TestOutcomesMoveWhoWatches(t *testing.T) {
	n := newNode(t)
	level := func(a Authority) (l Level) {
		require.NoError(t, n.do(ann, access.Read, func(g access.Grant) (err error) {
			l, err = LevelOf(g, work, "executor", a)
			return err
		}))
		return l
	}
	require.Equal(t, Report, level(Autonomously))
	for range 9 {
		require.NoError(t, n.do(access.NodeEntity, access.Write, func(g access.Grant) error {
			_, err := Note(g, Outcome{Agent: work, Capability: "executor", Success: true})
			return err
		}))
	}
	require.Equal(t, Silent, level(Autonomously))
	require.Equal(t, Review, level(NeedsApproval))
	require.Equal(t, Deny, level(Forbidden))
	n.bring(work, schemas.Low)
	require.Equal(t, Report, level(Autonomously))
	n.bring(work, schemas.Untrusted)
	require.Equal(t, Review, level(Autonomously))
	require.NoError(t, n.verify())
}

func TestMergingWithoutReview(t *testing.T) {
	n := newNode(t)
	missing := func() (m []string) {
		require.NoError(t, n.do(access.NodeEntity, access.Read, func(g access.Grant) (err error) {
			m, err = MayMerge(g, work, true, 0)
			return err
		}))
		return m
	}
	for i := range 30 {
		require.NotEmpty(t, missing(), "after %d", i)
		if n.assess(ann, Verdict{On: wrote(work, i), Word: Right}); i == 19 {
			break
		}
	}
	require.Empty(t, missing())
	for i := range 10 { // so many that the bound alone would let it through again
		n.assess(ann, Verdict{On: wrote(work, 100+i), Word: Right})
	}
	n.assess(ann, Verdict{On: wrote(work, 200), Word: Wrong})
	require.Equal(t, []string{"1 confirmed error among the newest 10 verdicts"}, missing())
	for i := range 10 {
		n.assess(ann, Verdict{On: wrote(work, 300+i), Word: Right})
	}
	require.Empty(t, missing())
}

// A good result earns trust once, and not on the word of the agent or of one related to it; a bad
// result costs trust on anyone's word.
func TestWhatEarnsCapabilityTrust_INV_EARNED(t *testing.T) {
	n := newNode(t)
	note := func(o Outcome) (now int) {
		o.Agent, o.Capability = work, "executor"
		require.NoError(t, n.do(access.NodeEntity, access.Write, func(g access.Grant) (err error) {
			now, err = Note(g, o)
			return err
		}))
		return now
	}
	for _, related := range []schemas.EntityID{work, lead, mate, kid} {
		require.Equal(t, 30, note(Outcome{Success: true, Judge: related, About: "one"}), related)
	}
	require.Equal(t, 35, note(Outcome{Success: true, Judge: solo, About: "one"}), "an unrelated agent")
	require.Equal(t, 35, note(Outcome{Success: true, Judge: ann, Feedback: Good, About: "one"}), "counts once")
	require.Equal(t, 40, note(Outcome{Success: true, Judge: ann, About: "two"}))
	require.Equal(t, 45, note(Outcome{Success: true, Judge: mate, Proof: ByMachineCheck, About: "three"}),
		"what the node found, whoever judged the rest")
	require.Equal(t, 50, note(Outcome{Success: true, Judge: mate, Proof: ByRecordedExit, About: "four"}))
	require.Equal(t, 55, note(Outcome{Success: true, About: "five"}), "code")
	require.Equal(t, 40, note(Outcome{Feedback: Bad, Judge: mate, About: "six"}))
	require.Equal(t, 40, note(Outcome{Success: true, About: "six"}))
	s := n.standing(work).Skills[0]
	require.Equal(t, "agent 2, code 1, machine check 1, person 1, recorded exit 1", s.From)
	require.NoError(t, n.verify())
}
