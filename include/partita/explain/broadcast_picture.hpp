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

/// The broadcast of the two operands of a binary operation. Requires shapes that broadcast to each other [shape_error].
struct broadcast_picture {
  shape_list lhs;                  ///< the shape of the first operand
  shape_list rhs;                  ///< the shape of the second operand
  broadcast_dimensions_list dims;  ///< the broadcast_dimensions of the operand of lower rank
  resolved_broadcast all;          ///< the shape of the result, and the result dimensions of both operands

  PARTITA_DECL broadcast_picture(const shape_list& left, const shape_list& right,
                                 const broadcast_dimensions_list& dimensions = {});  ///< left, right: operands' shapes
};

namespace detail {

/// How an operand fills one dimension of the result: with its own extent, with a 1 that is expanded to `extent`, or by
/// repetition of the whole operand.
struct cell_drawing {
  enum class kind { own_extent, expanded, repeated } fill = kind::own_extent;  ///< repeated: no such dimension
  std::size_t extent = 0;  ///< the extent of the result in the dimension
};

/// Lists the result dimensions that the adjoint of a broadcast sums over for an operand, as "adjoint sums 0, 2".
PARTITA_DECL long_text sum_text(const dimension_map& map, const shape_list& operand, const shape_list& result);

}  // namespace detail

/// Writes a broadcast as a table with a column for each result dimension. The entry of an operand is `*` if the operand
/// is repeated along the dimension, and `1 > 3` if its extent 1 is expanded to 3.
PARTITA_DECL long_text to_text(const broadcast_picture& picture);

/// Draws a broadcast as a table. In a blue cell the operand has the extent of the result, in a dashed cell the operand
/// is repeated, and in an orange cell its extent 1 is expanded.
PARTITA_DECL long_text to_svg(const broadcast_picture& picture);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/broadcast_picture.ipp>
#endif
