package config

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"cordelia/internal/jetstream"
	"cordelia/node"
	"cordelia/schemas"
)

// outward is the part of config.json that hands events of groups to another system.
type outward struct {
	URL string `json:"url"` // of the servers, as tls://host:4222 or nats://127.0.0.1:4222, with commas between them
	// file with the user's credentials, mode 0600
	Credentials string `json:"credentials" default:"none"`
	// whose events are handed over, from the first start with them on
	Groups []string `json:"groups"`
}

// Outward has n hand events outward, if the settings of its home say so.
func Outward(n *node.Node) error {
	s, err := Read(n.Home)
	if err != nil {
		return Unusable(n.Home, err)
	}
	if s.NATS == nil {
		return nil
	}
	to, groups, err := s.NATS.open(n.Home)
	if err == nil {
		err = s.NATS.unfinished()
	}
	if err != nil {
		return Unusable(n.Home, err)
	}
	n.Relay(to, groups)
	return nil
}

// CheckOutward refuses the settings for NATS that no server starts with; whole, also those
// that lack something.
func (s Settings) CheckOutward(home node.Home, whole bool) error {
	if s.NATS == nil {
		return nil
	}
	_, _, err := s.NATS.open(home)
	if err == nil && whole {
		err = s.NATS.unfinished()
	}
	return err
}

// ReachOutward asks the NATS server of the settings, which are those that a server starts with.
func (s Settings) ReachOutward(ctx context.Context, home node.Home) error {
	to, _, err := s.NATS.open(home)
	if err != nil {
		return err
	}
	defer to.Close()
	return to.Check(ctx)
}

// unfinished refuses settings that lack something.
func (o outward) unfinished() error {
	switch {
	case o.URL == "":
		return errors.New("nats: url names no server")
	case len(o.Groups) == 0:
		return errors.New("nats: groups names no group, and only events of groups that it names go out")
	}
	return nil
}

func (o outward) open(home node.Home) (to *jetstream.Publisher, groups []schemas.GroupID, err error) {
	for _, g := range o.Groups {
		if err := schemas.CheckGroupID(g); err != nil {
			return nil, nil, fmt.Errorf("nats: groups: %w", err)
		}
		groups = append(groups, schemas.GroupID(g))
	}
	file := o.Credentials
	if file != "" && !filepath.IsAbs(file) {
		file = filepath.Join(string(home), file)
	}
	if o.URL == "" { // not set yet
		return nil, groups, nil
	}
	to, err = jetstream.New(jetstream.Config{URL: o.URL, Credentials: file})
	return to, groups, err
}
