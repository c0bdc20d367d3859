// Defines the functions that sharded/detail/apply.hpp declares.
#pragma once

#include <partita/sharded/detail/apply.hpp>

namespace partita::detail {

PARTITA_DEF void require_no_reshard(const rule& how, std::size_t i, const sharding& from, const sharding& to,
                                    const shape_list& extents, std::size_t element_bytes) {
  if (!is_move_forbidden(from) || from.same_layout(to)) return;
  const std::size_t bytes = moved_bytes(from, to, extents, element_bytes);
  if (bytes > 0)
    throw partition_error(text("partita::") << how.name() << ": requires operands that need not be moved, but operand "
                                            << i << " of extents " << extents << " on the mesh " << from.on
                                            << " has layout " << from << " and must have layout " << to
                                            << ", which brings " << bytes << " bytes to a worker; reshard it before");
}

PARTITA_DEF std::uint32_t values_read_by_adjoint(const applied_operation& op, std::uint32_t gradients) {
  switch (op.work) {
    case block_work::product:
      return ((gradients & 1U) << 1U) | ((gradients >> 1U) & 1U);
    case block_work::own:
      return op.adjoint_reads(gradients);
    default:
      return 0;
  }
}

}  // namespace partita::detail
