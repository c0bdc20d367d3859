// Broadcast and sum-reduce of blocks of all sizes: through slots and through shared blocks in chunks, with any root,
// with the root outside its group, with overlapping groups, and in a loop without allocations.
#include "mpi_test.hpp"

#include <algorithm>
#include <array>
#include <boost/mpl/list.hpp>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "../support/agreement_messages.hpp"
#include "../support/allocation_count.hpp"
#include "../support/message_count.hpp"
#include "../support/same_bits.hpp"
#include "../third_transport/folder_transport.hpp"
#include "block_messages.hpp"
#include "pretended.hpp"
#include "random_cases.hpp"

namespace {

using namespace partita;
using test::same_bits;

constexpr std::size_t sizes[] = {0, 1, 7, 1024, 4097, 16385, 65536, 65537, 200001};

template <class T>
xt::xtensor<T, 1> ramp(std::size_t n, std::size_t shift) {
  const std::array<std::size_t, 1> shape{n};
  xt::xtensor<T, 1> x(shape);
  for (std::size_t i = 0; i < n; ++i) x(i) = static_cast<T>(i % 1000 + shift);
  return x;
}
template <class Y, class T>
bool is_ramp(const Y& y, std::size_t n, std::size_t shift, T factor) {
  bool right = y.size() == n;
  for (std::size_t i = 0; right && i < n; ++i) right = y(i) == factor * static_cast<T>(i % 1000 + shift);
  return right;
}

/// Irregular numbers of very different sizes and both signs, so that the result depends on the order of summation.
template <class T>
T of_any_size(std::size_t i, std::size_t worker) {
  if constexpr (requires { typename T::value_type; }) {
    using part = typename T::value_type;
    return {of_any_size<part>(2 * i, worker), of_any_size<part>(2 * i + 1, worker)};
  } else {
    const std::size_t mixed = (i * 2654435761U + worker * 40503U) % 100003;
    const T sign = mixed % 2 == 0 ? T(1) : T(-1);
    return sign * static_cast<T>(1 + mixed) / static_cast<T>(7 + mixed % 1009) *
           std::ldexp(T(1), static_cast<int>(mixed % 61) - 30);
  }
}
template <class T>
xt::xtensor<T, 1> of_all_sizes(std::size_t n, std::size_t worker) {
  const std::array<std::size_t, 1> shape{n};
  xt::xtensor<T, 1> x(shape);
  for (std::size_t i = 0; i < n; ++i) x(i) = of_any_size<T>(i, worker);
  return x;
}
/// The correctly rounded sum, by a fixed-point number that covers all exponents.
template <class T, class Value>
T rounded_once(std::size_t count, Value value) {
  if constexpr (requires { typename T::value_type; }) {
    using part = typename T::value_type;
    return {rounded_once<part>(count, [&](std::size_t k) { return value(k).real(); }),
            rounded_once<part>(count, [&](std::size_t k) { return value(k).imag(); })};
  } else {
    return partita::detail::sum_by_accumulator<T>(value, count);
  }
}

/// Every worker in turn is the root of broadcasts and sums of blocks of these sizes.
template <class Sizes>
void move_blocks_of_every_root(const world& everyone, const Sizes& lengths, std::size_t shifts) {
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents<dynamic>(P));
  const auto factor = static_cast<float>(P);
  for (std::size_t root = 0; root < P; ++root) {
    const auto one = everyone.partition(extents<1>{}, workers(root, root + 1));
    const broadcast b(one, all);
    const sum_reduce s(all, one);
    const all_sum_reduce a(all, dimensions<0>);
    for (const std::size_t n : lengths)
      for (std::size_t shift = 0; shift < shifts; ++shift) {
        const std::size_t held = me == root ? n : 0;
        const auto y = b(ramp<float>(held, shift));
        BOOST_TEST(is_ramp(y, n, shift, 1.F));
        const auto sum = s(y);  // of blocks in shared memory, if they arrived there
        BOOST_TEST(is_ramp(sum, held, shift, factor));
        BOOST_TEST(is_ramp(s(ramp<float>(n, shift)), held, shift, factor));  // of blocks in private memory
        BOOST_TEST(is_ramp(b(sum), n, shift, factor));
        BOOST_TEST(is_ramp(a(y), n, shift, factor));
        auto mine = ramp<float>(n, 7), roots = ramp<float>(held, 7);  // results in private memory
        a.into(y, mine);
        s.into(y, roots);
        BOOST_TEST(is_ramp(mine, n, shift, factor));
        BOOST_TEST(is_ramp(roots, held, shift, factor));
      }
  }
}

