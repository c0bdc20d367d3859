// Sparse matrices in Matrix Market files: what the file says, round trips, and wrong files refused on all workers
// alike.
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"

#include <map>
#include <partita/comm/over_workers.hpp>
#include <partita/io/matrix_market.hpp>
#include <random>
#include <utility>
#include <vector>

using namespace partita;

namespace {

using places = std::map<std::pair<std::size_t, std::size_t>, double>;

/// Writes a file on worker 0; all workers wait for it.
std::string written(const world& everyone, const test::folder& folder, const std::string& bytes) {
  const std::string path = folder / "a.mtx";
  if (everyone.id() == 0) test::write_bytes(path, bytes);
  test::workers().barrier();
  return path;
}
/// Whether the matrix has these extents, and this worker's rows these entries.
void check_equal(const world& everyone, const csr_matrix<double>& a, std::size_t rows, std::size_t columns,
                 const places& all) {
  BOOST_TEST((a.rows() == balanced_part(rows, everyone.size(), everyone.id())));
  BOOST_TEST((a.columns() == balanced_part(columns, everyone.size(), everyone.id())));
  std::size_t there = 0;
  for (const auto& [place, value] : all)
    if (place.first >= a.rows().start && place.first < a.rows().stop) ++there;
  BOOST_TEST(a.entries() == there);
  for (const auto& entry : a.triplets()) {
    const auto found = all.find({entry.row, entry.column});
    BOOST_TEST_REQUIRE((found != all.end()));
    BOOST_TEST(entry.value == found->second);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matrix_market_files)

BOOST_AUTO_TEST_CASE(all_kinds_of_sparse_matrices_are_read) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const auto read = [&](const std::string& bytes) {
    return load_matrix_market<double>(written(everyone, folder, bytes), everyone);
  };
  // [file]
  const std::string file =
      "%%MatrixMarket matrix coordinate real symmetric\n"
      "% the upper triangle is the lower one\n"
      "3 3 3\n"
      "1 1 2.5\n"
      "3 1 -1e2\n"
      "3 3 4\n";
  // [/file]
  check_equal(everyone, read(file), 3, 3, {{{0, 0}, 2.5}, {{2, 0}, -100}, {{0, 2}, -100}, {{2, 2}, 4}});
  check_equal(everyone,
              read("%%matrixmarket MATRIX Coordinate Integer General\r\n\r\n2 5 3\r\n1 5 7\r\n\r\n2 1 +3\r\n1 2 0"), 2,
              5, {{{0, 4}, 7}, {{1, 0}, 3}, {{0, 1}, 0}});
  check_equal(everyone, read("%%MatrixMarket matrix coordinate pattern general\n4 2 2\n4 1\n1 2\n"), 4, 2,
              {{{3, 0}, 1}, {{0, 1}, 1}});
  check_equal(everyone, read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n"), 2, 2,
              {{{1, 0}, 3}, {{0, 1}, -3}});
  check_equal(everyone, read("%%MatrixMarket matrix coordinate real general\n%" + std::string(9000, '-') + "\n0 0 0\n"),
              0, 0, {});
  std::string wide =
      "%%MatrixMarket matrix coordinate real general\n5 5 5\n";  // lines longer than what is read at once
  for (const char* const k : {"1", "2", "3", "4", "5"})
    wide += std::string(k) + " 1" + std::string(9000, ' ') + k + "\n";
  check_equal(everyone, read(wide), 5, 5, {{{0, 0}, 1}, {{1, 0}, 2}, {{2, 0}, 3}, {{3, 0}, 4}, {{4, 0}, 5}});
}

BOOST_AUTO_TEST_CASE(a_matrix_is_read_back_as_the_same_bits) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  for (const auto& [n, is_on_one] :
       {std::pair<std::size_t, bool>{0, true}, {2, true}, {31, true}, {0, false}, {3, false}, {31, false}}) {
    // on one worker, or cut as the reader cuts them
    const interval balanced = balanced_part(n, everyone.size(), everyone.id());
    const interval rows = !is_on_one ? balanced : everyone.id() == 0 ? interval{0, n} : interval{n, n};
    std::mt19937 random(7);
    places all;
    std::vector<triplet<double>> given;
    for (std::size_t k = 0; k < 3 * n; ++k) {
      const std::size_t row = random() % n, column = random() % (n + 3);
      const int exponent = static_cast<int>(random() % 90) - 45;
      const double value = std::ldexp(static_cast<double>(random()) - 2e9, exponent);
      if (all.insert({{row, column}, value}).second && row >= rows.start && row < rows.stop)
        given.push_back({row, column, value});
    }
    const csr_matrix<double> a(everyone, rows, balanced_part(n + 3, everyone.size(), everyone.id()), given);
    save_matrix_market(folder / "b.mtx", everyone, a);
    check_equal(everyone, load_matrix_market<double>(folder / "b.mtx", everyone), n, n + 3, all);
    BOOST_TEST(folder.names() == 1);  // no temporary file
  }
}

BOOST_AUTO_TEST_CASE(wrong_files_are_one_error_on_all_workers) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string good = "%%MatrixMarket matrix coordinate real general\n";
  const std::pair<std::string, const char*> table[] = {
      {"", "ends before its line of sizes"},
      {"1 2 3\n", "does not begin with %%MatrixMarket matrix"},
      {"%%MatrixMarket matrix array real general\n1 1\n1\n",
       "holds a dense matrix and not one in coordinate format; write it again"},
      {"%%MatrixMarket matrix coordinate complex general\n0 0 0\n", "none of real, integer and pattern"},
      {"%%MatrixMarket matrix coordinate real hermitian\n0 0 0\n", "none of general, symmetric"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
       "holds a symmetric matrix that is not square, 2 x 3; write it again"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 2 0\n",
       "holds a symmetric matrix that is not square, 3 x 2"},
      {good + "2 -2 0\n", "not three whole numbers"},
      {good + "2 2 2\n1 1 1\n", "has 1 lines of entries and promises 2"},
      {good + "2 2 1\n1 1 1\n2 2 2\n", "has 2 lines of entries and promises 1"},
      {good + "2 2 1\n1 1\n", "\"1 1\", which is not a row, a column and a value"},
      {good + "2 2 1\n1 1 one\n", "not a row, a column and a value"},
      {good + "2 2 1\n1 1 1 1\n", "not a row, a column and a value"},
      {good + "2 2 1\n0 1 1\n",
       "has a line \"0 1 1\", which is no place of the matrix; rows and columns are counted from 1; write it again"},
      {good + "2 2 1\n3 1 1\n", "counted from 1"},
      {good + "2 2 1\n1 0 1\n", "counted from 1"},
      {good + "2 2 1\n1 3 1\n", "counted from 1"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "above the diagonal"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "not below the diagonal"}};
  for (const auto& [bytes, part] : table) {
    const std::string path = written(everyone, folder, bytes);
    test::expect_refused<io_error>([&] { load_matrix_market<double>(path, everyone); }, part);
  }
  test::expect_refused<io_error>([&] { load_matrix_market<double>(folder / "none.mtx", everyone); });
  const std::size_t me = everyone.id(), last = everyone.size() - 1;
  const interval mine{me, me + 1};
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const csr_matrix<double> a(everyone, mine, mine, {{me, me, me == last ? value : 1.0}});
    const text words = text("requires finite values, and row ")
                       << last << " has another one at column " << last << "; the format has no word for it";
    test::expect_refused<io_error>([&] { save_matrix_market(folder / "a.mtx", everyone, a); }, words.c_str());
  }
}

BOOST_AUTO_TEST_SUITE_END()
