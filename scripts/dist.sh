#!/bin/sh
# Archives of the committed sources and of the installed files, with checksums, in BUILD/dist. The same
# commit and the same program give the same bytes: names are sorted, dates are those of the commit.
# usage: dist.sh BUILD      (after make all share)
set -eu

build=$1
dist=$build/dist
version=$("$build/mlalint" version | sed -n '1s/mlalint //p')
system=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
sources=mlalint-$version
program=$sources-$system

if ! date=$(git log -1 --format=%ct 2>/dev/null); then
	echo "mlalint: make dist archives a commit; this is no git repository" >&2
	exit 1
fi
if ! tar --version 2>/dev/null | grep -q 'GNU tar'; then
	echo "mlalint: make dist needs GNU tar" >&2
	exit 1
fi
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
	echo "mlalint: changes that are not committed are not in the source archive" >&2

rm -rf "$dist"
mkdir -p "$dist"
git archive --format=tar --prefix="$sources/" HEAD | gzip -n -9 >"$dist/$sources.tar.gz"
make -s install BUILD="$build" DESTDIR="$(cd "$dist" && pwd)/stage/$program" PREFIX=
cp LICENSE README.md "$dist/stage/$program/"
tar -C "$dist/stage" --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner \
	--format=ustar -cf - "$program" | gzip -n -9 >"$dist/$program.tar.gz"
rm -rf "$dist/stage"
(cd "$dist" && sha256sum -- *.tar.gz >SHA256SUMS && cat SHA256SUMS)
