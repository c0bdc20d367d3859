// Repartitions with given cuts and permuted dimensions: the results equal those of the sequential executor, the adjoint
// is exact, and invalid cuts are the same error on all workers.
#include "mpi_test.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sequentially.hpp>

#include <algorithm>
#include <boost/serialization/array.hpp>
#include <complex>
#include <numeric>
#include <random>
#include <vector>

namespace {

/// An element larger than a page, which is sent by plain messages.
struct sheet {
  std::array<std::int32_t, 1100> lines{};

  explicit sheet(std::int32_t value = 0) {
    for (auto& line : lines) line = value++;
  }
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    for (auto& line : lines) archive& line;
  }
  friend bool operator==(const sheet&, const sheet&) = default;
};

}  // namespace
BOOST_IS_MPI_DATATYPE(sheet)

namespace {

using namespace partita;
using test::refused;
template <std::size_t Rank>
using position = partita::index<Rank>;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;

/// The block at a place; elements are a function of their global index.
template <class T, std::size_t Rank, class Value>
xt::xtensor<T, Rank> block_of_cuts(const decomposition<Rank>& cuts, const position<Rank>& place, Value value) {
  std::array<std::vector<std::size_t>, Rank> held;
  for (std::size_t d = 0; d < Rank; ++d)
    cuts.cuts[d].for_pieces(place[d], [&](interval piece, std::size_t) {
      for (std::size_t i = piece.start; i < piece.stop; ++i) held[d].push_back(i);
    });
  const auto extent = cuts.shape(place);
  auto block = uninitialised<T, Rank>(extent);
  for (std::size_t k = 0; k < volume_of(extent); ++k) {
    position<Rank> i = index_of(k, extent);
    for (std::size_t d = 0; d < Rank; ++d) i[d] = held[d][i[d]];
    block.data()[k] = value(i);
  }
  return block;
}

/// The blocks of all workers of a world, in the order of their ids.
template <class T, class Extents, std::size_t Rank, class Value>
std::vector<xt::xtensor<T, Rank>> blocks_of(const grid<Extents>& p, const decomposition<Rank>& cuts, std::size_t world,
                                            Value value) {
  std::vector<xt::xtensor<T, Rank>> blocks;
  for (std::size_t worker = 0; worker < world; ++worker) {
    const std::size_t place = p.place(worker);
    blocks.push_back(place == p.size() ? zero_volume<T, Rank>(0) : block_of_cuts<T>(cuts, p.index(place), value));
  }
  return blocks;
}

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin()) &&
         std::equal(a.data(), a.data() + a.size(), b.data());
}

template <class A, class B>
double dot(const A& a, const B& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a.data()[k]) * static_cast<double>(b.data()[k]);
  return sum;
}

double over_all(const world& everyone, double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_Comm(everyone.communicator()));
  return sum;
}

cut random_cut(std::mt19937& random, std::size_t n, std::size_t p) {
  if (random() % 3 == 0) return cut::balanced(n, p);
  if (random() % 2 == 0) return cut::block_cyclic(n, p, 1 + random() % 3);
  std::vector<std::size_t> sizes(p, 0);
  for (std::size_t k = 0; k < n; ++k) ++sizes[random() % p];
  return cut::at(sizes);
}

template <std::size_t Rank>
shape<Rank> random_grid(std::mt19937& random, std::size_t most) {
  shape<Rank> extents;
  extents.fill(1);
  for (std::size_t& n : extents) {
    n = 1 + random() % most;
    most /= n;
  }
  std::shuffle(extents.begin(), extents.end(), random);
  return extents;
}

workers random_workers(std::mt19937& random, std::size_t count, std::size_t world) {
  std::vector<std::size_t> ids(world);
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(count);
  return workers(ids);
}

template <class T>
T number(std::int32_t n) {
  if constexpr (std::is_same_v<T, std::complex<float>>) return {static_cast<float>(n), static_cast<float>(-2 * n)};
  else return static_cast<T>(n);
}

