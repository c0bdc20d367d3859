# Functions for test/run, to be sourced. They provide libraries in versions or builds that the system does not have,
# unpacked beside the build and not installed.

# from_suite FOLDER TYPE SUITE: defines `apt_elsewhere` as an apt-get that uses only that suite of the system's archive.
from_suite() {
  local folder=$1 type=$2 suite=$3 keyring=/usr/share/keyrings/debian-archive-keyring.gpg uri
  uri=$(apt-get indextargets --format '$(SITE)' 'Origin: Debian' 'Component: main' 2>/dev/null | grep -v security | head -1)
  mkdir -p "$folder/sources" "$folder/lists/partial"
  printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
    "$type" "${uri:-http://deb.debian.org/debian}" "$suite" "$keyring" >"$folder/sources/this.sources"
  apt_options=(-q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$PWD/$folder/sources"
    -o Dir::State::lists="$PWD/$folder/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User=root)
  quietly apt-get "${apt_options[@]}" update
}

# newest_xtensor FOLDER: unpacks Debian's newest xtensor headers into FOLDER/root/usr/include.
newest_xtensor() {
  local folder=$1
  [ ! -d "$folder/root/usr/include/xtensor" ] || return 0
  say "unpacking the newest xtensor of Debian in $folder"
  from_suite "$folder" deb sid
  (cd "$folder" && quietly apt-get "${apt_options[@]}" download libxtensor-dev/sid xtl-dev/sid libxtensor-blas-dev/sid)
  for package in "$folder"/*.deb; do dpkg -x "$package" "$folder/root"; done
}

# boost_mpi_for_mpich FOLDER: compiles Boost.MPI against MPICH into FOLDER/lib, beside Boost's other libraries.
boost_mpi_for_mpich() {
  local folder=$1 libraries library file
  [ ! -e "$folder/lib/libboost_unit_test_framework.so" ] || return 0
  say "compiling Boost.MPI against MPICH in $folder"
  from_suite "$folder" deb-src bookworm
  (cd "$folder" && quietly apt-get "${apt_options[@]}" source --download-only boost1.74)
  mkdir -p "$folder/source" "$folder/objects" "$folder/lib"
  tar -C "$folder/source" --strip-components 4 -xf "$folder"/boost1.74_*.orig.tar.xz --wildcards '*/libs/mpi/src/*.cpp'
  for file in "$folder"/source/*.cpp; do
    printf '%s\0' "$file"
  done | quietly_with_input xargs -0 -P 2 -I{} sh -c \
    'g++ -std=c++17 -O2 -DNDEBUG -fPIC $(pkg-config --cflags mpich) -c "$1" -o "$2/$(basename "$1" .cpp).o"' - {} \
    "$folder/objects"
  libraries=$(dirname "$(realpath "$(g++ -print-file-name=libboost_serialization.so)")")
  cp "$libraries"/libboost_{serialization,unit_test_framework}.so.1.74.0 "$folder/lib/"
  # shellcheck disable=SC2046  # the flags are words
  quietly g++ -shared -Wl,-soname,libboost_mpi_for_mpich.so -o "$folder/lib/libboost_mpi.so.1.74.0" "$folder"/objects/*.o \
    "$folder/lib/libboost_serialization.so.1.74.0" $(pkg-config --libs mpich)
  ln -s libboost_mpi.so.1.74.0 "$folder/lib/libboost_mpi_for_mpich.so"    # a name that the system's cannot be taken for
  for library in mpi serialization unit_test_framework; do
    ln -s "libboost_$library.so.1.74.0" "$folder/lib/libboost_$library.so"
  done
}
