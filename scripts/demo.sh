#!/bin/sh
# Walks a newcomer through one scan: findings, patch, verification, threshold. Changes no file.
# usage: demo.sh TOOL
set -u

tool=$1
sample=testdata/sample
failed=0

say() {
	printf '\n== %s\n' "$1"
}

show() { # the status that is expected, then the arguments of mlalint
	expected=$1
	shift
	printf '$ mlalint %s\n' "$*"
	"$tool" "$@" 2>&1
	status=$?
	if [ "$status" != "$expected" ]; then
		echo "demo: exit status $status, expected $expected" >&2
		failed=1
	fi
}

cat <<'TEXT'
Multi-head latent attention can be computed in two ways. "Absorbed" folds the up-projections into
the queries and attends to the cached latent as it is; "materialised" expands the whole cache into
keys and values first. Runtimes choose with `if L == 1`: so every step with two or more new tokens
(speculative decoding, a short follow-up turn) expands the whole cache again, although absorbed
stays cheaper up to hundreds of queries. mlalint finds those tests, writes the patch and checks it
with numbers.

testdata/sample is a small runtime of our own writing, six model files in the usual idiom.
TEXT

say 'What is wrong in it'
show 1 check "$sample"

say 'What looks the same and has to stay, each with its reason'
show 1 check --show-kept "$sample/latentlm/models/sparse.py" \
	"$sample/latentlm/models/token_shift.py"

say 'The patch: each method was executed from its source before and after (--fix would write it)'
show 1 check --diff "$sample"

say 'The verdicts and the numbers behind them'
show 0 verify "$sample"

say 'Where the thresholds come from'
show 0 threshold --rank 512 --nope 128 --value 128
show 0 threshold --rank 512 --nope 192 --value 256 --cache-length 8192

say 'What next'
echo "mlalint check YOUR_RUNTIME          # the same for your files"
echo "mlalint rule MLA001                 # the rule in full"
exit $failed