/// Compares both directions of a random repartition with the sequential executor, and checks that they are adjoint.
template <class T, std::size_t... P>
void agrees(unsigned seed) {
  constexpr std::size_t Rank = sizeof...(P);
  constexpr axes_order<Rank> axes{P...};
  std::mt19937 random(seed);
  const world everyone(test::workers());
  const std::size_t world_size = everyone.size(), me = everyone.id();
  const auto from_grid = random_grid<Rank>(random, world_size), to_grid = random_grid<Rank>(random, world_size);
  shape<Rank> extents{};
  for (std::size_t& n : extents) n = random() % 20 == 0 ? 0 : 1 + random() % (Rank == 1 ? 60 : Rank == 2 ? 23 : 9);
  const auto turned = in_result_order(extents, axes);
  const auto given =
      decomposition<Rank>::make([&](std::size_t d) { return random_cut(random, extents[d], from_grid[d]); });
  const auto wanted =
      decomposition<Rank>::make([&](std::size_t d) { return random_cut(random, turned[d], to_grid[d]); });
  const auto p_x =
      everyone.partition(dynamic_extents<Rank>(from_grid), random_workers(random, volume_of(from_grid), world_size));
  const auto p_y =
      everyone.partition(dynamic_extents<Rank>(to_grid), random_workers(random, volume_of(to_grid), world_size));

  const auto value = [&](const position<Rank>& i) {
    return number<T>(static_cast<std::int32_t>(flat_index(i, extents) % 1009) + 1);
  };
  const auto other = [&](const position<Rank>& j) {
    return number<T>(static_cast<std::int32_t>(flat_index(j, turned) * 7 % 211) - 90);
  };
  const auto x = blocks_of<T>(p_x.grid(), given, world_size, value);
  const auto dy = blocks_of<T>(p_y.grid(), wanted, world_size, other);

  const repartition r(p_x, p_y, source_cuts(given), permute<P...>, result_cuts(wanted));
  sequentially::repartition s(p_x, p_y, source_cuts(given), permute<P...>, result_cuts(wanted));
  const auto y = r(x[me]);
  BOOST_TEST(same(y, s(x)[me]), "forward, seed " << seed);
  const auto dx = r.adjoint(dy[me]);
  BOOST_TEST(same(dx, s.adjoint(dy)[me]), "adjoint, seed " << seed);
  BOOST_TEST(r.plans_made() == 1U);
  BOOST_TEST((r.plan(extents) == s.plan(extents, me)));
  if constexpr (std::is_arithmetic_v<T>)
    BOOST_TEST(over_all(everyone, dot(y, dy[me])) == over_all(everyone, dot(x[me], dx)),
               "<K x, y> and <x, K* y>, seed " << seed);

  const repartition fresh(p_x, p_y, result_cuts(wanted), source_cuts(given),
                          permute<P...>);  // the adjoint before any forward call
  BOOST_TEST(same(fresh.adjoint(dy[me]), dx), "adjoint first, seed " << seed);
}

bool has(const std::string& sentence, const char* words) { return sentence.find(words) != std::string::npos; }

/// An N x M tensor in balanced rows on all workers.
struct rows {
  world everyone{test::workers()};
  std::size_t n = everyone.size();
  partition<extents<dynamic, 1>> p = everyone.partition(extents<dynamic, 1>(n));
  std::size_t N, M;

  rows(std::size_t N_, std::size_t M_) : N(N_), M(M_) {}
  template <class T>
  xt::xtensor<T, 2> x() const {
    return block_of_cuts<T>(decomposition<2>::balanced({N, M}, {n, 1}), p.index(),
                            [this](const position<2>& i) { return T(static_cast<float>(i[0] * M + i[1])); });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(the_cuts_of_a_repartition)

BOOST_AUTO_TEST_CASE(random_cuts_in_every_order_agree_with_the_sequential_executor) {
  for (unsigned seed = 0; seed <= test::random_cases(24); ++seed) {
    agrees<float, 0>(seed);
    agrees<double, 0, 1>(seed);
    agrees<float, 1, 0>(seed);
    agrees<std::int32_t, 0, 1, 2>(seed);
    agrees<float, 0, 2, 1>(seed);
    agrees<double, 1, 0, 2>(seed);
    agrees<float, 1, 2, 0>(seed);
    agrees<double, 2, 0, 1>(seed);
    agrees<float, 2, 1, 0>(seed);
    agrees<std::complex<float>, 2, 1, 0>(seed);
  }
}

BOOST_AUTO_TEST_CASE(elements_that_travel_by_messages_are_turned_too) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    agrees<sheet, 1, 0>(seed);
    agrees<sheet, 1, 2, 0>(seed);
  }
}

