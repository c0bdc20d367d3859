// Defines the functions that sharded/detail/block_product.hpp declares.
#pragma once

#include <partita/sharded/detail/block_product.hpp>

namespace partita::detail {

PARTITA_DEF factor_strides::factor_strides(const rule& r, std::size_t t, const shape_list& block, std::size_t* extent) {
  const auto steps = strides_of(block);
  for (std::size_t d = 0; d < r.rank(t); ++d) {
    if (r.at(t, d).count == 0) continue;
    const std::size_t f = r.term(r.at(t, d), 0);
    by_factor[f] = steps[d];
    has_factor[f] = true;
    extent[f] = block[d];
  }
}

PARTITA_DEF factor_list ordered_factors(const rule& r, std::size_t t) {
  factor_list all;
  for (std::size_t d = 0; d < r.rank(t); ++d)
    if (r.at(t, d).count != 0) all.push_back(r.term(r.at(t, d), 0));
  return all;
}

}  // namespace partita::detail
