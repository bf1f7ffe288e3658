package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A call of a shell reads only if each program of its text does, with the options it has there.
func TestWhatOnlyReads_INV_PROOF(t *testing.T) {
	for tool, texts := range map[string][]string{
		"bash": {
			"ls", "/bin/ls -la; pwd", "cat a 2>/dev/null || echo none >&2", "cat a > /dev/null 2>&1 && true\nls\n",
			"sort -u a | uniq -c | sort -rnk1,1 | head -5", "sort -t'|' -k 2 <a", "uniq", "uniq -f1 a", "uniq < a",
			`find . \( -name '*.go' -o -path "./x" \) -size -10k -print`, "find . -type f -mtime -1 | wc -l",
			`grep -rn "func (u *taskTx) open(" . | cut -d: -f1`, "grep 'a|b>c' a", `grep "x$" a`, "cat $HOME/a ${F}*",
			"git status --short; git log --oneline -5; git diff --stat HEAD~1 -- a.go", "git show -s --format='%H %s'",
			"git ls-files -o --exclude-standard", "rg -n --glob '*.go' -A3 'a(b)' src/*.go", "tree -aL 2", "file -b a",
			"date -u +%F", "date -d yesterday", "test -f a && stat a", "printf '%s\\n' a", "diff -u \\\n  a b",
			"bash -lc 'cat a | head'", "sh -c ls", "/bin/bash -lc cat a", "sort a &",
		},
		"Read": {"a.go"}, "Grep": {"a > b -exec"}, "find": {". -name a", `{"pattern":"*.go"}`},
	} {
		for _, text := range texts {
			require.True(t, onlyReads(schemas.Evidence{Tool: tool, Input: text}), "%s: %s", tool, text)
		}
	}
	for tool, texts := range map[string][]string{
		"bash": {
			// options that write, in clusters, shortened and in quotes
			"sort -uo f f", "sort -ro f f", "sort --out=f g", `sort "-o" f f`, `sort \-o f f`, "sort -''o f f",
			"sort --compress-program=CMD f", "sort -T . f", "sort $X f", "sort -* f", "sort * ", "sort {-o,f} f",
			"git diff --outp=f", "git diff --output f", "git diff --ext-diff", "git log --textconv", "git show $X",
			"git -c core.pager=x log", "git -c alias.status='!rm f' status", "git grep -O a", "git checkout f", "git",
			"tree -ao f", "tree -R -H . -L 1", "rg --pre CMD p", "rg --pre=CMD p", "rg --hostname-bin=x p", "rg -z p",
			"file -C -m x", "file --compile", "date -us 10:00", "date --set=10:00", "date -u 010100002030",
			"find . -delete", "find . -exec rm {} +", "find . -execdir rm x", "find . -ok rm x", "find . -fprintf f x",
			"find . -fls f", "find . -name a -o -fprint f", "uniq in out", "uniq - out", "uniq -c -- in -out", "uniq a*",
			"printf -v 'a[$(rm f)]' x", "test -v 'a[$(rm f)]'",
			// programs that run others or write
			"sed -n 'w f' g", "sed -i s/a/b/ f", "awk '{print > \"f\"}' g", "env rm f", "xargs rm", "ls | xargs rm",
			"ls | tee f", "less -o f g", "X=1 ls", "PATH=. ls", "./ls", "bin/cat f", "/tmp/usr/bin/cat f", "time rm f",
			// files, substitutions, functions
			"ls > f", "ls >> f", "ls >| f", "ls 2> f", "ls &> f", "ls >& f", "ls <> f", "ls >/dev/null2", "ls >",
			"ls > /dev/null/../f", "ls 2>&1x", "cat <(sed -i s/a/b/ f)", "diff <(rm f) x", "ls >(rm f)", "cat =(rm f)",
			"ls `rm f`", "echo \"`rm f`\"", "echo $(rm f)", "echo \"$(rm f)\"", "echo \"${x:-$(rm f)}\"", "echo ${x@P}",
			"echo $[a[$(rm f)]]", "echo $'a'", "cat () ( rm f ); cat x", "cat() { rm f; }", "(rm f)", "{ rm f; }",
			"<ls rm f", "git <status push", "2>/dev/null rm f", "uniq in \"2\">/dev/null", "ls &>/dev/null rm f",
			"cat <<EOF\nx\nEOF", "cat <<< x", "cat x # it's\nrm f # it's",
			// one step after the other
			"ls; rm f", "ls && rm f", "ls || rm f", "ls & rm f", "ls | rm f", "ls |& rm f", "ls\nrm f", "ls \\\n; rm f",
			"echo 'a'; rm f; echo 'b'", `echo "a\"; ls"; rm f`, `echo \"; rm f; \"`, "if true; then rm f; fi",
			"bash -c 'rm f'", "bash -c \"cat $X\"", "sh -c 'ls; rm f'", "bash f", "bash -c '$0 f' rm", "./bash -c ls",
			// what is not whole
			"echo 'a", `echo "a`, "echo a\\", "cat aaa…", "cat " + schemas.LeftOut, "ls\r",
		},
		"powershell": {"ls", "cat (rm f)"}, "fish": {"cat (rm f)"}, "cmd": {"sort /o f f"},
		"Edit": {"a.go"}, "find": {". -delete"}, "unknown": {"a"},
	} {
		for _, text := range texts {
			require.False(t, onlyReads(schemas.Evidence{Tool: tool, Input: text}), "%s: %s", tool, text)
		}
	}
}
