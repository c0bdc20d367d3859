// Shardy's notation: what is missing is named with its place, and spaces and the order of the kinds do not matter.
#include <boost/test/unit_test.hpp>
#include <partita/io/shardy.hpp>
#include <string>

#include "refused.hpp"

using namespace partita;

namespace {

std::string written(const rule& r) {
  text out;
  out << as_shardy{r};
  return out.c_str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shardy_notation)

BOOST_AUTO_TEST_CASE(what_is_missing_in_the_notation_is_named_with_its_place) {
  struct row {
    const char* notation;
    std::size_t place;
    const char* requirement;
  };
  constexpr const char* kinds = "reduction={…}, need_replication={…} or permutation={…} after the sizes";
  for (const auto& [notation, place, requirement] :
       {row{"", 0, "\"(\" before the tensors"},
        {"  [i]", 2, "\"(\" before the tensors"},
        {"(i])->([i]) {i=1}", 1, "\"[\" before the dimensions of a tensor"},
        {"([1])->([i]) {i=1}", 2, "a factor, a letter or z_1"},
        {"([I])->([I]) {I=1}", 2, "a factor, a letter or z_1"},
        {"([z_a])->([i]) {i=1}", 4, "a number"},
        {"([i;j])->([i]) {i=1}", 3, "\",\" or \"]\" after a dimension"},
        {"([i][j])->([i]) {i=1}", 4, "\",\" or \")\" after a tensor"},
        {"([i])=([i]) {i=1}", 5, "\"->\" between operands and results"},
        {"([i])->[i] {i=1}", 7, "\"(\" before the tensors"},
        {"([i])->([i]) i=1}", 13, "\"{\" before the sizes of the factors"},
        {"([i])->([i]) {i:1}", 15, "\"=\" after a factor"},
        {"([i])->([i]) {i=x}", 16, "a number"},
        {"([i])->([i]) {i=1", 17, "\"}\" after the sizes"},
        {"([i])->([i]) {i=1} reduction:{i}", 28, "\"=\""},
        {"([i])->([i]) {i=1} reduction=i}", 29, "\"{\" before factors"},
        {"([i])->([i]) {i=1} reduction={i", 31, "\"}\" after factors"},
        {"#sdy.op_sharding_rule<([i])->([i]) {i=1}", 40, "\">\" at the end"},
        {"([i])->([i]) {i=1}>", 18, kinds},
        {"([i])->([i]) {i=1} sum={i}", 19, kinds}}) {
    const text sentence = text("partita::rule_from_shardy: requires ")
                          << requirement << ", but character " << place << " of \"" << notation
                          << "\" is not; write for example \"([i, k], [k, j])->([i, j]) {i=8, j=8, k=8}\"";
    const auto read = [words = notation] { rule_from_shardy(words); };
    BOOST_TEST(test::refused<shape_error>(read) == sentence.c_str());
  }
}

BOOST_AUTO_TEST_CASE(spaces_and_the_order_of_the_kinds_do_not_matter) {
  const std::string product = "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}";
  for (const char* same : {"([i,k],[k,j])->([i,j]){i=8,j=16,k=32}reduction={k}",
                           " ( [ i , k ]\n,\t[ k , j ] ) -> ( [ i , j ] ) { i = 8 , j = 16 , k = 32 } reduction={ k } ",
                           "#sdy.op_sharding_rule< ([i, k], [k, j])->([i, j]) {k=32, i=8, j=16}, custom >",
                           "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32}, reduction={k}, custom"})
    BOOST_TEST(written(rule_from_shardy(same)) == product, same);
  const std::string all =
      "([i, j, k, l])->([i, j, l]) {i=2, j=3, k=4, l=5} reduction={k} need_replication={j} permutation={i, l}";
  for (const char* same :
       {"([i, j, k, l])->([i, j, l]) {i=2, j=3, k=4, l=5} permutation={l, i} need_replication={j} reduction={k}",
        "([i, j, k, l])->([i, j, l]) {i=2, j=3, k=4, l=5} need_replication={j}, reduction={k}, permutation={i, l}"})
    BOOST_TEST(written(rule_from_shardy(same)) == all, same);
}

/// A factor without a size counts as 1, and letters that Shardy does not have become i, j, … in their order.
BOOST_AUTO_TEST_CASE(factors_of_other_letters_and_no_sizes_are_written) {
  BOOST_TEST(written(rule("ab,bc->ac")) == "([i, j], [j, k])->([i, k]) {i=1, j=1, k=1} reduction={j}");
  BOOST_TEST(written(rule("ji->ij")) == "([j, i])->([i, j]) {i=1, j=1}");
  BOOST_TEST(written(rule("bi->ib")) == "([i, j])->([j, i]) {i=1, j=1}");
  BOOST_TEST(written(rule_from_shardy("([z_1])->([z_1]) {z_1=6}")) == "([z_1])->([z_1]) {z_1=6}");
  BOOST_TEST(written(rule_from_shardy("([z_9, i])->([i]) {i=2, z_9=3} reduction={z_9}")) ==
             "([z_9, i])->([i]) {i=2, z_9=3} reduction={z_9}");
  BOOST_TEST(written(rule_from_shardy("([])->([]) {}")) == "([])->([]) {}");
}

/// Two factors of one letter stay two factors: all factors are renamed in the order in which they appear.
BOOST_AUTO_TEST_CASE(factors_of_one_letter_are_written_as_different_factors) {
  for (const char letter : {'i', 'k', 'z', 'A', 'N', 'a', '_'}) {
    rule r;
    const std::size_t rows = r.add_factor(2, letter), columns = r.add_factor(3, letter);
    r.begin_operand();
    r.add_dimension(columns);
    r.add_dimension(rows);
    r.begin_result();
    r.add_dimension(rows);
    r.add_dimension(columns);
    r.complete();
    BOOST_TEST(written(r) == "([i, j])->([j, i]) {i=3, j=2}", std::string(1, letter));
  }
}

BOOST_AUTO_TEST_SUITE_END()
