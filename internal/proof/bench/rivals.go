//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// asRival is the node, used by one agent for itself.
func (b *bench) asRival() rival {
	item := func(key string) map[string]any { return map[string]any{"ids": []string{key}} }
	type read struct {
		Items []struct {
			ID      string
			Version int
			Data    map[string]any
		}
	}
	return rival{
		name: "cordelia", version: b.schema, batch: 1,
		about: "cordelia: identity, rights, groups and an audit entry per write; every acknowledged write is " +
			"flushed to disk. " +
			"A changed record is written with the version it was read at, and again when that conflicts.",
		open: func(folder string) (*client, error) { return (&node{binary: b.binary, home: folder}).open("") },
		store: func(list []text) (string, any) {
			return "memory_write_warm", map[string]any{"type": "learning",
				"data": map[string]any{"type": "insight", "content": list[0].words}}
		},
		key: func(_ text, answer string) (string, error) {
			id, _, ok := strings.Cut(answer, " version ")
			if !ok {
				return "", fmt.Errorf("no id in %q", answer)
			}
			return id, nil
		},
		search: func(query string) (string, any) {
			return "memory_search", map[string]any{"query": query, "detail": "full", "limit": 10}
		},
		have: func(c *client, keys []string) (n int, err error) {
			for _, key := range keys {
				var out read
				if _, err := c.call("memory_read_warm", item(key), &out); err != nil &&
					!strings.HasPrefix(err.Error(), "not_found") {
					return n, err
				}
				n += len(out.Items)
			}
			return n, nil
		},
		revise: func(c *client, key, value string) error {
			for {
				var out read
				if _, err := c.call("memory_read_warm", item(key), &out); err != nil || len(out.Items) != 1 {
					return fmt.Errorf("read %s: %d items: %w", key, len(out.Items), err)
				}
				it := out.Items[0]
				it.Data["content"] = fmt.Sprint(it.Data["content"]) + " " + value
				_, err := c.call("memory_write_warm", map[string]any{"id": key, "if_version": it.Version,
					"type": "learning", "data": it.Data}, nil)
				if err == nil || !strings.HasPrefix(err.Error(), "conflict") {
					return err
				}
			}
		},
		content: func(c *client, key string) (string, error) {
			var out read
			if _, err := c.call("memory_read_warm", item(key), &out); err != nil || len(out.Items) != 1 {
				return "", fmt.Errorf("read %s: %d items: %w", key, len(out.Items), err)
			}
			return fmt.Sprint(out.Items[0].Data["content"]), nil
		},
	}
}

// graph is what the two servers of entities answer.
type graph struct {
	Entities []entity `json:"entities"`
}

type entity struct {
	Name         string   `json:"name"`
	Type         string   `json:"entityType"`
	Observations []string `json:"observations"`
}

func entities(list []text) (string, any) {
	var out []entity
	for _, t := range list {
		out = append(out, entity{t.key, "note", []string{t.words}})
	}
	return "create_entities", map[string]any{"entities": out}
}

func (c *client) graph(tool string, args any) (g graph, err error) {
	words, _, err := c.ask(tool, args)
	if err != nil {
		return g, err
	}
	return g, json.Unmarshal([]byte(words), &g)
}

func ownKey(t text, _ string) (string, error) { return t.key, nil }

// serverMemory is the reference server: a knowledge graph in one JSONL file.
func serverMemory(modules string) rival {
	named := func(c *client, keys []string) (graph, error) {
		return c.graph("open_nodes", map[string]any{"names": keys})
	}
	return rival{
		name: "server-memory", version: "2026.8.31", batch: 1000,
		about: "@modelcontextprotocol/server-memory 2026.8.31: a knowledge graph with relations, in one JSONL file " +
			"that people can read; " +
			"a text is an entity with one observation, a change is add_observations. It searches for the whole " +
			"query as a part of the text.",
		open: func(folder string) (*client, error) {
			return launch([]string{"HOME=" + folder, "MEMORY_FILE_PATH=" + filepath.Join(folder, "memory.jsonl")},
				"node", filepath.Join(modules, "@modelcontextprotocol/server-memory/dist/index.js"))
		},
		store: entities, key: ownKey,
		search: func(query string) (string, any) { return "search_nodes", map[string]any{"query": query} },
		have: func(c *client, keys []string) (int, error) {
			g, err := named(c, keys)
			return len(g.Entities), err
		},
		revise: func(c *client, key, value string) error {
			_, _, err := c.ask("add_observations",
				map[string]any{"observations": []any{map[string]any{"entityName": key, "contents": []string{value}}}})
			return err
		},
		content: func(c *client, key string) (string, error) {
			g, err := named(c, []string{key})
			if err != nil || len(g.Entities) != 1 {
				return "", fmt.Errorf("open %s: %d entities: %w", key, len(g.Entities), err)
			}
			return strings.Join(g.Entities[0].Observations, " "), nil
		},
	}
}