/// Reproducible sums of all workers, of the last one and in another order of the workers are those rounded once.
template <class T>
void round_sums_once(const world& everyone, std::initializer_list<std::size_t> lengths) {
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents<dynamic>(P));
  std::vector<std::size_t> turned(P);
  for (std::size_t k = 0; k < P; ++k) turned[k] = (k + P / 2) % P;
  const auto back = everyone.partition(extents<dynamic>(P), workers(turned));
  const auto last = everyone.partition(extents<1>{}, workers(P - 1, P));
  const sum_reduce s(all, last, reproducible), s_turned(back, last, reproducible);
  const all_sum_reduce a(all, dimensions<0>, reproducible), a_turned(back, dimensions<0>, reproducible);
  const broadcast b(last, all, reproducible);
  for (const std::size_t n : lengths) {
    const auto x = of_all_sizes<T>(n, me);
    const auto sum = a(x);
    xt::xtensor<T, 1> expected = sum;
    // every element, but only some of them inside a sanitizer
    for (std::size_t i = 0; i < n; i += n / test::random_cases(n))
      expected(i) = rounded_once<T>(P, [&](std::size_t k) { return of_any_size<T>(i, k); });
    BOOST_TEST(same_bits(sum, expected));
    BOOST_TEST(same_bits(a_turned(x), expected));
    const auto y = s(x), z = s_turned(x), dx = b.adjoint(x);
    if (last.active()) {
      BOOST_TEST(same_bits(y, expected));
      BOOST_TEST(same_bits(z, expected));
      BOOST_TEST(same_bits(dx, expected));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_ways_of_a_group)

BOOST_AUTO_TEST_CASE(every_worker_can_be_the_root_of_a_block_of_any_size) {
  move_blocks_of_every_root(world(test::workers()), sizes, 3);
}

/// The same where messages go between nodes, and some workers share one.
BOOST_AUTO_TEST_CASE(blocks_and_sums_between_nodes_are_those_on_one_node) {
  for (const char* const nodes : {"2", "3"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    move_blocks_of_every_root(everyone, std::array<std::size_t, 4>{0, 1, 4097, 65537}, 1);
    round_sums_once<double>(everyone, {1, 100, 20001});
    round_sums_once<std::complex<float>>(everyone, {7});
  }
}

BOOST_AUTO_TEST_CASE(a_root_outside_of_its_group_feeds_and_drains_it) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  if (P < 2) return;
  const auto one = everyone.partition(extents<1>{}, workers(P - 1, P));
  const auto others = everyone.partition(extents<dynamic>(P - 1));
  const broadcast b(one, others);
  const sum_reduce s(others, one);
  for (std::size_t n : sizes)
    for (std::size_t shift = 0; shift < 3; ++shift) {
      const bool root = me == P - 1;
      const auto y = b(ramp<double>(root ? n : 0, shift));
      BOOST_TEST(is_ramp(y, root ? 0 : n, shift, 1.0));
      BOOST_TEST(is_ramp(s(y), root ? n : 0, shift, static_cast<double>(P - 1)));
    }
}

BOOST_AUTO_TEST_CASE(groups_that_overlap_move_blocks_of_different_sizes) {
  const world everyone(test::workers());
  if (everyone.size() < 4) return;
  const std::size_t me = everyone.id();
  const auto two = everyone.partition(extents<2, 1>{}, workers{3, 1});
  const auto four = everyone.partition(extents<2, 2>{}, workers{0, 1, 3, 2});  // 3 sends to 0 and 1, 1 sends to 3 and 2
  const broadcast b(two, four);
  for (std::size_t n : sizes)
    for (std::size_t shift = 0; shift < 3; ++shift) {
      const std::size_t mine = me == 3 ? n + 3 : me == 1 ? n : 0;
      const std::size_t got = me == 0 || me == 1 ? n + 3 : me == 2 || me == 3 ? n : 0;
      const std::array<std::size_t, 2> shape{1, mine};
      const xt::xtensor<int, 2> x = xt::ones<int>(shape) * static_cast<int>(me + shift);
      const auto y = b(x);
      const int from = static_cast<int>((me < 2 ? 3 : 1) + shift);
      bool right = y.size() == got;
      for (const int v : y) right = right && v == from;
      BOOST_TEST(right);
      const auto back = b.adjoint(y);
      right = back.size() == mine;
      for (const int v : back) right = right && v == 2 * static_cast<int>(me + shift);
      BOOST_TEST(right);
    }
}

BOOST_AUTO_TEST_CASE(sums_are_the_same_bits_every_time) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents<dynamic>(P));
  const auto one = everyone.partition(extents<1>{});
  const sum_reduce s(all, one);
  const all_sum_reduce a(all, dimensions<0>);
  for (std::size_t n : {100U, 1025U, 150001U}) {
    const auto x = of_all_sizes<float>(n, me);
    const auto first = s(x), first_of_all = a(x);
    for (int k = 0; k < 5; ++k) {
      BOOST_TEST(same_bits(s(x), first));
      BOOST_TEST(same_bits(a(x), first_of_all));
    }
    if (one.active()) BOOST_TEST(same_bits(first, first_of_all));
  }
}

