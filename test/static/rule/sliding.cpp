// Sliding kernels: the number of outputs and the cells that each one reads, compared with a loop over all taps.
#include <partita/rule/sliding.hpp>

using namespace partita;

namespace {

// as PyTorch counts
static_assert(sliding{.kernel = 3}.output_extent(8) == 6);
static_assert(sliding{.kernel = 3, .padding = 1}.output_extent(8) == 8);
static_assert(sliding{.kernel = 3, .stride = 2, .padding = 1}.output_extent(8) == 4);
static_assert(sliding{.kernel = 3, .dilation = 2}.reach() == 5 &&
              sliding{.kernel = 3, .dilation = 2}.output_extent(4) == 0);
static_assert(sliding{.kernel = 1, .stride = 3}.output_extent(7) == 3);  // cells that no output needs

// ceil_mode: one more where something is left over, but never one that begins in the padding behind the tensor
static_assert(sliding{.kernel = 2, .stride = 2}.output_extent(5) == 2);
static_assert(sliding{.kernel = 2, .stride = 2, .ceil_mode = true}.output_extent(5) == 3);
static_assert(sliding{.kernel = 2, .stride = 2, .ceil_mode = true}.output_extent(6) == 3);
static_assert(sliding{.kernel = 2, .stride = 3, .padding = 1, .ceil_mode = true}.output_extent(5) == 2);

/// The last place ends within the padded tensor and the next would not; with ceil_mode the last begins before the
/// padding behind it, unless there is none more.
constexpr bool is_right(const sliding& k, std::size_t n) {
  const auto cells = static_cast<std::ptrdiff_t>(n), padding = static_cast<std::ptrdiff_t>(k.padding);
  const std::size_t m = k.output_extent(n);
  const auto end = [&](std::size_t place) { return k.first_cell(place) + static_cast<std::ptrdiff_t>(k.reach()); };
  if (!k.ceil_mode) return (m == 0 || end(m - 1) <= cells + padding) && end(m) > cells + padding;
  sliding floor = k;
  floor.ceil_mode = false;
  return floor.output_extent(n) == m || (floor.output_extent(n) + 1 == m && k.first_cell(m - 1) < cells);
}
constexpr bool are_right(std::size_t kernel) {
  for (std::size_t stride = 1; stride <= 3; ++stride)
    for (std::size_t dilation = 1; dilation <= 2; ++dilation)
      for (std::size_t padding = 0; padding <= 2; ++padding)
        for (std::size_t n = 1; n <= 7; ++n)
          for (int ceil_mode = 0; ceil_mode < 2; ++ceil_mode)
            if (!is_right({kernel, stride, padding, dilation, ceil_mode == 1}, n)) return false;
  return true;
}
/// The places counted one by one: those that end within the padded tensor, and with ceil_mode one more for cells that
/// are left, if it begins before the padding behind the tensor.
constexpr std::size_t counted(const sliding& k, std::size_t n) {
  const std::size_t all = n + 2 * k.padding;
  std::size_t places = 0;
  for (;; ++places) {
    const std::size_t begin = places * k.stride;
    const bool cells_are_left = places > 0 && begin - k.stride + k.reach() < all;
    const bool one_more = k.ceil_mode && cells_are_left && begin < n + k.padding;
    if (begin + k.reach() > all && !one_more) return places;
  }
}
constexpr bool are_counted(std::size_t kernel) {
  for (std::size_t stride = 1; stride <= 4; ++stride)
    for (std::size_t dilation = 1; dilation <= 2; ++dilation)
      for (std::size_t padding = 0; padding <= 2; ++padding)
        for (std::size_t n = 1; n <= 8; ++n)
          for (int ceil_mode = 0; ceil_mode < 2; ++ceil_mode) {
            const sliding k{kernel, stride, padding, dilation, ceil_mode == 1};
            if (k.output_extent(n) != counted(k, n)) return false;
          }
  return true;
}
static_assert(are_counted(1) && are_counted(2) && are_counted(3) && are_counted(4));
static_assert(sliding{}.output_extent(5) == 5 && sliding{}.reach() == 1 && sliding{}.first_cell(3) == 3);
static_assert(are_right(1) && are_right(2) && are_right(3) && are_right(4));

}  // namespace
