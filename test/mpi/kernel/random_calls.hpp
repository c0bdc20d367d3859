// Random calls of random kernels, compared element by element with test/support/call_oracle.hpp. All workers draw the
// same random numbers, so they make the same calls. Some kernels are made for one call; others live long and are called
// with more shapes than a kernel keeps plans for.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>
#include <utility>
#include <vector>

#include "call_oracle.hpp"
#include "mpi_test.hpp"
#include "random_cases.hpp"

namespace calls {

using oracle::list;
using namespace partita;

template <std::size_t R>
std::array<std::size_t, R> as_array(const list& values) {
  std::array<std::size_t, R> all{};
  std::copy(values.begin(), values.end(), all.begin());
  return all;
}
template <std::size_t R>
auto on(const world& everyone, const oracle::arrangement& a) {
  return everyone.partition(dynamic_extents<R>(as_array<R>(a.shape)), workers(a.ids));
}

template <std::size_t R, class T>
xt::xtensor<T, R> tensor_of(const oracle::block<T>& b) {
  xt::xtensor<T, R> x(as_array<R>(b.shape));
  std::copy(b.data.begin(), b.data.end(), x.data());
  return x;
}
template <class Y, class T>
bool same(const Y& y, const oracle::block<T>& b) {
  return std::equal(y.shape().begin(), y.shape().end(), b.shape.begin(), b.shape.end()) &&
         std::equal(b.data.begin(), b.data.end(), y.data());
}

/// A view of every `step`th element along each dimension of a larger tensor. The elements around it have a known value.
template <class T, std::size_t R>
struct framed {
  xt::xtensor<T, R> all;
  list steps;

  framed(const list& shape, const list& step) : all(), steps(step) {
    std::array<std::size_t, R> extents{};
    for (std::size_t d = 0; d < R; ++d) extents[d] = shape[d] * steps[d] + 2;
    all = xt::xtensor<T, R>(extents);
    std::fill_n(all.data(), all.size(), rim);
  }
  auto view(const list& shape) { return view(shape, std::make_index_sequence<R>()); }
  /// Whether the view equals the block and the elements around it are unchanged.
  bool holds(const oracle::block<T>& b) const {
    std::vector<T> expected(all.size(), rim);
    for (std::size_t k = 0; k < b.data.size(); ++k) expected[place(k, b.shape)] = b.data[k];
    return std::equal(expected.begin(), expected.end(), all.data());
  }
  void fill(const oracle::block<T>& b) {
    for (std::size_t k = 0; k < b.data.size(); ++k) all.data()[place(k, b.shape)] = b.data[k];
  }

 private:
  static constexpr T rim = T(99);
  std::size_t place(std::size_t k, const list& shape) const {
    list i = oracle::index_of(k, shape);
    for (std::size_t d = 0; d < R; ++d) i[d] = 1 + i[d] * steps[d];
    return oracle::number_of(i, list(all.shape().begin(), all.shape().end()));
  }
  template <std::size_t... D>
  auto view(const list& shape, std::index_sequence<D...>) {
    return xt::view(all, xt::range(std::size_t{1}, 1 + shape[D] * steps[D], steps[D])...);
  }
};

/// The state of a run of random calls: its workers, its random numbers and the results so far.
template <class T, std::size_t R>
class run {
 public:
  using block = oracle::block<T>;
  using give = std::function<block(std::size_t)>;

  run(std::uint64_t seed, checks level) : everyone(test::workers(), level), choose(oracle::seed_here(seed)) {}

  world everyone;
  oracle::random choose;
  std::size_t me = everyone.id(), workers = everyone.size(), made = 0, wrong = 0;

  bool together() const { return everyone.level() == checks::agree; }
  /// The number of the set of shapes for a call. Without agreement, a worker without a block cannot see that the shapes
  /// of the others change, so there they do not change.
  std::size_t shape_set() { return together() ? choose.below(choose.once_in(2) ? 4 : 40) : 0; }
  std::uint64_t next_call() { return ++made; }

