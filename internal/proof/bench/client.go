//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// handshake is what a client says first; the version every server here knows.
const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

// client is a child process that serves MCP on its stdin and stdout, and the
// least a client can be: requests are encoded before the clock starts and
// answers decoded after it stopped.
type client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	next   int64
	first  time.Duration // from the start of the process to its first answer
}

// launch starts a server and shakes hands.
func launch(env []string, name string, args ...string) (*client, error) {
	c := &client{cmd: exec.Command(name, args...)}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = &c.stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 1<<20)
	start := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err = c.in.Write([]byte(handshake + "\n")); err == nil {
		_, err = c.out.ReadBytes('\n')
	}
	c.first = time.Since(start)
	if err == nil {
		_, err = c.in.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	}
	if err != nil {
		c.kill()
		return nil, fmt.Errorf("%s %v: %w: %s", name, args, err, c.stderr.String())
	}
	return c, nil
}

// request encodes a call of a tool.
func (c *client) request(tool string, args any) []byte {
	c.next++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": args}})
	if err != nil { // of values this package makes
		panic(fmt.Sprintf("bench: encode request: %v", err))
	}
	return append(raw, '\n')
}

// roundTrip sends a request and waits for its answer; notifications in between
// are passed over.
func (c *client) roundTrip(request []byte) (answer []byte, took time.Duration, err error) {
	start := time.Now()
	if _, err := c.in.Write(request); err != nil {
		return nil, 0, fmt.Errorf("%w: %s", err, c.stderr.String())
	}
	for {
		line, err := c.out.ReadBytes('\n')
		took = time.Since(start)
		if err != nil {
			return nil, took, fmt.Errorf("%w: %s", err, c.stderr.String())
		}
		if _, ok := answerID(line); ok {
			return line, took, nil
		}
	}
}

// answerID is the id of an answer; false for a notification.
func answerID(line []byte) (int64, bool) {
	var head struct {
		ID *json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &head) != nil || head.ID == nil {
		return 0, false
	}
	id, err := strconv.ParseInt(string(*head.ID), 10, 64)
	return id, err == nil
}

// call calls a tool and decodes its structured answer into out, which may be nil.
func (c *client) call(tool string, args, out any) (time.Duration, error) {
	line, took, err := c.roundTrip(c.request(tool, args))
	if err != nil {
		return took, err
	}
	return took, decode(line, out)
}

// decode reads an answer of tools/call.
func decode(line []byte, out any) error {
	var r struct {
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			IsError bool            `json:"isError"`
			Value   json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	switch {
	case r.Error != nil:
		return errors.New(r.Error.Message)
	case r.Result.IsError && len(r.Result.Content) > 0:
		return errors.New(r.Result.Content[0].Text)
	case r.Result.IsError:
		return fmt.Errorf("a refusal without words: %s", line)
	case out == nil:
		return nil
	}
	return json.Unmarshal(r.Result.Value, out)
}

// pour sends requests as fast as they are answered, at most window unanswered,
// and hands every answer to take.
func (c *client) pour(n, window int, next func(i int) []byte, take func(line []byte) error) error {
	free := make(chan struct{}, window)
	sent := make(chan error, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for i := range n {
			select {
			case free <- struct{}{}:
			case <-stop:
				return
			}
			if _, err := c.in.Write(next(i)); err != nil {
				sent <- err
				return
			}
		}
	}()
	for got := 0; got < n; {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			select {
			case err = <-sent:
			default:
			}
			return fmt.Errorf("%w: %s", err, c.stderr.String())
		}
		if _, ok := answerID(line); !ok {
			continue
		}
		if err := take(line); err != nil {
			return err
		}
		got++
		<-free
	}
	return nil
}

// close ends the session as a client does and waits for the process.
func (c *client) close() error {
	c.in.Close()
	timer := time.AfterFunc(20*time.Second, func() { c.cmd.Process.Kill() }) //nolint:errcheck // as above
	defer timer.Stop()
	io.Copy(io.Discard, c.out) //nolint:errcheck // to its end
	return c.cmd.Wait()
}

func (c *client) kill() {
	c.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	c.cmd.Wait()         //nolint:errcheck // it was killed
}
