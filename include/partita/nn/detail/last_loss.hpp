// Whether a loss last returned a number or a block. The argument dy of adjoint() must be of the same kind.
#pragma once

#include <cstdint>
#include <partita/core/error.hpp>
#include <partita/core/text.hpp>

namespace partita::detail {

/// What a loss returned last: nothing yet, one number, or one number for each element or row.
enum class last_loss_kind : std::uint8_t { none, number, each };

/// Throws a shape_error unless the last loss was one number.
inline void require_reduced_loss(last_loss_kind last, const char* name) {
  if (last == last_loss_kind::number) return;
  throw shape_error(text(name) << ".adjoint(dy): requires a loss before, "
                               << (last == last_loss_kind::none
                                       ? "and none was called; call loss(x, target) first"
                                       : "and each(x, target) was called last; give adjoint() a dy "
                                         "of its shape"));
}

}  // namespace partita::detail
