// The records of norms: training, running statistics, a second batch, evaluation, and the gradients.
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/group_norm.hpp>
#include <partita/nn/layer_norm.hpp>

#include "layers.hpp"
#include "readers.hpp"

namespace {

using namespace partita;
using namespace conformance;

double tolerance_of(const json& c) { return c.value("tol", 1e-12); }
bool told(const json& c, const char* what) { return c.contains(what) && !c.at(what).is_null(); }

/// This worker's elements of a vector of channels are those of the record.
template <class Vector>
void compare_channels(const json& c, const char* what, mismatches& wrong, const Vector& got, std::size_t first) {
  if (!told(c, what)) return;
  double most = 1;
  for (const json& v : c.at(what).at("v")) most = std::max(most, std::abs(v.get<double>()));
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double wanted = element_of_json(c.at(what), first + k);
    wrong.expect(std::abs(got(k) - wanted) <= tolerance_of(c) * most, what, " of channel ", first + k, " is ", got(k),
                 ", not ", wanted);
  }
}

template <std::size_t Rank>
xt::xtensor<double, Rank> balanced_zeros(const world& everyone, const json& c) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  if (c.at("x_shape").size() != Rank) throw departure("a tensor of another rank than its partition does not compile");
  const auto cuts = decomposition<Rank>::balanced(shape_of_json<Rank>(c.at("x_shape")), p.extents().array());
  return p.active() ? xt::xtensor<double, Rank>(xt::ones<double>(cuts.shape(p.index()))) : zero_volume<double, Rank>();
}

template <std::size_t Rank>
void run_batch_norm(const json& c, const world& everyone, mismatches& wrong) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  batch_norm_options options{.channels = c.at("num_features"),
                             .epsilon = c.value("eps", 1e-5),
                             .affine = c.value("affine", true),
                             .track = c.value("track", true)};
  if (c.contains("momentum"))
    options.momentum = c.at("momentum").is_null() ? std::nullopt : std::optional<double>(c.at("momentum"));
  if (must_be_refused(c)) {
    return expect_refused(c, wrong, [&] { batch_norm<double, Rank>(p, options)(balanced_zeros<Rank>(everyone, c)); });
  }
  options.channel_cut = cut::at(numbers(c.at("x_cut")[1]));
  batch_norm<double, Rank> layer(p, options);
  const std::size_t first = layer.channels().start;
  if (options.affine)
    for (std::size_t k = 0; k < layer.weight().size(); ++k) {
      layer.weight()(k) = element_of_json(c.at("gamma"), first + k);
      layer.bias()(k) = element_of_json(c.at("beta"), first + k);
    }
  const auto tensor = [&](const char* name) { return cut_tensor<Rank>(c.at(name), c.at("x_cut"), c.at("px")); };
  const auto block = [&](const char* name) { return tensor(name).block(everyone.id()); };
  const auto compare = [&](const char* name, const auto& got) {
    tensor(name).compare_mine(wrong, everyone, got, name, tolerance_of(c));
  };
  compare("y", layer(block("x")));
  compare("dx", layer.adjoint(block("dy")));
  compare_channels(c, "dgamma", wrong, layer.weight_gradient(), first);
  compare_channels(c, "dbeta", wrong, layer.bias_gradient(), first);
  compare_channels(c, "running_mean", wrong, layer.running_mean(), first);
  compare_channels(c, "running_var", wrong, layer.running_variance(), first);
  if (told(c, "x2")) {
    compare("y2", layer(block("x2")));
    compare_channels(c, "running_mean2", wrong, layer.running_mean(), first);
    compare_channels(c, "running_var2", wrong, layer.running_variance(), first);
  }
  layer.evaluate();
  if (!told(c, "x_eval")) return;
  compare("y_eval", layer(block("x_eval")));
  if (told(c, "dx_eval")) compare("dx_eval", layer.adjoint(block("dy")));
}

