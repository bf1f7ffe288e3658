package pipeline

import "encoding/json"

// Objects lists the outermost JSON objects of an answer, in order. Thoughts are passed
// over, and so is an object that is broken.
func Objects(answer string) (found []json.RawMessage) {
	for i := 0; i < len(answer); {
		rest := answer[i:]
		if after, ok := thought(rest); ok {
			i += len(rest) - len(after)
			continue
		}
		if end, ok := closedThought(rest); ok {
			found, i = nil, i+end
			continue
		}
		if !startsObject(rest) {
			i++
			continue
		}
		text, deep, err := leading(rest)
		if deep || err != nil {
			i++
			continue
		}
		found, i = append(found, text), i+len(text)
	}
	return found
}
