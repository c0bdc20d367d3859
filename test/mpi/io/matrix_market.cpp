// Sparse matrices in Matrix Market files: what the file says, round trips, and wrong files refused on all workers
// alike.
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"

#include <map>
#include <partita/comm/over_workers.hpp>
#include <partita/io/matrix_market.hpp>
#include <random>
#include <string>
#include <tuple>
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

/// The header ends with its line of sizes, behind comments and empty lines; more is needed as long as this line is not
/// there.
BOOST_AUTO_TEST_CASE(a_header_is_complete_with_its_line_of_sizes) {
  using symmetry = detail::market_header::symmetry;
  const std::string comments = "%%MatrixMarket\tmatrix coordinate Pattern SYMMETRIC\n% 1 2 3\n\n \t\r\n%\n";
  const std::string front = comments + " 12\t12 +34 \r\n";
  for (const std::string& rest : {std::string(), std::string("1 1\n2 2\n"), std::string("%")}) {
    const detail::market_header h = detail::parse_market_header(front + rest, false);
    BOOST_TEST(h.error_message == "");
    BOOST_TEST((h.rows == 12 && h.columns == 12 && h.entries == 34 && h.data_at == front.size()));
    BOOST_TEST((h.has_no_values && h.kind == symmetry::symmetric));
  }
  for (std::size_t n = 0; n < front.size(); ++n) {
    const detail::market_header part = detail::parse_market_header(front.substr(0, n), false);
    BOOST_TEST((part.data_at == 0 && part.error_message.empty()), n);
    if (n <= comments.size() && n >= comments.find('\n'))
      BOOST_TEST(detail::parse_market_header(front.substr(0, n), true).error_message ==
                 "ends before its line of sizes");
  }
  const std::string whole = front.substr(0, front.size() - 2);  // a whole file may lack the last end of a line
  BOOST_TEST((detail::parse_market_header(whole, true).data_at == whole.size()));
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  for (const auto& [kinds, has_no_values, kind] : {std::tuple{"real general", false, symmetry::general},
                                                   {"integer symmetric", false, symmetry::symmetric},
                                                   {"real skew-symmetric", false, symmetry::skew},
                                                   {"pattern general", true, symmetry::general}}) {
    const detail::market_header h = detail::parse_market_header(banner + kinds + "\n3 3 0\n", true);
    BOOST_TEST((h.error_message.empty() && h.has_no_values == has_no_values && h.kind == kind), kinds);
  }
  for (const char* sizes : {"3 3", "3 3 0 0", "3 3 0.0", "3 3 x", "-3 3 0", "3, 3, 0", "+-3 3 0", "+ 3 3", "3 3 +"})
    BOOST_TEST(detail::parse_market_header(banner + "real general\n" + sizes + "\n", true).error_message ==
                   "has a line of sizes that is not three whole numbers",
               sizes);
  BOOST_TEST(detail::parse_market_header(banner + "real general\n2 3 0\n", true).error_message == "");
}

