// Defines the functions that kernel/detail/described.hpp declares.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/described.hpp>

namespace partita::detail {

PARTITA_DEF text workers_text(const workers& all) {
  text name(all.size() == 1 ? "worker " : "workers ");
  if (all.empty()) return text("no worker");
  if (all.is_range()) {
    name << all[0];
    if (all.size() > 1) name << "-" << all[all.size() - 1];
    return name;
  }
  constexpr std::size_t most_ids = 8;
  for (std::size_t k = 0; k < all.size() && k < most_ids; ++k) name << (k == 0 ? "" : ", ") << all[k];
  if (all.size() > most_ids) name << ", ... (" << all.size() << " in all, the last " << all[all.size() - 1] << ")";
  return name;
}

}  // namespace partita::detail
