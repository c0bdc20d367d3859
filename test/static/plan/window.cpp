// Windows that slide: how many outputs there are and which inputs a block of them needs, against a walk over all taps.
#include <partita/core/text.hpp>
#include <partita/plan/window.hpp>

using namespace partita;

namespace {

// as PyTorch counts them
static_assert(window{.kernel = 3}.outputs(8) == 6);
static_assert(window{.kernel = 3, .padding = 1}.outputs(8) == 8);
static_assert(window{.kernel = 3, .stride = 2, .padding = 1}.outputs(8) == 4);
static_assert(window{.kernel = 3, .dilation = 2}.span() == 5 && window{.kernel = 3, .dilation = 2}.outputs(4) == 0);
static_assert(window{.kernel = 1, .stride = 3}.outputs(7) == 3);  // inputs that nobody needs

// ceil_mode: one more where something is left over, but never a window that begins in the padding behind the tensor
static_assert(window{.kernel = 2, .stride = 2}.outputs(5) == 2);
static_assert(window{.kernel = 2, .stride = 2, .ceil_mode = true}.outputs(5) == 3);
static_assert(window{.kernel = 2, .stride = 2, .ceil_mode = true}.outputs(6) == 3);
static_assert(window{.kernel = 2, .stride = 3, .padding = 1, .ceil_mode = true}.outputs(5) == 2);

// what is needed: clipped to the tensor, holes of dilation included, nothing for no output
static_assert(window{.kernel = 3, .padding = 1}.needed({0, 2}, 8) == interval{0, 3});
static_assert(window{.kernel = 3, .padding = 1}.needed({6, 8}, 8) == interval{5, 8});
static_assert(window{.kernel = 3, .dilation = 3}.needed({1, 2}, 9) == interval{1, 8});
static_assert(window{.kernel = 3}.needed({4, 4}, 8) == interval{});
static_assert(window{.kernel = 1, .padding = 2}.needed({0, 2}, 3).size() == 0);  // all of it is padding

/// Every tap of every output is a needed input or padding, none is needed in vain where windows leave no holes, and
/// output number outputs(n) would reach beyond the padded tensor.
constexpr bool is_right(const window& w, std::size_t n) {
  const auto signed_n = static_cast<std::ptrdiff_t>(n), padding = static_cast<std::ptrdiff_t>(w.padding);
  const std::size_t m = w.outputs(n);
  for (std::size_t a = 0; a <= m; ++a)
    for (std::size_t b = a; b <= m; ++b) {
      const interval got = w.needed({a, b}, n);
      std::ptrdiff_t low = signed_n, high = 0;
      for (std::size_t o = a; o < b; ++o)
        for (std::size_t t = 0; t < w.kernel; ++t) {
          const std::ptrdiff_t i = w.first(o) + static_cast<std::ptrdiff_t>(t * w.dilation);
          if (i < 0 || i >= signed_n) continue;
          low = i < low ? i : low;
          high = i + 1 > high ? i + 1 : high;
        }
      if (got.stop > n) return false;
      if (low < high && (static_cast<std::ptrdiff_t>(got.start) > low || static_cast<std::ptrdiff_t>(got.stop) < high))
        return false;
      if (w.dilation == 1 && w.stride <= w.kernel && low < high &&
          !(got == interval{static_cast<std::size_t>(low), static_cast<std::size_t>(high)}))
        return false;
    }
  const auto end = [&](std::size_t o) { return w.first(o) + static_cast<std::ptrdiff_t>(w.span()); };
  if (!w.ceil_mode) return (m == 0 || end(m - 1) <= signed_n + padding) && end(m) > signed_n + padding;
  return m == 0 || w.first(m - 1) < signed_n || window{w.kernel, w.stride, w.dilation, w.padding}.outputs(n) == m;
}
constexpr bool are_right(std::size_t kernel) {
  for (std::size_t stride = 1; stride <= 3; ++stride)
    for (std::size_t dilation = 1; dilation <= 2; ++dilation)
      for (std::size_t padding = 0; padding <= 2; ++padding)
        for (std::size_t n = 1; n <= 7; n += 2)
          for (const bool ceil_mode : {false, true})
            if (!is_right({kernel, stride, dilation, padding, ceil_mode}, n)) return false;
  return true;
}
static_assert(are_right(1) && are_right(2) && are_right(3) && are_right(4));

// several dimensions: the product of each, and nothing at all if one of them is empty
constexpr std::array<window, 2> windows{window{.kernel = 3, .padding = 1}, window{.kernel = 2, .stride = 2}};
static_assert(outputs_of<2>(windows, {6, 6}) == std::array<std::size_t, 2>{6, 3});
static_assert(needed_box<2>(windows, {6, 6}, {{0, 1}, {3, 3}}) == box<2>{{0, 2}, {4, 6}});
static_assert(needed_box<2>(windows, {6, 6}, {{3, 1}, {3, 3}}) == box<2>{});

}  // namespace
