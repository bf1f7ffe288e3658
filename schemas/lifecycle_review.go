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

// ReviewEdges is the lifecycle table of reviews.
func ReviewEdges() []Edge[ReviewState] {
	return []Edge[ReviewState]{
		{ReviewPending, ReviewApprove, ReviewApproved, ByReviewer},
		{ReviewPending, ReviewMerge, ReviewApproved, ByNode},
		{ReviewPending, ReviewReject, ReviewRejected, ByReviewer},
		{ReviewPending, ReviewWithdraw, ReviewWithdrawn, ByAuthor},
		{ReviewPending, ReviewExpire, ReviewExpired, ByNode},
	}
}

// NextReview is next of the lifecycle of reviews.
func NextReview(from ReviewState, on Trigger, as By) (to ReviewState, ok bool) {
	return next(ReviewEdges(), from, on, as)
}