  /// The extents of a block: mostly small, sometimes empty, sometimes larger than a slot or a chunk.
  list extents(std::uint64_t h) const {
    list shape(R);
    for (std::size_t d = 0; d < R; ++d) shape[d] = oracle::mixed(h, d) % 5 + (oracle::mixed(h, d) % 9 == 0 ? 0 : 1);
    if (oracle::mixed(h, R) % 24 == 0) shape[R - 1] = 300 + oracle::mixed(h, R + 1) % 3000;
    return shape;
  }
  /// The argument of a worker whose block is ignored: no elements, or a few.
  block idle(std::uint64_t h, std::uint64_t call, std::size_t worker) const {
    list shape(R, 0);
    if (oracle::mixed(h, worker) % 3 == 0)
      for (std::size_t& n : shape) n = 1 + oracle::mixed(h, worker) % 2;
    else if (R > 1) shape[0] = oracle::mixed(h, worker, std::uint64_t{1}) % 4;
    return {shape, call, worker};
  }
  oracle::arrangement arrangement(const list& shape) { return {shape, choose.some_of(workers, oracle::volume(shape))}; }

  void judge(bool right, const std::string& what) {
    if (right) return;
    if (++wrong <= 3) BOOST_ERROR("worker " << me << ", call " << made << ": " << what << " is not what it should be");
  }
  template <class Y>
  void check(const Y& y, const block& expected, const std::string& what) {
    judge(same(y, expected), what);
  }

  /// Computes k(x) by a random variant of the call: of a tensor or a view, into a view, or non-blocking.
  template <class Kernel>
  void forward(const std::shared_ptr<Kernel>& k, const block& x, const block& y, const std::string& what) {
    const std::size_t way = choose.below(5), nap = choose.below(200);
    const list steps = drawn_steps();
    if (nap == 0 && choose.below(workers) == me) ::usleep(300);
    if (way == 0) {
      framed<T, R> given(x.shape, steps);
      given.fill(x);
      check((*k)(given.view(x.shape)), y, what + " of a view");
    } else if (way == 1) {
      framed<T, R> wanted(y.shape, steps);
      k->into(tensor_of<R>(x), wanted.view(y.shape));
      judge(wanted.holds(y), what + " into a view");
    } else if (way == 2) {
      auto given = tensor_of<R>(x);
      const auto result = (*k)(given);
      given.fill(T(77));  // a late read would get this
      check(result, y, what + " of a block that changes then");
    } else if constexpr (requires { k->start(tensor_of<R>(x)); }) {
      const auto given = std::make_shared<const xt::xtensor<T, R>>(tensor_of<R>(x));
      leave_under_way(k->start(*given), given, y, what + " by start");
    } else {
      keep((*k)(tensor_of<R>(x)), y, what);
    }
  }
  /// Computes the adjoint by a random variant of the call.
  template <class Kernel>
  void backward(const std::shared_ptr<Kernel>& k, const block& dy, const block& dx, const std::string& what) {
    const bool later = choose.once_in(2);
    if constexpr (requires { k->start_adjoint(tensor_of<R>(dy)); }) {
      if (later) {
        const auto given = std::make_shared<const xt::xtensor<T, R>>(tensor_of<R>(dy));
        return leave_under_way(k->start_adjoint(*given), given, dx, what + ".adjoint by start");
      }
    }
    check(k->adjoint(tensor_of<R>(dy)), dx, what + ".adjoint");
  }

