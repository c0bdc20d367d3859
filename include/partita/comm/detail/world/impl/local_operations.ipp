// Defines the functions that comm/detail/world/local_operations.hpp declares.
#pragma once

#include <partita/comm/detail/world/local_operations.hpp>

namespace partita::detail {

PARTITA_DEF std::uint64_t local_operations::note(std::uint64_t fingerprint, const char* name,
                                                 const shape_list& extents) {
  history_hash_ = hasher(history_hash_).mix(fingerprint).value();
  if (count_ < max_operations) {
    operation& one = named_operations_[count_];
    one.fingerprint = fingerprint;
    std::size_t k = 0;
    for (; name[k] != '\0' && k + 1 < sizeof(one.name); ++k) one.name[k] = name[k];
    one.name[k] = '\0';
    one.extents = extents;
  }
  ++count_;
  return history_hash_;
}

PARTITA_DEF text local_operations::description(std::size_t k) const {
  if (k >= max_operations)
    return text("operations of tensors after the ") << max_operations << "th since the last agreement";
  if (k >= count_) return "no operation of a tensor";
  text all(named_operations_[k].name);
  return all << " of a tensor of extents " << named_operations_[k].extents;
}

}  // namespace partita::detail
