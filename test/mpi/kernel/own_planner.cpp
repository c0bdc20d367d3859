// A kernel that the library does not have, made of a planner alone: rows by their indices. The executor, its agreement,
// its cache of plans and its transports are those of the library's kernels, unchanged.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <boost/mpi/collectives/all_gather.hpp>
#include <boost/mpi/collectives/all_reduce.hpp>
#include <boost/serialization/vector.hpp>
#include <functional>
#include <partita/comm/facts.hpp>
#include <partita/kernel/detail/box_kernel.hpp>
#include <random>

namespace {

using namespace partita;
using matrix = xt::xtensor<long, 2>;
using indices = std::vector<std::size_t>;
using two = std::array<std::size_t, 2>;

// [planner]
/// Each worker has a block of rows of a matrix, one after the other in the order of the workers, and wants any rows:
/// none, its own, the same several times.
class rows_planner {
 public:
  static constexpr std::size_t rank = 2;
  static constexpr bool sums_back = true, checks_itself = false;
  using structure = detail::planned_boxes<2>;
  using call = detail::box_call<2>;

  /// Collective: `wanted` are the rows that this worker wants.
  rows_planner(const world& everyone, const indices& wanted) : everyone_(everyone) {
    boost::mpi::all_gather(test::workers(), wanted, wanted_);
  }

  std::shared_ptr<detail::world_state> world() const { return everyone_.state(); }
  static const char* name() { return "rows_by_index(everyone, wanted)"; }
  static std::uint64_t fingerprint() { return 4711; }
  static bool keeps_batch() { return false; }
  static text describe(const char* direction, const two& block, const text& type) {
    return text(name()) << direction << " with a block of shape " << block << " of " << type;
  }

  structure learn(const call& made, std::shared_ptr<detail::transport>& ways, detail::local_error& trouble) const {
    detail::opened(ways, *world());
    const auto shapes = detail::gathered(*world(), detail::facts_of(made.shape));
    indices starts(shapes.size() + 1, 0);
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      starts[k + 1] = starts[k] + shapes[k][0];
      if (shapes[k][1] != shapes[0][1]) trouble = detail::local_error(text(name()) << ": requires rows of one length");
    }
    if (!made.forward) trouble = detail::local_error(text(name()) << ".adjoint(dy): requires a forward call before");
    for (const indices& all : wanted_)
      for (const std::size_t row : all)
        if (row >= starts.back())
          trouble = detail::local_error(text(name()) << ": requires rows below " << starts.back() << ", got " << row);
    return trouble.any() ? structure() : planned(starts, made.shape);
  }
  std::shared_ptr<detail::box_exchange> exchange(const structure& s, bool forward, const detail::element_kind& kind,
                                                 const std::shared_ptr<detail::transport>& ways) const {
    return detail::lasting_exchange(ways, world(), detail::lowered(s.plan(forward)), kind);
  }

 private:
  /// Each row is a box.
  structure planned(const indices& starts, const two& mine) const {
    const std::size_t me = everyone_.id(), columns = mine[1];
    structure s;
    exchange_plan<2>& plan = s.there;
    plan.worker = me;
    plan.gives = plan.takes = true;
    plan.extents = {starts.back(), columns};
    plan.source_shape = mine;
    plan.destination_shape = {wanted_[me].size(), columns};
    plan.one_to_one = false;
    for (std::size_t to = 0; to < wanted_.size(); ++to)
      for (std::size_t j = 0; j < wanted_[to].size(); ++j) {
        const std::size_t row = wanted_[to][j];
        const std::size_t from = owner(starts, row);
        const box<2> where{{row, 0}, {row + 1, columns}};
        const two there{row - starts[from], 0}, here{j, 0};
        const two given{starts[from + 1] - starts[from], columns}, taken{wanted_[to].size(), columns};
        if (from == me && to == me) plan.kept.push_back({where, there, here});
        else if (from == me) plan.sends.push_back({to, where, there, place_in_block<2>::of(here, taken)});
        else if (to == me) plan.receives.push_back({from, where, here, place_in_block<2>::of(there, given)});
      }
    detail::group_by_peer(plan.receives);
    s.back = reversed(plan);
    return s;
  }
  static std::size_t owner(const indices& starts, std::size_t row) {
    std::size_t k = 0;
    while (starts[k + 1] <= row) ++k;
    return k;
  }

  partita::world everyone_;
  std::vector<indices> wanted_;  ///< by all workers
};

class rows_by_index : public detail::box_kernel<rows_by_index, detail::planned_movement<rows_planner>> {
  using base = detail::box_kernel<rows_by_index, detail::planned_movement<rows_planner>>;
  friend base;

