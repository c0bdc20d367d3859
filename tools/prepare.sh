# Functions for the run scripts, to be sourced. They install missing packages and set up a build.

say() { printf '%s\n' "$*"; }
stop() { printf '%s\n' "$*" >&2; exit 1; }

# Runs a command silently; if it fails, reports that and prints its output.
quietly() { quietly_with_input "$@" </dev/null; }
quietly_with_input() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then cat "$log" >&2; rm -f "$log"; stop "failed ($status): $*"; fi
  rm -f "$log"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

installed_something=false

# need PACKAGE...: installs the Debian packages that are missing.
need() {
  local missing=() package
  command -v dpkg-query >/dev/null || return 0      # another system: Meson says what it does not find
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || stop "please install: ${missing[*]}"
  say "installing: ${missing[*]}"
  quietly as_root apt-get -q update
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends install "${missing[@]}"
  installed_something=true
}

# Installs the packages that are needed to compile a program that uses the library.
need_for_building() {
  need g++ pkg-config meson ninja-build python3 libopenmpi-dev openmpi-bin libboost-mpi-dev libboost-test-dev \
    libxtensor-dev libxtensor-blas-dev libopenblas-dev nlohmann-json3-dev librandom123-dev
}

# set_up DIRECTORY OPTION...: creates or reconfigures a build directory with these Meson options.
set_up() {
  local directory=$1 linker
  shift
  for linker in lld gold; do      # the default one takes ten times as long for the tests
    if command -v "ld.$linker" >/dev/null; then export CXX_LD=${CXX_LD:-$linker}; fi
  done
  if [ -f "$directory/build.ninja" ]; then
    [ $# -eq 0 ] || quietly meson configure "$directory" "$@"
    ! $installed_something || quietly meson setup --reconfigure "$directory"
  else
    quietly meson setup "$directory" "$@"
  fi
}

# Settings of Open MPI: allow more workers than cores, bind no worker to a core, and allow root to run (in containers).
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
