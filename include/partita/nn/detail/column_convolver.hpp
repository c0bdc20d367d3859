// The convolution of one worker by im2col and BLAS. Patches of x are copied into columns, one cache-sized tile at a
// time, and multiplied by W.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <partita/array/gemm.hpp>
#include <partita/plan/cut.hpp>
#include <vector>

namespace partita::detail {

/// The sizes of one worker's convolution. The channels of a group are adjacent in x, weights and y.
template <std::size_t Features>
struct local_convolution {
  std::size_t batch = 0;               ///< the number of samples
  std::size_t in_channels = 0;         ///< the number of channels of the window of x
  std::size_t out_channels = 0;        ///< the number of channels of the block of y
  std::size_t group_in_channels = 0;   ///< the number of input channels that each output depends on
  std::size_t first_out_channel = 0;   ///< the index of the block's first channel in the global y
  std::size_t group_out_channels = 1;  ///< the number of channels of the global y in one group
  /// For each feature dimension: the extents of the window of x and of the block of y, and the numbers of the kernel.
  std::array<std::size_t, Features> window{}, outputs{}, kernel{}, stride{}, dilation{};
  /// The product of the numbers of all feature dimensions.
  static std::size_t product(const std::array<std::size_t, Features>& a) {
    std::size_t all = 1;
    for (const std::size_t n : a) all *= n;
    return all;
  }
  std::size_t rows() const { return group_in_channels * product(kernel); }  ///< the number of inputs of one output
  std::size_t columns() const { return product(outputs); }  ///< the number of outputs per sample and channel
  bool empty() const { return batch == 0 || out_channels == 0 || columns() == 0; }  ///< whether there is no output

  friend bool operator==(const local_convolution&, const local_convolution&) = default;
};

/// A convolution of one worker, for any element type. Objects of this class keep a buffer for one tile of columns.
template <class T, std::size_t Features>
class column_convolver {
  using sizes = local_convolution<Features>;

 public:
  explicit column_convolver(const sizes& s) : s_(s), window_size_(sizes::product(s.window)) {
    // chosen: half a megabyte of columns fits into a second-level cache together with the weights
    const std::size_t row = std::max<std::size_t>(1, s.rows()) * sizeof(T);
    tile_columns_ = std::clamp<std::size_t>((std::size_t{512} << 10U) / row, 1, std::max<std::size_t>(1, s.columns()));
    std::size_t step = 1;
    for (std::size_t f = Features; f-- > 0;) strides_[f] = step, step *= s.window[f];
    for (std::size_t c = 0; c < s.group_in_channels; ++c)
      for (std::size_t t = 0; t < sizes::product(s.kernel); ++t) {
        std::size_t offset = c * window_size_, remaining = t;
        for (std::size_t f = Features; f-- > 0; remaining /= s.kernel[f])
          offset += remaining % s.kernel[f] * s.dilation[f] * strides_[f];
        offsets_.push_back(offset);
      }
  }

