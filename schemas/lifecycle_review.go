package schemas

// Divergence is how the L1 chain of an agent that comes back stands beside the
// node's (seed §6.2).
type Divergence string

const (
	ChainMatch  Divergence = "match"  // the same session, the same hash
	ChainGap    Divergence = "gap"    // sessions ahead of the node's
	ChainFork   Divergence = "fork"   // the same count with another hash, or behind
	ChainReplay Divergence = "replay" // handed in before
)

// Divergences lists them.
func Divergences() []Divergence {
	return []Divergence{ChainMatch, ChainGap, ChainFork, ChainReplay}
}

// ReviewState is where something that waits for a decision stands.
type ReviewState string

const (
	ReviewPending   ReviewState = "pending"
	ReviewApproved  ReviewState = "approved"  // final
	ReviewRejected  ReviewState = "rejected"  // final
	ReviewWithdrawn ReviewState = "withdrawn" // final
	ReviewExpired   ReviewState = "expired"   // final: not decided in time
)

// ReviewStates lists every state, first to last.
func ReviewStates() []ReviewState {
	return []ReviewState{ReviewPending, ReviewApproved, ReviewRejected, ReviewWithdrawn, ReviewExpired}
}

// Final reports whether nothing follows s.
func (s ReviewState) Final() bool { return s != ReviewPending }

// What moves a review from one state to another.
const (
	ReviewApprove  Trigger = "approve"
	ReviewReject   Trigger = "reject"
	ReviewMerge    Trigger = "merge"    // the gate for merging without review is open
	ReviewWithdraw Trigger = "withdraw" //
	ReviewExpire   Trigger = "expire"   // its time is over
)

// Who may pull the triggers of reviews.
const (
	ByReviewer By = "reviewer" // the author's parent, or the human above
	ByAuthor   By = "author"
)

// ReviewEdge is one allowed move of a review.
type ReviewEdge struct {
	From ReviewState
	On   Trigger
	To   ReviewState
	By   By
}

// ReviewEdges is the lifecycle table of reviews, and the only place that decides
// a next state.
func ReviewEdges() []ReviewEdge {
	return []ReviewEdge{
		{ReviewPending, ReviewApprove, ReviewApproved, ByReviewer},
		{ReviewPending, ReviewMerge, ReviewApproved, ByNode},
		{ReviewPending, ReviewReject, ReviewRejected, ByReviewer},
		{ReviewPending, ReviewWithdraw, ReviewWithdrawn, ByAuthor},
		{ReviewPending, ReviewExpire, ReviewExpired, ByNode},
	}
}

// NextReview returns where trigger on leads from state from, and who may pull it;
// ok is false when the table has no such edge.
func NextReview(from ReviewState, on Trigger) (to ReviewState, by By, ok bool) {
	for _, e := range ReviewEdges() {
		if e.From == from && e.On == on {
			return e.To, e.By, true
		}
	}
	return "", "", false
}
