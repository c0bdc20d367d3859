// A picture of the layouts of a three-dimensional transform: the block of each worker, and the lines that the worker
// transforms.
#pragma once

#include <array>
#include <cstddef>
#include <partita/explain/svg.hpp>
#include <partita/kernel/fourier_transform.hpp>

namespace pencils {

using partita::drawing;
using px = drawing::px;

/// The box in which a block is drawn: dimension 0 goes into the page, 1 goes down, 2 goes to the right.
class drawn_box {
 public:
  drawn_box(drawing& on, px left, px top, const partita::box<3>& block, const std::array<std::size_t, 3>& part)
      : on_(on),
        wide_(width * static_cast<px>(block.shape()[2])),
        high_(width * static_cast<px>(block.shape()[1])),
        depth_(width * static_cast<px>(block.shape()[0]) / 2) {
    // the blocks are drawn apart, and part 0 along dimension 0 is in front
    const auto place = [&](std::size_t d, px scale) {
      return scale * static_cast<px>(block.start[d]) + gap * static_cast<px>(part[d]);
    };
    const px behind = place(0, width / 2);
    x_ = left + behind + place(2, width);
    y_ = top + into_page - behind + place(1, width);
  }
  /// Draws three faces of a block, and on them the lines along dimension `along`.
  void draw(const partita::colour& c, std::size_t along) {
    for (px k = depth_; k > 0; --k) on_.rectangle(x_ + k, y_ - k, wide_, high_, {c.fill, c.fill});
    on_.rectangle(x_, y_, wide_, high_, c);
    const px right = x_ + wide_, bottom = y_ + high_;
    edge(x_, y_, c.ink), edge(right, y_, c.ink), edge(right, bottom, c.ink);
    on_.line(x_ + depth_, y_ - depth_, right + depth_, y_ - depth_, c.ink);
    on_.line(right + depth_, y_ - depth_, right + depth_, bottom - depth_, c.ink);
    for (px k = width; k < wide_ && along != 2; k += width)
      along == 1 ? on_.line(x_ + k, y_, x_ + k, bottom, c.ink) : edge(x_ + k, y_, c.ink);
    for (px k = width; k < high_ && along != 1; k += width)
      along == 2 ? on_.line(x_, y_ + k, right, y_ + k, c.ink) : edge(right, y_ + k, c.ink);
    for (px k = width / 2; k < depth_ && along != 0; k += width / 2)
      along == 2 ? on_.line(x_ + k, y_ - k, right + k, y_ - k, c.ink)
                 : on_.line(right + k, y_ - k, right + k, bottom - k, c.ink);
  }

 private:
  static constexpr px width = 16, gap = 22,
                      into_page = 80;  // the size of an element, the gap between blocks, and the depth
  drawing& on_;
  px wide_, high_, depth_, x_, y_;

  void edge(px x, px y, const char* ink) { on_.line(x, y, x + depth_, y - depth_, ink); }
};

/// Draws the layouts of the plan side by side, with the moves between them.
inline partita::long_text to_svg(const partita::fourier_plan<3>& plan) {
  using partita::long_text;
  drawing on;
  const drawing::style heading{.bold = true}, caption{.size = 12, .ink = partita::detail::pale_colour.ink};
  std::size_t workers = 0;
  for (const auto& step : plan.steps) {
    const px left = on.width() == 0 ? 0 : on.width() + 40;
    const auto cuts = partita::decomposition<3>::balanced(plan.extents, step.grid);
    long_text title, transformed("transforms dimension");
    for (std::size_t d = 0; d < 3; ++d) title << (d == 0 ? "on " : " × ") << step.grid[d];
    for (const std::size_t d : step.dimensions) transformed << ' ' << d;
    on.words(left, 14, title << " workers", heading);
    on.words(left, 32, transformed, caption);
    const std::size_t count = step.grid[0] * step.grid[1] * step.grid[2];
    workers = count > workers ? count : workers;
    px end = left;
    for (std::size_t nearer = step.grid[0]; nearer-- > 0;)  // blocks are drawn from the back to the front
      for (std::size_t place = 0; place < count; ++place) {
        const auto part = partita::index_of(place, step.grid);
        if (part[0] != nearer) continue;
        drawn_box box(on, left, 50, cuts.block(part), part);
        box.draw(partita::colour_of(step.workers[place]), step.dimensions.empty() ? 3 : step.dimensions[0]);
        end = on.width() > end ? on.width() : end;
      }
    if (!step.moves) continue;
    on.arrow(end + 24, 130, end + 104, 130, partita::detail::dark_colour.ink);
    on.words(end + 60, 118, long_text("move"), {.size = 12, .at = drawing::anchor::middle});
  }
  const px below = on.height() + 28;
  for (std::size_t k = 0; k < workers; ++k) {
    on.rectangle(100 * static_cast<px>(k), below - 11, 14, 12, partita::colour_of(k));
    on.words(100 * static_cast<px>(k) + 20, below, long_text("worker ") << k, caption);
  }
  on.words(0, below + 22, "dimension 0 goes into the page, dimension 1 down, dimension 2 to the right", caption);
  return on.svg();
}

}  // namespace pencils
