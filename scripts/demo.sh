#!/bin/sh
# Walks a newcomer through one scan: findings, patch, verdict, what is left. Changes no file but its
# own account of the details. usage: demo.sh TOOL
set -u

tool=$1
sample=testdata/sample
models=$sample/latentlm/models
details=$(dirname "$tool")/demo.txt
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
out=$copy/out
failed=0
: >"$details" || exit 1

say() {
	printf '\n== %s\n' "$1" | tee -a "$details"
}

# The status that is expected, then the arguments of mlalint. All of it goes to the details.
quietly() {
	expected=$1
	shift
	"$tool" "$@" >"$out" 2>&1
	status=$?
	{
		printf '$ mlalint %s\n' "$*"
		cat "$out"
	} >>"$details"
	if [ "$status" != "$expected" ]; then
		echo "demo: mlalint $*: exit status $status, expected $expected" >&2
		failed=1
	fi
}

show() { # the same, with the command on the screen
	printf '$ mlalint'
	n=0
	for word; do
		[ $((n += 1)) = 1 ] || printf ' %s' "$word"
	done
	echo
	quietly "$@"
}

indented() {
	fold -s -w 96 | sed 's/^/  /; s/ *$//'
}

cat <<'TEXT'
Multi-head latent attention can be computed in two ways. "Absorbed" attends to the cached latent as
it is; "materialised" first expands the whole cache into keys and values. Runtimes choose with
`if L == 1`: every step with two or more new tokens (speculative decoding, a short follow-up turn)
expands the whole cache again, although absorbed stays cheaper up to hundreds of queries.
testdata/sample is a small runtime of our own writing, six model files in the usual idiom.
TEXT

say 'Before: what is found (the first finding of all)'
show 1 check "$sample"
sed -n 1,3p "$out" | indented
tail -n 1 "$out" | indented

say 'What looks the same and stays, with the reason'
show 1 check --show-kept "$models/sparse.py" "$models/token_shift.py"
grep 'kept (' "$out" | indented

say 'The patch, of one file and without its context (nothing is written)'
show 1 check --diff "$sample"
awk '/^diff / { here = /dense\.py$/ } here' "$out" | grep -E '^([-+] |[-+]from)' | indented

say 'The verdict: each method was executed from its source, before and after'
show 0 verify "$sample"
sed -n 's/^\([^ ]*\): \([^ ]*\), line.*/\1 \2/p; s/^  verdict: //p' "$out" | paste - - |
	awk '{ sub(".*/", "", $1); printf "  %-14s %-28s %s\n", $1, $2, $3 }'
grep -m 1 'multiply-adds a head' "$out"

say 'After: a copy of the runtime with the fixes written'
cp -R "$sample" "$copy/sample"
quietly 0 check --fix "$copy/sample"
quietly 0 check "$copy/sample"
echo '$ mlalint check --fix COPY; mlalint check COPY'
grep 'files checked' "$out" | indented

say 'What a step of 4 queries on 8192 cached positions costs, by the formulas of mlalint threshold'
quietly 0 threshold --rank 512 --nope 128 --value 128
quietly 0 threshold --rank 512 --nope 192 --value 256 --cache-length 8192
echo "  before (materialised, T r d + L T d)    $(((8192 * 512 * 256 + 4 * 8192 * 256) / 1000000)) million multiply-adds a head"
echo "  after  (absorbed, L r d + 2 L T r)      $(((4 * 512 * 256 + 2 * 4 * 8192 * 512) / 1000000)) million, r = 512, d = 128 + 128; time is another matter: mlalint bench"

cat <<TEXT

Everything that was printed, with the whole patch and the table of every verdict, is in
$details. Next: \`mlalint check YOUR_RUNTIME\` ($tool until it is installed), and
\`mlalint rule MLA001\` for the rule in full.
TEXT
exit $failed