 public:
  rows_by_index(const world& everyone, const indices& wanted) : base({everyone, wanted}) {}

 private:
  template <class X>
  static consteval bool takes() {
    return detail::has_rank<X, 2>() && detail::has_elements_in_place<X>();
  }
  template <class Y>
  static consteval bool takes_back() {
    return detail::has_rank<Y, 2>() && detail::has_summable_elements<Y>();
  }
  template <class View, class X>
  static consteval bool fills() {
    return detail::fits_view<View, X>();
  }
};
// [planner]

/// The rows of worker k: some have none.
std::size_t rows_of(std::size_t k) { return k % 3 == 1 ? 0 : k + 2; }

/// The element in a row and column of the whole matrix.
long element(std::size_t row, std::size_t column, long salt) {
  return static_cast<long>((row * 7 + column * 3) % 11) - 5 + salt;
}
matrix numbers(std::size_t rows, std::size_t columns, std::size_t first, long salt) {
  matrix x(std::array<std::size_t, 2>{rows, columns});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) x(i, j) = element(first + i, j, salt);
  return x;
}
long dot(const matrix& x, const matrix& y) {
  long sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x.data()[k] * y.data()[k];
  return boost::mpi::all_reduce(test::workers(), sum, std::plus<long>());
}

void check(const world& everyone, std::mt19937& random) {
  std::size_t first = 0, all = 0;
  for (std::size_t k = 0; k < everyone.size(); ++k) (k < everyone.id() ? first : all) += rows_of(k);
  all += first;
  for (int trial = 0; trial < 4; ++trial) {
    // every worker draws the rows of all, in the same order
    std::vector<indices> wanted(everyone.size());
    for (indices& one : wanted)
      for (std::size_t n = random() % 9; n > 0; --n) one.push_back(random() % all);
    const rows_by_index rows(everyone, wanted[everyone.id()]);
    const indices& mine = wanted[everyone.id()];
    for (const std::size_t columns : {3U, 1U, 3U}) {
      const long salt = static_cast<long>(random() % 5);
      const matrix x = numbers(rows_of(everyone.id()), columns, first, salt);
      const matrix y = rows(x);
      BOOST_TEST((y.shape() == matrix::shape_type{mine.size(), columns}));
      bool right = true;
      for (std::size_t i = 0; i < mine.size(); ++i)
        for (std::size_t j = 0; j < columns; ++j) right = right && y(i, j) == element(mine[i], j, salt);
      BOOST_TEST(right);
      const matrix dy = numbers(mine.size(), columns, 13 * everyone.id(), salt);
      const matrix dx = rows.adjoint(dy);
      BOOST_TEST(dot(y, dy) == dot(x, dx));
      matrix later = rows.start(x).finish();
      BOOST_TEST((later == y));
      rows.into(x + 1L, later);
      BOOST_TEST((later == y + 1L));
      matrix into = dx + 1L;
      rows.adjoint_into(dy, into);
      BOOST_TEST((into == dx));
    }
    BOOST_TEST(rows.plans_made() == 2U);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_planner)

BOOST_AUTO_TEST_CASE(rows_come_by_their_indices_and_their_adjoint_adds_them_up) {
  for (const char* const nodes : {"1", "2", "3"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    std::mt19937 random(20261126);
    check(everyone, random);
  }
}

BOOST_AUTO_TEST_CASE(a_row_that_no_worker_has_is_an_error_on_all) {
  const world everyone(test::workers());
  const std::size_t last = everyone.size() - 1;
  const rows_by_index rows(everyone, everyone.id() == last ? indices{0, 1000} : indices{});
  const std::string message = test::refused<shape_error>([&] { rows(numbers(2, 2, 0, 0)); });
  BOOST_TEST(message.find("requires rows below") != std::string::npos, message);
  // what follows works
  const rows_by_index none(everyone, indices{});
  BOOST_TEST(none(numbers(2, 2, 0, 0)).size() == 0U);
}

BOOST_AUTO_TEST_CASE(another_kernel_on_one_worker_is_refused_on_all) {
  const world everyone(test::workers());
  const rows_by_index rows(everyone, indices{0});
  const matrix x = numbers(2, 2, 2 * everyone.id(), 0);
  rows(x);
  if (everyone.size() == 1) return;
  const std::string message = test::refused<disagreement_error>([&] {
    if (everyone.id() == 0) rows.adjoint(numbers(1, 2, 0, 0));
    else rows(x);
  });
  BOOST_TEST(message.find("rows_by_index") != std::string::npos, message);
  BOOST_TEST((matrix(rows(x)) == numbers(1, 2, 0, 0)));
}

BOOST_AUTO_TEST_SUITE_END()