BOOST_AUTO_TEST_CASE(sums_are_added_up_along_the_tree_that_messages_take) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  const partita::detail::own_node& members = partita::detail::own_node::of(everyone.state()->communicator());
  if (members.size() != P) return;  // with several nodes the order of summation is different
  const auto all = everyone.partition(extents<dynamic>(P));
  for (std::size_t n : {100U, 1025U, 150001U}) {
    std::vector<xt::xtensor<float, 1>> blocks;
    for (std::size_t k = 0; k < P; ++k) blocks.push_back(of_all_sizes<float>(n, k));
    for (std::size_t step = 1; step < P; step *= 2)
      for (std::size_t k = 0; k + step < P; k += 2 * step) blocks[k] = blocks[k] + blocks[k + step];
    BOOST_TEST(same_bits(all_sum_reduce(all, dimensions<0>)(of_all_sizes<float>(n, everyone.id())), blocks[0]));
  }
}

using real_and_complex = boost::mpl::list<float, double, std::complex<float>>;

BOOST_AUTO_TEST_CASE_TEMPLATE(reproducible_sums_are_rounded_once_wherever_the_workers_are, T, real_and_complex) {
  round_sums_once<T>(world(test::workers()), {100, 1025, 20001, 150001});
}

BOOST_AUTO_TEST_CASE(reproducible_sums_are_the_same_whatever_number_of_workers_give_zeros) {
  // two summands, on the first and on the last worker; the workers between them add zeros
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), n = 5000;
  xt::xtensor<double, 1> expected = of_all_sizes<double>(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    expected(i) = rounded_once<double>(2, [&](std::size_t k) { return of_any_size<double>(i, k); });
  for (std::size_t used = 2; used <= P; ++used) {
    const auto some = everyone.partition(extents<dynamic>(used));
    const std::array<std::size_t, 1> none{0}, shape{n};
    xt::xtensor<double, 1> x =
        me < used ? xt::xtensor<double, 1>(xt::zeros<double>(shape)) : xt::xtensor<double, 1>(none);
    if (me == 0) x = of_all_sizes<double>(n, 0);
    if (me + 1 == used) x = of_all_sizes<double>(n, 1);
    const auto y = all_sum_reduce(some, dimensions<0>, reproducible)(x);
    if (some.active()) BOOST_TEST(same_bits(y, expected));
  }
}

/// The number of messages that all workers send in f.
template <class F>
std::size_t messages_in(const world& everyone, F f) {
  const std::size_t before = test::messages();
  f();
  std::size_t sent = test::messages() - before;
  PMPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_UNSIGNED_LONG, MPI_SUM, everyone.communicator());
  return sent;
}

BOOST_AUTO_TEST_CASE(a_steady_call_sends_a_message_to_each_node_or_worker_but_the_first) {
  const world everyone(test::workers(), checks::local);
  const std::size_t P = everyone.size();
  const auto all = everyone.partition(extents<dynamic>(P));
  const auto one = everyone.partition(extents<1>{});
  for (std::size_t n : {7U, 30000U}) {
    // without agreement, shapes must change on all workers together; here they do not change
    const broadcast b(one, all);
    const sum_reduce s(all, one);
    const all_sum_reduce a(all, dimensions<0>);
    const auto x = ramp<float>(n, 0), source = ramp<float>(everyone.id() == 0 ? n : 0, 0);
    b(source), s(x), a(x);  // the first call also sends the block shapes
    const std::size_t apart = test::workers_told_by_message(everyone);
    // a worker that only receives does not know the shape, so all workers agree first, at every level of checks
    std::size_t agreement = test::messages_of_an_agreement(everyone);
    PMPI_Allreduce(MPI_IN_PLACE, &agreement, 1, MPI_UNSIGNED_LONG, MPI_SUM, everyone.communicator());
    const block_routes routes{apart, n * sizeof(float)};
    BOOST_TEST(messages_in(everyone, [&] { b(source); }) == test::messages_of_spread(routes) + agreement);
    BOOST_TEST(messages_in(everyone, [&] { s(x); }) == apart - 1);
    BOOST_TEST(messages_in(everyone, [&] { a(x); }) == test::messages_of_sum_to_all(routes));
  }
}

