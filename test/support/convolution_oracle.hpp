// A reference convolution by its definition: loops over every output and every tap of the whole tensors.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/nn/convolution_options.hpp>

#include "halo_oracle.hpp"

namespace test {

template <std::size_t Features>
struct whole_convolution {
  static constexpr std::size_t rank = Features + 2;
  using tensor = xt::xtensor<double, rank>;
  using shape = std::array<std::size_t, rank>;

  partita::convolution_options<Features> o;
  tensor w;
  xt::xtensor<double, 1> b;

  static shape shape_of(const tensor& t) {
    shape s{};
    for (std::size_t d = 0; d < rank; ++d) s[d] = t.shape()[d];
    return s;
  }
  shape result(const shape& x) const {
    shape y{x[0], o.out_channels};
    for (std::size_t f = 0; f < Features; ++f)
      y[2 + f] = (x[2 + f] + 2 * o.padding[f] - o.dilation[f] * (o.kernel[f] - 1) - 1) / o.stride[f] + 1;
    return y;
  }
  /// Calls f(element of y, element of W, element of x) for every product of the convolution.
  template <class F>
  void for_products(const shape& x, F f) const {
    const shape y = result(x), taps = o.weight_shape();
    const std::size_t outputs_of_group = o.out_channels / o.groups;
    for (std::size_t k = 0; k < partita::volume_of(y); ++k) {
      const auto i = partita::index_of(k, y);
      for (std::size_t t = 0; t < w.size() / o.out_channels; ++t) {
        auto tap = partita::index_of(i[1] * (w.size() / o.out_channels) + t, taps);
        cell<rank> at{static_cast<std::ptrdiff_t>(i[0]),
                      static_cast<std::ptrdiff_t>(i[1] / outputs_of_group * taps[1] + tap[1])};
        for (std::size_t f_ = 0; f_ < Features; ++f_)
          at[2 + f_] = static_cast<std::ptrdiff_t>(i[2 + f_] * o.stride[f_] + tap[2 + f_] * o.dilation[f_]) -
                       static_cast<std::ptrdiff_t>(o.padding[f_]);
        const auto from = original<rank>(at, x, partita::padding_of(o));
        if (from) f(k, partita::flat_index(tap, taps), partita::flat_index(*from, x));
      }
    }
  }
  tensor forward(const tensor& x) const {
    tensor y = xt::zeros<double>(result(shape_of(x)));
    for (std::size_t k = 0; k < y.size(); ++k)
      if (b.size() > 0) y.data()[k] = b(partita::index_of(k, shape_of(y))[1]);
    for_products(shape_of(x), [&](auto k, auto t, auto i) { y.data()[k] += w.data()[t] * x.data()[i]; });
    return y;
  }
  /// Returns dx, and writes dw and db.
  tensor adjoint(const tensor& x, const tensor& dy, tensor& dw, xt::xtensor<double, 1>& db) const {
    tensor dx = xt::zeros<double>(shape_of(x));
    dw = xt::zeros<double>(o.weight_shape());
    db = xt::zeros<double>(std::array<std::size_t, 1>{b.size()});
    for (std::size_t k = 0; k < dy.size(); ++k)
      if (b.size() > 0) db(partita::index_of(k, shape_of(dy))[1]) += dy.data()[k];
    for_products(shape_of(x), [&](auto k, auto t, auto i) {
      dx.data()[i] += w.data()[t] * dy.data()[k];
      dw.data()[t] += x.data()[i] * dy.data()[k];
    });
    return dx;
  }
};

/// Small integers, so that sums of products are exact.
template <std::size_t Rank>
xt::xtensor<double, Rank> small_integers(const std::array<std::size_t, Rank>& shape, std::size_t number) {
  auto t = partita::uninitialised<double, Rank>(shape);
  for (std::size_t k = 0; k < t.size(); ++k) t.data()[k] = static_cast<double>((7 * k + 3 * number + k / 5) % 7) - 3;
  return t;
}

/// The part of a tensor inside a box.
template <std::size_t Rank>
xt::xtensor<double, Rank> part(const xt::xtensor<double, Rank>& whole, const partita::box<Rank>& b) {
  auto own = partita::uninitialised<double, Rank>(b.shape());
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = whole.shape()[d];
  for (std::size_t k = 0; k < own.size(); ++k) {
    auto i = partita::index_of(k, b.shape());
    for (std::size_t d = 0; d < Rank; ++d) i[d] += b.start[d];
    own.data()[k] = whole.data()[partita::flat_index(i, all)];
  }
  return own;
}

}  // namespace test
