// Verifies a tensor of a checkpoint while workers read it: each computes checksums of what it reads, whichever worker
// wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/facts.hpp>
#include <partita/io/crc32c.hpp>
#include <partita/io/detail/file_agreement.hpp>
#include <partita/io/detail/slab_checksums.hpp>
#include <partita/io/manifest.hpp>
#include <partita/io/npy_header.hpp>
#include <string>
#include <vector>

namespace partita::detail {

/// The contributions of a worker's pieces of a file, added in ascending order, to the checksums of its slabs. The
/// exclusive or over all workers gives the checksums: if n bytes follow a piece, its contribution is its checksum times
/// x^8n, and contributions are combined by exclusive or.
class checksum_shares {
 public:
  template <class = void>
  checksum_shares(std::size_t file_bytes, std::size_t slab_bytes)
      : file_bytes_(file_bytes), slab_bytes_(slab_bytes), shares_((file_bytes + slab_bytes - 1) / slab_bytes) {}

  template <class = void>
  void add(std::size_t at, const unsigned char* bytes, std::size_t n) {
    for_shares(at, at + n, slab_bytes_, [&](std::size_t slab, std::size_t first, std::size_t last) {
      if (slab != slab_) complete(), slab_ = slab, upto_ = first;
      sum_ = moved(last - upto_) ^ crc32c(bytes + (first - at), last - first);
      upto_ = last;
    });
  }
  /// The checksums of all slabs, on all workers. Collective.
  template <class = void>
  const std::vector<std::uint32_t>& of_all(const world& everyone) {
    complete();
    exclusive_or(*everyone.state(), shares_);
    return shares_;
  }

 private:
  /// The contribution of the current sum if n more bytes follow.
  std::uint32_t moved(std::size_t n) {
    if (sum_ == 0 || n == 0) return sum_;
    if (n != distance_) shift_ = crc32c_shift(distance_ = n);  // most pieces of a block have equal distances
    return crc32c_product(sum_, shift_);
  }
  void complete() {
    if (sum_ == 0) return;
    const std::size_t end = (slab_ + 1) * slab_bytes_;
    shares_[slab_] ^= moved((end < file_bytes_ ? end : file_bytes_) - upto_);
    sum_ = 0;
  }

  std::size_t file_bytes_, slab_bytes_, slab_ = 0, upto_ = 0, distance_ = 0;
  std::uint32_t sum_ = 0, shift_ = 0;
  std::vector<std::uint32_t> shares_;
};

template <class = void>
class basic_checkpoint_verifier {
 public:
  basic_checkpoint_verifier(const file_call& call, const std::string& path, const manifest_tensor& entry,
                            std::size_t slab_bytes, std::size_t data_at)
      : call_(call),
        path_(path),
        entry_(entry),
        slab_bytes_(slab_bytes),
        data_at_(data_at),
        shares_(entry.bytes, slab_bytes) {}

  file_trouble front(const posix_file& file) {
    std::size_t bytes = 0;
    std::string front(data_at_, '\0');
    int error = file.size(bytes);
    if (error == 0) error = file.read(front.data(), front.size(), 0);
    if (error != 0)
      return call_.cannot("read", path_, error, "all workers must see the same file, and nobody may write to it");
    if (bytes != entry_.bytes)
      return call_.refuse(file_trouble::kind::io,
                          (text("requires what was saved; ") << path_.c_str() << " has " << bytes << " bytes, and had "
                                                             << entry_.bytes << "; load an earlier step"));
    saw(0, reinterpret_cast<const unsigned char*>(front.data()), front.size());
    if (!describes(parse_npy_header(reinterpret_cast<const unsigned char*>(front.data()), front.size())))
      other_header_ = call_.refuse(file_trouble::kind::io,
                                   text("requires a manifest that agrees with its files; the header of ")
                                       << path_.c_str()
                                       << " is not that of a tensor of this type and these extents; load an earlier "
                                          "step");
    return {};
  }
  void saw(std::size_t at, const unsigned char* bytes, std::size_t n) { shares_.add(at, bytes, n); }
  /// Compares the checksums of what the workers have read with the manifest. Collective.
  void ended() {
    const std::vector<std::uint32_t>& sums = shares_.of_all(call_.everyone());
    for (std::size_t k = 0; k < sums.size(); ++k)
      if (sums[k] != entry_.checksums[k])
        call_
            .refuse(file_trouble::kind::io,
                    text("requires what was saved; slab ")
                        << k << " of tensor \"" << entry_.name.c_str() << "\" (bytes " << k * slab_bytes_
                        << " and on of " << path_.c_str()
                        << ") has another checksum than when it was saved; load an earlier step")
            .raise();
    call_.settle(other_header_);  // after the checksums, which name the slab of a damaged header
  }

 private:
  /// Whether the header of the file matches the tensor in the manifest.
  bool describes(const npy_header_found& found) const {
    const npy_header& h = found.header;
    bool same = found.problem.empty() && h.rank == entry_.extents.size() && !h.fortran_order && h.data_at == data_at_ &&
                entry_.type == npy_type_text(h.byte_order, h.kind, h.item_bytes).c_str();
    for (std::size_t d = 0; same && d < h.rank; ++d) same = h.extents[d] == entry_.extents[d];
    return same;
  }

  const file_call& call_;
  const std::string& path_;
  const manifest_tensor& entry_;
  std::size_t slab_bytes_, data_at_;
  checksum_shares shares_;
  file_trouble other_header_;
};
using checkpoint_verifier = basic_checkpoint_verifier<>;

}  // namespace partita::detail