  /// Finishes pending calls in random order until `left` remain.
  void finish(std::size_t left) {
    while (under_way_.size() > left) {
      const std::size_t k = choose.below(under_way_.size());
      const auto end = std::move(under_way_[k]);
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(k));
      end();
    }
  }
  /// Checks kept results again, and drops some until `left` remain.
  void look_again(std::size_t left) {
    while (kept_.size() > left) {
      const std::size_t k = choose.below(kept_.size());
      kept_[k]();
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }

 private:
  list drawn_steps() {
    list steps(R);
    for (std::size_t& s : steps) s = choose.between(1, 2);
    return steps;
  }
  template <class Later, class Given>
  void leave_under_way(Later&& later, const Given& given, const block& y, const std::string& what) {
    const auto waiting = std::make_shared<std::decay_t<Later>>(std::forward<Later>(later));
    under_way_.push_back([this, waiting, given, y, what] { check(waiting->finish(), y, what); });
    finish(choose.below(4));
  }
  /// Keeps a result while others are made; a shared view is kept as a copy of the view.
  template <class Y>
  void keep(const Y& y, const block& expected, const std::string& what) {
    check(y, expected, what);
    kept_.push_back([this, copy = y, expected, what] { check(copy, expected, what + ", kept for some calls"); });
    look_again(6);
  }

  std::vector<std::function<void()>> under_way_, kept_;
};

/// One call of a long-lived kernel. Each kernel has a different seed.
template <class T, std::size_t R>
using call = std::function<void(run<T, R>&)>;

// ---- broadcast and sum_reduce --------------------------------------------------------------------------------------

template <class T, std::size_t R, std::size_t S, std::size_t L, class Make>
call<T, R> paired(run<T, R>& r, bool small_reversed, bool large_reversed, bool sums, bool keep_batch, Make make) {
  list large = r.choose.grid(L, r.workers), small;
  if (large_reversed) std::reverse(large.begin(), large.end());
  for (std::size_t d = L - S; d < L; ++d) small.push_back(r.choose.once_in(2) ? large[d] : 1);
  if (small_reversed) std::reverse(small.begin(), small.end());
  if (large_reversed) std::reverse(large.begin(), large.end());
  const oracle::pairing pairs{r.arrangement(small), r.arrangement(large), small_reversed, large_reversed};
  const auto k = make(on<S>(r.everyone, pairs.small), on<L>(r.everyone, pairs.large));
  const std::uint64_t seed = r.choose.number();
  return [=](run<T, R>& c) {
    const std::uint64_t h = oracle::mixed(seed, c.shape_set()), there = c.next_call(), back = c.next_call();
    const auto of_group = [&](std::size_t place) { return c.extents(oracle::mixed(h, place)); };
    const auto x = [&](std::uint64_t number) {  // a block of the small partition
      return [&, number](std::size_t worker) {
        return pairs.small.has(worker) ? oracle::block<T>(of_group(pairs.small.place(worker)), number, worker)
                                       : c.idle(h, number, worker);
      };
    };
    const auto y = [&](std::uint64_t number) {  // a block of the large partition
      return [&, number](std::size_t worker) {
        return pairs.large.has(worker) ? oracle::block<T>(of_group(pairs.partner(worker)), number, worker)
                                       : c.idle(h, number, worker);
      };
    };
    if (sums) {
      c.forward(k, y(there)(c.me), pairs.summed<T>(y(there), c.me, keep_batch), "sum_reduce");
      c.backward(k, x(back)(c.me), pairs.copied<T>(x(back), c.me, keep_batch), "sum_reduce");
    } else {
      c.forward(k, x(there)(c.me), pairs.copied<T>(x(there), c.me, keep_batch), "broadcast");
      c.backward(k, y(back)(c.me), pairs.summed<T>(y(back), c.me, keep_batch), "broadcast");
    }
  };
}

template <std::size_t S, std::size_t L, class T, std::size_t R>
call<T, R> some_pair(run<T, R>& r) {
  const auto copying = [](auto... policies) {
    return [=](const auto& p, const auto& q) {
      return std::make_shared<decltype(broadcast(p, q, policies...))>(p, q, policies...);
    };
  };
  const auto summing = [](auto... policies) {
    return [=](const auto& p, const auto& q) {
      return std::make_shared<decltype(sum_reduce(q, p, policies...))>(q, p, policies...);
    };
  };
  switch (r.choose.below(11)) {
    case 0:
      return paired<T, R, S, L>(r, false, false, false, true, copying());
    case 1:
      return paired<T, R, S, L>(r, true, false, false, true, copying(transpose_src));
    case 2:
      return paired<T, R, S, L>(r, false, true, false, false, copying(transpose_dest, discard_batch));
    case 3:
      return paired<T, R, S, L>(r, true, true, false, true, copying(transpose_src, transpose_dest));
    case 4:
      return paired<T, R, S, L>(r, false, false, false, true, copying(shared_view));
    case 5:
      return paired<T, R, S, L>(r, false, false, false, false, copying(discard_batch, reproducible));
    case 6:
      return paired<T, R, S, L>(r, false, false, true, true, summing());
    case 7:
      return paired<T, R, S, L>(r, true, false, true, false, summing(transpose_dest, discard_batch));
    case 8:
      return paired<T, R, S, L>(r, false, true, true, true, summing(transpose_src));
    case 9:
      return paired<T, R, S, L>(r, false, false, true, true, summing(reproducible));
    default:
      return paired<T, R, S, L>(r, true, true, true, true, summing(transpose_src, transpose_dest, shared_view));
  }
}

// ---- kernels on groups along dimensions
// ------------------------------------------------------------------------------

/// Calls make(p, dimensions) with a random subset of the dimensions of p.
template <std::size_t P, class Make>
auto along(std::size_t subset, const Make& make) {
  if constexpr (P == 1) return subset == 0 ? make(dimensions<>) : make(dimensions<0>);
  else if constexpr (P == 2)
    return subset == 0 ? make(dimensions<0>) : subset == 1 ? make(dimensions<1>) : make(dimensions<1, 0>);
  else return subset == 0 ? make(dimensions<0, 2>) : subset == 1 ? make(all_dimensions_but<1, 2>) : make(dimensions<1>);
}
template <std::size_t P>
std::vector<bool> along(std::size_t subset) {
  if constexpr (P == 1) return {subset != 0};
  else if constexpr (P == 2) return {subset != 1, subset != 0};
  else return {subset != 2, subset == 2, subset == 0};
}

template <class T, std::size_t R>
call<T, R> some_sum_for_all(run<T, R>& r) {
  const std::size_t subset = r.choose.below(3);
  const oracle::grouping groups{r.arrangement(r.choose.grid(2, r.workers)), along<2>(subset)};
  const auto p = on<2>(r.everyone, groups.on);
  const std::uint64_t seed = r.choose.number();
  const auto calls_of = [&](const auto& k) -> call<T, R> {
    return [=](run<T, R>& c) {
      const std::uint64_t h = oracle::mixed(seed, c.shape_set()), there = c.next_call(), back = c.next_call();
      const auto x = [&](std::uint64_t number) {
        return [&, number](std::size_t worker) {
          return groups.on.has(worker)
                     ? oracle::block<T>(c.extents(oracle::mixed(h, groups.group(worker))), number, worker)
                     : c.idle(h, number, worker);
        };
      };
      c.forward(k, x(there)(c.me), groups.summed<T>(x(there), c.me), "all_sum_reduce");
      c.backward(k, x(back)(c.me), groups.summed<T>(x(back), c.me), "all_sum_reduce");
    };
  };
  if (r.choose.once_in(4))
    return calls_of(along<2>(subset, [&](auto d) {
      return std::make_shared<decltype(all_sum_reduce(p, d, reproducible))>(p, d, reproducible);
    }));
  return calls_of(along<2>(subset, [&](auto d) { return std::make_shared<decltype(all_sum_reduce(p, d))>(p, d); }));
}

/// Shapes of parts of one tensor: uneven sizes along the dimensions of the groups, equal sizes along the others.
template <std::size_t R>
list uneven_part(const oracle::grouping& groups, std::uint64_t h, std::size_t worker) {
  const list i = groups.on.index(worker);
  const std::uint64_t own = oracle::mixed(h, groups.group(worker));
  list shape(R);
  for (std::size_t d = 0; d < R; ++d) {
    const std::uint64_t n = oracle::mixed(own, d, groups.along[d] ? i[d] : 0);
    shape[d] = n % 4 + (d + 1 == R && oracle::mixed(h, R) % 24 == 0 ? 200 + n % 700 : 0);
  }
  return shape;
}
/// The shapes of the balanced parts of a group's tensor.
template <class T, std::size_t R>
list balanced_part_of(const run<T, R>& c, const oracle::grouping& groups, std::uint64_t h, std::size_t worker) {
  list shape = c.extents(oracle::mixed(h, groups.group(worker)));
  const list i = groups.on.index(worker);
  for (std::size_t d = 0; d < R; ++d)
    if (groups.along[d]) shape[d] = oracle::balanced(shape[d], groups.on.shape[d])[i[d]].size();
  return shape;
}

template <class T, std::size_t R>
call<T, R> some_parts(run<T, R>& r) {
  const std::size_t subset = r.choose.below(R == 1 ? 2 : 3);
  const oracle::grouping groups{r.arrangement(r.choose.grid(R, r.workers)), along<R>(subset)};
  const auto p = on<R>(r.everyone, groups.on);
  const bool gathers = r.choose.once_in(2);
  const std::uint64_t seed = r.choose.number();
  const auto calls_of = [&](const auto& k) -> call<T, R> {
    return [=](run<T, R>& c) {
      const std::uint64_t h = oracle::mixed(seed, c.shape_set()), there = c.next_call(), back = c.next_call();
      const auto shape = [&](std::size_t worker) {
        return gathers ? uneven_part<R>(groups, h, worker) : balanced_part_of(c, groups, h, worker);
      };
      const auto part = [&](std::uint64_t number) {
        return [&, number](std::size_t worker) {
          return groups.on.has(worker) ? oracle::block<T>(shape(worker), number, worker) : c.idle(h, number, worker);
        };
      };
      const auto whole = [&](std::uint64_t number) {
        return [&, number](std::size_t worker) {
          if (!groups.on.has(worker)) return c.idle(h, number, worker);
          list start, extents;
          groups.lay_out(shape, worker, start, extents);
          return oracle::block<T>(extents, number, worker);
        };
      };
      const auto together = [&](std::uint64_t n) { return groups.template gathered<T>(part(n), shape, c.me); };
      const auto apart = [&](std::uint64_t n) { return groups.template part_of_sum<T>(whole(n), shape, c.me); };
      if (gathers) {
        c.forward(k, part(there)(c.me), together(there), "all_gather");
        c.backward(k, whole(back)(c.me), apart(back), "all_gather");
      } else {
        c.forward(k, whole(there)(c.me), apart(there), "reduce_scatter");
        c.backward(k, part(back)(c.me), together(back), "reduce_scatter");
      }
    };
  };
  if (gathers)
    return calls_of(along<R>(subset, [&](auto d) { return std::make_shared<decltype(all_gather(p, d))>(p, d); }));
  return calls_of(along<R>(subset, [&](auto d) { return std::make_shared<decltype(reduce_scatter(p, d))>(p, d); }));
}

// ---- repartition
// -----------------------------------------------------------------------------------------------------

/// One distribution of n indices, as the library and the oracle describe it.
struct both_cuts {
  partita::cut cut;
  oracle::parts parts;
};
inline list random_sizes(std::uint64_t h, std::size_t n, std::size_t p) {
  list sizes(p, 0);
  for (std::size_t i = 0; i < n;) {  // in large pieces, so that some parts are empty
    const std::size_t lump = std::min<std::size_t>(n - i, 1 + oracle::mixed(h, i) % 5);
    sizes[oracle::mixed(h, i, std::uint64_t{2}) % p] += lump;
    i += lump;
  }
  return sizes;
}
inline both_cuts some_cut(std::uint64_t h, std::size_t n, std::size_t p) {
  if (h % 3 == 0) return {cut::balanced(n, p), oracle::balanced(n, p)};
  if (h % 3 == 1) {
    const list sizes = random_sizes(h, n, p);
    return {cut::at(sizes), oracle::of_sizes(sizes)};
  }
  const std::size_t b = 1 + h / 3 % 3;
  return {cut::block_cyclic(n, p, b), oracle::dealt(n, p, b)};
}

template <std::size_t R>
constexpr list order_of(partita::axes_order<R> axes) {
  return list(axes.begin(), axes.end());
}

template <class T, std::size_t R>
call<T, R> some_repartition(run<T, R>& r) {
  const oracle::arrangement p_x = r.arrangement(r.choose.grid(R, r.workers)),
                            p_y = r.arrangement(r.choose.grid(R, r.workers));
  const auto p = on<R>(r.everyone, p_x), q = on<R>(r.everyone, p_y);
  const std::uint64_t seed = r.choose.number();
  const std::size_t kind = r.choose.below(6);
  const bool turns = R > 1 && (kind == 3 || kind == 4), from = kind >= 4, to = kind == 2 || kind >= 4,
             keep_batch = kind != 1;
  list axes(R);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (turns) std::rotate(axes.begin(), axes.begin() + 1, axes.end());
  // given cuts are those of one tensor; without them calls may have tensors of any shape
  const auto tensor = [=](const run<T, R>& c, std::uint64_t set) {
    list n = c.extents(oracle::mixed(seed, from || to ? 0 : set));
    for (std::size_t d = 0; d < R; ++d)
      n[d] += oracle::mixed(seed, set, d, std::uint64_t{3}) % 3 * (from || to ? 0 : 1);
    return n;
  };
  const list fixed = tensor(r, 0);
  std::vector<both_cuts> of_x, of_y;
  for (std::size_t d = 0; d < R; ++d) {
    of_x.push_back(some_cut(oracle::mixed(seed, d, std::uint64_t{5}), fixed[d], p_x.shape[d]));
    of_y.push_back(some_cut(oracle::mixed(seed, d, std::uint64_t{6}), fixed[axes[d]], p_y.shape[d]));
  }
  const auto given_x = decomposition<R>::make([&](std::size_t d) { return of_x[d].cut; });
  const auto given_y = decomposition<R>::make([&](std::size_t d) { return of_y[d].cut; });
  const auto calls_of = [&](const auto& k) -> call<T, R> {
    return [=](run<T, R>& c) {
      const std::uint64_t set = c.shape_set(), there = c.next_call(), back = c.next_call();
      const list n = tensor(c, set);
      oracle::cut_tensor x{p_x, {}}, y{p_y, {}};
      list same_order(R);
      for (std::size_t d = 0; d < R; ++d) {
        same_order[d] = d;
        if (from) x.cuts.push_back(of_x[d].parts);
        else if (set % 2 == 0) x.cuts.push_back(oracle::balanced(n[d], p_x.shape[d]));
        else x.cuts.push_back(oracle::of_sizes(random_sizes(oracle::mixed(seed, set, d), n[d], p_x.shape[d])));
        y.cuts.push_back(to ? of_y[d].parts : oracle::balanced(n[axes[d]], p_y.shape[d]));
      }
      const std::uint64_t h = oracle::mixed(seed, set);
      const auto held = [&](const oracle::cut_tensor& t, const list& order, std::uint64_t number) {
        return t.on.has(c.me) ? t.template of<T>(c.me, number, n, order) : c.idle(h, number, c.me);
      };
      const auto got = [&](const oracle::cut_tensor& t, const list& order, std::uint64_t number,
                           const oracle::block<T>& given, bool gave, std::size_t batch) {
        if (t.on.has(c.me)) return t.template of<T>(c.me, number, n, order);
        return gave ? oracle::nothing<T>(given.shape, keep_batch, batch) : given;
      };
      const auto first = held(x, same_order, there);
      c.forward(k, first, got(y, axes, there, first, p_x.has(c.me), axes[0]), "repartition");
      const auto second = held(y, axes, back);
      const auto batch = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), std::size_t{0}) - axes.begin());
      c.backward(k, second, got(x, same_order, back, second, p_y.has(c.me), batch), "repartition");
    };
  };
  const auto make = [&](auto... policies) {
    return std::make_shared<decltype(repartition(p, q, policies...))>(p, q, policies...);
  };
  constexpr auto turned = [] {
    if constexpr (R == 1) return permute<0>;
    else if constexpr (R == 2) return permute<1, 0>;
    else return permute<1, 2, 0>;
  }();
  switch (kind) {
    case 0:
      return calls_of(make());
    case 1:
      return calls_of(make(discard_batch));
    case 2:
      return calls_of(make(result_cuts(given_y)));
    case 3:
      return calls_of(make(turned));
    case 4:
      return calls_of(make(turned, source_cuts(given_x), result_cuts(given_y)));
    default:
      return calls_of(make(source_cuts(given_x), result_cuts(given_y)));
  }
}

// ---- a run
// -----------------------------------------------------------------------------------------------------------

/// Makes random calls of long-lived kernels and of kernels that are made for one call. `S` and `L` are the ranks of the
/// two partitions of a broadcast.
template <class T, std::size_t R, std::size_t S, std::size_t L>
void make_calls(std::size_t number, std::uint64_t seed, checks level) {
  run<T, R> r(seed, level);
  std::vector<call<T, R>> alive;
  while (r.made < number) {
    call<T, R> fresh;
    if (alive.size() < 14 || r.choose.once_in(20)) {
      const std::size_t kind = r.choose.below(8);
      fresh = kind < 3    ? some_pair<S, L>(r)
              : kind == 3 ? some_sum_for_all(r)
              : kind < 6  ? some_parts(r)
                          : some_repartition(r);
      if (alive.size() < 14) alive.push_back(fresh);
      else if (r.choose.once_in(2)) alive[r.choose.below(alive.size())] = fresh;
      fresh(r);
    } else {
      alive[r.choose.below(alive.size())](r);
    }
  }
  r.finish(0);
  r.look_again(0);
  test::random_calls() += r.made;
  BOOST_TEST(r.wrong == 0U);
}

}  // namespace calls
