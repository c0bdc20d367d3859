// The records of DistDL: every movement and the linear layer, forward and adjoint.
//
// Each record is computed by the sequential executor, for all its workers inside this process, and once more by the
// kernels themselves if the run has as many workers as the record. docs/departures-distdl.md lists what is skipped by
// name.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <partita/comm/partition.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sequentially.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/linear.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "readers.hpp"
#include "records.hpp"

namespace {

using namespace partita;
using namespace conformance;
using nlohmann::json;

// --- what the types must know ---

/// Calls f with a value of the element type. The values are integers, which every type holds exactly: where All is
/// false they are moved as double, to compile fewer combinations.
template <bool All, class F>
void with_element(const std::string& dtype, F f) {
  if constexpr (All) {
    if (dtype == "float32") return f(float{});
    if (dtype == "int32") return f(std::int32_t{});
    if (dtype == "int64") return f(std::int64_t{});
    if (dtype != "float64") throw std::runtime_error("the element type " + dtype + " is unknown");
  }
  f(double{});
}

/// Calls f with the policies that are set.
template <class F>
void with_policies(bool from_transposed, bool to_transposed, bool discard, F f) {
  const auto last = [&](auto... set) { discard ? f(set..., discard_batch) : f(set...); };
  const auto middle = [&](auto... set) { to_transposed ? last(set..., transpose_dest) : last(set...); };
  from_transposed ? middle(transpose_src) : middle();
}

// --- a record ---

/// The rank of the blocks: placeholders of workers that hold nothing have another.
std::size_t rank_of_blocks(const json& c) {
  return c.at("x").at(c.at("px").at("ranks").at(0).get<std::size_t>()).at("s").size();
}

/// A block, or zero volume for a placeholder: [0], or [b, 0] with the batch extent b.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> block_of_json(const json& t) {
  const auto shape = numbers(t.at("s"));
  if (shape.size() != Rank) return zero_volume<T, Rank>(shape.size() > 1 ? shape[0] : 0);
  std::array<std::size_t, Rank> own{};
  for (std::size_t d = 0; d < Rank; ++d) own[d] = shape[d];
  auto block = uninitialised<T, Rank>(own);
  for (std::size_t k = 0; k < t.at("v").size(); ++k) block.data()[k] = t.at("v")[k].get<T>();
  return block;
}
template <class T, std::size_t Rank>
std::vector<xt::xtensor<T, Rank>> blocks_of_json(const json& list) {
  std::vector<xt::xtensor<T, Rank>> all;
  for (const json& t : list) all.push_back(block_of_json<T, Rank>(t));
  return all;
}
/// What this worker holds: zero volume if the record has fewer workers than the run.
template <class Block>
Block of_worker(const std::vector<Block>& all, std::size_t id) {
  if (id < all.size()) return all[id];
  return zero_volume<element_of<Block>, rank_of<Block>>();
}

template <ranked_array Block>
void compare(mismatches& wrong, const Block& got, const json& recorded, const std::string& what) {
  constexpr std::size_t rank = rank_of<Block>;
  const auto shape = numbers(recorded.at("s"));
  std::vector<std::size_t> own(got.shape().begin(), got.shape().end());
  if (shape.size() != rank) {  // a placeholder: ours has the rank of the tensor
    if constexpr (rank == 0) wrong.expect(got() == element_of<Block>{}, what, " should be the zero volume of a scalar");
    if constexpr (rank > 0)
      wrong.expect(got.size() == 0, what, " should be of zero volume, has ", got.size(), " elements");
    if constexpr (rank > 1)
      wrong.expect(own[0] == (shape.size() > 1 ? shape[0] : 0), what, " keeps the batch extent ", own[0],
                   ", not that of ", recorded.at("s").dump());
    return;
  }
  wrong.expect(own == shape, what, " has the shape ", json(own).dump(), ", not ", recorded.at("s").dump());
  if (own != shape) return;
  for (std::size_t k = 0; k < got.size(); ++k)
    wrong.expect(got.data()[k] == recorded.at("v")[k].get<element_of<Block>>(), what, " differs in element ", k);
}

/// Compares one worker's result with the record, if that has one for it; gradients with what DistDL itself returned.
template <class Block>
void compare_on(mismatches& wrong, const Block& got, const json& c, const std::string& name, std::size_t worker) {
  if (!c.contains(name) || worker >= c.at(name).size() || c.at(name)[worker].is_null()) return;
  json recorded = c.at(name)[worker];
  if (name == "dx" && c.contains("dx_raw_shape") && c.at("dx_raw_shape").contains(std::to_string(worker))) {
    recorded["s"] = c.at("dx_raw_shape").at(std::to_string(worker));
    recorded["v"] = json::array();
  }
  compare(wrong, got, recorded, joined(name, " of worker ", worker));
}
template <class Block>
void compare_all(mismatches& wrong, const std::vector<Block>& got, const json& c, const std::string& name) {
  for (std::size_t worker = 0; worker < got.size(); ++worker) compare_on(wrong, got[worker], c, name, worker);
}