/// Lines of entries in the order of the file, and a mirrored entry behind its own; empty lines do not count.
BOOST_AUTO_TEST_CASE(lines_of_entries_are_counted_and_mirrored) {
  using symmetry = detail::market_header::symmetry;
  detail::market_header h;
  h.rows = 5, h.columns = 4;
  const auto read = [&](const std::string& lines) {
    std::vector<triplet<double>> entries{{9, 9, 9.0}};  // others stay
    std::size_t count = 100;
    const text wrong = detail::parse_market_entries(h, lines, entries, count);
    std::string all;
    for (const auto& [row, column, value] : entries)
      all += std::to_string(row) + " " + std::to_string(column) + " " + std::to_string(value).substr(0, 4) + ";";
    return wrong.empty() ? std::to_string(count - 100) + ":" + all : std::string(wrong.c_str());
  };
  BOOST_TEST(read("") == "0:9 9 9.00;");
  BOOST_TEST(read("5 4 1.5\n\n \t1 1\t+2e0 \r\n\r\n2 3 -7") == "3:9 9 9.00;4 3 1.50;0 0 2.00;1 2 -7.0;");
  h.rows = h.columns = 4;
  h.kind = symmetry::symmetric;
  BOOST_TEST(read("2 1 3\n4 4 5\n") == "2:9 9 9.00;1 0 3.00;0 1 3.00;3 3 5.00;");
  BOOST_TEST(read("1 2 3\n") == "has a line \"1 2 3\", which is above the diagonal");
  h.kind = symmetry::skew;
  BOOST_TEST(read("2 1 3\n") == "1:9 9 9.00;1 0 3.00;0 1 -3.0;");
  for (const char* line : {"3 3 1", "2 3 1"})
    BOOST_TEST(read(line) == "has a line \"" + std::string(line) + "\", which is not below the diagonal");
  h.kind = symmetry::general;
  h.has_no_values = true;
  BOOST_TEST(read("2 1\n1 2\n") == "2:9 9 9.00;1 0 1.00;0 1 1.00;");
  BOOST_TEST(read("2 1 1\n") == "has a line \"2 1 1\", which is not a row and a column");
  h.has_no_values = false;
  for (const char* line :
       {"1 1 +-3", "1 1 +", "1 1 ++3", "1 1 3x", "1 1 0x3", "1.0 1 3", "1 1 3 3", "1 1", "1", "% 1 1 1"})
    BOOST_TEST(read(line) == "has a line \"" + std::string(line) + "\", which is not a row, a column and a value");
  for (const char* line : {"0 1 1", "1 0 1", "5 1 1", "1 5 1"})
    BOOST_TEST(read(line + std::string(" \t\r\n")) ==
               "has a line \"" + std::string(line) +
                   "\", which is no place of the matrix; rows and columns are counted from 1");
  const std::string many(60, '1');  // as many characters of a line are shown
  for (const std::string& line : {many, many + "1", many + " 1"})
    BOOST_TEST(read(line) == "has a line \"" + many + "\", which is not a row, a column and a value");
}

BOOST_AUTO_TEST_CASE(a_saved_matrix_is_a_line_for_each_entry_in_the_order_of_rows_and_columns) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  // a diagonal, and in the last row two more entries
  std::vector<triplet<double>> given{{me, me, 0.25 + static_cast<double>(me)}};
  if (me + 1 == n) given.push_back({me, n + 1, -2.5e300}), given.push_back({me, n, 1.0 / 3});
  const csr_matrix<double> a(everyone, {me, me + 1}, me == 0 ? interval{0, n + 2} : interval{n + 2, n + 2}, given);
  save_matrix_market(folder / "a.mtx", everyone, a);
  const auto number = [](std::size_t k) { return std::to_string(k); };
  std::string all =
      "%%MatrixMarket matrix coordinate real general\n" + number(n) + " " + number(n + 2) + " " + number(n + 2) + "\n";
  for (std::size_t k = 0; k < n; ++k) all += number(k + 1) + " " + number(k + 1) + " " + number(k) + ".25\n";
  all += number(n) + " " + number(n + 1) + " 0.3333333333333333\n" + number(n) + " " + number(n + 2) + " -2.5e+300\n";
  BOOST_TEST(test::bytes_of(folder / "a.mtx") == all);
}

BOOST_AUTO_TEST_CASE(entries_of_one_place_are_added_and_rounded_to_the_type_asked_for) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = written(everyone, folder,
                                   "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 1 3\n2 1 0.1\n"
                                   "1 1 -1.5\n");
  check_equal(everyone, load_matrix_market<double>(path, everyone), 2, 2, {{{0, 0}, 3.5}, {{1, 0}, 0.1}});
  for (const auto& entry : load_matrix_market<float>(path, everyone).triplets())
    BOOST_TEST(entry.value == (entry.row == 0 ? 3.5F : 0.1F));
  if (everyone.size() > 1) {
    const bool is_odd = everyone.id() == 1;
    BOOST_CHECK_THROW(is_odd ? load_matrix_market<float>(path, everyone).entries()
                             : load_matrix_market<double>(path, everyone).entries(),
                      disagreement_error);
  }
  const std::string name = "partita::load_matrix_market(\"" + path + "\", everyone): ";
  written(everyone, folder, "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n");
  BOOST_TEST(test::refused<io_error>([&] { load_matrix_market<double>(path, everyone); }) ==
             name + "requires a whole Matrix Market file of a sparse matrix; " + path +
                 " has 1 lines of entries and promises 2; write it again");
  const std::string none = folder / "none.mtx";
  BOOST_TEST(test::refused<io_error>([&] { load_matrix_market<double>(none, everyone); }) ==
             "partita::load_matrix_market(\"" + none + "\", everyone): worker 0 cannot read " + none +
                 ": No such file or directory (errno 2); check the name, and that this worker may read it");
}

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
