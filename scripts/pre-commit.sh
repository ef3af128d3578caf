#!/bin/sh
# The entry of the pre-commit hooks: builds the program in pre-commit's clone of this repository on first
# use, then runs it in the repository that is committed to. One build at a time: commits in two
# repositories may share the clone.
# usage: pre-commit.sh ARGUMENT...    (those of mlalint)
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 2
tool=$root/build/mlalint
lock=$root/build/pre-commit.lock

if [ ! -x "$tool" ]; then
	mkdir -p "$root/build"
	waited=0
	while ! mkdir "$lock" 2>/dev/null; do
		builder=$(cat "$lock/pid" 2>/dev/null)
		if [ -n "$builder" ] && ! kill -0 "$builder" 2>/dev/null; then
			rm -rf "$lock" # its owner was killed
		elif [ "$waited" -ge 600 ]; then
			echo "mlalint: another build has held $lock for ten minutes; remove it" >&2
			exit 2
		else
			sleep 1
			waited=$((waited + 1))
		fi
	done
	echo $$ >"$lock/pid"
	trap 'rm -rf "$lock"' EXIT
	trap 'exit 2' HUP INT TERM
	if [ ! -x "$tool" ]; then
		# A commit started by make must not hand its flags to this build.
		if ! env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$root" \
			-j "$(getconf _NPROCESSORS_ONLN)" all >"$root/build/pre-commit.log" 2>&1; then
			tail -n 20 "$root/build/pre-commit.log" >&2
			echo "mlalint: could not be built in $root" >&2
			exit 2
		fi
	fi
	rm -rf "$lock"
	trap - EXIT HUP INT TERM
fi
exec "$tool" "$@"
