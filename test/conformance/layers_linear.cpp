// The records of linear layers and embeddings: results and gradients, whose elements are integers, are equal.
#include <partita/nn/embedding.hpp>
#include <partita/nn/linear.hpp>

#include "layers.hpp"

namespace {

using namespace partita;
using namespace conformance;

/// Calls f(element of this block, its number in the whole tensor) for each element of a block.
template <std::size_t Rank, class Block, class F>
void for_each_of(Block& block, const box<Rank>& where, const std::array<std::size_t, Rank>& extents, F f) {
  for (std::size_t k = 0; k < block.size(); ++k) {
    auto i = index_of(k, where.shape());
    for (std::size_t d = 0; d < Rank; ++d) i[d] += where.start[d];
    f(block.data()[k], flat_index(i, extents));
  }
}
/// Compares a block with the elements of a recorded tensor.
template <std::size_t Rank, class Block>
void compare_block(mismatches& wrong, const Block& block, const box<Rank>& where, const json& told, const char* what) {
  wrong.expect(block.size() == where.volume(), what, " has ", block.size(), " elements, not ", where.volume());
  if (block.size() != where.volume()) return;
  for_each_of(block, where, shape_of_json<Rank>(told.at("s")), [&](double got, std::size_t k) {
    const double wanted = element_of_json(told, k);
    wrong.expect(got == wanted, what, " is ", got, " in element ", k, ", not ", wanted);
  });
}

}  // namespace

namespace conformance {

void run_linear(const json& c, const world& everyone, mismatches& wrong) {
  if (!runs_here(c, everyone)) throw departure("needs " + std::to_string(c.at("world").get<int>()) + " workers");
  const std::size_t me = everyone.id();
  linear<double> layer(
      partition_of_json<2>(everyone, c.at("px")), partition_of_json<2>(everyone, c.at("py")),
      partition_of_json<2>(everyone, c.at("pw")),
      {.in_features = c.at("in_features"), .out_features = c.at("out_features"), .bias = c.at("bias")});
  const box<2> own = layer.weight_box();
  for_each_of(layer.weight(), own, shape_of_json<2>(c.at("w").at("s")),
              [&](double& w, std::size_t k) { w = element_of_json(c.at("w"), k); });
  for (std::size_t k = 0; k < layer.bias().size(); ++k) layer.bias()(k) = element_of_json(c.at("b"), own.start[0] + k);
  const cut_tensor<2> x(c.at("x"), c.at("x_cut"), c.at("px")), y(c.at("y"), c.at("y_cut"), c.at("py")),
      dx(c.at("dx"), c.at("x_cut"), c.at("px")), dy(c.at("dy"), c.at("y_cut"), c.at("py"));
  y.compare_mine(wrong, everyone, layer(x.block(me)), "y");
  dx.compare_mine(wrong, everyone, layer.adjoint(dy.block(me)), "dx");
  compare_block<2>(wrong, layer.weight_gradient(), own, c.at("dw"), "dw");
  if (layer.bias().size() > 0)
    compare_block<1>(wrong, layer.bias_gradient(), {{own.start[0]}, {own.stop[0]}}, c.at("db"), "db");
}

void run_embedding(const json& c, const world& everyone, mismatches& wrong) {
  if (!runs_here(c, everyone)) throw departure("needs " + std::to_string(c.at("world").get<int>()) + " workers");
  const auto p = partition_of_json<2>(everyone, c.at("px"));
  const bool by_rows = c.at("cut") == "rows";
  embedding<double, 2> layer(p, {.rows = c.at("rows"),
                                 .columns = c.at("columns"),
                                 .cut = by_rows ? embedding_cut::rows : embedding_cut::columns});
  const box<2> own = layer.weight_box();
  for_each_of(layer.weight(), own, shape_of_json<2>(c.at("w").at("s")),
              [&](double& w, std::size_t k) { w = element_of_json(c.at("w"), k); });
  const auto y_extents = shape_of_json<2>(c.at("y").at("s"));
  box<2> result{};  // the rows of this worker, and its columns or all of them
  if (p.active()) {
    const interval rows = balanced_part(y_extents[0], p.grid().shape()[0], p.index()[0]);
    result = {{rows.start, by_rows ? 0 : own.start[1]}, {rows.stop, by_rows ? y_extents[1] : own.stop[1]}};
  }
  auto x = uninitialised<long long, 1>({result.shape()[0]});
  for (std::size_t k = 0; k < x.size(); ++k)
    x(k) = static_cast<long long>(element_of_json(c.at("x"), result.start[0] + k));
  compare_block<2>(wrong, layer(x), result, c.at("y"), "y");
  auto dy = uninitialised<double, 2>(result.shape());
  for_each_of(dy, result, y_extents, [&](double& d, std::size_t k) { d = element_of_json(c.at("dy"), k); });
  layer.adjoint(dy);
  compare_block<2>(wrong, layer.weight_gradient(), own, c.at("dw"), "dw");
}

}  // namespace conformance
