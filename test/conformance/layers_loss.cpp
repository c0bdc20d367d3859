// The records of losses: the value on every worker, or one loss for each element, and the gradient.
#include <partita/nn/cross_entropy.hpp>
#include <partita/nn/loss.hpp>

#include "layers.hpp"
#include "readers.hpp"

namespace {

using namespace partita;
using namespace conformance;

double tolerance_of(const json& c) { return c.value("tol", 1e-12); }

loss_reduction reduction_of(const json& c) {
  const std::string name = c.at("reduction");
  if (name == "sum") return loss_reduction::sum;
  if (name == "batchmean") return loss_reduction::batch_mean;
  if (name != "mean" && name != "none")
    throw departure("reduction '" + name + "': there is no such name, so it does not compile");
  return loss_reduction::mean;
}

/// A tensor that a refused record tells by its shape alone, or by a few values.
json tensor_of(const json& c, const char* what) {
  if (c.contains(what)) return c.at(what);
  const json shape = c.at(what + std::string("_shape"));
  std::size_t volume = 1;
  for (const json& n : shape) volume *= n.get<std::size_t>();
  if (c.contains(what + std::string("_values"))) return {{"s", shape}, {"v", c.at(what + std::string("_values"))}};
  return {{"s", shape}, {"v", std::vector<double>(volume, 0.5)}};
}
/// Sizes of the balanced cut, where a refused record gives none.
json cut_of(const json& c, const json& tensor, const json& partition) {
  if (c.contains("x_cut") && tensor.at("s").size() == c.at("x_cut").size()) return c.at("x_cut");
  json sizes = json::array();
  for (std::size_t d = 0; d < tensor.at("s").size(); ++d) {
    json along = json::array();
    const std::size_t parts = partition.at("shape")[d];
    for (std::size_t k = 0; k < parts; ++k) along.push_back(balanced_part(tensor.at("s")[d], parts, k).size());
    sizes.push_back(along);
  }
  return sizes;
}

/// Runs a loss that is made, on blocks that are cut.
template <class Loss, class X, class Target, class CompareEach, class CompareGradient>
void run_made(const json& c, const world& everyone, mismatches& wrong, Loss& loss, const X& x, const Target& target,
              CompareEach compare_each, CompareGradient compare_gradient) {
  if (must_be_refused(c)) {
    expect_refused(c, wrong, [&] { c.at("reduction") == "none" ? void(loss.each(x, target)) : void(loss(x, target)); });
    return;
  }
  if (c.at("reduction") == "none") {
    compare_each(loss.each(x, target));
    return compare_gradient();
  }
  const double wanted = element_of_json(c.at("y"), 0), got = loss(x, target);
  wrong.expect(std::abs(got - wanted) <= tolerance_of(c) * std::max(1.0, std::abs(wanted)), "the loss on worker ",
               everyone.id(), " is ", got, ", not ", wanted);
  compare_gradient();
}

template <std::size_t Rank, class Loss, class Options>
void run_elementwise(const json& c, const world& everyone, mismatches& wrong, Options options) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  options.reduction = reduction_of(c);
  std::optional<Loss> loss;
  const auto make = [&] { loss.emplace(p, options); };
  if (must_be_refused(c) && options.reduction == loss_reduction::batch_mean) return expect_refused(c, wrong, make);
  make();
  const json x_told = tensor_of(c, "x"), t_told = tensor_of(c, "target");
  if (x_told.at("s").size() != Rank || t_told.at("s").size() != Rank)
    throw departure("a tensor of another rank than its partition does not compile");
  const cut_tensor<Rank> x(x_told, cut_of(c, x_told, c.at("px")), c.at("px")),
      t(t_told, cut_of(c, t_told, c.at("px")), c.at("px"));
  const auto gradient = [&] {
    const cut_tensor<Rank> dx(c.at("dx"), c.at("x_cut"), c.at("px"));
    if (c.at("reduction") != "none")
      return dx.compare_mine(wrong, everyone, loss->adjoint(c.at("dy").get<double>()), "dx", tolerance_of(c));
    const cut_tensor<Rank> dy(c.at("dy"), c.at("x_cut"), c.at("px"));
    dx.compare_mine(wrong, everyone, loss->adjoint(dy.block(everyone.id())), "dx", tolerance_of(c));
  };
  const auto each = [&](const auto& y) {
    cut_tensor<Rank>(c.at("y"), c.at("x_cut"), c.at("px")).compare_mine(wrong, everyone, y, "y", tolerance_of(c));
  };
  run_made(c, everyone, wrong, *loss, x.block(everyone.id()), t.block(everyone.id()), each, gradient);
}

