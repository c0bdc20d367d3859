// Defines the functions that comm/detail/world/local_operations.hpp declares.
#pragma once

#include <partita/comm/detail/world/local_operations.hpp>

namespace partita::detail {

PARTITA_DEF std::uint64_t local_operations::note(std::uint64_t fingerprint, const char* name,
                                                 const shape_list& extents) {
  history_ = hasher(history_).mix(fingerprint).value();
  if (count_ < most_named) {
    operation& one = named_[count_];
    one.fingerprint = fingerprint;
    std::size_t k = 0;
    for (; name[k] != '\0' && k + 1 < sizeof(one.name); ++k) one.name[k] = name[k];
    one.name[k] = '\0';
    one.extents = extents;
  }
  ++count_;
  return history_;
}

PARTITA_DEF text local_operations::description(std::size_t k) const {
  if (k >= most_named) return text("operations of tensors after the ") << most_named << "th since the last agreement";
  if (k >= count_) return "no operation of a tensor";
  text all(named_[k].name);
  return all << " of a tensor of extents " << named_[k].extents;
}

}  // namespace partita::detail
