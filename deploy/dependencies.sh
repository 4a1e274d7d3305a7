#!/usr/bin/env bash
# Installs the Debian packages that Trainyard needs: `dependencies.sh build` for the programs,
# `dependencies.sh test` for the tests as well. Does nothing if all are installed.
set -euo pipefail

build=(
  g++ cmake ninja-build ccache pkg-config ca-certificates
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libabsl-dev libre2-dev
  libspdlog-dev libboost-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libsqlite3-dev
  libtomlplusplus-dev libzstd-dev zlib1g-dev libsnappy-dev libxxhash-dev prometheus-cpp-dev
  libsentencepiece-dev libsimdjson-dev libcld2-dev libtorch-dev
  libjemalloc-dev libutfcpp-dev libssl-dev libpq-dev
  # The headers of Gloo, and a BLAS that follows LibTorch's thread count. Debian's default BLAS is
  # far slower.
  libgloo-dev libopenblas0-openmp
)
# perl-doc contains the prose that the quick start trains on. perl contains Pod::Text, which reads
# this prose.
corpus=(perl-doc perl)
# The tests of the stores start a server of their own (postgresql).
test=(libgtest-dev libgmock-dev libbenchmark-dev python3 git
      chromium-headless-shell prometheus openssl valgrind postgresql)
# npm builds the dashboard. A nodejs package from another source than Debian already contains npm.
if ! command -v npm >/dev/null; then test+=(nodejs npm); fi

packages=("${build[@]}" "${corpus[@]}")
if [ "${1:-build}" = test ]; then packages+=("${test[@]}"); fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

if [ "$(id -u)" -ne 0 ]; then
  echo "dependencies.sh: these packages are missing; install them as root, then run again:" >&2
  echo "  apt-get install ${missing[*]}" >&2
  exit 1
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "dependencies.sh: apt-get failed; see the lines above" >&2
  exit 1
fi
