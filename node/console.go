package node

import (
	"context"
	"crypto/rand"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// Whom the tokens of the pages are for: a code opens a session, once, and a session opens
// the pages. Neither is taken anywhere else.
const (
	codeAudience    = "console-code"
	consoleAudience = "console"
	codeLife        = time.Minute
	consoleLife     = 12 * time.Hour
)

// ConsoleCode makes a code with which the person who asks opens a session of the pages,
// once, within a minute.
func (n *Node) ConsoleCode(ctx context.Context, person access.Principal) (code agents.Issued, err error) {
	token, err := keys.NewToken(rand.Reader, nil, nil)
	if err != nil {
		return code, err
	}
	op := access.Op{Tool: "console", Effect: access.Write, Human: true, InPerson: true}
	err = n.Auth.Do(ctx, person, op, func(g access.Grant) error {
		code, err = agents.Admit(g, token, codeAudience, codeLife)
		return err
	})
	return code, err
}

// OpenConsole uses a code up for a session of the pages. CodeUnauthenticated for one that
// is no code, was used, or is older than a minute.
func (n *Node) OpenConsole(ctx context.Context, code string) (session agents.Issued, err error) {
	used, err := keys.ParseToken(code)
	if err != nil {
		return session, badCode(err)
	}
	token, err := keys.NewToken(rand.Reader, nil, nil)
	if err != nil {
		return session, err
	}
	err = n.Routine(ctx, "console_open", func(g access.Grant) error {
		session, err = agents.Exchange(g, used, codeAudience, token, consoleAudience, consoleLife)
		return err
	})
	return session, badCode(err)
}

// badCode says what to do about a code that opens nothing.
func badCode(err error) error {
	if schemas.CodeOf(err) != schemas.CodeUnauthenticated {
		return err
	}
	return schemas.Errorf(schemas.CodeUnauthenticated, "this link was used, or is older than a minute").
		Try("run: cordelia console, for another link").Because(err)
}

// ConsoleSession gives the person that a session of the pages is of, and their name.
func (n *Node) ConsoleSession(ctx context.Context, session string) (p access.Principal, name string, err error) {
	token, err := keys.ParseToken(session)
	if err != nil {
		return p, "", err
	}
	if err = n.Look(ctx, "console_session", func(g access.Grant) (err error) {
		if p, err = agents.FindToken(g, token, consoleAudience); err == nil {
			name, p.Method = g.NameOf(p.Entity), access.ByPages
		}
		return err
	}); err != nil {
		return access.Principal{}, "", err
	}
	p.Session = bearerSession(p.TokenHash)
	return p, name, nil
}

// CloseConsole ends a session of the pages.
func (n *Node) CloseConsole(ctx context.Context, p access.Principal) error {
	return n.Routine(ctx, "console_close", func(g access.Grant) error { return agents.Discard(g, p.TokenHash) })
}

// Newest is the number of the newest entry of the record, for a page to tell whether it
// is behind. CodeUnauthenticated once the session is over.
func (n *Node) Newest(ctx context.Context, person access.Principal) (seq int64, err error) {
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		seq, err = events.LastAudit(g.Tx())
		return err
	})
	return seq, err
}
