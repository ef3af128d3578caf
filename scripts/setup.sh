#!/bin/sh
# Installs the libraries the build needs, or with --check only says what is missing.
# usage: setup.sh [--check] PKG-CONFIG-NAME...    (cmocka, libgit2, jansson, tree-sitter),
# or c++ for any C++ compiler (the engine's kernels), or libclang, or openblas
#        setup.sh --libclang    prints the folder of a libclang that is new enough
# Debian and Ubuntu through apt-get (as root, or through sudo without a question), macOS through
# Homebrew; elsewhere it names what to install. Never asks anything.
set -u

check=no
if [ "${1-}" = --check ]; then
	check=yes
	shift
fi

# The folder of an LLVM with the headers of libclang: 19 is the first with all that is called, and
# its interface is 0.64.
libclang() {
	for folder in /usr/lib/llvm-19 /usr/lib/llvm-2[0-9] /opt/homebrew/opt/llvm /usr/local/opt/llvm \
		/usr/local /usr; do
		[ -f "$folder/include/clang-c/Index.h" ] || continue
		minor=$(sed -n 's/^#define CINDEX_VERSION_MINOR *//p' "$folder/include/clang-c/Index.h")
		[ "${minor:-0}" -ge 64 ] && echo "$folder" && return
	done
	return 1
}

if [ "${1-}" = --libclang ]; then
	libclang
	exit
fi

have() {
	if [ "$1" = libclang ]; then
		libclang >/dev/null
		return
	fi
	if [ "$1" = c++ ]; then
		command -v clang++ >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1
		return
	fi
	command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$1"
}

package() { # pkg-config name -> package of this system
	case $system:$1 in
	apt:pkg-config) echo pkg-config ;;
	apt:tree-sitter) echo libtree-sitter-dev ;;
	apt:libgit2) echo libgit2-dev ;;
	apt:jansson) echo libjansson-dev ;;
	apt:cmocka) echo libcmocka-dev ;;
	apt:c++) echo g++ ;;
	apt:libclang) echo libclang-19-dev libclang-common-19-dev ;;
	brew:libclang) echo llvm ;;
	apt:openblas) echo libopenblas-dev ;;
	brew:c++) echo llvm ;;
	brew:pkg-config) echo pkgconf ;;
	*) echo "$1" ;;
	esac
}

if command -v apt-get >/dev/null 2>&1; then
	system=apt
elif command -v brew >/dev/null 2>&1; then
	system=brew
else
	system=other
fi

missing=
command -v pkg-config >/dev/null 2>&1 || missing=$(package pkg-config)
for name in "$@"; do
	have "$name" || missing="$missing $(package "$name")"
done
missing=${missing# }
[ -n "$missing" ] || exit 0

case $system in
apt) how="apt-get install -y --no-install-recommends $missing" ;;
brew) how="brew install $missing" ;;
other) how="install these with your package manager: $missing" ;;
esac

if [ $check = yes ] || [ $system = other ]; then
	echo "mlalint: missing: $missing" >&2
	echo "mlalint: to install: $how   (make demo and make test do it themselves)" >&2
	exit 1
fi

as_root=
if [ $system = apt ] && [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1 || ! sudo -n true 2>/dev/null; then
		echo "mlalint: missing: $missing" >&2
		echo "mlalint: run this as root first: $how" >&2
		exit 1
	fi
	as_root="sudo -n"
fi

echo "mlalint: installing $missing"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
if [ $system = apt ]; then
	# The lists may be absent on a fresh image, so a first failure is followed by an update.
	$as_root env DEBIAN_FRONTEND=noninteractive $how >"$log" 2>&1 ||
		{ $as_root apt-get update >"$log" 2>&1 &&
			$as_root env DEBIAN_FRONTEND=noninteractive $how >"$log" 2>&1; }
else
	$how >"$log" 2>&1
fi || {
	cat "$log" >&2
	echo "mlalint: could not install $missing; the command was: $how" >&2
	exit 1
}