bool is_refused(const json& c) {
  return c.contains("error") && !c.at("error").is_null() && c.at("error").at("when") != "backward";
}
bool adjoint_is_refused(const json& c) {
  return c.contains("error") && !c.at("error").is_null() && c.at("error").at("when") == "backward";
}

template <class Block>
double dot(const std::vector<Block>& a, const std::vector<Block>& b) {
  double sum = 0;
  for (std::size_t worker = 0; worker < a.size(); ++worker)
    if (a[worker].shape() == b[worker].shape())
      for (std::size_t k = 0; k < a[worker].size(); ++k)
        sum += static_cast<double>(a[worker].data()[k]) * static_cast<double>(b[worker].data()[k]);
  return sum;
}

/// The record must be refused by both: made and called, each throws an error of the library on every worker.
template <class Call, class OnWorkers>
void expect_refusal(const json& c, const world& everyone, mismatches& wrong, Call sequential, OnWorkers on_workers) {
  const auto refuses = [](auto&& call) {
    try {
      call();
    } catch (const error&) {
      return true;
    }
    return false;
  };
  wrong.expect(refuses(sequential), "the sequential executor accepts what must be refused");
  if (c.at("world").get<std::size_t>() <= everyone.size())
    wrong.expect(refuses(on_workers), "the kernel accepts what must be refused");
}

/// Runs a movement both ways. `sequential()` and `on_workers()` make it.
template <class T, std::size_t Rank, class Sequential, class OnWorkers>
void check_movement(const json& c, const world& everyone, mismatches& wrong, Sequential sequential,
                    OnWorkers on_workers) {
  const auto x = blocks_of_json<T, Rank>(c.at("x"));
  const auto mine = of_worker(x, everyone.id());
  if (is_refused(c))
    return expect_refusal(
        c, everyone, wrong, [&] { sequential()(x); }, [&] { on_workers()(mine); });

  auto kernel = sequential();
  const auto y = kernel(x);
  compare_all(wrong, y, c, "y");
  const auto dy = c.contains("dy") ? blocks_of_json<T, Rank>(c.at("dy")) : y;
  const auto dx = kernel.adjoint(dy);
  compare_all(wrong, dx, c, "dx");
  if constexpr (Rank > 0) wrong.expect(dot(y, dy) == dot(x, dx), "<Fx, y> != <x, F*y>");

  if (c.at("world").get<std::size_t>() > everyone.size()) return;
  const auto movement = on_workers();
  compare_on(wrong, movement(mine), c, "y", everyone.id());
  compare_on(wrong, movement.adjoint(of_worker(dy, everyone.id())), c, "dx", everyone.id());
}

// --- the kinds ---

void run_groups(const json& c, const world& everyone, mismatches& wrong) {
  const bool reduction = c.at("kind") == "sum_reduce";
  const std::size_t small = rank_of_partition(c, reduction ? "py" : "px"),
                    large = rank_of_partition(c, reduction ? "px" : "py");
  if (small > large) {  // both refuse; ranks are types, so a call of it does not compile (test/reject/kernel)
    with_constant<1, 4>(large, "the rank of the larger partition", [&](auto l) {
      with_constant<1, 4>(small, "the rank of the smaller partition", [&](auto s) {
        wrong.expect(!judge_worker_broadcast(std::array<std::size_t, s>{}, std::array<std::size_t, l>{}, false, false),
                     "the rule accepts a smaller partition of larger rank");
      });
    });
    wrong.expect(is_refused(c), "should be refused, says the rule for ranks");
    return;
  }
  with_constant<1, 4>(large, "the rank of the larger partition", [&](auto l) {
    with_constant<1, l>(small, "the rank of the smaller partition", [&](auto s) {
      constexpr std::size_t small_rank = s, large_rank = l;
      with_constant<0, 4>(rank_of_blocks(c), "the rank of the blocks", [&](auto r) {
        constexpr std::size_t rank = r;
        with_policies(c.at("transpose_src"), c.at("transpose_dest"), !c.at("preserve_batch").get<bool>(),
                      [&](auto... set) {
                        constexpr bool plain = ((!std::is_same_v<decltype(set), transpose_src_t> &&
                                                 !std::is_same_v<decltype(set), transpose_dest_t>)&&...);
                        with_element<plain && small_rank == 2 && large_rank == 2>(c.at("dtype"), [&](auto element) {
                          using T = decltype(element);
                          if (reduction)
                            check_movement<T, rank>(
                                c, everyone, wrong,
                                [&] {
                                  return sequentially::sum_reduce(grid_of_json<large_rank>(c.at("px")),
                                                                  grid_of_json<small_rank>(c.at("py")), set...);
                                },
                                [&] {
                                  return sum_reduce(partition_of_json<large_rank>(everyone, c.at("px")),
                                                    partition_of_json<small_rank>(everyone, c.at("py")), set...);
                                });
                          else
                            check_movement<T, rank>(
                                c, everyone, wrong,
                                [&] {
                                  return sequentially::broadcast(grid_of_json<small_rank>(c.at("px")),
                                                                 grid_of_json<large_rank>(c.at("py")), set...);
                                },
                                [&] {
                                  return broadcast(partition_of_json<small_rank>(everyone, c.at("px")),
                                                   partition_of_json<large_rank>(everyone, c.at("py")), set...);
                                });
                        });
                      });
      });
    });
  });
}