BOOST_AUTO_TEST_CASE(a_steady_call_allocates_nothing) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  const auto all = everyone.partition(extents<dynamic>(P));
  const auto one = everyone.partition(extents<1>{});
  const broadcast b(one, all);
  const sum_reduce s(all, one);
  const sum_reduce exact(all, one, reproducible);
  const all_sum_reduce a(all, dimensions<0>);
  const all_sum_reduce a_exact(all, dimensions<0>, reproducible);
  for (std::size_t n : {7U, 30000U, 150000U}) {
    const auto x = ramp<float>(n, 0), source = ramp<float>(everyone.id() == 0 ? n : 0, 0);
    const auto once = [&] {
      const auto y = b(source);
      const auto sum = s(y), sum_2 = exact(x);
      const auto total = a(y), total_2 = a_exact(x);
    };
    for (int k = 0; k < 3; ++k) once();
    const std::size_t before = test::allocations();
    for (int k = 0; k < 5; ++k) once();
    BOOST_TEST(test::allocations() == before);
  }
}

BOOST_AUTO_TEST_CASE(a_view_of_the_roots_block_has_its_values_for_as_long_as_it_lives) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents<dynamic>(P));
  for (std::size_t root = 0; root<P; root += P> 2 ? P - 1 : 1) {
    const auto one = everyone.partition(extents<1>{}, workers(root, root + 1));
    std::vector<shared_view_of<double, 1>> kept;
    for (std::size_t n : sizes)
      for (std::size_t shift = 0; shift < 3; ++shift) {
        const broadcast b(one, all, shared_view);  // destroyed at the end of the turn
        auto x = ramp<double>(me == root ? n : 0, shift);
        kept.push_back(b(x));
        x.fill(-1);  // and x is overwritten
        BOOST_TEST(is_ramp(sum_reduce(all, one)(kept.back()), me == root ? n : 0, shift, static_cast<double>(P)));
      }
    const auto copies = kept;
    kept.clear();
    std::size_t k = 0;
    for (std::size_t n : sizes)
      for (std::size_t shift = 0; shift < 3; ++shift) BOOST_TEST(is_ramp(copies[k++], n, shift, 1.0));
  }
}

BOOST_AUTO_TEST_CASE(views_of_a_root_outside_of_its_group_and_of_overlapping_groups, *test::at_least(4)) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  const auto two = everyone.partition(extents<2, 1>{}, workers{3, 1});
  const auto four = everyone.partition(extents<2, 2>{}, workers{0, 1, 2, 3});
  const broadcast b(two, four, shared_view);
  const broadcast plain(two, four);
  for (std::size_t n : sizes) {
    const std::array<std::size_t, 2> shape{1, me == 3 ? n + 3 : me == 1 ? n : 2};
    const xt::xtensor<int, 2> x = xt::ones<int>(shape) * static_cast<int>(me + n % 5);
    const auto y = b(x);
    const auto expected = plain(x);
    BOOST_TEST((y == expected));
    static_assert(!std::is_assignable_v<decltype(*y.data()), int>);
  }
  const auto outside = everyone.partition<1>(workers(3, 4));
  const auto three = everyone.partition<3>(workers(0, 3));
  const auto y = broadcast(outside, three, shared_view)(ramp<float>(me == 3 ? 70000 : me, 4));
  BOOST_TEST(is_ramp(y, me < 3 ? 70000 : me == 3 ? 0 : me, 4, 1.F));
}

BOOST_AUTO_TEST_CASE(views_in_a_steady_loop_take_no_fresh_block_and_allocate_nothing) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  const auto all = everyone.partition(extents<dynamic>(everyone.size()));
  const auto one = everyone.partition(extents<1>{});
  const broadcast b(one, all, shared_view);
  const auto x = ramp<float>(me == 0 ? 100000 : 0, 1);
  const auto once = [&] { const auto y = b(x), z = b(x); };
  for (int k = 0; k < 8; ++k) once();
  const partita::detail::arena& memory =
      partita::detail::arena::arena_by_environment(partita::detail::own_node::of(everyone.state()->communicator()));
  const std::size_t blocks = memory.new_block_count(), before = test::allocations();
  for (int k = 0; k < 20; ++k) once();
  BOOST_TEST(memory.new_block_count() <= blocks + 2);  // a worker that lends blocks may still wait for a slow one
  BOOST_TEST(test::allocations() <= before + 4);
}

