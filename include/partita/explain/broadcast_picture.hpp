// An array broadcast as text or as a drawing: the result dimension of each operand dimension, what is repeated, and
// what is expanded.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <partita/explain/svg.hpp>
#include <partita/rule/array_broadcast.hpp>
#include <partita/rule/broadcast_sentence.hpp>

namespace partita {

/// The broadcast of a binary operation. Requires shapes that broadcast [shape_error].
struct broadcast_picture {
  shape_list lhs;
  shape_list rhs;
  broadcast_dimensions_list dims;
  resolved_broadcast all;

  PARTITA_DECL broadcast_picture(const shape_list& left, const shape_list& right,
                                 const broadcast_dimensions_list& dimensions = {});
};

namespace detail {

/// An operand in one dimension of the result: its own extent, a 1 that is expanded to `extent`, or none (the operand is
/// repeated).
struct pictured_cell {
  enum class kind { spans, expanded, repeated } what = kind::spans;
  std::size_t extent = 0;
};

/// The dimensions that the adjoint of an operand sums over: "adjoint sums 0, 2".
PARTITA_DECL long_text summed(const dimension_map& map, const shape_list& operand, const shape_list& result);

}  // namespace detail

/// Three lines, with one column for each dimension of the result: `*` means repeated, `1 > 3` means expanded.
PARTITA_DECL long_text to_text(const broadcast_picture& picture);

/// The same as a drawing: blue cells are the operand's own, dashed cells repeat it, orange cells expand a 1.
PARTITA_DECL long_text to_svg(const broadcast_picture& picture);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/broadcast_picture.ipp>
#endif
