#!/bin/sh
# The layer check: analyzer <- rules <- fixers <- cli and analyzer <- engine <- cli.
# A file may include its own folder and those it stands on; third-party types stay where they belong.
set -u

may() { # folder -> folders it may include
	case $1 in
	analyzer) echo analyzer ;;
	rules) echo analyzer rules ;;
	fixers) echo analyzer rules fixers ;;
	engine) echo analyzer engine ;;
	cli) echo analyzer rules fixers engine cli ;;
	esac
}

bad=0
complain() {
	echo "not ok layers: $*"
	bad=1
}

for f in $(find analyzer rules fixers engine cli -name '*.[ch]'); do
	folder=${f%%/*}
	for inc in $(sed -n 's,^#include "\([a-z]*\)/.*,\1,p' "$f"); do
		case " $(may "$folder") " in
		*" $inc "*) ;;
		*) complain "$f includes $inc/" ;;
		esac
	done
	lines=$(wc -l <"$f")
	[ "$lines" -le 800 ] || complain "$f has $lines lines, 800 is the limit"
done
only() { # header, then the files that may include it
	header=$1
	shift
	for f in $(grep -rl "#include <$header" analyzer rules fixers engine cli); do
		case " $* " in
		*" $f "*) ;;
		*) complain "$f includes <$header>" ;;
		esac
	done
}
only tree_sitter analyzer/python.c analyzer/python_lower.c analyzer/toml.c analyzer/tree_memory.c \
	analyzer/tree_parse.h cli/version.c
only clang-c analyzer/clang_api.h
for f in $(grep -rl '#include <git2' analyzer rules fixers engine); do
	complain "$f includes <git2.h>"
done
[ $bad = 0 ] && echo "ok layers"