BOOST_AUTO_TEST_CASE(a_steady_loop_takes_no_fresh_block) {
  const world everyone(test::workers());
  const auto all = everyone.partition(extents<dynamic>(everyone.size()));
  const auto one = everyone.partition(extents<1>{});
  const broadcast b(one, all);
  const auto x = ramp<float>(everyone.id() == 0 ? 300000 : 0, 1), x2 = ramp<float>(everyone.id() == 0 ? 5000 : 0, 1);
  const auto once = [&] {
    const auto y = b(x), y2 = b(x2);
    const auto dx = b.adjoint(y), dx2 = b.adjoint(y2);
  };
  for (int k = 0; k < 3; ++k) once();
  const auto& node_of_all = partita::detail::own_node::of(everyone.state()->communicator());
  const auto policy = partita::detail::transport_policy::from_environment();
  const partita::detail::arena& memory =
      partita::detail::arena::of(node_of_all, policy.shared ? policy.arena_bytes : 0);
  const std::size_t before = memory.new_block_count();
  for (int k = 0; k < 10; ++k) once();
  BOOST_TEST(memory.new_block_count() == before);
}

BOOST_AUTO_TEST_CASE(a_third_transport_carries_boxes_and_blocks_of_groups) {
  // [added]
  partita::detail::added_channels() = {
      [](MPI_Comm everyone, std::uint64_t number) -> std::unique_ptr<partita::detail::way> {
        return std::make_unique<test::folder_channel>(everyone, number);
      }};
  // [/added]
  {
    const test::pretended messages_only("PARTITA_SHARED", "0");
    const world everyone(test::workers());
    const std::size_t P = everyone.size(), me = everyone.id(), last = P - 1;
    const auto all = everyone.partition(extents<dynamic>(P));
    const auto one = everyone.partition(extents<1>(), workers{last});
    const broadcast copies(one, all);
    const sum_reduce sums(all, one);
    const all_sum_reduce sums_for_all(all, dimensions<0>);
    const all_sum_reduce rounded_once(all, dimensions<0>, reproducible);
    const repartition rows_to_columns(everyone.partition(extents<dynamic, 1>(P)),
                                      everyone.partition(extents<1, dynamic>(P)));
    // the files that this worker writes in one call
    const auto files_of = [&](auto call) {
      call();
      const std::size_t before = test::shared_folder::files();
      call();
      return test::shared_folder::files() - before;
    };
    const std::size_t n = 4097, others = P - 1, total = P * (P + 1) / 2;
    const auto x = ramp<double>(n, 0), empty = xt::xtensor<double, 1>(zero_volume<double, 1>());
    BOOST_TEST(files_of([&] { BOOST_TEST(is_ramp(copies(me == last ? x : empty), n, 0, 1.)); }) ==
               (me == last ? others : 0));
    const auto mine = xt::xtensor<double, 1>(x * static_cast<double>(me + 1));
    BOOST_TEST(files_of([&] {
                 const auto sum = sums(mine);
                 if (me == last) BOOST_TEST(is_ramp(sum, n, 0, static_cast<double>(total)));
               }) == (me == last ? 0U : 1U));
    const auto to_all = [&](const auto& kernel) {
      return files_of([&] { BOOST_TEST(is_ramp(kernel(mine), n, 0, static_cast<double>(total))); });
    };
    BOOST_TEST(to_all(sums_for_all) == (me == 0 ? others : 1));
    BOOST_TEST(to_all(rounded_once) == (me == 0 ? others : 1));
    // a pending sum and a pending broadcast
    auto later = sums_for_all.start(mine);
    BOOST_TEST(is_ramp(later.finish(), n, 0, static_cast<double>(total)));
    auto copy = copies.start(me == last ? x : empty);
    BOOST_TEST(is_ramp(copy.finish(), n, 0, 1.));
    // boxes: from rows to columns, whose elements are numbered in the tensor of 2 P rows and 3 P columns
    const auto block = [&](std::size_t rows, std::size_t columns) {
      xt::xtensor<double, 2> b({rows, columns});
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          b(i, j) =
              static_cast<double>(((rows == 2 * P ? 0 : 2 * me) + i) * 3 * P + (columns == 3 * P ? 0 : 3 * me) + j);
      return b;
    };
    BOOST_TEST(files_of([&] { BOOST_TEST((rows_to_columns(block(2, 3 * P)) == block(2 * P, 3))); }) == others);
    BOOST_TEST(rows_to_columns.counts().messages == others);
  }
  partita::detail::added_channels().clear();
}

BOOST_AUTO_TEST_SUITE_END()