void run_repartition(const json& c, const world& everyone, mismatches& wrong) {
  const std::size_t rank_x = rank_of_partition(c, "px");
  if (rank_x != rank_of_partition(c, "py") || rank_x != rank_of_blocks(c)) {
    // both refuse; ranks are types, so a call of it does not compile (test/reject/kernel)
    wrong.expect(!judge_repartition(rank_x, rank_of_partition(c, "py"), rank_of_blocks(c)),
                 "the rule accepts partitions and a tensor of different rank");
    wrong.expect(is_refused(c), "should be refused, says the rule for ranks");
    return;
  }
  bool splits_one = false;
  for (std::size_t d = 0; d < rank_x; ++d)
    splits_one = splits_one || (numbers(c.at("x_global"))[d] == 1 && numbers(c.at("py").at("shape"))[d] != 1);
  with_constant<1, 4>(rank_x, "the rank of the partitions", [&](auto r) {
    constexpr std::size_t rank = r;
    with_element<true>(c.at("dtype"), [&](auto element) {
      using T = decltype(element);
      const auto run = [&](auto... set) {
        const auto sequential = [&] {
          return sequentially::repartition(grid_of_json<rank>(c.at("px")), grid_of_json<rank>(c.at("py")), set...);
        };
        const auto on_workers = [&] {
          return repartition(partition_of_json<rank>(everyone, c.at("px")),
                             partition_of_json<rank>(everyone, c.at("py")), set...);
        };
        if (is_refused(c) && splits_one) {  // ours moves it: there and back it is what it was
          const auto x = blocks_of_json<T, rank>(c.at("x"));
          auto kernel = sequential();
          const auto back = kernel.adjoint(kernel(x));
          for (std::size_t worker : numbers(c.at("px").at("ranks")))
            compare(wrong, back[worker], c.at("x")[worker], joined("what came back to worker ", worker));
          wrong.raise();
          throw departure("a dimension of extent 1 may be cut: one worker holds it, the others nothing");
        }
        check_movement<T, rank>(c, everyone, wrong, sequential, on_workers);
      };
      c.at("preserve_batch").get<bool>() ? run() : run(discard_batch);
    });
  });
}

/// Calls f with the dimensions_t of the bits that are set.
template <std::size_t Rank, std::size_t... D, class F>
void with_dimensions(std::size_t set, F f) {
  if constexpr (Rank == 0) {
    f(dimensions<D...>);
  } else if ((set >> (Rank - 1) & 1U) != 0) {
    with_dimensions<Rank - 1, Rank - 1, D...>(set, f);
  } else {
    with_dimensions<Rank - 1, D...>(set, f);
  }
}

