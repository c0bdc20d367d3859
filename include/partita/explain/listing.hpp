// A drawing of values below each other, one row for each, with arcs on the left from values to the operations that read
// them.
#pragma once

#include <cstddef>
#include <partita/explain/svg.hpp>
#include <vector>

namespace partita::detail {

/// Rows from top to bottom: a description, and its layout in a second column. Rows with communication are red.
class listing_rows {
 public:
  std::size_t rows() const { return rows_; }
  void add(const long_text& what, const long_text& layout, bool bold, const char* ink) {
    const drawing::px y = middle(rows_++) + 5;
    on_.words(left_ + 12, y, what, {14, drawing::anchor::start, ink, bold, false});
    on_.words(left_ + column_, y, layout, {14, drawing::anchor::start, ink, bold, false});
  }
  void add_move(const long_text& what, const long_text& layout) { add(what, layout, false, red_); }
  /// A row with a dot, where arcs start and end.
  std::size_t add_value(const long_text& what, const long_text& layout, bool bold) {
    on_.rectangle(left_ - 3, middle(rows_) - 3, 6, 6, {dark.ink, dark.ink}, 0, false, 3);
    add(what, layout, bold, dark.ink);
    return rows_ - 1;
  }
  void add_arc(std::size_t from, std::size_t to, bool moves) { arcs_.push_back({from, to, moves}); }
  long_text svg() {
    for (const arc& one : arcs_) {
      const drawing::px from = middle(one.from), to = middle(one.to), far = (to - from) / 3 + 12;
      on_.curve(left_, from, left_ - (far < left_ ? far : left_), left_, to, one.moves ? red_ : pale.ink);
    }
    return on_.svg();
  }

 private:
  static constexpr drawing::px left_ = 110, row_ = 26, column_ = 400;
  static constexpr const char* red_ = "#9b2226";
  struct arc {
    std::size_t from, to;
    bool moves;
  };
  static drawing::px middle(std::size_t k) { return row_ * static_cast<drawing::px>(k) + row_ / 2; }

  drawing on_{};
  std::vector<arc> arcs_{};
  std::size_t rows_ = 0;
};

}  // namespace partita::detail
