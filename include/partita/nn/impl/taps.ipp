// Defines the functions that nn/taps.hpp declares.
#pragma once

#include <limits>
#include <partita/nn/taps.hpp>

namespace partita {

PARTITA_DEF void taps::tap(std::size_t index, double by) {
  input.push_back(index);
  weight.push_back(by);
}

PARTITA_DEF void taps::end(double output_divisor) {
  first.push_back(input.size());
  divisor.push_back(output_divisor);
}

PARTITA_DEF interval taps::footprint() const {
  interval all;
  for (std::size_t k = 0; k < input.size(); ++k) {
    all.start = k == 0 || input[k] < all.start ? input[k] : all.start;
    all.stop = input[k] + 1 > all.stop ? input[k] + 1 : all.stop;
  }
  return all;
}

PARTITA_DEF taps taps_of_identity(interval outputs) {
  taps all;
  for (std::size_t o = outputs.start; o < outputs.stop; ++o) all.tap(o), all.end();
  return all;
}

PARTITA_DEF taps taps_of_window(const sliding& kernel, interval outputs, std::size_t n, bool includes_padding) {
  taps all;
  const auto extent = static_cast<std::ptrdiff_t>(n), padded = static_cast<std::ptrdiff_t>(n + kernel.padding);
  for (std::size_t o = outputs.start; o < outputs.stop; ++o) {
    double inside = 0, counted = 0;
    for (std::size_t t = 0; t < kernel.kernel; ++t) {
      const std::ptrdiff_t i = kernel.first_cell(o) + static_cast<std::ptrdiff_t>(t * kernel.dilation);
      counted += i < padded ? 1 : 0;
      if (i < 0 || i >= extent) continue;
      all.tap(static_cast<std::size_t>(i));
      inside += 1;
    }
    all.end(includes_padding ? counted : inside);
  }
  return all;
}

PARTITA_DEF taps taps_of_adaptive_window(interval outputs, std::size_t n, std::size_t m) {
  taps all;
  for (std::size_t o = outputs.start; o < outputs.stop; ++o) {
    const std::size_t start = o * n / m, stop = ((o + 1) * n + m - 1) / m;
    for (std::size_t i = start; i < stop; ++i) all.tap(i);
    all.end(static_cast<double>(stop - start));
  }
  return all;
}

PARTITA_DEF taps interpolation::taps_of(interval outputs, std::size_t n, std::size_t m) const {
  taps all;
  for (std::size_t o = outputs.start; o < outputs.stop; ++o) {
    const auto at = static_cast<double>(o);
    if (!linear) {
      // The step and the product are rounded. The factor makes sure that an output at the position of an input takes
      // this input, not the preceding one.
      const auto i = static_cast<std::size_t>(at * step * (1 + 2 * std::numeric_limits<double>::epsilon()));
      all.tap(i < n ? i : n - 1);
    } else {
      const double from = align_corners ? (m > 1 ? at * static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0)
                                        : (at + 0.5) * step - 0.5;
      const double f = from > 0 ? from : 0;
      const auto i = static_cast<std::size_t>(f);
      const double share = f - static_cast<double>(i);
      if (i + 1 >= n) {
        all.tap(n - 1);
      } else {
        all.tap(i, 1 - share);
        if (share > 0) all.tap(i + 1, share);
      }
    }
    all.end();
  }
  return all;
}

}  // namespace partita
