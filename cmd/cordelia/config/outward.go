package config

import (
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
	if err != nil {
		return Unusable(n.Home, err)
	}
	n.Relay(to, groups)
	return nil
}

func (o outward) open(home node.Home) (to *jetstream.Publisher, groups []schemas.GroupID, err error) {
	if len(o.Groups) == 0 {
		return nil, nil, errors.New("nats: groups names no group, and only events of groups that it names go out")
	}
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
	to, err = jetstream.New(jetstream.Config{URL: o.URL, Credentials: file})
	return to, groups, err
}
