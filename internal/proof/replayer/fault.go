package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// fail does what goes wrong. The kinds are the names that scripts use.
func (t *turn) fail(kind string) error {
	switch kind {
	case "hangs before a word":
		hang()
	case "says nothing":
		return nil
	}
	t.begin()
	if commands, ok := deeds[kind]; ok && t.role == "R3" { // the answer looks right
		for _, command := range commands {
			t.run(command)
		}
		return t.work()
	}
	switch kind {
	case "hangs at the beginning":
		hang()
	case "hangs in the middle":
		t.run("true")
		hang()
	case "hangs after its answer":
		t.work() //nolint:errcheck // it never ends
		hang()
	case "prose":
		t.without("end_turn", "I would do this in three steps.", false)
	case "asks the user":
		t.without("end_turn", "Which of the two do you mean?", false)
	case "asks a question": // of the role's answer
		t.end(json.RawMessage(`{"intent": "", "questions": ["Which rows?"]}`))
	case "refuses":
		t.without("refusal", "I cannot help with that.", false)
	case "wrong type":
		t.end(json.RawMessage(`{"outcome": 5, "intent": 7, "subtasks": "none", "verdicts": {}}`))
	case "edits what judges it": // once its work is done
		answer, err := t.answer()
		if err != nil {
			return err
		}
		t.run("printf 'exit 0\\n' > check.sh")
		t.end(answer)
	case "sees an edited check": // as a judge should
		t.edited = strings.Contains(t.prompt, "The work changed what was there to check it: check.sh")
		return t.work()
	default:
		return t.failAfter(kind)
	}
	return nil
}

// failAfter does what goes wrong with the stream, the process, or an answer that is there.
func (t *turn) failAfter(kind string) error {
	switch kind {
	case "limit":
		t.say(object{"type": "rate_limit_event", "rate_limit_info": object{"status": "rejected",
			"resetsAt": time.Now().Add(2 * time.Second).Unix(), "rateLimitType": "five_hour"}})
		t.without("end_turn", "the limit is reached", true)
		os.Exit(1)
	case "crashes":
		t.run("true")
		fmt.Fprintln(os.Stderr, "no space left on device")
		os.Exit(7)
	case "is killed":
		t.run("true")
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill() //nolint:errcheck // it does not return
		}
	case "breaks off":
		t.run("true")
	case "error beside an answer":
		answer, err := t.answer()
		if err != nil {
			return err
		}
		t.failed = true
		t.end(answer)
	case "garbage":
		fmt.Print("Loading…\n{\"type\":\n\x00\x01\xff\n")
	case "two answers":
		answer, err := t.answer()
		if err != nil {
			return err
		}
		t.end(answer)
		t.end(json.RawMessage(`{"outcome": "failed"}`))
	case "leaves a child":
		child := exec.Command("setsid", "sleep", "600")
		if err := child.Start(); err != nil {
			return err
		}
		return t.work()
	case "claims without calls":
		answer, err := json.Marshal(object{"outcome": "done", "result": object{"text": "all tests pass"},
			"evidence": []object{{"tool": "bash", "input": "sh keep.sh", "exit": 0, "head": "ok"}}})
		if err != nil {
			return err
		}
		t.end(answer)
	default:
		return fmt.Errorf("there is no fault %q; there are those of fail and %s", kind, strings.Join(names(), ", "))
	}
	return nil
}

// deeds are what an executor does before its work, by fault.
var deeds = map[string][]string{
	"writes outside":       {`for p in "$CLAUDE_OUTSIDE"/src/importer "$CLAUDE_OUTSIDE"; do echo x > "$p/outside"; done`},
	"plants a repository":  {"rm .git && git init -q . && echo '[core] hooksPath=.' >> .git/config"},
	"nests a repository":   {"mkdir lib && git init -q lib"},
	"links outside":        {`ln -s "$CLAUDE_OUTSIDE" link`},
	"deletes its worktree": {`rm -rf "$PWD"/* "$PWD"/.git; rmdir "$PWD"`},
	"fills the disk":       {"echo x > /dev/full"},
	"fills the whole disk": {"cat /dev/zero > big", "sleep 2"},
}

func names() (list []string) {
	for name := range deeds {
		list = append(list, name)
	}
	return list
}
