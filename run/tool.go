package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Bounds of a tool.
const (
	maxToolInput = 16 << 20 // bytes
	maxFile      = 8 << 20  // bytes of a file that is read, edited or searched
	maxRead      = 24 << 10 // bytes of one read
	maxFound     = 300      // files or lines of one search
	maxFoundLine = 300      // bytes of a line that was found
)

// useTool carries out one call of a model, in the sandbox and the folder that this process
// was started in: its input is read from in, what it comes to written to out.
func useTool(name string, in io.Reader, out io.Writer) error {
	var input toolInput
	if err := json.NewDecoder(io.LimitReader(in, maxToolInput)).Decode(&input); err != nil {
		return fmt.Errorf("the input cannot be read: %w", err)
	}
	w := bufio.NewWriter(out)
	var err error
	switch name {
	case toolRead:
		err = readTool(w, input)
	case toolWrite:
		err = writeTool(w, input)
	case toolEdit:
		err = editTool(w, input)
	case toolGlob:
		err = globTool(w, input)
	case toolGrep:
		err = grepTool(w, input)
	default:
		err = fmt.Errorf("there is no tool %s", name)
	}
	return errors.Join(err, w.Flush())
}

// content reads a file that is not too large.
func content(path string) (string, error) {
	if path == "" {
		return "", errors.New("path is missing")
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file", path)
	case info.Size() > maxFile:
		return "", fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), maxFile)
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

func readTool(w io.Writer, in toolInput) error {
	text, err := content(in.Path)
	if err != nil {
		return err
	}
	if strings.ContainsRune(text[:min(len(text), maxRead)], 0) {
		return fmt.Errorf("%s is no text", in.Path)
	}
	n, shown := 0, 0
	for line := range strings.Lines(text) {
		if n++; n < in.Offset {
			continue
		}
		if shown += len(line); shown > maxRead && shown > len(line) {
			_, err := fmt.Fprintf(w, "… there is more: read on with offset %d\n", n)
			return err
		}
		if len(line) > maxRead {
			line = line[:maxRead] + "… (the rest of the line is left out)\n"
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	if in.Offset > n && n > 0 {
		return fmt.Errorf("%s has %d lines", in.Path, n)
	}
	return nil
}

func writeTool(w io.Writer, in toolInput) error {
	if in.Path == "" {
		return errors.New("path is missing")
	}
	if err := os.MkdirAll(filepath.Dir(in.Path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(in.Path, []byte(in.Content), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "wrote %d bytes to %s\n", len(in.Content), in.Path)
	return err
}

func editTool(w io.Writer, in toolInput) error {
	text, err := content(in.Path)
	if err != nil {
		return err
	}
	n := 0
	if in.Old != "" {
		n = strings.Count(text, in.Old)
	}
	switch {
	case n == 0:
		return fmt.Errorf("old is not in %s, letter for letter", in.Path)
	case n > 1 && !in.All:
		return fmt.Errorf("old is %d times in %s: give more of what stands around it, or all", n, in.Path)
	}
	if err := os.WriteFile(in.Path, []byte(strings.ReplaceAll(text, in.Old, in.New)), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: replaced %d\n", in.Path, n)
	return err
}

// files calls each for every file below a folder, but those of git, until it says stop.
func files(root string, each func(path string) (stop bool, err error)) error {
	return filepath.WalkDir(filepath.Clean(root), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir // what may not be read
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		stop, err := each(path)
		if stop {
			return fs.SkipAll
		}
		return err
	})
}

func globTool(w io.Writer, in toolInput) error {
	expr, err := globExpr(filepath.ToSlash(filepath.Join(in.Path, in.Pattern)))
	if err != nil || in.Pattern == "" {
		return errors.New("pattern is none, such as src/**/*.go")
	}
	found := 0
	root := "."
	if filepath.IsAbs(in.Path) {
		root = in.Path
	}
	return files(root, func(path string) (bool, error) {
		if !expr.MatchString(filepath.ToSlash(path)) {
			return false, nil
		}
		if found++; found > maxFound {
			_, err := fmt.Fprintf(w, "… there are more than %d\n", maxFound)
			return true, err
		}
		_, err := fmt.Fprintln(w, path)
		return false, err
	})
}

// globExpr is a pattern as a regular expression: ** is any folders, * and ? stay in one.
func globExpr(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A`)
	for i := 0; i < len(pattern); i++ {
		switch rest := pattern[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			i++
		case rest[0] == '*':
			b.WriteString(`[^/]*`)
		case rest[0] == '?':
			b.WriteString(`[^/]`)
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	b.WriteString(`\z`)
	return regexp.Compile(b.String())
}

func grepTool(w io.Writer, in toolInput) error {
	if in.Pattern == "" {
		return errors.New("pattern is missing")
	}
	expr, err := regexp.Compile(in.Pattern)
	if err != nil {
		return fmt.Errorf("pattern is no regular expression of RE2: %w", err)
	}
	root := in.Path
	if root == "" {
		root = "."
	}
	found := 0
	err = files(root, func(path string) (bool, error) {
		raw, err := content(path)
		if err != nil || strings.ContainsRune(raw[:min(len(raw), 8000)], 0) {
			return false, nil //nolint:nilerr // what cannot be read is not searched
		}
		n := 0
		for line := range bytes.Lines([]byte(raw)) {
			line = bytes.TrimRight(line, "\r\n") // or $ would stand behind the break
			if n++; !expr.Match(line) {
				continue
			}
			if found++; found > maxFound {
				_, err := fmt.Fprintf(w, "… there are more than %d\n", maxFound)
				return true, err
			}
			if _, err := fmt.Fprintf(w, "%s:%d:%s\n", path, n, line[:min(len(line), maxFoundLine)]); err != nil {
				return true, err
			}
		}
		return false, nil
	})
	if err == nil && found == 0 {
		_, err = fmt.Fprintln(w, "nothing matches")
	}
	return err
}
