// Broadcast and sum-reduce of every size of block: through slots, through shared blocks in chunks, from any root, with the
// root outside, with groups that overlap, and in a loop that allocates nothing.
#include "mpi_test.hpp"

#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>

namespace {

using namespace partita;

constexpr std::size_t sizes[] = {0, 1, 7, 1024, 1025, 40000, 200001};

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
  for (std::size_t i = 0; right && i < n; ++i)
    right = y(i) == factor * static_cast<T>(i % 1000 + shift);
  return right;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_ways_of_a_group)

BOOST_AUTO_TEST_CASE(every_worker_can_be_the_root_of_a_block_of_any_size) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents<dynamic>(P));
  const auto factor = static_cast<float>(P);
  for (std::size_t root = 0; root < P; ++root) {
    const auto one = everyone.partition(extents<1>{}, workers(root, root + 1));
    const broadcast b(one, all);
    const sum_reduce s(all, one);
    const all_sum_reduce a(all, dimensions<0>);
    for (std::size_t n : sizes)
      for (std::size_t shift = 0; shift < 3; ++shift) {
        const std::size_t held = me == root ? n : 0;
        const auto y = b(ramp<float>(held, shift));
        BOOST_TEST(is_ramp(y, n, shift, 1.F));
        const auto sum = s(y);  // of blocks in shared memory, where that is how they came
        BOOST_TEST(is_ramp(sum, held, shift, factor));
        BOOST_TEST(is_ramp(s(ramp<float>(n, shift)), held, shift, factor));  // of blocks in private memory
        BOOST_TEST(is_ramp(b(sum), n, shift, factor));
        BOOST_TEST(is_ramp(a(y), n, shift, factor));
      }
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
  const auto four = everyone.partition(extents<2, 2>{}, workers{0, 1, 3, 2});  // 3 feeds 0 and 1, 1 feeds 3 and 2
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
  const std::size_t P = everyone.size(), me = everyone.id(), n = 150001;
  const auto all = everyone.partition(extents<dynamic>(P));
  const auto one = everyone.partition(extents<1>{});
  const sum_reduce s(all, one);
  const std::array<std::size_t, 1> shape{n};
  xt::xtensor<float, 1> x(shape);
  for (std::size_t i = 0; i < n; ++i) x(i) = 1.F / static_cast<float>(1 + (i * 7 + me * 13) % 1009);
  const auto first = s(x);
  for (int k = 0; k < 5; ++k) BOOST_TEST((s(x) == first));
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
  const auto& node_of_all = node::of(everyone.state()->communicator());
  const auto policy = transport_policy::from_environment();
  const arena& memory = arena::of(node_of_all, policy.shared ? policy.arena_bytes : 0);
  const std::size_t before = memory.fresh_blocks();
  for (int k = 0; k < 10; ++k) once();
  BOOST_TEST(memory.fresh_blocks() == before);
}

BOOST_AUTO_TEST_SUITE_END()
