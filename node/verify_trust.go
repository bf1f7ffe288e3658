package node

import (
	"context"

	"cordelia/access"
	"cordelia/trust"
)

// VerifyTrust replays the trust ledgers and compares every score with what comes
// out. The error names the first row that does not fit.
func (n *Node) VerifyTrust(ctx context.Context, person access.Principal) (v trust.Verified, err error) {
	op := access.Op{Tool: "trust_verify", Effect: access.Read, Human: true}
	err = n.Auth.Do(ctx, person, op, func(g access.Grant) error {
		v, err = trust.Verify(g.Tx())
		return err
	})
	return v, err
}