  /// Computes the convolution y = W x + b, or y = W x if bias is null. All arrays are dense, in C order.
  void forward(const T* x, const T* w, const T* bias, T* y) {
    forward(x, w, bias, y, {}, [] {});
  }
  /// Computes y = W x + b while x is still arriving: first the tiles that need only the cells in `available` along each
  /// feature, then wait_for_input(), then the other tiles. Tiles, and the bits of y, do not depend on `available`.
  template <class Arrive>
  void forward(const T* x, const T* w, const T* bias, T* y, const std::array<interval, Features>& available,
               Arrive wait_for_input) {
    const std::size_t n = s_.columns();
    if (s_.empty()) return wait_for_input();
    for (std::size_t row = 0; row < s_.batch * s_.out_channels; ++row)
      std::fill_n(y + row * n, n, bias == nullptr ? T(0) : bias[row % s_.out_channels]);
    if (s_.rows() == 0) return wait_for_input();
    const auto product = [&](std::size_t sample, const group& g, std::size_t from, std::size_t count) {
      gather(x + (sample * s_.in_channels + g.first_in_channel) * window_size_, count);
      multiply<T>(dense_block<const T, 2>(w + g.first_out_channel * s_.rows(), {g.size, s_.rows()}), columns(count),
                  T(1), y_block(y, sample, g, from, count));
    };
    for_each_tile(product, [&](std::size_t from, std::size_t count) { return is_ready(available, from, count); });
    wait_for_input();
    for_each_tile(product, [&](std::size_t from, std::size_t count) { return !is_ready(available, from, count); });
  }
  /// Computes dx = W^T dy, and overwrites all cells of the window dx.
  void adjoint(const T* dy, const T* w, T* dx) {
    std::fill_n(dx, s_.batch * s_.in_channels * window_size_, T(0));
    if (s_.empty() || s_.rows() == 0) return;
    for_each_tile([&](std::size_t sample, const group& g, std::size_t from, std::size_t count) {
      columns_.resize(s_.rows() * count);
      multiply<T>(
          transposed<const T>(dense_block<const T, 2>(w + g.first_out_channel * s_.rows(), {g.size, s_.rows()})),
          y_block(dy, sample, g, from, count), T(0), dense_block<T, 2>(columns_.data(), {s_.rows(), count}));
      scatter(dx + (sample * s_.in_channels + g.first_in_channel) * window_size_, count);
    });
  }
  /// Adds dy x^T to dw, and, unless db is null, the sum of dy over samples and positions to db.
  void gradients(const T* x, const T* dy, T* dw, T* db) {
    if (s_.empty()) return;
    if (db != nullptr) bias_gradients(dy, db);
    if (s_.rows() == 0) return;
    for_each_tile([&](std::size_t sample, const group& g, std::size_t from, std::size_t count) {
      gather(x + (sample * s_.in_channels + g.first_in_channel) * window_size_, count);
      multiply<T>(y_block(dy, sample, g, from, count), transposed<const T>(columns(count)), T(1),
                  dense_block<T, 2>(dw + g.first_out_channel * s_.rows(), {g.size, s_.rows()}));
    });
  }
  /// Adds to db, for each output channel, the sum of dy over samples and positions.
  void bias_gradients(const T* dy, T* db) const {
    const std::size_t n = s_.columns();
    for (std::size_t row = 0; row < s_.batch * s_.out_channels; ++row)
      for (std::size_t k = 0; k < n; ++k) db[row % s_.out_channels] += dy[row * n + k];
  }

 private:
  /// The output channels of one group that are on this worker: their first index in the block of y, their number, and
  /// the index of the group's first input channel in the window of x.
  struct group {
    std::size_t first_out_channel, size, first_in_channel;  ///< an index in y, a number of channels, an index in x
  };
  /// A run of `count` consecutive output positions along the last dimension. `column` is the first position's column in
  /// the tile, `cell` the offset of its window in one channel of x.
  struct cell_run {
    std::size_t cell, column, count;  ///< an offset in x, an index in the tile, a number of outputs
  };

