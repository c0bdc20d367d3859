// Box exchanges over every channel, with random distributions, grids, orders of dimensions and strides. Afterwards each
// element must equal the function of its global index.
#include <partita/comm/box_exchange.hpp>
#include <partita/comm/detail/message/pair_messages.hpp>
#include <partita/comm/detail/node/memory_way.hpp>
#include <partita/comm/pooled.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "random_cases.hpp"

namespace {

using namespace partita;
template <std::size_t Rank>
using index = partita::index<Rank>;  // hides the function index() of <strings.h>

int own_worker() {
  int w = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &w);
  return w;
}
int all_workers() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

/// A piece of one dimension: the part that holds it and its position in that part's block.
struct piece {
  std::size_t part, start, stop, at;
};

/// Distributes n indices over p parts: in random intervals, or block-cyclically.
std::vector<piece> random_cut(std::size_t n, std::size_t p, std::mt19937& random) {
  std::vector<piece> pieces;
  if (random() % 3 == 0) {
    const std::size_t block = 1 + random() % 3;
    std::vector<std::size_t> held(p, 0);
    for (std::size_t start = 0, k = 0; start < n; start += block, k = (k + 1) % p) {
      const std::size_t stop = std::min(n, start + block);
      pieces.push_back({k, start, stop, held[k]});
      held[k] += stop - start;
    }
  } else {
    std::vector<std::size_t> places(p + 1, 0);
    places[p] = n;
    for (std::size_t k = 1; k < p; ++k) places[k] = random() % (n + 1);
    std::sort(places.begin(), places.end());
    for (std::size_t k = 0; k < p; ++k)
      if (places[k] < places[k + 1]) pieces.push_back({k, places[k], places[k + 1], 0});
  }
  return pieces;
}

/// A tensor distributed over a grid of some workers in some order.
template <std::size_t Rank>
struct layout {
  std::array<std::vector<piece>, Rank> cuts;
  std::array<std::size_t, Rank> grid{};
  std::vector<std::size_t> workers;  // the worker at each place

  static layout random(const std::array<std::size_t, Rank>& extents, std::size_t available, std::mt19937& random) {
    layout l;
    std::size_t places = 1;
    for (std::size_t d = 0; d < Rank; ++d) {
      l.grid[d] = 1 + random() % (available / places);
      places *= l.grid[d];
      l.cuts[d] = random_cut(extents[d], l.grid[d], random);
    }
    l.workers.resize(available);
    std::iota(l.workers.begin(), l.workers.end(), std::size_t{0});
    std::shuffle(l.workers.begin(), l.workers.end(), random);
    l.workers.resize(places);
    return l;
  }
  /// Calls f(worker, start, shape, at) for every box of the tensor that is one piece along each dimension.
  template <class F>
  void for_each_box(F f) const {
    std::array<std::size_t, Rank> choice{};
    for (const auto& cut : cuts)
      if (cut.empty()) return;
    for (;;) {
      index<Rank> start{}, at{}, place{};
      std::array<std::size_t, Rank> shape{};
      for (std::size_t d = 0; d < Rank; ++d) {
        const piece& p = cuts[d][choice[d]];
        start[d] = p.start, shape[d] = p.stop - p.start, at[d] = p.at, place[d] = p.part;
      }
      f(workers[flat_index(place, grid)], start, shape, at);
      std::size_t d = Rank;
      while (d > 0 && ++choice[d - 1] == cuts[d - 1].size()) choice[--d] = 0;
      if (d == 0) return;
    }
  }
  std::array<std::size_t, Rank> shape_of(std::size_t worker) const {
    std::array<std::size_t, Rank> shape{};
    const auto place = static_cast<std::size_t>(std::find(workers.begin(), workers.end(), worker) - workers.begin());
    if (place == workers.size()) return shape;
    const index<Rank> i = index_of(place, grid);
    for (std::size_t d = 0; d < Rank; ++d)
      for (const piece& p : cuts[d])
        if (p.part == i[d]) shape[d] += p.stop - p.start;
    return shape;
  }
};

template <std::size_t Rank>
std::array<std::ptrdiff_t, Rank> dense(const std::array<std::size_t, Rank>& shape,
                                       const std::array<std::size_t, Rank>& order) {
  std::array<std::ptrdiff_t, Rank> strides{};
  std::ptrdiff_t next = 1;
  for (std::size_t k = Rank; k-- > 0;) {
    strides[order[k]] = next;
    next *= static_cast<std::ptrdiff_t>(shape[order[k]]);
  }
  return strides;
}

struct wide {
  std::uint32_t value[6];
  friend bool operator==(const wide&, const wide&) = default;
};

}  // namespace

template <>
inline constexpr bool partita::moves_as_bytes<wide> = true;

