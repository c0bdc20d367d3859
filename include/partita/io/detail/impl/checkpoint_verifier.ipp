// Defines the functions that io/detail/checkpoint_verifier.hpp declares.
#pragma once

#include <partita/io/detail/checkpoint_verifier.hpp>

namespace partita::detail {

PARTITA_DEF void checksum_shares::add(std::size_t at, const unsigned char* bytes, std::size_t n) {
  for_shares(at, at + n, slab_bytes_, [&](std::size_t slab, std::size_t first, std::size_t last) {
    if (slab != slab_) complete(), slab_ = slab, upto_ = first;
    sum_ = moved(last - upto_) ^ crc32c(bytes + (first - at), last - first);
    upto_ = last;
  });
}

PARTITA_DEF const std::vector<std::uint32_t>& checksum_shares::of_all(const world& everyone) {
  complete();
  exclusive_or(*everyone.state(), shares_);
  return shares_;
}

PARTITA_DEF std::uint32_t checksum_shares::moved(std::size_t n) {
  if (sum_ == 0 || n == 0) return sum_;
  if (n != distance_) shift_ = crc32c_shift(distance_ = n);  // most pieces of a block have equal distances
  return crc32c_product(sum_, shift_);
}

PARTITA_DEF void checksum_shares::complete() {
  if (sum_ == 0) return;
  const std::size_t end = (slab_ + 1) * slab_bytes_;
  shares_[slab_] ^= moved((end < file_bytes_ ? end : file_bytes_) - upto_);
  sum_ = 0;
}

PARTITA_DEF file_error checkpoint_verifier::front(const posix_file& file) {
  std::size_t bytes = 0;
  std::string front(data_at_, '\0');
  int error = file.size(bytes);
  if (error == 0) error = file.read(front.data(), front.size(), 0);
  if (error != 0)
    return call_.cannot("read", path_, error, "all workers must see the same file, and no program may write to it");
  if (bytes != entry_.bytes)
    return call_.refuse(file_error::kind::io,
                        (text("requires what was saved; ") << path_.c_str() << " has " << bytes << " bytes, and had "
                                                           << entry_.bytes << "; load an earlier step"));
  add_piece(0, reinterpret_cast<const unsigned char*>(front.data()), front.size());
  if (!describes(parse_npy_header(reinterpret_cast<const unsigned char*>(front.data()), front.size())))
    other_header_ = call_.refuse(file_error::kind::io,
                                 text("requires a manifest that agrees with its files; the header of ")
                                     << path_.c_str()
                                     << " is not that of a tensor of this type and these extents; load an earlier "
                                        "step");
  return {};
}

PARTITA_DEF void checkpoint_verifier::finish() {
  const std::vector<std::uint32_t>& sums = shares_.of_all(call_.everyone());
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k] != entry_.checksums[k])
      call_
          .refuse(file_error::kind::io, text("requires what was saved; slab ")
                                            << k << " of tensor \"" << entry_.name.c_str() << "\" (bytes "
                                            << k * slab_bytes_ << " and on of " << path_.c_str()
                                            << ") has another checksum than when it was saved; load an earlier step")
          .raise();
  call_.throw_together(other_header_);  // after the checksums, whose error names the slab of a damaged header
}

PARTITA_DEF bool checkpoint_verifier::describes(const npy_header_found& found) const {
  const npy_header& h = found.header;
  bool same = found.problem.empty() && h.rank == entry_.extents.size() && !h.fortran_order && h.data_at == data_at_ &&
              entry_.type == npy_type_text(h.byte_order, h.kind, h.item_bytes).c_str();
  for (std::size_t d = 0; same && d < h.rank; ++d) same = h.extents[d] == entry_.extents[d];
  return same;
}

}  // namespace partita::detail
