// Files of every element type, byte order, storage order and rank, compared with files that a plain loop writes.
#pragma once

#include "../support/folder.hpp"
#include "mpi_test.hpp"

#include <partita/io/npy.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

namespace test {

using namespace partita;

/// The value of the element at position n in C order.
template <class T>
T value_of(std::size_t n) {
  if constexpr (std::is_same_v<T, bool>) return n % 3 == 0;
  else if constexpr (detail::is_complex<T>)
    return {static_cast<typename T::value_type>(n % 1009), -static_cast<typename T::value_type>(n % 7) / 4};
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(n * 0x0102040811UL + 3);  // all bytes differ
  else return static_cast<T>(n % 1013) / 8 - 5;
}
/// The bytes of an element in a file; a complex number is two numbers.
template <class T>
void add_bytes(std::string& file, const T& x, bool foreign) {
  if constexpr (detail::is_complex<T>) {
    add_bytes(file, x.real(), foreign);
    add_bytes(file, x.imag(), foreign);
  } else {
    char bytes[sizeof(T)] = {};
    std::memcpy(bytes, &x, detail::value_bytes<T>);
    if (foreign) std::reverse(bytes, bytes + sizeof(T));
    file.append(bytes, sizeof(T));
  }
}
/// The bytes of a whole file, written element by element.
template <class T, std::size_t Rank>
std::string file_of(const std::array<std::size_t, Rank>& n, bool foreign, bool fortran) {
  const char order = foreign ? (native_byte_order == '<' ? '>' : '<') : native_byte_order;
  std::string file = make_npy_header(npy_type_text(order, npy_kind<T>, sizeof(T)), fortran, n.data(), Rank);
  for (std::size_t k = 0; k < volume_of(n); ++k) {
    std::size_t rest = k, number = 0, stride = 1;
    std::array<std::size_t, Rank> i{};
    for (std::size_t c = 0; c < Rank; ++c) {
      const std::size_t d = fortran ? c : Rank - 1 - c;  // the fastest dimension first
      i[d] = rest % n[d];
      rest /= n[d];
    }
    for (std::size_t d = Rank; d-- > 0; stride *= n[d]) number += i[d] * stride;
    add_bytes(file, value_of<T>(number), foreign);
  }
  return file;
}

/// A world, a folder, and the number of extents that were tested.
struct round_trips {
  static constexpr std::size_t slab = 256;  // bytes, of one owner
  world everyone{workers(), checks::local};
  test::folder folder{workers()};
  std::size_t tried = 0;

  template <class T, std::size_t Rank>
  void of(const std::array<std::size_t, Rank>& n) {
    std::array<std::size_t, Rank> grid;
    grid.fill(1);
    grid[tried % Rank] = everyone.size();
    const auto p = everyone.partition(dynamic_extents<Rank>(grid));
    const auto cuts = decomposition<Rank>::balanced(n, grid);
    auto block = uninitialised<T, Rank>(cuts.shape(p.index()));
    const auto box = cuts.block(p.index());
    for (std::size_t k = 0; k < block.size(); ++k) {
      auto i = index_of(k, box.shape());
      for (std::size_t d = 0; d < Rank; ++d) i[d] += box.start[d];
      block.data()[k] = value_of<T>(flat_index(i, n));
    }
    const file_options options{.page_bytes = tried % 2 == 0 ? 64U : 4096U,
                               .owner_bytes = slab,
                               .run_bytes = tried % 3 == 0 ? 1U << 20U : 16U,
                               .sync = false};
    const std::string name = folder / "x.npy";
    for (const bool fortran : {false, true}) {
      for (const bool foreign : {false, true}) {
        if (foreign && detail::has_padding<T>()) continue;  // not supported
        if (everyone.id() == 0) write_bytes(name, file_of<T>(n, foreign, fortran));
        everyone.communicator().barrier();
        const auto read = load_npy<T, Rank>(name, p, options);
        BOOST_TEST((read.shape() == block.shape() && std::equal(read.data(), read.data() + read.size(), block.data())),
                   "loading " << file_of<T>(n, foreign, fortran).substr(10, 80) << " on " << everyone.size());
        everyone.communicator().barrier();
      }
      if (fortran) save_npy(name, p, dynamic_extents<Rank>(n), block, fortran_order, options);
      else save_npy(name, p, dynamic_extents<Rank>(n), block, options);
      if (everyone.id() == 0)
        BOOST_TEST((bytes_of(name) == file_of<T>(n, false, fortran)),
                   "saving " << file_of<T>(n, false, fortran).substr(10, 80) << " on " << everyone.size());
      everyone.communicator().barrier();
    }
    ++tried;
  }
  /// Some extents of a rank: odd extents, extents of 1 and 0, and numbers of elements that fill whole slabs exactly, or
  /// one element less or more.
  template <class T, std::size_t Rank>
  void of_rank() {
    std::array<std::size_t, Rank> n;
    for (std::size_t d = 0; d < Rank; ++d) n[d] = 2 + (d + Rank) % 3;
    of<T>(n);
    n[Rank / 2] = 1;
    of<T>(n);
    n[Rank / 2] = 0;
    of<T>(n);
    const std::size_t whole = slab / sizeof(T) * everyone.size();
    for (const std::size_t volume : {whole - 1, whole, whole + 1}) {
      n.fill(1);
      n[Rank - 1 - tried % Rank] = volume;
      of<T>(n);
    }
  }
  template <class T>
  void of_type() {
    of_rank<T, 1>();
    of_rank<T, 2>();
    of_rank<T, 3>();
    of_rank<T, 4>();
    of_rank<T, 5>();
    of_rank<T, 6>();
  }
};

}  // namespace test