namespace {

template <class T>
T value_of(std::size_t n) {
  if constexpr (std::is_same_v<T, wide>) {
    const auto v = static_cast<std::uint32_t>(n);
    return wide{{v, v + 1, v + 2, v + 3, v + 4, v + 5}};
  } else {
    return static_cast<T>(n % 100003);
  }
}

/// The parameters of a trial: the memory of the blocks and the channels.
struct trial {
  int pretended_nodes;  // 0: without shared memory
  bool pooled;          // results are in the arena
  partita::detail::message_policy message;
  std::size_t arena_bytes;
};

template <class T, std::size_t Rank>
void moves_everything(const trial& how, unsigned seed,
                      std::size_t largest = Rank == 1   ? 400
                                            : Rank == 2 ? 40
                                                        : 9) {
  std::mt19937 random(seed);
  const auto me = static_cast<std::size_t>(own_worker());
  std::array<std::size_t, Rank> extents{}, order{};
  for (auto& n : extents) n = 1 + random() % largest;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);  // the order of the result's dimensions in memory
  const auto n = static_cast<std::size_t>(all_workers());
  const auto from = layout<Rank>::random(extents, n, random), to = layout<Rank>::random(extents, n, random);

  const auto source_shape = from.shape_of(me), received_shape = to.shape_of(me);
  const auto received_strides = dense(received_shape, order);
  struct moved {
    std::size_t worker;
    std::array<std::size_t, Rank> shape;
    index<Rank> here, there;
  };
  std::vector<moved> sends, receives;
  partita::detail::lowered_plan plan(Rank);
  plan.worker = me;
  plan.source_shape.assign(source_shape.begin(), source_shape.end());
  plan.received_shape.assign(received_shape.begin(), received_shape.end());
  plan.received_strides.assign(received_strides.begin(), received_strides.end());
  from.for_each_box([&](std::size_t giver, const index<Rank>& start, const std::array<std::size_t, Rank>& shape,
                        const index<Rank>& at) {
    to.for_each_box([&](std::size_t taker, const index<Rank>& other, const std::array<std::size_t, Rank>& wanted,
                        const index<Rank>& there) {
      if (giver != me && taker != me) return;
      std::array<std::size_t, Rank> common{};
      index<Rank> here = at, arrives = there;
      for (std::size_t d = 0; d < Rank; ++d) {
        const std::size_t low = std::max(start[d], other[d]),
                          high = std::min(start[d] + shape[d], other[d] + wanted[d]);
        if (low >= high) return;
        common[d] = high - low;
        here[d] += low - start[d];
        arrives[d] += low - other[d];
      }
      if (giver == taker) plan.add_kept_box(common.data(), here.data(), arrives.data());
      else if (giver == me) sends.push_back({taker, common, here, arrives});
      else receives.push_back({giver, common, arrives, here});
    });
  });
  for (std::size_t other = 0; other < n; ++other) {
    const auto strides = dense(to.shape_of(other), order);
    for (const moved& b : sends)
      if (b.worker == other) {
        std::ptrdiff_t offset = 0;
        for (std::size_t d = 0; d < Rank; ++d) offset += static_cast<std::ptrdiff_t>(b.there[d]) * strides[d];
        plan.add_send(other, b.shape.data(), b.here.data(), offset, strides.data());
      }
    for (const moved& b : receives)
      if (b.worker == other) plan.receives.add(other, b.shape.data(), b.here.data());
  }

  const int color = how.pretended_nodes > 1 ? own_worker() % how.pretended_nodes : 0;
  const partita::detail::own_node members(MPI_COMM_WORLD, color);
  partita::detail::arena& memory = partita::detail::arena::of(members, how.arena_bytes);
  std::unique_ptr<partita::detail::node_channel> channel;
  if (how.pretended_nodes > 0) channel = std::make_unique<partita::detail::node_channel>(members, memory, 0);
  std::array<std::ptrdiff_t, Rank> x_strides = dense(source_shape, order), y_strides = received_strides;
  const bool spread = !how.pooled && random() % 2 == 0;
  std::ptrdiff_t x_origin = 0;
  for (std::size_t d = 0; d < Rank; ++d) {  // a view into a larger tensor, with some dimensions reversed
    x_strides[d] *= 2;
    if (spread) y_strides[d] *= 3;
    if (random() % 4 == 0 && source_shape[d] > 0) {
      x_origin += static_cast<std::ptrdiff_t>(source_shape[d] - 1) * x_strides[d];
      x_strides[d] = -x_strides[d];
    }
  }
  const std::size_t x_size = volume_of(source_shape), y_size = volume_of(received_shape);
  std::vector<T> x(2 * x_size + 2), heap(3 * y_size + 3);
  std::array<std::size_t, 1> length{y_size};
  auto result = make_pooled<T, 1>(memory, length);
  T* const y = how.pooled ? result.data() : heap.data();
  const bool crowded = members.oversubscribed();
  partita::detail::message_way by_message(MPI_COMM_WORLD, 77, how.message, crowded);
  std::vector<partita::detail::way*> ways;
  std::optional<partita::detail::memory_way> by_memory;
  if (channel) ways.push_back(&by_memory.emplace(members, *channel));
  ways.push_back(&by_message);
  partita::detail::box_exchange exchange(ways, memory, plan, partita::detail::element_kind::moved<T>(), crowded);

