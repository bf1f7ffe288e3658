#!/bin/sh
# Fuzzes every parser of outside bytes, one after the other: FUZZTIME each
# (default 10m), those whose ^package/Name$ contains an argument, or all; -list
# names them. Prints a line for each and fails on a crash or on memory that grows; leaked
# goroutines show there too, after a million executions. A target that failed by the end of its
# time alone runs again, at most twice.
set -eu
cd "$(dirname "$0")/.."
targets=$(grep -rho --include='*_test.go' -H '^func Fuzz[A-Za-z0-9_]*' . | sed 's|^\./\(.*\)/[^/]*:func |\1/|' | sort)
if test "${1:-}" = -list; then
	echo "$targets"
	exit
fi
time=${FUZZTIME:-10m}
go=${GO:-go}
cache=${FUZZCACHE:-$($go env GOCACHE)/fuzz}
work=$(mktemp -d)
child=
trap 'test -z "$child" || kill "$child" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# rss_of prints the KiB of the process that runs the inputs: the fuzzer's child.
rss_of() {
	worker=$(cat "/proc/$1"/task/*/children 2>/dev/null | awk '{print $1; exit}')
	awk '/^VmRSS/ {print $2}' "/proc/${worker:-none}/status" 2>/dev/null || true
}

wanted() {
	test "$#" -gt 1 || return 0
	name=$1
	shift
	for part; do case ^$name\$ in *"$part"*) return 0 ;; esac; done
	return 1
}

# fuzz runs a target once. Its output goes to $work/out, its memory to $work/rss.
fuzz() {
	(cd "$pkg" && exec "$bin" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$time" -test.fuzzminimizetime 1s \
		-test.parallel 1 -test.fuzzcachedir "$cache/$pkg") >"$work/out" 2>&1 &
	child=$!
	: >"$work/rss"
	while kill -0 "$child" 2>/dev/null; do
		sleep 1
		rss_of "$child" >>"$work/rss"
	done
	if wait "$child"; then result=ok; else result=FAILED; fi
	child=
}

# by_time says whether a run failed by the end of its time alone, which Go's engine sometimes takes
# for a failure: no input failed.
by_time() {
	grep -q 'context deadline exceeded' "$work/out" || return 1
	! grep -q -e 'Failing input written to testdata/fuzz' -e 'panic:' "$work/out"
}

bad=0
for target in $targets; do
	wanted "$target" "$@" || continue
	pkg=${target%/*} name=${target##*/}
	bin="$work/$(echo "$pkg" | tr / _).test"
	test -x "$bin" || $go test -c -fuzz=. -o "$bin" "./$pkg"
	mkdir -p "$cache/$pkg"
	for run in 1 2 3; do
		fuzz
		if test "$result" = ok || test "$run" = 3 || ! by_time; then break; fi
		echo "$target: the run ended by its time alone, as a failure; it runs again"
	done
	line=$(grep -o 'execs: [0-9]*.*' "$work/out" | tail -1)
	# The first third of the run fills caches and pools; what grows after it leaks.
	mem=$(awk '{r[NR] = $1} END {
		for (i = 1; i <= NR; i++) { p = i <= NR/2 ? 1 : 2; if (i > NR/3 && r[i] > top[p]) top[p] = r[i] }
		printf "%d -> %d MiB", top[1]/1024, top[2]/1024
		exit top[1] > 0 && top[2] > 2*top[1] + 65536 }' "$work/rss") || result="FAILED: memory grows"
	echo "$target: $result; ${line:-no executions}; memory $mem"
	if test "$result" != ok; then
		bad=1
		cat "$work/out"
	fi
done
exit $bad
