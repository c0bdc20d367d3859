// Defines the functions that sharded/sharded_tensor.hpp declares.
#pragma once

#include <partita/sharded/sharded_tensor.hpp>

namespace partita::detail {

PARTITA_DEF void require_no_pending_reduction(const sharding& s, const char* call) {
  if (s.is_partial())
    throw partition_error(text("partita::sharded_tensor::")
                          << call << ": requires a value whose sums are taken, but it has the layout " << s
                          << "; reshard it to a layout that is not partial first");
}

PARTITA_DEF void require_layout(const sharding& s, const shape_list& extents, const char* call) {
  if (s.rank() != extents.size())
    throw shape_error(text(call) << ": requires one entry of the layout for each dimension, but " << s
                                 << " is given for extents " << extents
                                 << "; write \"\" for a dimension that is not cut");
}

}  // namespace partita::detail
