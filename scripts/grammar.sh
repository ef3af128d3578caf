#!/bin/sh
# Fetches the pinned sources of the grammars into DIR/python and DIR/toml through pip, which checks
# the hashes in grammar.txt before it opens an archive. The packages leave out the headers that
# parser.c includes (they are copied into a grammar when it is generated), so those come from the
# tree-sitter package of the same series. Nothing is installed and nothing of it is committed.
# usage: grammar.sh DIR
set -eu

dir=$1
here=$(dirname "$0")
tmp=$dir.tmp
rm -rf "$tmp"
mkdir -p "$tmp"
trap 'rm -rf "$tmp"' EXIT

if ! python3 -m pip --version >/dev/null 2>&1; then
	echo "mlalint: python3 with pip is needed to fetch the grammars" >&2
	echo "mlalint: to install: apt-get install -y python3-pip" >&2
	exit 1
fi
if ! python3 -m pip download --quiet --no-deps --no-binary :all: --require-hashes \
	--dest "$tmp" -r "$here/grammar.txt" >"$tmp/log" 2>&1; then
	cat "$tmp/log" >&2
	echo "mlalint: could not fetch the grammars: is a Python package index reachable?" >&2
	exit 1
fi
for archive in "$tmp"/*.tar.gz; do
	tar -xzf "$archive" -C "$tmp"
done
rm -rf "$dir"
mkdir -p "$dir"
for language in python toml; do
	mv "$tmp"/tree_sitter_$language-*/src "$dir/$language"
	mkdir "$dir/$language/tree_sitter"
	for header in parser.h array.h alloc.h ts_assert.h; do
		cp "$tmp"/tree-sitter-*/tree_sitter/core/lib/src/$header "$dir/$language/tree_sitter/"
	done
done
# The archives' dates are years old; make would fetch again and again.
touch "$dir"/*/*.c
