// The records of pooling and upsampling.
#include <partita/nn/pooling.hpp>
#include <partita/nn/upsampling.hpp>

#include "layers.hpp"

namespace {

using namespace partita;
using namespace conformance;

/// One number for each feature dimension; negative ones as the library takes them, as numbers that are far too large.
template <std::size_t D>
std::array<std::size_t, D> features_of_json(const json& list) {
  if (list.size() != D) throw departure("another count of numbers than feature dimensions does not compile");
  std::array<std::size_t, D> all{};
  for (std::size_t d = 0; d < D; ++d) all[d] = static_cast<std::size_t>(list[d].get<std::int64_t>());
  return all;
}

/// The layer's result and gradient, or that it is refused. `make` gives the layer.
template <std::size_t Rank, class Make>
void run_made(const json& c, const world& everyone, mismatches& wrong, Make make) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  if (must_be_refused(c)) {
    if (c.at("x_shape").size() != Rank) throw departure("a tensor of another rank than its partition does not compile");
    return expect_refused(c, wrong, [&] {
      const auto cuts = decomposition<Rank>::balanced(shape_of_json<Rank>(c.at("x_shape")), p.extents().array());
      auto layer = make(p);
      layer(p.active() ? xt::xtensor<double, Rank>(xt::ones<double>(cuts.shape(p.index())))
                       : zero_volume<double, Rank>());
    });
  }
  auto layer = make(p);
  const auto tensor = [&](const char* name, const char* cut) {
    return cut_tensor<Rank>(c.at(name), c.at(cut), c.at("px"));
  };
  const bool exact = c.value("exact", c.value("mode", "") == "nearest");
  const double tolerance = exact ? 0 : c.value("tol", 1e-12);
  const auto y = layer(tensor("x", "x_cut").block(everyone.id()));
  tensor("y", "y_cut").compare_mine(wrong, everyone, y, "y", tolerance);
  const auto dx = layer.adjoint(tensor("dy", "y_cut").block(everyone.id()));
  tensor("dx", "x_cut").compare_mine(wrong, everyone, dx, "dx", tolerance);
}

template <std::size_t Rank>
void run_pooling(const json& c, const world& everyone, mismatches& wrong) {
  constexpr std::size_t features = Rank - 2;
  const auto options_of = [&](auto options) {
    options.kernel = features_of_json<features>(c.at("kernel"));
    options.stride = features_of_json<features>(c.at("stride"));
    options.padding = features_of_json<features>(c.at("padding"));
    options.ceil_mode = c.value("ceil_mode", false);
    return options;
  };
  if (c.at("op") == "max")
    return run_made<Rank>(c, everyone, wrong, [&](const auto& p) {
      auto options = options_of(max_pooling_options<features>{});
      options.dilation = features_of_json<features>(c.at("dilation"));
      return max_pooling(p, options);
    });
  for (const json& d : c.value("dilation", json::array()))
    if (d != 1) throw departure("an average has no dilation: the options have none, so it does not compile");
  run_made<Rank>(c, everyone, wrong, [&](const auto& p) {
    auto options = options_of(average_pooling_options<features>{});
    options.count_include_pad = c.value("count_include_pad", true);
    return average_pooling(p, options);
  });
}

template <std::size_t Rank>
void run_upsampling(const json& c, const world& everyone, mismatches& wrong) {
  upsampling_options<Rank - 2> options{
      .mode = c.at("mode") == "linear" ? upsampling_mode::linear : upsampling_mode::nearest,
      .align_corners = c.at("align_corners").get<bool>()};
  if (c.at("mode") != "linear" && c.at("mode") != "nearest")
    throw departure("there is no mode " + c.at("mode").get<std::string>() + ", so it does not compile");
  if (!c.at("size").is_null()) options.size = features_of_json<Rank - 2>(c.at("size"));
  if (!c.at("scale").is_null()) options.scale = c.at("scale").get<double>();
  run_made<Rank>(c, everyone, wrong, [&](const auto& p) { return upsampling(p, options); });
}

template <class Run>
void with_rank(const json& c, const world& everyone, Run run) {
  if (!runs_here(c, everyone)) throw departure("needs " + std::to_string(c.at("world").get<int>()) + " workers");
  with_rank_of<3, 5>(c, rank_of_partition(c, "px"), run);
}

}  // namespace

namespace conformance {

void run_pool(const json& c, const world& everyone, mismatches& wrong) {
  with_rank(c, everyone, [&](auto rank) { run_pooling<rank>(c, everyone, wrong); });
}
void run_upsample(const json& c, const world& everyone, mismatches& wrong) {
  with_rank(c, everyone, [&](auto rank) { run_upsampling<rank>(c, everyone, wrong); });
}

}  // namespace conformance
