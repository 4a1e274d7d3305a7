#!/usr/bin/env bash
# Applies one mutation at a time in a scratch worktree of HEAD and checks that a test detects it.
# Run by hand, not by tests/run.sh, because each mutation rebuilds a part of the test programs.
#   run_named.sh          every mutation
#   run_named.sh NAME...  these mutations: names of *.patch in named/
#   run_named.sh --check  only checks that every patch still applies and is listed, and that every
#                         listed mutation has a patch; a test of `tidy`
#   MUTATION_DIR=DIR      folder of the worktree; kept if given, so that a second run is quick
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --check ]; then
  cd "$here/../.."
  for patch in "$here"/named/*.patch; do
    git apply --check "$patch" || { echo "$patch does not fit the sources any more" >&2; exit 1; }
    name=$(basename "$patch" .patch)
    grep -q "^| \`$name\`: " "$here/README.md" ||
      { echo "README.md does not list $name" >&2; exit 1; }
  done
  for name in $(sed -nE 's/^\| `([a-z0-9_]+)`: .*/\1/p' "$here/README.md"); do
    [ -f "$here/named/$name.patch" ] ||
      { echo "README.md lists $name, but named/$name.patch does not exist" >&2; exit 1; }
  done
  exit 0
fi

repository=$(git -C "$here" rev-parse --show-toplevel)
scratch=${MUTATION_DIR:-}
keep=1
if [ -z "$scratch" ]; then
  keep=0
  scratch=$(mktemp -d)/named
fi

leave() {
  if [ "$keep" -eq 0 ]; then git -C "$repository" worktree remove --force "$scratch" || true; fi
}
trap leave EXIT

field() { sed -n "s/^$1: //p" "$2"; }

if [ ! -d "$scratch" ]; then
  git -C "$repository" worktree add --quiet --detach "$scratch" HEAD
else
  git -C "$scratch" checkout --quiet --force --detach "$(git -C "$repository" rev-parse HEAD)"
fi
cd "$scratch"
cmake --preset release -DTRAINYARD_BUILD_TESTS=ON >/dev/null

build() {
  ninja -C build/release -j "${JOBS:-2}" "$1" >build/named.log 2>&1 && return
  tail -40 build/named.log
  return 1
}
# True when the named test passes.
passes() {
  local program
  program=$(find build/release -name "$1" -type f -executable | head -1)
  timeout 300 "$program" --gtest_brief=1 --gtest_filter="$2" >build/named.log 2>&1
}

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for patch in "$here"/named/*.patch; do names+=("$(basename "$patch" .patch)"); done
fi
missed=0
for name in "${names[@]}"; do
  patch=$here/named/$name.patch
  target=$(field Target "$patch") test=$(field Test "$patch")
  build "$target"
  if ! passes "$target" "$test"; then
    echo "FAILS WITHOUT THE BUG  $name: $target $test"; missed=1; continue
  fi
  git apply "$patch"
  verdict="caught"
  if ! build "$target"; then
    verdict="DOES NOT COMPILE"; missed=1
  elif passes "$target" "$test"; then
    verdict="MISSED"; missed=1
  fi
  by=$(sed -nE 's/^\[ +FAILED +\] ([^ ,]+).*/\1/p' build/named.log | sort -u | head -1)
  printf '%-8s %-28s %s\n' "$verdict" "$name" "${by:-$target $test}"
  git checkout --quiet .
done
exit "$missed"