template <std::size_t Rank>
void run_cross_entropy(const json& c, const world& everyone, mismatches& wrong) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  const json x_told = tensor_of(c, "x"), t_told = tensor_of(c, "target");
  const json sizes = cut_of(c, x_told, c.at("px"));
  const cut_tensor<Rank> x(x_told, sizes, c.at("px"));
  cross_entropy_options options{.reduction = reduction_of(c)};
  if (c.contains("ignore_index") && !c.at("ignore_index").is_null())
    options.ignore_index = c.at("ignore_index").get<int>();
  cross_entropy_loss<double, Rank> loss(p, options);

  if (t_told.at("s").size() != Rank - 1)
    throw departure("a target of another rank than x without its classes does not compile");
  // what has no classes: the elements of this worker's rows; a target of another shape is cut as if it were of that x
  const auto rows_of = [&]<class T>(const json& told, T) {
    if (!p.active()) return zero_volume<T, Rank - 1>();
    std::array<std::size_t, Rank - 1> shape{}, whole{};
    json of_x = x_told;
    for (std::size_t d = 0; d + 1 < Rank; ++d) {
      whole[d] = told.at("s")[d].template get<std::size_t>();
      of_x["s"][d == 0 ? 0 : d + 1] = whole[d];
    }
    const bool alike = of_x.at("s") == x_told.at("s");
    const box<Rank> own = cuts_of_json<Rank>(alike ? sizes : cut_of({}, of_x, c.at("px"))).block(p.index());
    for (std::size_t d = 0; d + 1 < Rank; ++d) shape[d] = own.shape()[d == 0 ? 0 : d + 1];
    auto block = uninitialised<T, Rank - 1>(shape);
    for (std::size_t k = 0; k < block.size(); ++k) {
      auto i = index_of(k, shape);
      for (std::size_t d = 0; d + 1 < Rank; ++d) i[d] += own.start[d == 0 ? 0 : d + 1];
      block.data()[k] = static_cast<T>(element_of_json(told, flat_index(i, whole)));
    }
    return block;
  };
  const auto gradient = [&] {
    const cut_tensor<Rank> dx(c.at("dx"), c.at("x_cut"), c.at("px"));
    if (c.at("reduction") == "none")
      dx.compare_mine(wrong, everyone, loss.adjoint(rows_of(c.at("dy"), double{})), "dx", tolerance_of(c));
    else dx.compare_mine(wrong, everyone, loss.adjoint(c.at("dy").get<double>()), "dx", tolerance_of(c));
  };
  const auto each = [&](const auto& y) {
    const auto wanted = rows_of(c.at("y"), double{});
    wrong.expect(wanted.size() == y.size(), "y has another size");
    for (std::size_t k = 0; k < y.size() && k < wanted.size(); ++k)
      wrong.expect(std::abs(y.data()[k] - wanted.data()[k]) <= 1e-12 * std::max(1.0, std::abs(wanted.data()[k])),
                   "y is ", y.data()[k], ", not ", wanted.data()[k]);
  };
  run_made(c, everyone, wrong, loss, x.block(everyone.id()), rows_of(t_told, int{}), each, gradient);
}

}  // namespace

namespace conformance {

void run_loss(const json& c, const world& everyone, mismatches& wrong) {
  if (!runs_here(c, everyone)) throw departure("needs " + std::to_string(c.at("world").get<int>()) + " workers");
  const std::string op = c.at("op");
  if (op == "cross_entropy")
    return with_rank_of<2, 5>(c, rank_of_partition(c, "px"),
                              [&](auto rank) { run_cross_entropy<rank>(c, everyone, wrong); });
  with_rank_of<1, 4>(c, rank_of_partition(c, "px"), [&](auto rank) {
    if (op == "l1") run_elementwise<rank, l1_loss<double, rank>>(c, everyone, wrong, loss_options{});
    else if (op == "smooth_l1")
      run_elementwise<rank, smooth_l1_loss<double, rank>>(c, everyone, wrong,
                                                          smooth_l1_options{.beta = c.value("beta", 1.0)});
    else if (op == "mse") run_elementwise<rank, mse_loss<double, rank>>(c, everyone, wrong, loss_options{});
    else if (op == "bce") run_elementwise<rank, bce_loss<double, rank>>(c, everyone, wrong, loss_options{});
    else if (op == "bce_logits")
      run_elementwise<rank, bce_with_logits_loss<double, rank>>(c, everyone, wrong, loss_options{});
    else if (op == "kl")
      run_elementwise<rank, kl_loss<double, rank>>(c, everyone, wrong,
                                                   kl_options{.log_target = c.value("log_target", false)});
    else if (op == "poisson_nll")
      run_elementwise<rank, poisson_nll_loss<double, rank>>(
          c, everyone, wrong,
          poisson_nll_options{.log_input = c.value("log_input", true), .epsilon = c.value("poisson_eps", 1e-8)});
    else throw std::runtime_error("there is no loss " + op);
  });
}

}  // namespace conformance
