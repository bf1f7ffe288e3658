package node

import (
	"context"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// What tests of the whole reach into: they live outside of the package, because they call
// operations, which are above it.
const (
	CheckpointAfter  = checkpointAfter
	MaxMessageDamage = maxMessageDamage
	ProtectTool      = protectTool
	SelectSaid       = selectMessagesOfSpan
	SelectMessages   = selectMessages
	SelectReported   = selectReported
	SelectTalk       = selectMessagesOfTasks
	UpdateSealed     = updateSealed
)

var (
	FullStamp     = fullStamp
	IsFolder      = isFolder
	OpenSealed    = openSealed
	ReplaceSealed = replaceSealed
	Subject       = subject
)

func (r *Keyring) Load(path string) (keys.File, error) { return r.load(path) }

func (r *Keyring) Pending(path string, record agents.Record) (keys.File, error) {
	return r.pending(path, record)
}

func (n *Node) OfferProtection(ctx context.Context, person access.Principal, f keys.File, p keys.Protected) error {
	return n.offerProtection(ctx, person, f, p)
}

func (n *Node) Record(ctx context.Context, id schemas.EntityID) (agents.Record, error) {
	return n.record(ctx, id)
}
