#!/bin/sh
# Bits do not depend on the vector width: sixteen lanes (what AVX-512 computes, run here as two AVX2
# halves) against strict mode, and on a machine with AVX-512 the real thing, in kernels.c.
set -u

build=${BUILD:-$(dirname "$MLALINT")}
program=$build/kernel-check-wide

if [ ! -x "$program" ]; then
	echo "skip sixteen lanes: not built for this processor family"
	exit 0
fi
out=$("$program" cpu-strict cpu 2>&1)
rc=$?
case $rc in
0) echo "ok sixteen lanes give the bits of strict mode" ;;
2) echo "skip sixteen lanes: $(echo "$out" | tail -1)" ;;
*) echo "not ok sixteen lanes: $(echo "$out" | grep -v ' ok' | head -1)" ;;
esac
