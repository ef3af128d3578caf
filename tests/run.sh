#!/bin/sh
# Runs every test and prints one closing line, `N passed, N failed[, N skipped]`.
# A test is a program in BUILD/unit or an executable file tests/*.sh or tests/test_*.py; it prints a
# line `ok ...`, `not ok ...` or `skip ...` for each case. One that dies without a line has failed.
# usage: run.sh BUILD
set -u

build=$1
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

run() {
	"$@" >"$log" 2>&1
	rc=$?
	ok=$(grep -c '^ok ' "$log")
	bad=$(grep -c '^not ok ' "$log")
	skip=$(grep -c '^skip ' "$log")
	if [ "$bad" = 0 ] && { [ $rc != 0 ] || [ $((ok + skip)) = 0 ]; }; then
		bad=1
		echo "not ok $1: exit status $rc, $ok cases" >>"$log"
	fi
	# Of a long list only what failed; the whole log where nothing says what did.
	if [ "$bad" != 0 ] && grep '^not ok ' "$log" | grep -qv "^not ok $1: exit status"; then
		grep -v '^ok ' "$log"
	elif [ "$bad" != 0 ]; then
		cat "$log"
	fi
	[ "$skip" = 0 ] || [ "$bad" != 0 ] || grep '^skip ' "$log"
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	printf '%-40s %d passed, %d failed\n' "  $(basename "$1")" "$ok" "$bad"
}

export MLALINT="$build/mlalint"
export CMOCKA_MESSAGE_OUTPUT=TAP
for t in "$build"/unit/*; do
	case $t in *.d | *.o) continue ;; esac
	[ -x "$t" ] && run "$t"
done
for t in tests/*.sh tests/test_*.py; do
	[ "$t" != tests/run.sh ] && [ -x "$t" ] && run "$t"
done

line="$passed passed, $failed failed"
[ $skipped = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ $failed = 0 ] && [ $passed != 0 ]
