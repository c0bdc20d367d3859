// Verifies a tensor of a checkpoint while workers read it: each worker computes checksums of the bytes that it reads,
// even if another worker wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/facts.hpp>
#include <partita/core/config.hpp>
#include <partita/io/crc32c.hpp>
#include <partita/io/detail/file_agreement.hpp>
#include <partita/io/detail/slab_checksums.hpp>
#include <partita/io/manifest.hpp>
#include <partita/io/npy_header.hpp>
#include <string>
#include <vector>

namespace partita::detail {

/// The contributions of the pieces of a file that this worker reads to the checksums of the slabs of the file. If n
/// bytes of the slab follow a piece, the contribution of the piece is its checksum times x^(8n); the exclusive or of
/// the contributions of all workers is the checksum of the slab. The pieces must be added in the order of the file.
class checksum_contributions {
 public:
  /// Begins the checksums of a file of `file_bytes` bytes, one for each slab of `slab_bytes` bytes.
  checksum_contributions(std::size_t file_bytes, std::size_t slab_bytes)
      : file_bytes_(file_bytes), slab_bytes_(slab_bytes), contributions_((file_bytes + slab_bytes - 1) / slab_bytes) {}

  /// Adds a piece: the n bytes of the file from offset `at` on.
  PARTITA_DECL void add(std::size_t at, const unsigned char* bytes, std::size_t n);
  /// Returns the checksums of all slabs of the file, on all workers. Collective.
  PARTITA_DECL const std::vector<std::uint32_t>& checksums_of_all_slabs(const world& everyone);

 private:
  /// The contribution of the current checksum, piece_checksum_, to that of a sequence in which n more bytes follow.
  PARTITA_DECL std::uint32_t shifted_checksum(std::size_t n);
  PARTITA_DECL void complete_slab();  ///< adds the contribution of the current slab, whose last piece was added

  std::size_t file_bytes_, slab_bytes_;           ///< the sizes of the file and of a slab
  std::size_t current_slab_ = 0, added_end_ = 0;  ///< the slab of the last piece, and the offset in the file of its end
  std::uint32_t piece_checksum_ = 0;              ///< contribution of the current slab's added bytes, up to added_end_
  std::size_t shift_distance_ = 0;            ///< the n of the last call of shifted_checksum(n) that needed a factor
  std::uint32_t shift_factor_ = 0;            ///< the factor x^(8n) for n = shift_distance_
  std::vector<std::uint32_t> contributions_;  ///< this worker's contribution to the checksum of each slab
};

/// The verifier of read_npy that compares the file of a tensor with the tensor's entry in the manifest.
class checkpoint_verifier {
 public:
  checkpoint_verifier(const file_call& call, const std::string& path, const manifest_tensor& entry,
                      std::size_t slab_bytes, std::size_t data_at)
      : call_(call),
        path_(path),
        manifest_entry_(entry),
        slab_bytes_(slab_bytes),
        data_offset_(data_at),
        contributions_(entry.bytes, slab_bytes) {}

  /// Checks the file's size, and adds the bytes of its header to the checksums. Only the leader calls check_header.
  PARTITA_DECL file_error check_header(const posix_file& file);
  /// Adds n bytes that this worker has read from offset `at` of the file on.
  void add_piece(std::size_t at, const unsigned char* bytes, std::size_t n) { contributions_.add(at, bytes, n); }
  /// Collective. Throws on all workers if the checksums of the read bytes, or the header, differ from the manifest.
  PARTITA_DECL void finish();

 private:
  /// Whether the header of the file matches the tensor in the manifest.
  PARTITA_DECL bool matches_header(const npy_header_found& found) const;

  const file_call& call_;                  ///< the call that loads the tensor
  const std::string& path_;                ///< the name of the tensor's file
  const manifest_tensor& manifest_entry_;  ///< the entry of the tensor in the manifest
  std::size_t slab_bytes_, data_offset_;   ///< the bytes per checksum; the offset of the first element in the file
  checksum_contributions contributions_;   ///< the contributions of the bytes that this worker has read
  file_error header_error_;  ///< a header that differs from the manifest; finish() throws it if no checksum differs
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/checkpoint_verifier.ipp>
#endif