  bool right = true;
  for (std::size_t round = 0; round < 3; ++round) {
    from.for_each_box([&](std::size_t giver, const index<Rank>& start, const std::array<std::size_t, Rank>& shape,
                          const index<Rank>& at) {
      if (giver != me) return;
      for (std::size_t k = 0; k < volume_of(shape); ++k) {
        const index<Rank> i = index_of(k, shape);
        index<Rank> global{};
        std::ptrdiff_t place = x_origin;
        for (std::size_t d = 0; d < Rank; ++d) {
          global[d] = start[d] + i[d];
          place += static_cast<std::ptrdiff_t>(at[d] + i[d]) * x_strides[d];
        }
        x[static_cast<std::size_t>(place)] = value_of<T>(flat_index(global, extents) + 17 * round);
      }
    });
    exchange.start(x.data() + x_origin, x_strides.data(), y, y_strides.data());
    exchange.finish();
    std::fill(x.begin(), x.end(), value_of<T>(999));  // x may be overwritten now
    to.for_each_box([&](std::size_t taker, const index<Rank>& start, const std::array<std::size_t, Rank>& shape,
                        const index<Rank>& at) {
      if (taker != me) return;
      for (std::size_t k = 0; k < volume_of(shape); ++k) {
        const index<Rank> i = index_of(k, shape);
        index<Rank> global{};
        std::ptrdiff_t place = 0;
        for (std::size_t d = 0; d < Rank; ++d) {
          global[d] = start[d] + i[d];
          place += static_cast<std::ptrdiff_t>(at[d] + i[d]) * y_strides[d];
        }
        right = right && y[place] == value_of<T>(flat_index(global, extents) + 17 * round);
      }
    });
  }
  BOOST_TEST(right, "seed " << seed << ", rank " << Rank);
}

template <class T>
void moves_everything(const trial& how) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    moves_everything<T, 0>(how, seed);
    moves_everything<T, 1>(how, seed);
    moves_everything<T, 2>(how, seed);
    moves_everything<T, 3>(how, seed);
    moves_everything<T, 4>(how, seed);
  }
}

constexpr std::size_t plenty = ~std::size_t{0};
constexpr partita::detail::message_policy by_size{}, packed{message_form::packed}, typed{message_form::typed},
    chunked{message_form::chunked, 100}, short_ones{message_form::packed, 100, 150},
    short_typed_ones{message_form::typed, 100, 200}, measured{message_form::measured, 4096};

}  // namespace

BOOST_AUTO_TEST_SUITE(exchanging_boxes)

BOOST_AUTO_TEST_CASE(boxes_are_written_in_place_on_one_node) {
  moves_everything<float>({1, true, packed, plenty});
  moves_everything<wide>({1, true, packed, plenty});
}
BOOST_AUTO_TEST_CASE(boxes_pass_through_rings_to_blocks_that_are_not_shared) {
  moves_everything<float>({1, false, packed, plenty});
  moves_everything<wide>({1, false, packed, plenty});
}
BOOST_AUTO_TEST_CASE(an_arena_that_is_nearly_full_still_serves_by_its_small_rings) {
  moves_everything<double>({1, true, packed, 1 << 18});
}
BOOST_AUTO_TEST_CASE(without_shared_memory_boxes_are_sent) { moves_everything<float>({1, true, packed, 0}); }
BOOST_AUTO_TEST_CASE(boxes_are_sent_as_their_size_suggests) { moves_everything<float>({0, false, by_size, plenty}); }
BOOST_AUTO_TEST_CASE(boxes_are_sent_packed) {
  moves_everything<float>({0, false, packed, plenty});
  moves_everything<wide>({0, true, packed, plenty});
}
BOOST_AUTO_TEST_CASE(boxes_are_sent_as_derived_types) { moves_everything<std::uint8_t>({0, false, typed, plenty}); }
BOOST_AUTO_TEST_CASE(boxes_are_sent_in_chunks) {
  moves_everything<float>({0, false, chunked, plenty});
  moves_everything<wide>({0, true, chunked, plenty});
}
BOOST_AUTO_TEST_CASE(messages_are_cut_where_mpi_could_not_count_their_bytes) {
  moves_everything<float>({0, true, short_ones, plenty});
  moves_everything<double>({0, false, short_typed_ones, plenty});
}
BOOST_AUTO_TEST_CASE(boxes_are_sent_as_was_measured_to_be_fastest) {
  for (unsigned seed = 0; seed < 1 + test::random_cases(5); ++seed)
    for (bool pooled : {true, false}) moves_everything<double, 2>({0, pooled, measured, plenty}, seed, 700);
  moves_everything<wide, 3>({2, true, measured, plenty}, 6, 70);
}
BOOST_AUTO_TEST_CASE(workers_of_two_nodes_mix_shared_memory_and_messages) {
  moves_everything<float>({2, true, packed, plenty});
  moves_everything<float>({2, false, chunked, plenty});
}
BOOST_AUTO_TEST_CASE(workers_of_three_nodes_mix_shared_memory_and_messages) {
  moves_everything<double>({3, true, typed, plenty});
}

BOOST_AUTO_TEST_SUITE_END()
