package setup

import (
	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// planKey says what --passphrase does to a key that is here already: nothing. It refuses
// one without a passphrase, or its owner would believe it protected.
func (p *setupPlan) planKey() error {
	if !p.flags.passphrase || p.home.Fresh() {
		return nil
	}
	if err := p.unprotected("earlier", "nothing was set up"); err != nil {
		return err
	}
	p.notes = append(p.notes, "Your key had a passphrase already, and --passphrase did not change it. For another "+
		"one: cordelia key passphrase")
	return nil
}

// unprotected refuses a key without a passphrase where one was asked for. when says when it
// was made, left what was not done for it.
func (p *setupPlan) unprotected(when, left string) error {
	if !p.flags.passphrase {
		return nil
	}
	head, err := keys.ReadHeader(p.home.HumanKey())
	if err != nil || head.Locked {
		return err
	}
	return schemas.Conflictf("your key was made %s, without a passphrase, and --passphrase protects only a new one; %s",
		when, left).
		Try("run: cordelia key passphrase, then cordelia setup")
}

// passphraseOf asks for the passphrase of the key that setup is to make, nil if it makes
// none or one without.
func passphraseOf(a *cli.App, p *setupPlan) ([]byte, error) {
	if !p.flags.passphrase || !p.home.Fresh() {
		return nil, nil
	}
	return newPassphrase(a)
}
