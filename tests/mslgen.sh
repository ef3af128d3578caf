#!/bin/sh
# The kernels pass mslgen's lint and clang's address spaces; every tests/bad/*.metal is refused with
# the message on its first line.
set -u

build=${BUILD:-$(dirname "$MLALINT")}
gen=$build/mslgen
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

expand() {
	${CC:-cc} -E -xc -DMSLGEN -Iengine/kernels "$1"
}

spaces() { # kernel file -> clang's opinion of its address spaces
	expand "$1" | "$gen" spaces unit | clang++ -std=c++14 -fsyntax-only -Wall -Werror=vla \
		-Wno-unused-function -Wno-undefined-inline -Wno-undefined-internal \
		-Wno-misleading-indentation -I. -xc++ -
}

have_clang=no
command -v clang++ >/dev/null 2>&1 && have_clang=yes

for f in engine/kernels/*.metal; do
	name=$(basename "$f")
	if expand "$f" | "$gen" check unit 2>"$out"; then
		echo "ok mslgen accepts $name"
	else
		echo "not ok mslgen accepts $name: $(head -1 "$out")"
	fi
	[ $have_clang = yes ] || continue
	if spaces "$f" 2>"$out"; then
		echo "ok address spaces of $name"
	else
		echo "not ok address spaces of $name: $(head -1 "$out")"
	fi
done

for f in tests/bad/*.metal; do
	name=$(basename "$f" .metal)
	first=$(head -1 "$f")
	case $first in
	'// refused: '*)
		want=${first#// refused: }
		expand "$f" | "$gen" check unit 2>"$out" && echo "accepted" >>"$out"
		;;
	'// refused by clang: '*)
		want=${first#// refused by clang: }
		if ! expand "$f" | "$gen" check unit 2>"$out"; then
			echo "not ok refuses $name: mslgen was not to see it: $(head -1 "$out")"
			continue
		fi
		if [ $have_clang = no ]; then
			echo "skip refuses $name: no clang++"
			continue
		fi
		spaces "$f" 2>"$out" && echo "accepted" >>"$out"
		;;
	*)
		echo "not ok refuses $name: no message on its first line"
		continue
		;;
	esac
	if grep -qF -- "$want" "$out" && ! grep -qx accepted "$out"; then
		echo "ok refuses $name"
	else
		echo "not ok refuses $name: said: $(head -1 "$out")"
	fi
done
[ $have_clang = yes ] || echo "skip address spaces: no clang++"
