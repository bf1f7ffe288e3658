package ops

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory"
	"cordelia/review"
	"cordelia/schemas"
)

// What became of an item that was only proposed, and who decides, is said in its writer's words.
func TestAProposalIsAnsweredInWords(t *testing.T) {
	const item, proposal, old = "01a21d8a-d4ee-775c-98c5-c3c037e06212", "02a21d8a-d4ee-775c-98c5-c3c037e06212",
		"03a21d8a-d4ee-775c-98c5-c3c037e06212"
	out := MemoryWriteWarmOut{ID: item, Version: 1, Status: memory.StatusConflicts, With: []schemas.ItemID{old},
		Stored: true, Proposal: proposal, DecidedBy: []string{"lead", "ann"}, replaces: old}
	require.Equal(t, short(item)+" version 1: conflicts_with "+short(old)+"; it supersedes nothing yet: proposal "+
		short(proposal)+" to supersede "+short(old)+" waits for lead or ann", out.Text())
	out = MemoryWriteWarmOut{ID: item, Proposal: proposal, DecidedBy: []string{"lead", "ann"}, low: "lab"}
	require.Equal(t, "proposal "+short(proposal)+" (item "+short(item)+"): your accuracy is rated low, so this reaches "+
		"lab once lead or ann approved it (review_list)", out.Text())
}

// The list says how many things it shows, whether more wait, and how to decide.
func TestAReviewListSaysHowMany(t *testing.T) {
	waiting := func(n int) (list []review.Entry) {
		for range n {
			list = append(list, review.Entry{ID: schemas.NewID(), Name: "Tides", Author: "rover", Kind: review.StagedMemory,
				State: schemas.ReviewPending})
		}
		return list
	}
	for says, out := range map[string]ReviewListOut{
		"nothing waits for you":                                                    {},
		"1 waits; decide with review_decide, naming each hash":                     {Waiting: waiting(1)},
		"3 wait; decide with review_decide, naming each hash":                      {Waiting: waiting(3)},
		"more wait; the first 2 wait; decide with review_decide, naming each hash": {Waiting: waiting(2), NextCursor: "c"},
	} {
		first, _, _ := strings.Cut(out.Text(), "\n")
		require.Equal(t, says, first)
	}
}
