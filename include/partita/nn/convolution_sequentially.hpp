// Convolutions for all workers of a world inside one process, computed from the same plans that the workers use.
#pragma once

#include <partita/kernel/sequentially.hpp>
#include <partita/nn/detail/convolution_split.hpp>
#include <vector>

namespace partita::sequentially {

/// `sequentially::convolution<double, 2> c(p_x, p_y, p_w, options)` computes what partita::convolution returns on each
/// worker, from the whole W (out x in / groups x kernel) and b (empty for no bias). p_x, p_y and p_w are grids.
/// Shapes:   x and y are vectors with one block for each worker of the world; gradients are those of the whole W and b.
/// Adjoint:  adjoint(dy) returns dx for the last x.
template <class T, std::size_t Features>
class convolution {
  static constexpr std::size_t rank = Features + 2;  ///< the number of dimensions of x, y and W
  using worker_grid = grid<dynamic_extents<rank>>;   ///< a partition of any grid shape, by the numbers of its workers
  using block = xt::xtensor<T, rank>;                ///< a block of one worker, or the whole W

 public:
  convolution(const worker_grid& p_x, const convolution_options<Features>& options)
      : p_x_(p_x), p_y_(p_x), work_split_(partita::detail::convolution_split_by_output(p_x, options)) {}
  convolution(const worker_grid& p_x, const worker_grid& p_y, const worker_grid& p_w,
              const convolution_options<Features>& options)
      : p_x_(p_x), p_y_(p_y), work_split_(partita::detail::convolution_split_by_weights(p_x, p_y, p_w, options)) {}

  std::vector<block> operator()(const std::vector<block>& x, const block& w, const xt::xtensor<T, 1>& b) {
    const auto cuts = detail::cut_of_blocks(p_x_, x, "convolution");
    const text problem = convolution_error(work_split_.options(), cuts.extents());
    if (!problem.empty()) throw shape_error(text("partita::sequentially::convolution: ") << problem);
    const auto extents = work_split_.extents_of_y(cuts.extents());
    const auto of_y = decomposition<rank>::balanced(extents, p_y_.shape());
    input_plans_.clear(), output_plans_.clear();
    for (std::size_t k = 0; k < x.size(); ++k) {
      input_plans_.push_back(plan_convolution_input(work_split_, p_x_, cuts, k));
      output_plans_.push_back(plan_convolution_output(work_split_, p_y_, of_y, k));
    }
    x_ = detail::fill_windows(input_plans_, x, padding_of(work_split_.options()));
    w_ = w, b_ = b;
    std::vector<block> y(x.size(), zero_volume<T, rank>());
    for_each_worker([&](std::size_t k, auto& local, const block& own, const xt::xtensor<T, 1>& bias) {
      y[k] = uninitialised<T, rank>(output_plans_[k].exchange.destination_shape);
      local.forward(x_[k].data(), own.data(), bias.size() > 0 ? bias.data() : nullptr, y[k].data());
    });
    return detail::sum_windows(output_plans_, y, "convolution");
  }
  /// Returns the blocks of dx for the last x, and sets the gradients of W and of the bias.
  std::vector<block> adjoint(const std::vector<block>& dy) {
    const auto there = detail::fill_windows(output_plans_, dy, halo_boundaries<rank>(boundary::none));
    std::vector<block> dx(dy.size(), zero_volume<T, rank>());
    dw_ = xt::zeros<T>(w_.shape()), db_ = xt::zeros<T>(b_.shape());
    for_each_worker([&](std::size_t k, auto& local, const block& own, const xt::xtensor<T, 1>& bias) {
      dx[k] = uninitialised<T, rank>(input_plans_[k].exchange.destination_shape);
      local.adjoint(there[k].data(), own.data(), dx[k].data());
      block dw = xt::zeros<T>(own.shape());
      xt::xtensor<T, 1> db = xt::zeros<T>(bias.shape());
      local.gradients(x_[k].data(), there[k].data(), dw.data(), bias.size() > 0 ? db.data() : nullptr);
      const auto at = work_split_.weights(work_split_.worker_grid().index(work_split_.worker_grid().place(k))).start;
      for (std::size_t e = 0; e < dw.size(); ++e) element_of_whole_tensor(dw_, dw, at, e) += dw.data()[e];
      for (std::size_t e = 0; e < db.size(); ++e) db_(at[0] + e) += db(e);
    });
    return detail::sum_windows(input_plans_, dx, "convolution");
  }
  const block& weight_gradient() const { return dw_; }            ///< gradient of the whole W, by the last adjoint()
  const xt::xtensor<T, 1>& bias_gradient() const { return db_; }  ///< gradient of the whole bias, by the last adjoint()

 private:
  /// The element of the whole tensor that corresponds to element e of a part, which starts at index `at`.
  template <class Whole>
  static auto& element_of_whole_tensor(Whole& all, const block& part, const index<rank>& at, std::size_t e) {
    auto i = index_of(e, detail::shape_of(part));
    for (std::size_t d = 0; d < rank; ++d) i[d] += at[d];
    return all.data()[flat_index(i, detail::shape_of(all))];
  }
  /// Calls f(worker, its local convolver, its block of W, its bias) for each worker that computes.
  template <class F>
  void for_each_worker(F f) {
    for (std::size_t k = 0; k < input_plans_.size(); ++k) {
      if (!work_split_.worker_grid().contains(k)) continue;
      const auto i = work_split_.worker_grid().index(work_split_.worker_grid().place(k));
      const box<rank> mine = work_split_.weights(i);
      auto own = uninitialised<T, rank>(mine.shape());
      for (std::size_t e = 0; e < own.size(); ++e) own.data()[e] = element_of_whole_tensor(w_, own, mine.start, e);
      xt::xtensor<T, 1> bias = xt::zeros<T>(std::array<std::size_t, 1>{0});
      if (b_.size() > 0 && work_split_.adds_bias(i)) {
        bias = xt::zeros<T>(std::array<std::size_t, 1>{mine.stop[0] - mine.start[0]});
        for (std::size_t e = 0; e < bias.size(); ++e) bias(e) = b_(mine.start[0] + e);
      }
      partita::detail::convolver<T, Features> local(partita::detail::local_convolution_of(
          work_split_, i, input_plans_[k].exchange.destination_shape, output_plans_[k].exchange.destination_shape));
      f(k, local, own, bias);
    }
  }

  worker_grid p_x_, p_y_;                                    ///< the partitions of x and y
  partita::detail::convolution_split<Features> work_split_;  ///< what each worker computes, and its block of W
  std::vector<halo_plan<rank>> input_plans_, output_plans_;  ///< each worker's exchanges of the last x and y
  std::vector<block> x_;                                     ///< for each worker, its window of the last x
  block w_, dw_;                                             ///< the whole W of the last call, and its gradient
  xt::xtensor<T, 1> b_, db_;                                 ///< the whole bias of the last call, and its gradient
};

}  // namespace partita::sequentially
