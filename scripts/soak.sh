#!/usr/bin/env bash
# What luck decides, in full: the tests of one package after the other, then each
# fuzz target, then the mutants. Without the race detector, which `make test` has:
# here the number of rounds counts.
#
# The whole takes a night and more, so a step that passed is not run again on the same
# sources: what was stopped goes on with the steps that are left. docs/ is no source, for
# the last step writes a page there.
set -euo pipefail
cd "$(dirname "$0")/.."

export CORDELIA_SOAK=${CORDELIA_SOAK:-10} FUZZTIME=${FUZZTIME:-10m}
export GO=${GO:-go}
# Every package with such tests, the quick ones first; internal/archtest sees to it that none is left out.
packages=(./events ./access ./work ./memory ./pipeline/controller ./ops ./mcp ./cmd/cordelia ./internal/proof/scenario ./internal/store)
steps=("${packages[@]}" $(scripts/fuzz.sh -list) mutants)

# hash names these sources and how long they are tried.
hash() {
  {
    echo "$($GO version) $CORDELIA_SOAK $FUZZTIME $*"
    git ls-files -z --cached --others --exclude-standard -- ':!docs' | sort -zu | xargs -0 sha256sum 2>&1 || true
  } | sha256sum | cut -c1-16
}

# run does one step; further arguments are for `go test`.
run() {
  local step=$1
  shift
  case $step in
  .[/]*) "$GO" test -count 1 -timeout 0 -v "$step" "$@" ;;
  mutants) "$GO" run cordelia/internal/proof/mutate ;;
  *) scripts/fuzz.sh "^$step\$" ;;
  esac 2>&1 | { grep --line-buffered -Ev '^(=== |PASS$)|^ *--- PASS: .* \(0\.[0-9]+s\)$' || true; }
}

tree=$(hash "$@")
kept=.cache/soak/$tree # of each step its output in STEP.txt and, once it passed, the seconds it took in STEP.passed
mkdir -p "$kept"
of() { echo "$kept/$(tr / _ <<<"${1#./}")"; }

left=()
for step in "${steps[@]}"; do
  test -e "$(of "$step").passed" || left+=("$step")
done
echo "soak: $((${#steps[@]} - ${#left[@]})) of ${#steps[@]} steps passed on these sources; left: ${left[*]:-none}"

set -m # a step has a process group of its own, which ends as a whole
child=
trap 'trap "" INT TERM; test -z "$child" || kill -TERM -- -"$child" 2>/dev/null || true
  echo "soak: stopped; make soak goes on with what is left"; exit 130' INT TERM

failed=()
for step in ${left[@]+"${left[@]}"}; do
  echo "soak: $step"
  began=$SECONDS
  { run "$step" "$@" | tee "$(of "$step").txt"; } </dev/null &
  child=$!
  if wait "$child"; then result=passed; else result=failed; fi
  child=
  if test "$result" = failed; then
    failed+=("$step")
  elif test "$(hash "$@")" != "$tree"; then
    echo "soak: the sources changed while $step ran, so its result does not count; make soak starts anew" >&2
    exit 1
  else
    echo $((SECONDS - began)) >"$(of "$step").passed"
  fi
done

printf '\n%-8s %8s  %s\n' RESULT SECONDS STEP
for step in "${steps[@]}"; do
  seconds=$(cat "$(of "$step").passed" 2>/dev/null) && result=passed || result=FAILED seconds=-
  case $step in
  .[/]* | mutants) figures= ;;
  *) figures=$(tail -1 "$(of "$step").txt" | cut -d';' -f2-) ;;
  esac
  printf '%-8s %8s  %s%s\n' "$result" "$seconds" "$step" "${figures:+:$figures}"
done
echo "soak: what each step printed is in $kept"
test ${#failed[@]} -eq 0