BOOST_AUTO_TEST_CASE(a_block_cyclic_result_lies_as_scalapack_says) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto one = everyone.partition<1, 1>();
  for (std::size_t down = 1; down <= n; ++down) {
    if (n % down != 0) continue;
    const auto p = everyone.partition(dynamic_extents<2>(down, n / down));
    for (const auto& [extents, block] :
         {std::pair<shape<2>, shape<2>>{{9, 9}, {2, 2}}, {{13, 7}, {3, 2}}, {{64, 48}, {8, 16}}, {{2, 3}, {4, 1}}}) {
      const shape<2> size = extents, nb = block, np = p.grid().shape();
      const auto value = [&](const position<2>& i) { return static_cast<float>(flat_index(i, size)); };
      const auto whole = blocks_of<float>(one.grid(), decomposition<2>::balanced(size, {1, 1}), n, value);
      const auto cyclic = decomposition<2>::block_cyclic(size, np, nb);
      const repartition deal(one, p, result_cuts(cyclic));
      const auto a = deal(whole[everyone.id()]);
      const position<2> me = p.index();
      bool right = true;
      for (std::size_t d = 0; d < 2; ++d) {  // ScaLAPACK's NUMROC
        const std::size_t blocks = size[d] / nb[d], extra = blocks % np[d];
        const std::size_t numroc = blocks / np[d] * nb[d] + (me[d] < extra    ? nb[d]
                                                             : me[d] == extra ? size[d] % nb[d]
                                                                              : 0);
        right = right && a.shape(d) == numroc;
      }
      for (std::size_t i = 0; i < size[0]; ++i)
        for (std::size_t j = 0; j < size[1]; ++j) {
          const position<2> global{i, j};
          bool here = true;
          position<2> local{};
          for (std::size_t d = 0; d < 2; ++d) {
            here = here && global[d] / nb[d] % np[d] == me[d];                   // INDXG2P
            local[d] = global[d] / (nb[d] * np[d]) * nb[d] + global[d] % nb[d];  // INDXG2L
          }
          if (here) right = right && a(local[0], local[1]) == value(global);
        }
      BOOST_TEST(right, "extents " << size[0] << " x " << size[1] << " on " << np[0] << " x " << np[1]);
      const repartition gather(p, one, source_cuts(cyclic));
      const auto gathered = gather(a), back = deal.adjoint(a);
      if (one.active()) BOOST_TEST((same(gathered, whole[0]) && same(back, whole[0])));
      else BOOST_TEST((gathered.size() == 0 && back.size() == 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_become_the_rows_of_the_transpose) {
  for (const auto& [N, M] : {std::pair<std::size_t, std::size_t>{1, 1}, {5, 7}, {64, 64}, {37, 300}, {515, 257}}) {
    const rows c(N, M);
    const repartition t(c.p, c.p, permute<1, 0>);
    const auto x = c.x<float>();
    const auto y = t(x);
    const interval own = balanced_part(c.M, c.n, c.everyone.id());
    bool right = y.shape(0) == own.size() && y.shape(1) == c.N;
    for (std::size_t i = 0; right && i < own.size(); ++i)
      for (std::size_t j = 0; j < c.N; ++j) right = right && y(i, j) == static_cast<float>(j * c.M + own.start + i);
    BOOST_TEST(right, "extents " << c.N << " x " << c.M);
    BOOST_TEST(same(t.adjoint(y), x));
    auto later = t.start(x);
    BOOST_TEST(same(later.finish(), y));
    xt::xtensor<float, 2> big = xt::ones<float>({own.size() + 2, c.N + 1}) * -1.F;
    auto middle = xt::view(big, xt::range(std::size_t{1}, own.size() + 1), xt::range(std::size_t{0}, c.N));
    t.into(x, middle);
    BOOST_TEST((middle == y));
    BOOST_TEST((big(0, 0) == -1.F && big(own.size() + 1, c.N) == -1.F));
    const std::size_t made = t.plans_made();
    for (int k = 0; k < 3; ++k) BOOST_TEST(same(t(x), y));
    BOOST_TEST(t.plans_made() == made);
  }
}

BOOST_AUTO_TEST_CASE(a_source_cut_anyhow_is_told_by_its_blocks) {
  const rows c(0, 6);
  const std::size_t N = c.n * (c.n + 1) / 2, me = c.everyone.id();  // worker k has k + 1 rows
  std::vector<std::size_t> sizes(c.n), backwards(c.n);
  std::iota(sizes.begin(), sizes.end(), std::size_t{1});
  std::reverse_copy(sizes.begin(), sizes.end(), backwards.begin());
  const decomposition<2> given{{cut::at(sizes), cut::balanced(6, 1)}};
  const auto x = block_of_cuts<double>(given, c.p.index(),
                                       [](const position<2>& i) { return static_cast<double>(i[0] * 6 + i[1]); });
  const repartition r(c.p, c.p, result_cuts(cut::at(backwards), cut::balanced(6, 1)));
  const auto y = r(x);
  const std::size_t first =
      std::accumulate(backwards.begin(), backwards.begin() + static_cast<std::ptrdiff_t>(me), std::size_t{0});
  BOOST_TEST(y.shape(0) == c.n - me);
  for (std::size_t i = 0; i < y.shape(0); ++i)
    for (std::size_t j = 0; j < 6; ++j) BOOST_TEST(y(i, j) == static_cast<double>((first + i) * 6 + j));
  BOOST_TEST(same(r.adjoint(y), x));
  BOOST_TEST(r.plan({N, 6}).destination_shape[0] == c.n - me);
}

BOOST_AUTO_TEST_CASE(staggered_blocks_are_dealt_in_blocks_and_come_back, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<2, 2>();
  const std::size_t me = everyone.id(), size = everyone.size();
  const std::size_t starts[] = {0, 1, 0, 5}, widths[] = {1, 6, 5, 2};  // the parts begin at 1 and at 5 of 7
  const auto value = [](std::size_t i, std::size_t j) { return static_cast<float>(10 * i + j); };
  std::vector<xt::xtensor<float, 2>> x(size, zero_volume<float, 2>(0));
  for (std::size_t k = 0; k < 4; ++k) {
    x[k] = uninitialised<float, 2>({3, widths[k]});
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < widths[k]; ++j) x[k](i, j) = value(3 * (k / 2) + i, starts[k] + j);
  }
  const auto wanted = decomposition<2>::block_cyclic({7, 6}, {2, 2}, {2, 1});
  const repartition r(p, p, permute<1, 0>, result_cuts(wanted));
  const auto y = r(x[me]);
  if (p.active())
    BOOST_TEST(
        same(y, block_of_cuts<float>(wanted, p.index(), [&](const position<2>& i) { return value(i[1], i[0]); })));
  sequentially::repartition s(p, p, permute<1, 0>, result_cuts(wanted));
  BOOST_TEST(same(y, s(x)[me]));
  BOOST_TEST(same(r.adjoint(y), x[me]));
}

BOOST_AUTO_TEST_CASE(a_worker_that_only_gives_keeps_the_extent_that_becomes_the_first, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition<1, 1>(workers{1}), p_y = everyone.partition<1, 1>();
  xt::xtensor<float, 2> x =
      everyone.id() == 1 ? xt::xtensor<float, 2>(xt::ones<float>({3, 5})) : zero_volume<float, 2>(0);
  const auto y = repartition(p_x, p_y, permute<1, 0>)(x);
  const auto z = repartition(p_x, p_y, permute<1, 0>, discard_batch)(x);
  if (everyone.id() == 0) BOOST_TEST((y.shape(0) == 5U && y.shape(1) == 3U));
  if (everyone.id() == 1) BOOST_TEST((y.size() == 0U && y.shape(0) == 5U && z.shape(0) == 0U));
}

BOOST_AUTO_TEST_CASE(cuts_for_other_partitions_are_refused_where_the_kernel_is_made) {
  const rows c(12, 6);
  const auto too_many = decomposition<2>::balanced({12, 6}, {c.n + 1, 1});
  const auto sentence = refused<partition_error>([&] { repartition(c.p, c.p, result_cuts(too_many)); });
  BOOST_TEST(has(sentence, "requires as many parts along each dimension as p_y has workers"));
  BOOST_TEST(has(sentence, "choose a partition of"));
  BOOST_TEST(
      has(refused<partition_error>([&] { repartition(c.p, c.p, source_cuts(too_many)); }), "as p_x has workers"));
  const auto fits = decomposition<2>::balanced({12, 6}, {c.n, 1}),
             larger = decomposition<2>::balanced({13, 6}, {c.n, 1});
  BOOST_TEST(has(
      refused<shape_error>([&] { repartition(c.p, c.p, source_cuts(fits), result_cuts(larger)); }),
      "partita::repartition(p_x, p_y, source_cuts(...), result_cuts(...)): requires cuts that add up to the extents"));
  BOOST_TEST(
      has(refused<shape_error>([&] { repartition(c.p, c.p, source_cuts(fits), result_cuts(fits), permute<1, 0>); }),
          "requires cuts that add up"));
  BOOST_TEST(has(refused<partition_error>([&] { sequentially::repartition(c.p, c.p, result_cuts(too_many)); }),
                 "as p_y has workers"));
}

BOOST_AUTO_TEST_CASE(cuts_of_other_extents_are_refused_by_all_workers_and_right_ones_work_afterwards) {
  const rows c(12, 6), other(13, 6);
  const auto fits = decomposition<2>::balanced({12, 6}, {c.n, 1});
  const repartition r(c.p, c.p, result_cuts(fits));
  const auto sentence = refused<shape_error>([&] { r(other.x<float>()); });
  BOOST_TEST(has(sentence, "the result has extents [13, 6], result_cuts(...) cuts [12, 6]; make the cuts for [13, 6]"),
             sentence);
  BOOST_TEST(has(refused<shape_error>([&] {
                   r.plan({13, 6});
                 }),
                 ".plan(extents): requires cuts that add up to the extents"));
  BOOST_TEST(same(r(c.x<float>()), c.x<float>()));

  const repartition given(c.p, c.p, source_cuts(fits));
  BOOST_TEST(has(refused<shape_error>([&] { given(other.x<float>()); }),
                 "requires blocks that are cut as source_cuts(...) says"));
  BOOST_TEST(has(refused<shape_error>([&] { given.adjoint(other.x<float>()); }),
                 "x has extents [13, 6], source_cuts(...) cuts [12, 6]"));
  const bool last = c.everyone.id() + 1 == c.n;  // only the last worker's argument is wrong, but all workers throw
  const xt::xtensor<float, 2> wrong = xt::ones<float>({99, 6});
  BOOST_TEST(has(refused<shape_error>([&] { given(last ? wrong : c.x<float>()); }), "got a block of [99, 6]"));
  BOOST_TEST(has(refused<shape_error>([&] { r.adjoint(last ? wrong : c.x<float>()); }), "the given cut of [12, 6]"));
  BOOST_TEST(same(given(c.x<float>()), c.x<float>()));
  BOOST_TEST(same(r.adjoint(c.x<float>()), c.x<float>()));
}

BOOST_AUTO_TEST_CASE(workers_with_different_cuts_are_told_so, *test::at_least(2)) {
  const rows c(12, 6);
  std::vector<std::size_t> sizes(c.n, 0);
  sizes[c.everyone.id() == 0 ? 0 : 1] = 12;
  const repartition r(c.p, c.p, result_cuts(cut::at(sizes), cut::balanced(6, 1)));
  BOOST_TEST(has(refused<disagreement_error>([&] { r(c.x<float>()); }), "make different calls"));
}

BOOST_AUTO_TEST_SUITE_END()