// memoryLibSQL keeps a graph of the same shape in libSQL.
func memoryLibSQL(modules string) rival {
	named := func(c *client, key string) (e entity, found bool, err error) {
		g, err := c.graph("search_nodes", map[string]any{"query": key})
		for _, e := range g.Entities {
			if e.Name == key {
				return e, true, nil
			}
		}
		return e, false, err
	}
	return rival{
		name: "memory-libsql", version: "0.0.17", batch: 50,
		about: "mcp-memory-libsql 0.0.17: a knowledge graph with relations in SQLite or a remote libSQL database; a " +
			"text is an entity with one " +
			"observation. It has no tool that adds to an entity, so a change reads it and writes it whole. It " +
			"searches for the words of the query in their order.",
		open: func(folder string) (*client, error) {
			return launch([]string{"HOME=" + folder, "LIBSQL_URL=file:" + filepath.Join(folder, "memory.db")},
				"node", filepath.Join(modules, "mcp-memory-libsql/dist/index.js"))
		},
		store: entities, key: ownKey, grow: growLibSQL,
		search: func(query string) (string, any) { return "search_nodes", map[string]any{"query": query} },
		have: func(c *client, keys []string) (n int, err error) {
			for _, key := range keys {
				_, found, err := named(c, key)
				if err != nil {
					return n, err
				}
				if found {
					n++
				}
			}
			return n, nil
		},
		revise: func(c *client, key, value string) error {
			e, found, err := named(c, key)
			if err != nil || !found {
				return fmt.Errorf("find %s: %v: %w", key, found, err)
			}
			e.Observations = []string{strings.Join(append(e.Observations, value), " ")}
			_, _, err = c.ask("create_entities", map[string]any{"entities": []entity{e}})
			return err
		},
		content: func(c *client, key string) (string, error) {
			e, found, err := named(c, key)
			if err != nil || !found {
				return "", fmt.Errorf("find %s: %v: %w", key, found, err)
			}
			return strings.Join(e.Observations, " "), nil
		},
	}
}

// growLibSQL writes the rows the server would write, in one transaction; the
// server itself takes minutes for the largest store.
func growLibSQL(folder string, from, until int) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "memory.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // committed or failed by then
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing to undo once committed
	for i := from; i < until; i++ {
		t := textAt(i)
		if _, err := tx.Exec(`INSERT INTO entities(name, entity_type) VALUES (?, 'note')`, t.key); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO observations(entity_name, content) VALUES (?, ?)`, t.key,
			t.words); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// memoryKeeper keeps keys and values per session in SQLite.
func memoryKeeper(modules string) rival {
	type got struct {
		Items []struct{ Key, Value string }
	}
	get := func(c *client, key string) (value string, found bool, err error) {
		words, _, err := c.ask("context_get", map[string]any{"key": key})
		if err != nil || !strings.HasPrefix(words, "{") {
			return "", false, err
		}
		var g got
		if err := json.Unmarshal([]byte(words), &g); err != nil || len(g.Items) == 0 {
			return "", false, err
		}
		return g.Items[0].Value, true, nil
	}
	type saved struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	return rival{
		name: "memory-keeper", version: "0.14.1", batch: 100,
		about: "mcp-memory-keeper 0.14.1: keys and values with checkpoints, git and channels, in SQLite; a change " +
			"reads a value and saves it whole. " +
			"It searches for the whole query as a part of the text.",
		open: func(folder string) (*client, error) {
			return launch([]string{"HOME=" + folder, "DATA_DIR=" + folder}, "node",
				filepath.Join(modules, "mcp-memory-keeper/dist/index.js"))
		},
		store: func(list []text) (string, any) {
			if len(list) == 1 {
				return "context_save", saved{list[0].key, list[0].words}
			}
			var items []saved
			for _, t := range list {
				items = append(items, saved{t.key, t.words})
			}
			return "context_batch_save", map[string]any{"items": items}
		},
		key:    ownKey,
		search: func(query string) (string, any) { return "context_search", map[string]any{"query": query} },
		have: func(c *client, keys []string) (n int, err error) {
			for _, key := range keys {
				_, found, err := get(c, key)
				if err != nil {
					return n, err
				}
				if found {
					n++
				}
			}
			return n, nil
		},
		revise: func(c *client, key, value string) error {
			old, found, err := get(c, key)
			if err != nil || !found {
				return fmt.Errorf("get %s: %v: %w", key, found, err)
			}
			_, _, err = c.ask("context_save", saved{key, old + " " + value})
			return err
		},
		content: func(c *client, key string) (string, error) {
			value, found, err := get(c, key)
			if err == nil && !found {
				err = fmt.Errorf("%s is gone", key)
			}
			return value, err
		},
	}
}
