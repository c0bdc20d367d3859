// Halo exchange, by the sequential executor and by the kernel; and the boxes that a sliding window needs.
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/sequentially.hpp>

#include "layers.hpp"

namespace conformance {
namespace {

using namespace partita;

boundary boundary_of(const json& c, const std::string& name) {
  constexpr std::pair<const char*, boundary> all[] = {
      {"none", boundary::none},         {"zero", boundary::zero},       {"constant", boundary::constant},
      {"periodic", boundary::periodic}, {"reflect", boundary::reflect}, {"replicate", boundary::replicate}};
  for (const auto& [known, b] : all)
    if (name == known) return b;
  if (must_be_refused(c)) throw departure("there is no boundary " + name + ", so it does not compile");
  throw std::runtime_error("the boundary " + name + " is unknown");
}

template <std::size_t Rank>
halo_widths<Rank> widths_of(const json& c) {
  return {shape_of_json<Rank>(c.at("before")), shape_of_json<Rank>(c.at("after"))};
}
template <std::size_t Rank>
halo_boundaries<Rank> boundaries_of(const json& c) {
  std::array<boundary, Rank> each{};
  for (std::size_t d = 0; d < Rank; ++d) each[d] = boundary_of(c, c.at("boundary").at(d));
  return {each, c.at("constant").get<double>()};
}

/// The cotangent that a worker gives for a block with ghosts of this shape.
template <std::size_t Rank>
xt::xtensor<double, Rank> cotangent(const json& c, const std::array<std::size_t, Rank>& shape, std::size_t worker) {
  const auto f = c.at("dy").get<std::array<std::int64_t, 5>>();
  auto dy = uninitialised<double, Rank>(shape);
  for (std::size_t k = 0; k < dy.size(); ++k)
    dy.data()[k] = static_cast<double>(
        (f[0] * static_cast<std::int64_t>(k) + f[1] + f[2] * static_cast<std::int64_t>(worker)) % f[3] - f[4]);
  return dy;
}

template <class Block>
void compare_ghosted(mismatches& wrong, const Block& got, const json& c, std::size_t worker) {
  constexpr std::size_t rank = rank_of<Block>;
  if (worker >= c.at("y").size() || c.at("y")[worker].is_null())
    return wrong.expect(got.size() == 0, "y of worker ", worker, " is not empty");
  const json& told = c.at("y")[worker];
  const auto shape = shape_of_json<rank>(told.at("s"));
  if (volume_of(shape) == 0) return wrong.expect(got.size() == 0, "y of worker ", worker, " is not empty");
  if (!std::equal(shape.begin(), shape.end(), got.shape().begin()))
    return wrong.expect(false, "y of worker ", worker, " has another shape than ", told.at("s").dump());
  for (std::size_t k = 0; k < got.size(); ++k)
    wrong.expect(got.data()[k] == told.at("v")[k].get<double>(), "y of worker ", worker, " differs in element ", k);
}

template <std::size_t Rank>
std::array<std::size_t, Rank> shape_of_block(const xt::xtensor<double, Rank>& block) {
  std::array<std::size_t, Rank> shape{};
  for (std::size_t d = 0; d < Rank; ++d) shape[d] = block.shape()[d];
  return shape;
}

template <std::size_t Rank>
void check_sequentially(const json& c, const json& exchange, mismatches& wrong) {
  const std::size_t world = c.at("world");
  const auto p = grid_of_json<Rank>(c.at("px"));
  const cut_tensor<Rank> x(exchange.at("x"), exchange.at("cut"), c.at("px")),
      dx(exchange.at("dx"), exchange.at("cut"), c.at("px"));
  sequentially::halo_exchange h(p, widths_of<Rank>(exchange), boundaries_of<Rank>(exchange));
  const auto y = h(x.blocks(world));
  std::vector<xt::xtensor<double, Rank>> dy;
  for (std::size_t worker = 0; worker < world; ++worker) {
    compare_ghosted(wrong, y[worker], exchange, worker);
    dy.push_back(cotangent<Rank>(exchange, shape_of_block(y[worker]), worker));
  }
  dx.compare_all(wrong, h.adjoint(dy), "dx");
}

template <std::size_t Rank>
void check_on_workers(const json& c, const world& everyone, mismatches& wrong) {
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  const std::size_t me = everyone.id();
  std::vector<json> exchanges{c};
  for (const json& more : c.value("seq", json::array())) exchanges.push_back(more);
  std::optional<halo_exchange<dynamic_extents<Rank>>> h;
  xt::xtensor<double, Rank> block;
  for (std::size_t k = 0; k < exchanges.size(); ++k) {
    const json& e = exchanges[k];
    const bool same = k > 0 && e.at("before") == c.at("before") && e.at("after") == c.at("after") &&
                      e.at("boundary") == c.at("boundary") && e.at("constant") == c.at("constant");
    if (!same) h.emplace(p, widths_of<Rank>(e), boundaries_of<Rank>(e));
    const cut_tensor<Rank> x(e.at("x"), e.at("cut"), c.at("px")), dx(e.at("dx"), e.at("cut"), c.at("px"));
    block = x.block(me);
    const xt::xtensor<double, Rank> y = (*h)(block);
    block.fill(1e9);  // the next exchange overwrites the buffer right after the call
    compare_ghosted(wrong, y, e, me);
    dx.compare_mine(wrong, everyone, h->adjoint(cotangent<Rank>(e, shape_of_block(y), me)), "dx");
    if (p.active()) {  // ghosts alone, in place
      xt::xtensor<double, Rank> again = y;
      h->refresh(again);
      compare_ghosted(wrong, again, e, me);
    } else {
      xt::xtensor<double, Rank> nothing = y;
      h->refresh(nothing);
    }
  }
}

template <std::size_t Rank>
void refuse(const json& c, const world& everyone, mismatches& wrong) {
  const auto shape = [&] { return shape_of_json<Rank>(c.at("global")); };
  const auto check_cut = [&] {
    const auto cuts = cuts_of_json<Rank>(c.at("cut"));
    const auto p = extents_of_json<Rank>(c.at("px")).array();
    if (cuts.extents() != shape() || cuts.parts() != p) throw shape_error("the record's own cut");
    return cuts;
  };
  for (const auto& sizes : {c.at("before"), c.at("after")})
    for (const json& n : sizes)
      if (n.get<std::int64_t>() < 0)  // narrowing in braces: a negative width does not compile; at run time it is huge
        return expect_refused(c, wrong, [&] {
          halo_exchange(partition_of_json<Rank>(everyone, c.at("px")), widths_of<Rank>(c), boundaries_of<Rank>(c));
        });
  const auto p = partition_of_json<Rank>(everyone, c.at("px"));
  expect_refused(c, wrong, [&] {
    const halo_exchange h(p, widths_of<Rank>(c), boundaries_of<Rank>(c));
    const auto cuts = check_cut();
    const auto x =
        p.active() ? xt::xtensor<double, Rank>(xt::zeros<double>(cuts.shape(p.index()))) : zero_volume<double, Rank>();
    h(x);
  });
}

void run_refusal(const json& c, const world& everyone, mismatches& wrong) {
  const std::size_t rank = c.at("global").size(), of_p = rank_of_partition(c, "px");
  // refused by the compiler: ranks, and numbers of widths and boundaries, are those of the partition's type
  if (rank != of_p || c.at("cut").size() != rank || c.at("before").size() != rank || c.at("after").size() != rank ||
      c.at("boundary").size() != rank)
    return;
  if (!runs_here(c, everyone)) throw departure("needs more workers than the run has");
  with_rank_of<1, 4>(c, rank, [&](auto r) { refuse<r>(c, everyone, wrong); });
}

/// What the windows of a balanced output need of a tensor, clipped to it.
void run_window(const json& c, mismatches& wrong) {
  const auto shape = numbers(c.at("px").at("shape")), global = numbers(c.at("global"));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const sliding kernel{c.at("kernel")[d], c.at("stride")[d], c.at("padding")[d], c.at("dilation")[d]};
    wrong.expect(kernel.output_extent(global[d]) == c.at("y_global")[d], "other outputs along dimension ", d);
    const cut outputs = cut::balanced(kernel.output_extent(global[d]), shape[d]);
    std::size_t inner = 1;
    for (std::size_t e = d + 1; e < shape.size(); ++e) inner *= shape[e];
    for (std::size_t place = 0; place < c.at("out_box").size(); ++place) {
      interval out, need;
      outputs.for_pieces(place / inner % shape[d], [&](interval piece, std::size_t) { out = piece; });
      const window w = input_window(kernel, out);
      const auto clipped = [&](std::ptrdiff_t i) {
        return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, static_cast<std::ptrdiff_t>(global[d])));
      };
      if (w.size() > 0) need = {clipped(w.start), clipped(w.stop)};
      const json &told_out = c.at("out_box")[place][d], &told_need = c.at("need_box")[place][d];
      bool nothing = false;
      for (const json& side : c.at("out_box")[place]) nothing = nothing || side[0] == side[1];
      if (nothing) continue;
      wrong.expect(out.start == told_out[0] && out.stop == told_out[1], "other outputs at ", place);
      wrong.expect(need.start == told_need[0] && need.stop == told_need[1], "other needs at ", place);
    }
  }
}

}  // namespace

void run_halo(const json& c, const world& everyone, mismatches& wrong) {
  if (must_be_refused(c)) return run_refusal(c, everyone, wrong);
  if (c.at("kind") == "window") return run_window(c, wrong);
  with_constant<1, 4>(c.at("global").size(), "the rank of the tensor", [&](auto r) {
    check_sequentially<r>(c, c, wrong);
    for (const json& more : c.value("seq", json::array())) check_sequentially<r>(c, more, wrong);
    if (runs_here(c, everyone)) check_on_workers<r>(c, everyone, wrong);
  });
}

}  // namespace conformance
