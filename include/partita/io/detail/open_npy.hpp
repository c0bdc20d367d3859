// Reads a .npy file: one worker reads the header and sends it to all workers, which read the elements in parallel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <partita/core/config.hpp>
#include <partita/io/detail/common_file.hpp>
#include <partita/io/detail/slabs.hpp>
#include <partita/io/file_runs.hpp>
#include <string>
#include <utility>

namespace partita::detail {

/// The header of a file, or an error.
struct npy_header_or_error {
  npy_header header;      ///< the header, if it was read
  file_error call_error;  ///< the error that all workers throw; empty if the header was read and fits the call
};
/// Opens a file and reads its header. Only the leader calls this function.
PARTITA_DECL npy_header_or_error read_npy_header(const file_call& call, common_file& source);

/// The entries of a header that every worker needs to read a tensor of this rank.
template <std::size_t Rank>
struct npy_metadata {
  std::array<std::size_t, Rank> extents{};                     ///< the extents of the whole tensor
  std::size_t data_at = 0;                                     ///< the offset of the first element in the file
  bool fortran_order = false, has_foreign_byte_order = false;  ///< foreign: not that of this machine
};

/// An error if the tensor in a file does not have the type and rank that the call requests, or if this machine cannot
/// convert its byte order, else no error.
template <class T, std::size_t Rank>
file_error find_mismatch(const file_call& call, const std::string& path, const npy_header& h) {
  text sentence;
  if (h.kind != npy_kind<T> || h.item_bytes != sizeof(T))
    return call.make_error(file_error::kind::io, sentence << "requires elements of the type asked for ("
                                                          << npy_type_of<T>() << "), and " << path.c_str() << " holds "
                                                          << npy_type_text(h.byte_order, h.kind, h.item_bytes)
                                                          << "; load what it holds and convert it");
  if (h.rank != Rank) {
    sentence << "requires a tensor of the rank asked for (" << Rank << "), and " << path.c_str()
             << " holds one of rank " << h.rank << "; ask for that rank";
    return call.make_error(file_error::kind::shape, sentence);
  }
  if (has_padding<T>() && h.byte_order != native_byte_order)
    return call.make_error(file_error::kind::io, sentence
                                                     << "cannot read long double written in another order of bytes ("
                                                     << path.c_str() << "); write double there");
  return {};
}

/// The leader reads the header of a file, checks that it fits T and Rank, and sends it to all workers. Collective.
template <class T, std::size_t Rank>
npy_metadata<Rank> open_npy(const file_call& call, common_file& source) {
  npy_header_or_error found;
  if (call.is_leader()) {
    found = read_npy_header(call, source);
    if (found.call_error.empty()) found.call_error = find_mismatch<T, Rank>(call, source.path(), found.header);
  }
  call.throw_together(found.call_error);
  source.agree_on_version();
  number_array<Rank + 3> numbers{found.header.fortran_order,
                                 sizeof(T) > 1 && found.header.byte_order != native_byte_order, found.header.data_at};
  if (call.is_leader()) std::copy_n(found.header.extents.begin(), Rank, numbers.begin() + 3);
  numbers = call.broadcast_from_leader(numbers);
  npy_metadata<Rank> metadata;
  metadata.fortran_order = Rank >= 2 && numbers[0] != 0, metadata.has_foreign_byte_order = numbers[1] != 0;
  metadata.data_at = numbers[2];
  std::copy_n(numbers.begin() + 3, Rank, metadata.extents.begin());
  return metadata;
}

/// Reverses the byte order of each number; a complex number is two numbers.
template <class T>
void swap_bytes(T* data, std::size_t n) {
  if constexpr (is_complex<T>) {
    swap_bytes(reinterpret_cast<typename T::value_type*>(data), 2 * n);
  } else if constexpr (sizeof(T) > 1) {
    auto* bytes = reinterpret_cast<unsigned char*>(data);
    for (std::size_t k = 0; k < n; ++k, bytes += sizeof(T)) std::reverse(bytes, bytes + sizeof(T));
  }
}

/// The verifier of calls that do not verify checksums. Each worker passes the bytes that it reads to add_piece, in the
/// order of the file; the leader first calls check_header, which reads the bytes before the first element.
struct no_verifier {
  file_error check_header(const posix_file&) { return {}; }          ///< checks nothing
  void add_piece(std::size_t, const unsigned char*, std::size_t) {}  ///< ignores the bytes
  void finish() {}                                                   ///< collective, called after all workers have read
};

/// Reads this worker's block of a tensor with these cuts; no value if the file was replaced or changed. Collective.
template <class T, std::size_t Rank, class Extents, class Verifier>
std::optional<pooled_tensor<T, Rank>> read_blocks(const file_call& call, common_file& source,
                                                  const npy_metadata<Rank>& metadata, const partition<Extents>& p,
                                                  const decomposition<Rank>& cuts, Verifier& verifier) {
  const char* const error_advice = "all workers must see the same file, and no program may write to it";
  pooled_tensor<T, Rank> block(zero_volume<T, Rank>());
  const bool has_elements = p.active() && volume_of(cuts.shape(p.index())) != 0;
  file_error own_error;
  try {
    if (p.active()) block = pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(cuts.shape(p.index())));
  } catch (const std::bad_alloc&) {
    own_error = call.make_error(file_error::kind::io, text("worker ")
                                                          << call.everyone().id() << " has no memory for its block of "
                                                          << cuts.shape(p.index()) << "; load it on more workers");
  }
  const posix_file& file = source.file();
  int error = has_elements || call.is_leader() ? source.open() : 0;
  if (!source.is_same_on_all(error == 0 ? own_error : call.errno_error("read", source.path(), error, error_advice)))
    return std::nullopt;
  if (call.is_leader() && own_error.empty()) own_error = verifier.check_header(file);
  if (own_error.empty() && has_elements) {
    constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;  // chosen: bytes just read are in a cache when verified
    auto* const bytes = reinterpret_cast<unsigned char*>(block.data());
    for_file_runs(cuts, p.index(), [&](std::size_t at, std::size_t local, std::size_t count) {
      const std::size_t begin = metadata.data_at + at * sizeof(T), all = count * sizeof(T);
      for (std::size_t done = 0; done < all && error == 0; done += chunk_bytes) {
        const std::size_t n = all - done < chunk_bytes ? all - done : chunk_bytes;
        unsigned char* const to = bytes + local * sizeof(T) + done;
        error = file.read(to, n, begin + done);
        if (error == 0) verifier.add_piece(begin + done, to, n);
      }
    });
  }
  if (!source.is_same_on_all(error == 0 ? own_error : call.errno_error("read", source.path(), error, error_advice)))
    return std::nullopt;
  verifier.finish();
  if (metadata.has_foreign_byte_order) swap_bytes(block.data(), block.size());
  if constexpr (std::is_same_v<T, bool>) {  // every byte except 0 is true for NumPy, but only the byte 1 in C++
    auto* bytes = reinterpret_cast<unsigned char*>(block.data());
    for (std::size_t k = 0; k < block.size(); ++k) bytes[k] = bytes[k] != 0 ? 1 : 0;
  }
  return block;
}

