// A drawing with a row for each value, and with arcs on the left from a value to the operations that read it.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/svg.hpp>
#include <vector>

namespace partita::detail {

/// The rows of a listing: a description, and a layout in a second column. Rows for communication are drawn in red.
class listing_rows {
 public:
  std::size_t rows() const { return row_count_; }  ///< The number of rows so far.
  /// Adds a row with a text in each of the two columns.
  PARTITA_DECL void add(const long_text& label, const long_text& layout, bool bold, const char* colour);
  /// Adds the row of a reshard, in red.
  void add_move(const long_text& label, const long_text& layout) { add(label, layout, false, red_ink_); }
  /// Adds the row of a value, with a dot where arcs start and end. Returns the row's number in the listing.
  PARTITA_DECL std::size_t add_value(const long_text& label, const long_text& layout, bool bold);
  /// Adds an arc between two rows; the arc is red if the value is resharded on the way.
  PARTITA_DECL void add_arc(std::size_t from, std::size_t to, bool is_move);
  PARTITA_DECL long_text svg();  ///< draws the arcs, and returns the drawing as SVG

 private:
  static constexpr drawing::px left_edge_ = 110, row_height_ = 26, column_width_ = 400;  ///< arcs end at left_edge_
  static constexpr const char* red_ink_ = "#9b2226";  ///< the SVG colour of communication
  struct arc {             ///< an arc from the row of a value to the row of an operation that reads it
    std::size_t from, to;  ///< the numbers of the two rows
    bool is_move;          ///< whether the value is resharded on the way
  };
  /// The y position of the centre of row k.
  static drawing::px centre(std::size_t k) { return row_height_ * static_cast<drawing::px>(k) + row_height_ / 2; }

  drawing svg_{};              ///< the drawing so far, without the arcs
  std::vector<arc> arcs_;      ///< the arcs so far, which svg() draws
  std::size_t row_count_ = 0;  ///< the number of rows so far
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/explain/impl/listing.ipp>
#endif
