// Defines the functions that io/detail/checkpoint_verifier.hpp declares.
#pragma once

#include <partita/io/detail/checkpoint_verifier.hpp>

namespace partita::detail {

PARTITA_DEF void checksum_contributions::add(std::size_t at, const unsigned char* bytes, std::size_t n) {
  for_each_touched_slab(at, at + n, slab_bytes_, [&](std::size_t slab, std::size_t first, std::size_t last) {
    if (slab != current_slab_) complete_slab(), current_slab_ = slab, added_end_ = first;
    piece_checksum_ = shifted_checksum(last - added_end_) ^ crc32c(bytes + (first - at), last - first);
    added_end_ = last;
  });
}

PARTITA_DEF const std::vector<std::uint32_t>& checksum_contributions::checksums_of_all_slabs(const world& everyone) {
  complete_slab();
  xor_over_workers(*everyone.state(), contributions_);
  return contributions_;
}

PARTITA_DEF std::uint32_t checksum_contributions::shifted_checksum(std::size_t n) {
  if (piece_checksum_ == 0 || n == 0) return piece_checksum_;
  if (n != shift_distance_)
    shift_factor_ = crc32c_shift(shift_distance_ = n);  // most pieces of a block follow at equal distances
  return multiply_crc32c(piece_checksum_, shift_factor_);
}

PARTITA_DEF void checksum_contributions::complete_slab() {
  if (piece_checksum_ == 0) return;
  const std::size_t end = (current_slab_ + 1) * slab_bytes_;
  contributions_[current_slab_] ^= shifted_checksum((end < file_bytes_ ? end : file_bytes_) - added_end_);
  piece_checksum_ = 0;
}

PARTITA_DEF file_error checkpoint_verifier::check_header(const posix_file& file) {
  std::size_t bytes = 0;
  std::string front(data_offset_, '\0');
  int error = file.size(bytes);
  if (error == 0) error = file.read(front.data(), front.size(), 0);
  if (error != 0)
    return call_.errno_error("read", path_, error,
                             "all workers must see the same file, and no program may write to it");
  if (bytes != manifest_entry_.bytes)
    return call_.make_error(file_error::kind::io, (text("requires what was saved; ")
                                                   << path_.c_str() << " has " << bytes << " bytes, and had "
                                                   << manifest_entry_.bytes << "; load an earlier step"));
  add_piece(0, reinterpret_cast<const unsigned char*>(front.data()), front.size());
  if (!matches_header(parse_npy_header(reinterpret_cast<const unsigned char*>(front.data()), front.size())))
    header_error_ = call_.make_error(file_error::kind::io,
                                     text("requires a manifest that agrees with its files; the header of ")
                                         << path_.c_str()
                                         << " is not that of a tensor of this type and these extents; load an earlier "
                                            "step");
  return {};
}

PARTITA_DEF void checkpoint_verifier::finish() {
  const std::vector<std::uint32_t>& sums = contributions_.checksums_of_all_slabs(call_.everyone());
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k] != manifest_entry_.checksums[k])
      call_
          .make_error(file_error::kind::io,
                      text("requires what was saved; slab ")
                          << k << " of tensor \"" << manifest_entry_.name.c_str() << "\" (bytes " << k * slab_bytes_
                          << " and on of " << path_.c_str()
                          << ") has another checksum than when it was saved; load an earlier step")
          .raise();
  call_.throw_together(header_error_);  // last, because a checksum error names the slab of a damaged header
}

PARTITA_DEF bool checkpoint_verifier::matches_header(const npy_header_found& found) const {
  const npy_header& h = found.header;
  bool same = found.error_message.empty() && h.rank == manifest_entry_.extents.size() && !h.fortran_order &&
              h.data_at == data_offset_ &&
              manifest_entry_.type == npy_type_text(h.byte_order, h.kind, h.item_bytes).c_str();
  for (std::size_t d = 0; same && d < h.rank; ++d) same = h.extents[d] == manifest_entry_.extents[d];
  return same;
}

}  // namespace partita::detail