/// Moves a tensor from the slabs that workers have read to p, with the requested cuts. Collective.
template <class T, std::size_t Rank, bool CutsGiven, class Extents>
pooled_tensor<T, Rank> move_slabs_to_partition(const file_call& call, const slab_partition<Rank>& where,
                                               pooled_tensor<T, Rank>& slab, const npy_metadata<Rank>& metadata,
                                               const partition<Extents>& p, const file_request<Rank>& request) {
  if (!CutsGiven && !metadata.fortran_order && p.grid() == where.owners.grid()) return std::move(slab);
  return call_with_context(call, [&]() -> pooled_tensor<T, Rank> {
    constexpr auto order = policy_of_reversed_dimensions(std::make_index_sequence<Rank>());
    const auto from = source_cuts(where.cuts);
    if constexpr (Rank >= 2 && CutsGiven)
      if (metadata.fortran_order) return repartition(where.owners, p, order, from, result_cuts(*request.to))(slab);
    if constexpr (Rank >= 2 && !CutsGiven)
      if (metadata.fortran_order) return repartition(where.owners, p, order, from)(slab);
    if constexpr (CutsGiven) return repartition(where.owners, p, from, result_cuts(*request.to))(slab);
    else return repartition(where.owners, p, from)(slab);
  });
}

/// Reads a file's tensor to p, with the requested cuts; no value if the file was replaced or changed. Collective.
template <class T, std::size_t Rank, bool CutsGiven, class Extents, class Verifier>
std::optional<pooled_tensor<T, Rank>> read_npy(const file_call& call, common_file& source,
                                               const npy_metadata<Rank>& metadata, const partition<Extents>& p,
                                               const file_request<Rank>& request, Verifier& verifier) {
  // If the blocks are in the file in long runs on average, each worker reads its own block.
  const auto wanted = CutsGiven ? *request.to : decomposition<Rank>::balanced(metadata.extents, p.grid().shape());
  const bool fits = wanted.parts() == p.grid().shape() && wanted.extents() == metadata.extents;
  if (!metadata.fortran_order && fits && mean_run(wanted) >= request.options.run_bytes / sizeof(T))
    return read_blocks<T>(call, source, metadata, p, wanted, verifier);
  // For short runs or Fortran order, owners of slabs read one range of the file each, and a repartition follows.
  const auto where = assign_slabs(p, metadata.fortran_order ? reversed_shape(metadata.extents) : metadata.extents,
                                  sizeof(T), metadata.data_at, request.options);
  auto slab = read_blocks<T>(call, source, metadata, where.owners, where.cuts, verifier);
  if (!slab) return std::nullopt;
  return move_slabs_to_partition<T, Rank, CutsGiven>(call, where, *slab, metadata, p, request);
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/open_npy.ipp>
#endif