  /// Calls f(sample, group, first column, number of columns) for each tile of columns, sample and group.
  template <class F>
  void for_each_tile(F f) {
    for_each_tile(f, [](std::size_t, std::size_t) { return true; });
  }
  template <class F, class Chosen>
  void for_each_tile(F f, Chosen is_selected) {
    for (std::size_t from = 0; from < s_.columns(); from += tile_columns_) {
      const std::size_t count = std::min(tile_columns_, s_.columns() - from);
      if (!is_selected(from, count)) continue;
      find_column_runs(from, count);
      for (std::size_t sample = 0; sample < s_.batch; ++sample)
        for (std::size_t o = 0; o < s_.out_channels;) {
          const std::size_t g = (s_.first_out_channel + o) / s_.group_out_channels;
          const std::size_t end = std::min(s_.out_channels, (g + 1) * s_.group_out_channels - s_.first_out_channel);
          f(sample, group{o, end - o, (g - s_.first_out_channel / s_.group_out_channels) * s_.group_in_channels}, from,
            count);
          o = end;
        }
    }
  }
  /// Whether all taps of `count` columns, from column `from` on, are in the cells `available`. The function tests the
  /// bounding box of the positions of these taps, so it may return false although all taps are available.
  bool is_ready(const std::array<interval, Features>& available, std::size_t from, std::size_t count) const {
    std::array<std::size_t, Features> first{}, last{};
    for (std::size_t f = Features, a = from, b = from + count - 1; f-- > 0; a /= s_.outputs[f], b /= s_.outputs[f])
      first[f] = a % s_.outputs[f], last[f] = b % s_.outputs[f];
    // A range that spans several positions of an outer dimension uses all positions of the inner dimensions.
    bool spans_all = false;
    for (std::size_t f = 0; f < Features; ++f) {
      if (spans_all) first[f] = 0, last[f] = s_.outputs[f] - 1;
      spans_all = spans_all || first[f] != last[f];
      const std::size_t reach = s_.dilation[f] * (s_.kernel[f] - 1) + 1;
      if (first[f] * s_.stride[f] < available[f].start || last[f] * s_.stride[f] + reach > available[f].stop)
        return false;
    }
    return true;
  }
  /// Lists in runs_ the output positions of `count` columns, from column `from` on.
  void find_column_runs(std::size_t from, std::size_t count) {
    runs_.clear();
    const std::size_t last = s_.outputs[Features - 1];
    for (std::size_t column = 0; column < count;) {
      std::size_t remaining = from + column, cell = 0;
      const std::size_t run_length = std::min(count - column, last - remaining % last);
      for (std::size_t f = Features; f-- > 0; remaining /= s_.outputs[f])
        cell += remaining % s_.outputs[f] * s_.stride[f] * strides_[f];
      runs_.push_back({cell, column, run_length});
      column += run_length;
    }
  }
  /// Copies the inputs of the columns of runs_ from one group's channels of x to the buffer (im2col).
  void gather(const T* x, std::size_t count) {
    columns_.resize(s_.rows() * count);
    const std::size_t stride = s_.stride[Features - 1];
    T* row = columns_.data();
    for (const std::size_t tap : offsets_) {
      for (const cell_run& r : runs_) {
        const T* const from = x + tap + r.cell;
        if (stride == 1) std::copy_n(from, r.count, row + r.column);
        else
          for (std::size_t k = 0; k < r.count; ++k) row[r.column + k] = from[k * stride];
      }
      row += count;
    }
  }
  /// Adds the columns in the buffer to the cells of dx from which gather() would copy them (col2im).
  void scatter(T* dx, std::size_t count) {
    const std::size_t stride = s_.stride[Features - 1];
    const T* row = columns_.data();
    for (const std::size_t tap : offsets_) {
      for (const cell_run& r : runs_)
        for (std::size_t k = 0; k < r.count; ++k) dx[tap + r.cell + k * stride] += row[r.column + k];
      row += count;
    }
  }
  /// The buffer as a matrix of `count` columns.
  strided<const T, 2> columns(std::size_t count) const {
    return dense_block<const T, 2>(columns_.data(), {s_.rows(), count});
  }
  /// The elements of y in a tile, as a matrix: output channels of a group x columns.
  template <class Y>
  strided<Y, 2> y_block(Y* y, std::size_t sample, const group& g, std::size_t from, std::size_t count) const {
    const std::size_t n = s_.columns();
    return {y + (sample * s_.out_channels + g.first_out_channel) * n + from,
            {g.size, count},
            {static_cast<std::ptrdiff_t>(n), 1}};
  }

  sizes s_;                                      ///< the sizes of this worker's convolution
  std::size_t window_size_, tile_columns_ = 1;   ///< the cells of one channel of the window; the columns of a tile
  std::array<std::size_t, Features> strides_{};  ///< the distances in memory of adjacent cells of the window
  std::vector<std::size_t> offsets_;  ///< for each weight of an output, its input's offset from the window's first cell
  std::vector<cell_run> runs_;        ///< the columns of the current tile, as runs
  std::vector<T> columns_;            ///< the buffer: a matrix of the inputs of an output x columns of a tile
};

}  // namespace partita::detail
