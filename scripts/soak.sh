#!/usr/bin/env bash
# What luck decides, in full: the tests of one package after the other, then the fuzz targets, as
# many at once as there are processors, then the mutants. Without the race detector, which
# `make test` has: here the number of rounds counts.
#
# The whole takes hours, so a step that passed is not run again on the same sources: what was
# stopped goes on with the steps that are left, also in another clone, since docs/soak.tsv tells
# what passed. The sources of a fuzz target are its package and what that imports. Those of a package
# are all but pages (docs/ and *.md at the root), the mutants and the tests of other packages; those of
# the mutants are all but pages. ONLY=REGEX runs the steps that match alone.
set -euo pipefail
cd "$(dirname "$0")/.."

export CORDELIA_SOAK=${CORDELIA_SOAK:-10} FUZZTIME=${FUZZTIME:-10m}
export GO=${GO:-go}
# Every package with such tests, the quick ones first; internal/archtest sees to it that none is left out.
packages=(./events ./access ./work ./memory ./pipeline/controller ./ops ./mcp ./cmd/cordelia ./internal/proof/scenario ./internal/store)
steps=("${packages[@]}" $(scripts/fuzz.sh -list) mutants)
processors=$(getconf _NPROCESSORS_ONLN)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options="$*" # for `go test`

# sums prints a sum of each file of the repository that matches.
sums() { git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu | xargs -0 sha256sum 2>&1 || true; }

fuzzes() { [[ $1 != .[/]* && $1 != mutants ]]; }

# identity names the sources of a step and how long they are tried. It fails if they cannot be built.
identity() {
  local package=${1%/*} binary=$work/$BASHPID
  {
    echo "$($GO version) $CORDELIA_SOAK $FUZZTIME $options"
    if fuzzes "$1"; then
      CGO_ENABLED=0 "$GO" test -c -trimpath -o "$binary" "cordelia/$package" >&2 || exit 1
      sha256sum <"$binary"
      sums "$package/testdata" scripts/fuzz.sh
    else
      sums . ':!docs' ':(exclude,glob)*.md' ':!*_test.go' ':!internal/proof/mutate'
      if [[ $1 == mutants ]]; then sums internal/proof/mutate '*_test.go'; else sums "$1/*_test.go"; fi
    fi
  } | sha256sum | cut -c1-16
}

# run does one step.
run() {
  case $1 in
  .[/]*) "$GO" test -count 1 -timeout 0 -v "$1" $options ;;
  mutants) env -u CORDELIA_SOAK "$GO" run cordelia/internal/proof/mutate ;; # each within minutes
  *) scripts/fuzz.sh "^$1\$" ;;
  esac 2>&1 | { grep --line-buffered -Ev '^(=== |PASS$)|^ *--- PASS: .* \(0\.[0-9]+s\)$' || true; }
}

# try does one step, keeps what it printed, and notes in docs/soak.tsv that it passed.
kept=.cache/soak passed=docs/soak.tsv
mkdir -p "$kept"
try() {
  local step=$1 sources=$2 began=$SECONDS figures=
  local output; output=$kept/$(tr / _ <<<"${step#./}").txt
  run "$step" | tee "$output"
  if test "$(identity "$step")" != "$sources"; then
    echo "soak: the sources changed while $step ran, so its result does not count" >&2
    return 1
  fi
  if fuzzes "$step"; then figures=$(tail -1 "$output" | cut -d';' -f2- | cut -c2-); fi
  printf '%s\t%s\t%s\t%s\t%s\n' "$step" "$sources" "$(date -u +%F)" $((SECONDS - began)) "$figures" >>"$passed"
}

# line prints what docs/soak.tsv tells of a step on these sources.
line() { grep -F "$1"$'\t'"$2"$'\t' "$passed" 2>/dev/null | tail -1; }

sources=() left=()
for i in "${!steps[@]}"; do
  sources[i]=$(identity "${steps[i]}")
  if [[ ${steps[i]} =~ ${ONLY:-} ]] && ! line "${steps[i]}" "${sources[i]}" >"$work/line"; then left+=("$i"); fi
done
echo "soak: ${#left[@]} of ${#steps[@]} steps are to be run"

set -m # a step has a process group of its own, which ends as a whole
running=()
trap 'trap "" INT TERM; for group in ${running[@]+"${running[@]}"}; do kill -TERM -- -"$group" 2>/dev/null || true; done
  echo "soak: stopped; make soak goes on with what is left"; exit 130' INT TERM

# finish waits for the steps that run.
failed=0
finish() {
  for group in ${running[@]+"${running[@]}"}; do wait "$group" || failed=1; done
  running=()
}
for i in ${left[@]+"${left[@]}"}; do
  step=${steps[i]}
  if ! fuzzes "$step" || ((${#running[@]} == processors)); then finish; fi
  echo "soak: $step"
  (try "$step" "${sources[i]}") </dev/null &
  running+=($!)
  if ! fuzzes "$step"; then finish; fi
done
finish

# What docs/soak.tsv tells of other sources goes, once a run came to its end.
printf 'step\tsources\tdate\tseconds\tfigures\n' >"$work/passed"
echo
for i in "${!steps[@]}"; do
  if line "${steps[i]}" "${sources[i]}" >>"$work/passed"; then
    result=passed
  elif [[ " ${left[*]-} " == *" $i "* ]]; then
    result=FAILED
  else
    result=left
  fi
  echo "$result ${steps[i]}"
done
cp "$work/passed" "$passed"
echo "soak: what each step printed is in $kept, what passed in $passed"
exit $failed
