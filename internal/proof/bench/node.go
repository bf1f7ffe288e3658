//go:build unix

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// node is a home folder served by the real command.
type node struct {
	binary string
	home   string
	server string // the address of its PostgreSQL database, "" for a file
}

func (n *node) env() []string {
	return []string{"CORDELIA_HOME=" + n.home, "USER=bench", "HOME=" + filepath.Dir(n.home), "CORDELIA_DB=" + n.server}
}

// database is the node's database file.
func (n *node) database() string { return filepath.Join(n.home, "cordelia.db") }

// read opens the node's database beside the node.
func (n *node) read() (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(n.database())+"?mode=ro")
}

// held is how many items the node's store holds.
func (n *node) held() (count int, err error) {
	db, err := n.read()
	if err != nil {
		return 0, err
	}
	defer db.Close() //nolint:errcheck // only read
	return count, db.QueryRow(`SELECT count(*) FROM items`).Scan(&count)
}

// awaitVectors waits until every item that has a vector to get has it, so that no measurement runs beside
// the making of vectors.
func (n *node) awaitVectors() error {
	db, err := n.read()
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	for range 1200 {
		var behind bool
		err := db.QueryRow(`SELECT EXISTS (SELECT 1 FROM embedding_queue)
			OR (SELECT max(n) FROM items) > coalesce((SELECT max(queued) FROM embedding_models), 0)`).Scan(&behind)
		if err != nil || !behind {
			return err
		}
		time.Sleep(500 * time.Millisecond)
	}
	return errors.New("the vectors of items are not ready after ten minutes")
}

// open starts a process that acts as an agent, "" for the default one, and answers in
// fields, as programs read it.
func (n *node) open(as string) (*client, error) {
	args := []string{"mcp", "--structured"}
	if as != "" {
		args = append(args, "--as", as)
	}
	return launch(n.env(), n.binary, args...)
}

// enrol registers an agent that reads and writes private memory and groups, and
// works for them.
func enrol(lead *client, name, display string, groups ...string) error {
	_, err := register(lead, name, display, groups...)
	return err
}

// register is enrol that tells the agent's id.
func register(lead *client, name, display string, groups ...string) (id string, err error) {
	var out struct {
		ID string `json:"agent_id"`
	}
	scope := map[string]any{"layers": []string{"l1", "l2"}, "groups": append([]string{}, groups...),
		"visibility": []string{"private", "group"}}
	_, err = lead.call("agent_register", map[string]any{
		"agent_type": "custom", "name": name, "display_name": display, "groups": append([]string{}, groups...),
		"capabilities": map[string]any{
			"memory_read": scope, "memory_write": scope,
			"tools": []string{"memory_read_hot", "memory_write_hot", "memory_read_warm", "memory_write_warm",
				"memory_search", "events_poll", "events_subscribe",
				"task_claim", "task_report"},
			"max_parallel_ops": 64, "ttl_seconds": 0, "autonomous": true,
		},
	}, &out)
	if err != nil {
		return "", fmt.Errorf("register %s: %w", name, err)
	}
	return out.ID, nil
}

// gather makes a group of the lead.
func gather(lead *client, group string) error {
	_, err := lead.call("memory_group", map[string]any{"action": "create", "group": group}, nil)
	return err
}
