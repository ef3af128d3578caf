#!/bin/sh
# Runs bench-engine on every instruction set this machine has, OpenBLAS held to the same one, and
# NumPy beside it where python3 has NumPy. The JSON goes to build/bench-engine.json.
# usage: bench_engine.sh PROGRAM [THREADS] [SAMPLES]
set -u

program=$1
threads=${2:-2}
samples=${3:-9}
json=$(dirname "$program")/bench-engine.json
: >"$json"

has() {
	grep -qw "$1" /proc/cpuinfo 2>/dev/null
}

run() { # isa, OpenBLAS core with the same instructions
	OPENBLAS_CORETYPE=$2 "$program" "$1" "$threads" "$samples" 2>>"$json" || {
		tail -1 "$json" >&2
		exit 1
	}
}

case $(uname -m) in
x86_64)
	if has avx512bw && has avx512vl && has avx512dq; then
		run avx512 SKYLAKEX
	fi
	if has avx2 && has fma; then
		run avx2 HASWELL
	fi
	;;
aarch64 | arm64) run neon NEOVERSEN1 ;;
*) run base GENERIC ;;
esac

OPENBLAS_NUM_THREADS=$threads OMP_NUM_THREADS=$threads python3 - "$samples" <<'PY'
import statistics, sys, time
try:
    import numpy as np
except ImportError:
    print("NumPy: python3 has none")
    sys.exit()
n = int(sys.argv[1])
a = np.random.rand(4096, 512).astype(np.float32)
b = np.random.rand(2048, 512).astype(np.float32)

def median(f):
    f()
    times = []
    for _ in range(n):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3

line = "NumPy %s: gemm %.3f ms" % (np.__version__, median(lambda: a @ b.T))
c = np.random.rand(4096, 576).astype(np.float32)
wk = np.random.rand(16, 128, 512).astype(np.float32)
wv = np.random.rand(16, 512, 128).astype(np.float32)
for l in (1, 2, 4, 8):
    q = np.random.rand(16, l, 128).astype(np.float32)
    pe = np.random.rand(16, l, 64).astype(np.float32)

    def absorbed():
        x = np.concatenate([q @ wk, pe], axis=2).reshape(16 * l, 576)
        s = x @ c.T * 0.07
        s = np.exp(s - s.max(axis=1, keepdims=True))
        s /= s.sum(axis=1, keepdims=True)
        return (s @ c[:, :512]).reshape(16, l, 512) @ wv

    line += ", absorbed L=%d %.3f ms" % (l, median(absorbed))
print(line)
PY
echo "JSON: $json"