template <std::size_t Rank>
void run_group_norm(const json& c, const world& everyone, mismatches& wrong) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  group_norm_options options{.groups = c.at("groups"),
                             .channels = c.at("num_features"),
                             .epsilon = c.value("eps", 1e-5),
                             .affine = c.value("affine", true)};
  options.channel_cut = cut::at(numbers(c.at("x_cut")[1]));
  group_norm<double, Rank> layer(p, options);
  const std::size_t first = layer.channels().start;
  for (std::size_t k = 0; k < layer.weight().size(); ++k) {
    layer.weight()(k) = element_of_json(c.at("gamma"), first + k);
    layer.bias()(k) = element_of_json(c.at("beta"), first + k);
  }
  const auto tensor = [&](const char* name) { return cut_tensor<Rank>(c.at(name), c.at("x_cut"), c.at("px")); };
  tensor("y").compare_mine(wrong, everyone, layer(tensor("x").block(everyone.id())), "y", tolerance_of(c));
  tensor("dx").compare_mine(wrong, everyone, layer.adjoint(tensor("dy").block(everyone.id())), "dx", tolerance_of(c));
  compare_channels(c, "dgamma", wrong, layer.weight_gradient(), first);
  compare_channels(c, "dbeta", wrong, layer.bias_gradient(), first);
}

template <std::size_t Rank, std::size_t K>
void run_layer_norm(const json& c, const world& everyone, mismatches& wrong) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  layer_norm_options<K> options{.shape = shape_of_json<K>(c.at("normalized_shape")),
                                .epsilon = c.value("eps", 1e-5),
                                .affine = c.value("affine", true)};
  if (must_be_refused(c)) {
    return expect_refused(c, wrong,
                          [&] { layer_norm<double, Rank, K>(p, options)(balanced_zeros<Rank>(everyone, c)); });
  }
  json last = json::array();
  for (std::size_t d = 0; d < K; ++d) last.push_back(c.at("x_cut")[Rank - K + d]);
  options.cuts = cuts_of_json<K>(last);
  layer_norm<double, Rank, K> layer(p, options);
  const box<K> own = layer.weight_box();
  const auto number = [&](std::size_t k) {
    auto i = index_of(k, own.shape());
    for (std::size_t d = 0; d < K; ++d) i[d] += own.start[d];
    return flat_index(i, options.shape);
  };
  if (options.affine)
    for (std::size_t k = 0; k < layer.weight().size(); ++k) {
      layer.weight().data()[k] = element_of_json(c.at("gamma"), number(k));
      layer.bias().data()[k] = element_of_json(c.at("beta"), number(k));
    }
  const auto tensor = [&](const char* name) { return cut_tensor<Rank>(c.at(name), c.at("x_cut"), c.at("px")); };
  tensor("y").compare_mine(wrong, everyone, layer(tensor("x").block(everyone.id())), "y", tolerance_of(c));
  tensor("dx").compare_mine(wrong, everyone, layer.adjoint(tensor("dy").block(everyone.id())), "dx", tolerance_of(c));
  for (const auto& [name, gradient] :
       {std::pair{"dgamma", &layer.weight_gradient()}, {"dbeta", &layer.bias_gradient()}}) {
    if (!told(c, name)) continue;
    double most = 1;
    for (const json& v : c.at(name).at("v")) most = std::max(most, std::abs(v.get<double>()));
    for (std::size_t k = 0; k < gradient->size(); ++k) {
      const double wanted = element_of_json(c.at(name), number(k));
      wrong.expect(std::abs(gradient->data()[k] - wanted) <= tolerance_of(c) * most, name, " is ", gradient->data()[k],
                   ", not ", wanted);
    }
  }
}

}  // namespace

namespace conformance {

void run_norm(const json& c, const world& everyone, mismatches& wrong) {
  if (!runs_here(c, everyone)) throw departure("needs " + std::to_string(c.at("world").get<int>()) + " workers");
  with_rank_of<2, 5>(c, rank_of_partition(c, "px"), [&](auto rank) {
    if (c.at("op") == "batch_norm") return run_batch_norm<rank>(c, everyone, wrong);
    if (c.at("op") == "group_norm") return run_group_norm<rank>(c, everyone, wrong);
    const std::size_t k = c.at("normalized_shape").size();
    if (k > rank) throw departure("more normalised dimensions than the tensor has: does not compile");
    with_rank_of<1, 4>(c, k, [&](auto last) {
      if constexpr (last <= rank) run_layer_norm<rank, last>(c, everyone, wrong);
    });
  });
}

}  // namespace conformance
