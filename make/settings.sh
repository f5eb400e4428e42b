#!/bin/sh
# Finds out what the compiler can do, and writes it as lines that make reads. The arguments
# are the compiler and how it is called for a program that comes through a pipe:
#
#   make/settings.sh cc -x c - -x none -O2
#
# Their text is written, too, so that all is compiled anew when it changes.

test=$(mktemp 2>/dev/null || mktemp ./settings.XXXXXX) || exit
trap 'rm -f "$test"' EXIT
nothing='int main(void) { return 0; }'

compiles() { program=$1; shift; printf '%s\n' "$program" | "$@" -o "$test" >/dev/null 2>&1; }

compiles "$nothing" "$@" || echo "make/settings.sh: $* makes no program" >&2

# OpenMP is used unless a program with it can't be linked, or can't start: musl-gcc links
# one whose library is missing. One for another processor can't be tried (126).
openmp=
if compiles '#include <omp.h>
int main(void) { return omp_get_max_threads() < 1; }' "$@" -fopenmp; then
    "$test" >/dev/null 2>&1
    case $? in 1 | 127) ;; *) openmp=-fopenmp ;; esac
fi

# The instruction sets that the kernel is compiled for, besides the plain one.
x86="#ifndef __x86_64__
#error
#endif
$nothing"
sets=
! compiles "$x86" "$@" -march=x86-64-v3 || sets='avx2'
! compiles "$x86" "$@" -march=x86-64-v4 -mprefer-vector-width=512 || sets="$sets avx512"

accepted() { flag=$1; shift; ! compiles "$nothing" "$@" -Werror "$flag" || echo "$flag"; }

cat <<END
# $*
processors := $(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
openmp := $openmp
sets := $sets
# Gives a variable that has no value the same wrong one each time.
pattern := $(accepted -ftrivial-auto-var-init=pattern "$@")
# Whether clang makes the programs of the pages.
has_wasm := $(compiles "$nothing" clang --target=wasm32-wasi -x c - && echo yes)
END
