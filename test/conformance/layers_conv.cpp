// Convolutions, by the sequential executor and by the layer.
#include <partita/kernel/repartition.hpp>
#include <partita/nn/convolution.hpp>
#include <partita/nn/convolution_sequentially.hpp>

#include "layers.hpp"

namespace conformance {
namespace {

using namespace partita;

padding_mode mode_of(const json& c) {
  const std::string name = c.at("padding_mode");
  if (name == "zeros") return padding_mode::zeros;
  if (name == "circular") return padding_mode::circular;
  if (name == "reflect") return padding_mode::reflect;
  if (name == "replicate") return padding_mode::replicate;
  if (must_be_refused(c)) throw departure("there is no padding mode " + name + ", so it does not compile");
  throw std::runtime_error("the padding mode " + name + " is unknown");
}

template <std::size_t Features>
convolution_options<Features> options_of(const json& c) {
  return {.in_channels = c.at("in_channels"),
          .out_channels = c.at("out_channels"),
          .kernel = shape_of_json<Features>(c.at("kernel")),
          .stride = shape_of_json<Features>(c.at("stride")),
          .padding = shape_of_json<Features>(c.at("padding")),
          .dilation = shape_of_json<Features>(c.at("dilation")),
          .groups = c.at("groups"),
          .bias = c.at("bias"),
          .mode = mode_of(c)};
}
bool by_output(const json& c) { return c.at("form") == "feature"; }

template <std::size_t Rank>
void compare_whole(mismatches& wrong, const double* got, const std::vector<std::size_t>& at, const json& told,
                   const char* what) {
  for (std::size_t k = 0; k < at.size(); ++k)
    wrong.expect(got[k] == element_of_json(told, at[k]), what, " differs in element ", at[k]);
}
/// The numbers of the elements of a box, in its order.
template <std::size_t Rank>
std::vector<std::size_t> numbers_in(const box<Rank>& b, const std::array<std::size_t, Rank>& extents) {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < b.volume(); ++k) {
    auto i = index_of(k, b.shape());
    for (std::size_t d = 0; d < Rank; ++d) i[d] += b.start[d];
    all.push_back(flat_index(i, extents));
  }
  return all;
}
/// A gradient of the whole layer, in its parts: exact where it is recorded in full, else by moments of the whole.
template <std::size_t Rank>
void compare_part(mismatches& wrong, const xt::xtensor<double, Rank>& got, const box<Rank>& where, const json& told,
                  const char* what) {
  const auto at = numbers_in(where, shape_of_json<Rank>(told.at("s")));
  if (is_told_in_full(told)) return compare_whole<Rank>(wrong, got.data(), at, told, what);
  for (std::size_t k = 0; k < at.size(); ++k)
    if (at[k] < 8)
      wrong.expect(got.data()[k] == told.at("first").at(at[k]).template get<double>(), what, " differs in ", at[k]);
}

template <std::size_t Features>
void check_sequentially(const json& c, mismatches& wrong) {
  constexpr std::size_t rank = Features + 2;
  const std::size_t world = c.at("world");
  const auto p_x = grid_of_json<rank>(c.at("px"));
  const json& on_y = by_output(c) ? c.at("px") : c.at("py");
  const auto o = options_of<Features>(c);
  auto layer = by_output(c) ? sequentially::convolution<double, Features>(p_x, o)
                            : sequentially::convolution<double, Features>(p_x, grid_of_json<rank>(on_y),
                                                                          grid_of_json<rank>(c.at("pw")), o);
  const cut_tensor<rank> x(c.at("x"), c.at("x_cut"), c.at("px")), y(c.at("y"), c.at("y_cut"), on_y),
      dx(c.at("dx"), c.at("x_cut"), c.at("px")), dy(c.at("dy"), c.at("y_cut"), on_y);
  const auto w = whole_of_json<rank>(c.at("w"));
  xt::xtensor<double, 1> b = xt::zeros<double>(std::array<std::size_t, 1>{0});
  if (!c.at("b").is_null()) b = whole_of_json<1>(c.at("b"));
  const auto p_y = grid_of_json<rank>(on_y);  // y comes in balance; a repartition gives it another cut
  sequentially::repartition cut_otherwise(p_y, p_y, result_cuts(cuts_of_json<rank>(c.at("y_cut"))));
  y.compare_all(wrong, cut_otherwise(layer(x.blocks(world), w, b)), "y");
  dx.compare_all(wrong, layer.adjoint(cut_otherwise.adjoint(dy.blocks(world))), "dx");
  json one = {{"shape", std::vector<std::size_t>(rank, 1)}, {"ranks", {0}}}, uncut = json::array();
  for (const json& n : c.at("dw").at("s")) uncut.push_back(json::array({n}));
  cut_tensor<rank>(c.at("dw"), uncut, one).compare_all(wrong, std::vector{layer.weight_gradient()}, "dw");
  if (b.size() > 0) compare_part<1>(wrong, layer.bias_gradient(), {{0}, {b.size()}}, c.at("db"), "db");
}

template <std::size_t Features>
auto layer_of(const json& c, const world& everyone) {
  constexpr std::size_t rank = Features + 2;
  const auto p_x = partition_of_json<rank>(everyone, c.at("px"));
  const auto o = options_of<Features>(c);
  return by_output(c) ? convolution<double, Features>(p_x, o)
                      : convolution<double, Features>(p_x, partition_of_json<rank>(everyone, c.at("py")),
                                                      partition_of_json<rank>(everyone, c.at("pw")), o);
}

template <std::size_t Features>
void check_on_workers(const json& c, const world& everyone, mismatches& wrong) {
  constexpr std::size_t rank = Features + 2;
  const std::size_t me = everyone.id();
  const json& on_y = by_output(c) ? c.at("px") : c.at("py");
  const cut_tensor<rank> x(c.at("x"), c.at("x_cut"), c.at("px")), y(c.at("y"), c.at("y_cut"), on_y),
      dx(c.at("dx"), c.at("x_cut"), c.at("px")), dy(c.at("dy"), c.at("y_cut"), on_y);
  auto layer = layer_of<Features>(c, everyone);
  const auto w = whole_of_json<rank>(c.at("w"));
  const box<rank> mine = layer.weight_box();
  const auto at = numbers_in(mine, shape_of_json<rank>(c.at("w").at("s")));
  for (std::size_t k = 0; k < at.size(); ++k) layer.weight().data()[k] = w.data()[at[k]];
  for (std::size_t k = 0; k < layer.bias().size(); ++k) layer.bias()(k) = element_of_json(c.at("b"), mine.start[0] + k);
  const auto p_y = partition_of_json<rank>(everyone, on_y);
  const repartition cut_otherwise(p_y, p_y, result_cuts(cuts_of_json<rank>(c.at("y_cut"))));
  y.compare_mine(wrong, everyone, cut_otherwise(layer(x.block(me))), "y");
  const auto cotangent = cut_otherwise.adjoint(dy.block(me));
  dx.compare_mine(wrong, everyone, layer.adjoint(cotangent), "dx");
  compare_part<rank>(wrong, layer.weight_gradient(), mine, c.at("dw"), "dw");
  if (layer.bias().size() > 0)
    compare_part<1>(wrong, layer.bias_gradient(), {{mine.start[0]}, {mine.stop[0]}}, c.at("db"), "db");
  layer.adjoint(cotangent);  // gradients add up
  const auto first = layer.weight_gradient();
  layer.zero_gradients();
  layer.adjoint(cotangent);
  for (std::size_t k = 0; k < first.size(); ++k)
    wrong.expect(first.data()[k] == 2 * layer.weight_gradient().data()[k], "gradients do not add up");
}

template <std::size_t Features>
void refuse(const json& c, const world& everyone, mismatches& wrong) {
  constexpr std::size_t rank = Features + 2;
  expect_refused(c, wrong, [&] {
    auto layer = layer_of<Features>(c, everyone);
    const auto p = partition_of_json<rank>(everyone, c.at("px"));
    const auto cuts = decomposition<rank>::balanced(shape_of_json<rank>(c.at("x_shape")), p.grid().shape());
    layer(p.active() ? xt::xtensor<double, rank>(xt::zeros<double>(cuts.shape(p.index())))
                     : zero_volume<double, rank>());
  });
}

}  // namespace

void run_conv(const json& c, const world& everyone, mismatches& wrong) {
  const std::size_t rank = rank_of_partition(c, "px"), features = rank - 2;
  if (must_be_refused(c)) {
    // refused by the compiler: ranks and the length of lists are those of the types, and p_y does not come without p_w
    bool compiles = rank >= 3 && c.at("x_shape").size() == rank && c.contains("py") == c.contains("pw");
    for (const char* name : {"kernel", "stride", "padding", "dilation"})
      compiles = compiles && c.at(name).size() == features;
    if (!compiles) return;
    if (!runs_here(c, everyone)) throw departure("needs more workers than the run has");
    with_rank_of<1, 3>(c, features, [&](auto f) { refuse<f>(c, everyone, wrong); });
    return;
  }
  with_constant<1, 3>(features, "the number of features", [&](auto f) {
    check_sequentially<f>(c, wrong);
    if (runs_here(c, everyone)) check_on_workers<f>(c, everyone, wrong);
  });
}

}  // namespace conformance