void run_all_sum_reduce(const json& c, const world& everyone, mismatches& wrong) {
  const std::size_t rank_p = rank_of_partition(c, "px");
  const auto is_named = [&](const char* axes) { return c.contains(axes) && !c.at(axes).is_null(); };
  const bool kept = !is_named("axes_reduce");
  if (is_named("axes_reduce") == is_named("axes_keep")) {
    if (!is_refused(c)) throw std::runtime_error("should be refused: dimensions must be named one way");
    throw departure(kept ? "refused by the compiler: no dimensions are named"
                         : "refused by the compiler: dimensions are named both ways, which no call can say");
  }
  std::size_t set = 0;
  dimension_list named;
  bool there = true;
  for (const json& axis : c.at(kept ? "axes_keep" : "axes_reduce")) {
    if (axis.get<int>() < 0) throw departure("refused by the compiler: dimensions are not negative");
    named.push_back(axis.get<std::size_t>());
    there = there && named[named.size() - 1] < rank_p;
    set |= std::size_t{1} << named[named.size() - 1] % 64;
  }
  if (!there) {  // both refuse: this call by its type, the one that takes dimensions at run time by throwing
    with_constant<1, 4>(rank_p, "the rank of the partition", [&](auto p) {
      const auto p_x = partition_of_json<p>(everyone, c.at("px"));
      bool refused = false;
      try {
        const all_reduce kernel(p_x, named, sum);
      } catch (const partition_error&) {
        refused = true;
      }
      wrong.expect(refused && is_refused(c), "a dimension that the partition does not have is accepted");
    });
    return;
  }
  if (kept) set = ((std::size_t{1} << rank_p) - 1) & ~set;
  with_constant<1, 4>(rank_p, "the rank of the partition", [&](auto p) {
    constexpr std::size_t places = p;
    with_constant<0, 4>(rank_of_blocks(c), "the rank of the blocks", [&](auto r) {
      with_element<places == 2>(c.at("dtype"), [&](auto element) {
        check_movement<decltype(element), decltype(r)::value>(
            c, everyone, wrong,
            [&] {
              std::optional<sequentially::all_sum_reduce<dynamic_extents<places>>> kernel;
              with_dimensions<places>(set,
                                      [&](auto named) { kernel.emplace(grid_of_json<places>(c.at("px")), named); });
              return *kernel;
            },
            [&] {
              std::optional<all_sum_reduce<dynamic_extents<places>>> kernel;
              with_dimensions<places>(
                  set, [&](auto named) { kernel.emplace(partition_of_json<places>(everyone, c.at("px")), named); });
              return std::move(*kernel);
            });
      });
    });
  });
}

/// y = x W^T + b and its gradients for all workers of a record, from the two movements and plain loops.
template <class T, std::size_t Rank, std::size_t X, std::size_t Y>
void check_linear_sequentially(const json& c, mismatches& wrong) {
  using blocks = std::vector<xt::xtensor<T, Rank>>;
  const auto p_x = grid_of_json<X>(c.at("px"));
  const auto p_y = grid_of_json<Y>(c.at("py"));
  const auto p_w = grid_of_json<2>(c.at("pw"));
  const sequentially::broadcast spread(p_x.reshape(extents(1, p_x.size())), p_w);
  const sequentially::sum_reduce collect(p_w, p_y.reshape(extents(1, p_y.size())), transpose_src);

  const blocks x_w = spread(blocks_of_json<T, Rank>(c.at("x")));
  const blocks dy_w = collect.adjoint(blocks_of_json<T, Rank>(c.at("dy")));
  blocks y_w = x_w, dx_w = x_w;
  for (std::size_t worker = 0; worker < x_w.size(); ++worker) {
    if (!p_w.contains(worker)) {
      dx_w[worker] = dy_w[worker];
      continue;
    }
    const auto w = block_of_json<T, 2>(c.at("W")[worker]);
    const std::size_t out = w.shape()[0], in = w.shape()[1];
    std::size_t rows = 1;
    for (std::size_t d = 0; d + 1 < Rank; ++d) rows *= x_w[worker].shape()[d];
    auto shape = x_w[worker].shape();
    shape[Rank - 1] = out;
    y_w[worker] = xt::zeros<T>(shape);
    dx_w[worker] = xt::zeros<T>(x_w[worker].shape());
    xt::xtensor<T, 2> dw = xt::zeros<T>({out, in});
    xt::xtensor<T, 1> db = xt::zeros<T>({out});
    const T *x = x_w[worker].data(), *dy = dy_w[worker].data();
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t o = 0; o < out; ++o) {
        if (!c.at("b")[worker].is_null()) y_w[worker].data()[i * out + o] = c.at("b")[worker].at("v")[o].get<T>();
        for (std::size_t k = 0; k < in; ++k) {
          y_w[worker].data()[i * out + o] += x[i * in + k] * w(o, k);
          dx_w[worker].data()[i * in + k] += dy[i * out + o] * w(o, k);
          dw(o, k) += dy[i * out + o] * x[i * in + k];
        }
        db(o) += dy[i * out + o];
      }
    compare_on(wrong, dw, c, "dW", worker);
    compare_on(wrong, db, c, "db", worker);
  }
  compare_all(wrong, collect(y_w), c, "y");
  compare_all(wrong, spread.adjoint(dx_w), c, "dx");
}

template <class T, std::size_t Rank, std::size_t X, std::size_t Y>
void check_linear_on_workers(const json& c, const world& everyone, mismatches& wrong) {
  const std::size_t id = everyone.id();
  const auto p_w = partition_of_json<2>(everyone, c.at("pw"));
  linear<T> layer(partition_of_json<X>(everyone, c.at("px")), partition_of_json<Y>(everyone, c.at("py")), p_w,
                  {.in_features = c.at("in_features"), .out_features = c.at("out_features"), .bias = c.at("bias")});
  const bool holds = p_w.active() && id < c.at("world").get<std::size_t>();
  if (holds) {
    layer.weight() = block_of_json<T, 2>(c.at("W")[id]);
    if (!c.at("b")[id].is_null()) layer.bias() = block_of_json<T, 1>(c.at("b")[id]);
  }
  compare_on(wrong, layer(of_worker(blocks_of_json<T, Rank>(c.at("x")), id)), c, "y", id);
  if (!c.contains("dy")) return;
  compare_on(wrong, layer.adjoint(of_worker(blocks_of_json<T, Rank>(c.at("dy")), id)), c, "dx", id);
  if (!holds) return;
  compare_on(wrong, layer.weight_gradient(), c, "dW", id);
  compare_on(wrong, layer.bias_gradient(), c, "db", id);
}

void run_linear(const json& c, const world& everyone, mismatches& wrong) {
  const bool runs_here = c.at("world").get<std::size_t>() <= everyone.size();
  with_constant<1, 3>(rank_of_partition(c, "px"), "the rank of p_x", [&](auto px) {
    with_constant<1, 3>(rank_of_partition(c, "py"), "the rank of p_y", [&](auto py) {
      with_constant<2, 4>(rank_of_blocks(c), "the rank of the blocks", [&](auto r) {
        constexpr std::size_t x = px, y = py, rank = r;
        const auto verdict =
            judge_linear(extents_of_json<x>(c.at("px")).array(), extents_of_json<y>(c.at("py")).array(),
                         extents_of_json<2>(c.at("pw")).array());
        if (!verdict && !is_refused(c))
          throw departure(
              "partitions that the layer refuses: 1 x ... x f_in, 1 x ... x f_out and f_out x f_in are required");
        const auto run = [&](auto element) {
          using T = decltype(element);
          if (is_refused(c))
            return expect_refusal(
                c, everyone, wrong, [&] { check_linear_sequentially<T, rank, x, y>(c, wrong); },
                [&] { check_linear_on_workers<T, rank, x, y>(c, everyone, wrong); });
          check_linear_sequentially<T, rank, x, y>(c, wrong);
          if (runs_here) check_linear_on_workers<T, rank, x, y>(c, everyone, wrong);
        };
        const std::string dtype = c.at("dtype");
        if (dtype != "float64" && dtype != "float32")
          throw std::runtime_error("a linear layer of " + dtype + " is unknown");
        dtype == "float32" ? run(float{}) : run(double{});
      });
    });
  });
}

struct kind {
  const char* name;
  void (*run)(const json&, const world&, mismatches&);
};
constexpr kind kinds[] = {
    {"broadcast", run_groups},        {"sum_reduce", run_groups},
    {"repartition", run_repartition}, {"all_sum_reduce", run_all_sum_reduce},
    {"linear", run_linear},
};

const kind* kind_of(const json& file) {
  if (!file.is_object() || !file.contains("kind") || !file.contains("cases")) return nullptr;
  const auto known =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const kind& k) { return file.at("kind") == k.name; });
  return known == std::end(kinds) ? nullptr : known;
}

void run_file(const json& file, const std::string& file_name, tally& all) {
  const world everyone;
  const kind* k = kind_of(file);
  for (const json& c : file.at("cases")) {
    const std::string id = file_name + ":" + c.at("id").get<std::string>();
    try {
      mismatches wrong;
      k->run(c, everyone, wrong);
      wrong.raise();
      if (adjoint_is_refused(c))
        all.skip(id,
                 "the adjoint gives zero volume where DistDL's autograd refuses its placeholder; forward and <Fx, y> "
                 "== <x, F*y> hold");
      else all.pass(id);
    } catch (const departure& named) {
      all.skip(id, named.what());
    } catch (const std::exception& problem) {
      all.fail(id, problem.what());
    }
  }
}

}  // namespace

namespace conformance {

reader distdl_reader() {
  return {[](const json& file, const std::string&) { return kind_of(file) != nullptr; }, run_file,
          [](const std::string& name) {
            return std::any_of(std::begin(kinds), std::end(kinds),
                               [&](const kind& k) { return name == k.name + std::string(".json"); });
          }};
}

}  // namespace conformance
