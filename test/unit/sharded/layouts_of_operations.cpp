// The layouts in which operations read and leave tensors, the fingerprints and names by which workers compare what they
// call, and the conversions of numbers to elements: tables, and pairwise comparisons of all small cases.
#include <partita/sharded/detail/along_cuts.hpp>
#include <partita/sharded/detail/convert_elements.hpp>
#include <partita/sharded/detail/element_loops.hpp>
#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/detail/pipeline_events.hpp>
#include <partita/sharded/detail/whole_dimension.hpp>
#include <partita/sharded/einsum.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/layout_name.hpp>
#include <partita/sharded/movements.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace partita;

namespace {

constexpr mesh two{axis{"a", 2}, axis{"b", 3}};
constexpr mesh three{axis{"a", 2}, axis{"b", 3}, axis{"c", 2}};

std::string text_of(const sharding& s) { return (text() << "" << s).c_str(); }

/// Every layout of a tensor on a mesh: each axis is not used, or it shards a dimension behind those that shard it
/// already, or a reduction over it is pending, or the value is reduced or must stay replicated over it.
void for_all_shardings(const mesh& m, std::size_t rank, const std::vector<std::size_t>& order, std::size_t k,
                       const sharding& s, const auto& f) {
  if (k == order.size()) return f(s);
  const std::size_t a = order[k];
  for_all_shardings(m, rank, order, k + 1, s, f);
  for (std::size_t d = 0; d < rank; ++d) {
    axis_list by = s[d];
    by.push_back(a);
    for_all_shardings(m, rank, order, k + 1, s.cut(d, by), f);
  }
  for (std::size_t kind = 1; kind <= detail::pending_reductions::size; ++kind)
    for_all_shardings(m, rank, order, k + 1, s.partial(a, static_cast<pending_reduction>(kind)), f);
  for_all_shardings(m, rank, order, k + 1, s.reduced(a), f);
  for_all_shardings(m, rank, order, k + 1, s.replicate(m.axes[a].name()), f);
}

// Operations along dimension 0 and along dimensions 0 and 2.
struct linear_along_rows {
  static constexpr unsigned along = 1;
  static constexpr bool is_linear = true;
};
struct other_along_rows_and_depth {
  static constexpr unsigned along = 5;
  static constexpr bool is_linear = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(layouts_of_operations)

BOOST_AUTO_TEST_CASE(axes_of_the_last_dimension_that_is_left_move_to_another_one) {
  struct table_row {
    sharding from;
    std::uint32_t left, all;
    sharding to;
  };
  const auto two_of = [](auto... cuts) { return two.layout(cuts...); };
  const auto three_of = [](auto... cuts) { return three.layout(cuts...); };
  const table_row table[] = {
      // a dimension that is left is whole: nothing moves
      {two_of("", "a"), 0b11, 0b11, two_of("", "a")},
      {two_of("a", ""), 0b11, 0b11, two_of("a", "")},
      {two_of("a", "", "b"), 0b111, 0b111, two_of("a", "", "b")},
      {two_of("a", "", "b"), 0b110, 0b111, two_of("a", "", "b")},
      // to a dimension along which the operation does not work, the last one of these
      {two_of("a", "", "b"), 0b101, 0b101, two_of("a", "b", "")},
      {two_of("", "a", ""), 0b010, 0b010, two_of("", "", "a")},
      {two_of("a", "b", ""), 0b010, 0b010, two_of("a", "", "b")},
      {two_of("a", "b", ""), 0b011, 0b011, two_of("a", "", "b")},
      {two_of("a+b", "", ""), 0b001, 0b001, two_of("", "", "a+b")},
      {two_of("", "a+b", ""), 0b010, 0b011, two_of("", "", "a+b")},
      {three_of("a", "b", "c"), 0b101, 0b101, three_of("a", "b+c", "")},
      {three_of("a", "b", "c"), 0b110, 0b110, three_of("a+c", "b", "")},
      {three_of("a", "b", "c"), 0b001, 0b001, three_of("", "b", "c+a")},
      // else to one along which it has worked
      {two_of("a", ""), 0b01, 0b11, two_of("", "a")},
      {two_of("a", "b"), 0b01, 0b11, two_of("", "b+a")},
      {two_of("a", "b", ""), 0b001, 0b111, two_of("", "b", "a")},
      {three_of("a", "b", "c"), 0b011, 0b111, three_of("a", "", "c+b")},
      {three_of("a", "b", "c"), 0b101, 0b111, three_of("a", "b+c", "")},
      // else to the first other one
      {two_of("a", "b"), 0b11, 0b11, two_of("a+b", "")},
      {three_of("a", "b", "c"), 0b111, 0b111, three_of("a+c", "b", "")},
      // a line becomes replicated
      {two_of("a"), 1, 1, two_of("")},
      {two_of("a+b"), 1, 1, two_of("")},
  };
  for (const table_row& one : table)
    BOOST_TEST(text_of(detail::make_dimension_whole(one.from, one.left, one.all)) == text_of(one.to),
               text_of(one.from) << " along " << one.left << " of " << one.all);
}

BOOST_AUTO_TEST_CASE(whole_dimensions_are_those_that_no_axis_shards) {
  const sharding s = two.layout("a", "", "b", "");
  for (std::uint32_t left = 0; left < 16; ++left) BOOST_TEST(detail::whole_dimensions(s, left) == (left & 0b1010U));
}

BOOST_AUTO_TEST_CASE(linear_functions_keep_pending_sums_and_other_functions_nothing) {
  const sharding cut = three.layout("a", ""), sum = cut.partial("b"), mean = cut.partial("b", pending_reduction::avg);
  const sharding largest = cut.partial("b", pending_reduction::max), both = sum.partial("c", pending_reduction::avg);
  const sharding mixed = sum.partial("c", pending_reduction::max), product = cut.partial("b", pending_reduction::prod);
  for (const sharding& s : {cut, sum, mean, both}) {
    BOOST_TEST(detail::has_only_pending_sums(s));
    BOOST_TEST((detail::layout_of_function(true, s) == s));
    BOOST_TEST((detail::layout_of_function(false, s) == cut));
    BOOST_TEST((detail::layout_of_function(s, s) == s));
  }
  for (const sharding& s : {largest, mixed, product}) {
    BOOST_TEST(!detail::has_only_pending_sums(s));
    BOOST_TEST((detail::layout_of_function(true, s) == cut));
    BOOST_TEST((detail::layout_of_function(false, s) == cut));
    BOOST_TEST((detail::layout_of_function(s, s) == cut));
  }
  BOOST_TEST((detail::layout_of_function(sum, mean) == cut));  // both operands are read as the first lies
  BOOST_TEST((detail::layout_of_function(sum, three.layout("", "a").partial("b")) == cut));
  BOOST_TEST((detail::layout_of_function(sum, sum.reduced("c")) == sum));
  BOOST_TEST((detail::layout_of_function(true, sum.reduced("c")) == sum));
}

BOOST_AUTO_TEST_CASE(operations_along_sharded_dimensions_keep_the_layout_and_linear_ones_the_sums) {
  const sharding rows = three.layout("a", "", ""), depth = three.layout("", "", "a");
  const sharding middle = three.layout("", "a", "");
  BOOST_TEST(detail::is_sharded_along<linear_along_rows>(rows));
  BOOST_TEST(!detail::is_sharded_along<linear_along_rows>(depth));
  BOOST_TEST(!detail::is_sharded_along<linear_along_rows>(middle));
  BOOST_TEST(detail::is_sharded_along<other_along_rows_and_depth>(rows));
  BOOST_TEST(detail::is_sharded_along<other_along_rows_and_depth>(depth));
  BOOST_TEST(!detail::is_sharded_along<other_along_rows_and_depth>(middle));
  const sharding sum = rows.partial("b"), reduced = sum.reduced("c").with_priority(2);
  BOOST_TEST((detail::layout_along_cuts<linear_along_rows>(reduced) == sum));
  BOOST_TEST((detail::layout_along_cuts<other_along_rows_and_depth>(reduced) == rows));
  sharding open = sum;
  open.open = 3, open.must_replicate = 4;
  BOOST_TEST((detail::layout_along_cuts<linear_along_rows>(open) == sum));
  const sharding largest = sum.partial("c", pending_reduction::max);
  BOOST_TEST((detail::layout_along_cuts<linear_along_rows>(largest) == sum));
  BOOST_TEST((detail::layout_along_cuts<other_along_rows_and_depth>(largest) == rows));
}

BOOST_AUTO_TEST_CASE(only_layouts_that_keep_or_drop_elements_move_none) {
  const sharding whole = two.layout("", ""), rows = two.layout("a", ""), columns = two.layout("", "a");
  BOOST_TEST(detail::moves_no_elements(whole, rows));
  BOOST_TEST(detail::moves_no_elements(rows, rows));
  BOOST_TEST(detail::moves_no_elements(rows, rows.reduced("b")));
  BOOST_TEST(detail::moves_no_elements(rows.reduced("b"), rows));
  BOOST_TEST(!detail::moves_no_elements(rows, whole));
  BOOST_TEST(!detail::moves_no_elements(rows, columns));
  BOOST_TEST(!detail::moves_no_elements(whole.partial("a"), whole));
  BOOST_TEST(!detail::moves_no_elements(whole.partial("a"), rows));
}

BOOST_AUTO_TEST_CASE(shardings_that_differ_have_fingerprints_of_their_own) {
  std::map<std::uint64_t, sharding> found;
  std::size_t equal = 0, read_mesh = 0;
  for (std::size_t rank = 0; rank <= 2; ++rank)
    for (const auto& order : {std::vector<std::size_t>{0, 1}, std::vector<std::size_t>{1, 0}})
      for_all_shardings(two, rank, order, 0, sharding(two, rank), [&](const sharding& given) {
        for (std::uint32_t open = 0; open < (1U << rank); ++open) {
          sharding s = given;
          s.open = static_cast<std::uint16_t>(open);
          const std::uint64_t number = detail::fingerprint_of(s);
          const auto [same, is_new] = found.emplace(number, s);
          equal += !is_new && !(same->second == s);
          s.on = mesh{axis{"x", 4}, axis{"y", 5}};
          read_mesh += detail::fingerprint_of(s) != number;
        }
      });
  BOOST_TEST(equal == 0U);
  BOOST_TEST(read_mesh == 0U);
  BOOST_TEST(found.size() > 900U);  // 11 * 11 of rank 0, 2 * (12 * 12 + 1) of rank 1, 4 * (13 * 13 + 2) of rank 2
}

BOOST_AUTO_TEST_CASE(a_layout_is_read_back_from_its_name) {
  mesh large{axis{"data", 12}, axis{"model", 100}}, with_explicit_reshards = large;
  with_explicit_reshards.requires_explicit_reshards = true;
  std::size_t wrong = 0, names = 0;
  for (const mesh& m : {two, large, with_explicit_reshards})
    for (std::size_t rank = 0; rank <= 3; ++rank)
      for (const auto& order : {std::vector<std::size_t>{0, 1}, std::vector<std::size_t>{1, 0}})
        for_all_shardings(m, rank, order, 0, sharding(m, rank), [&](const sharding& s) {
          if (s.must_replicate != 0) return;
          const auto text = detail::layout_text(s);
          layout_name<400> name;
          for (std::size_t k = 0; k < text.size(); ++k) name.characters[k] = text[k];
          wrong += !(detail::layout_reader<400>(name).read() == s), ++names;
        });
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(names > 3000U);
}

BOOST_AUTO_TEST_CASE(movements_are_equal_if_all_that_the_log_prints_is) {
  movement one;
  one.operation << "matmul";
  one.from = two.layout("a", ""), one.to = two.layout("", "a");
  one.extents = {4, 6}, one.bytes = 96;
  BOOST_TEST((one == movement(one)));
  const auto differs = [&](auto change) {
    movement other = one;
    change(other);
    return !(one == other) && !(other == one);
  };
  BOOST_TEST(differs([](movement& m) { m.operation << "s"; }));
  BOOST_TEST(differs([](movement& m) { m.backward = true; }));
  BOOST_TEST(differs([](movement& m) { m.from = two.layout("b", ""); }));
  BOOST_TEST(differs([](movement& m) { m.to = two.layout("", "b"); }));
  BOOST_TEST(differs([](movement& m) { m.extents = {6, 4}; }));
  BOOST_TEST(differs([](movement& m) { m.bytes = 97; }));
  const auto printed = [&] { return std::string((text() << "" << one).c_str()); };
  BOOST_TEST(printed() == "matmul: [4, 6] from (a, ) to (, a), 96 bytes");
  one.backward = true;
  BOOST_TEST(printed() == "matmul, back: [4, 6] from (a, ) to (, a), 96 bytes");
}

BOOST_AUTO_TEST_CASE(numbers_are_cut_to_the_range_of_an_integer_type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(detail::saturate<int>(2.9) == 2);
  BOOST_TEST(detail::saturate<int>(-2.9) == -2);
  BOOST_TEST(detail::saturate<int>(std::numeric_limits<double>::quiet_NaN()) == 0);
  BOOST_TEST(int{detail::saturate<std::int8_t>(127)} == 127);
  BOOST_TEST(int{detail::saturate<std::int8_t>(128)} == 127);
  BOOST_TEST(int{detail::saturate<std::int8_t>(126.5)} == 126);
  BOOST_TEST(int{detail::saturate<std::int8_t>(-128)} == -128);
  BOOST_TEST(int{detail::saturate<std::int8_t>(-129)} == -128);
  BOOST_TEST(int{detail::saturate<std::int8_t>(-127.5)} == -127);
  BOOST_TEST(detail::saturate<std::uint64_t>(-1) == 0U);
  BOOST_TEST(detail::saturate<std::int64_t>(0x1p63) == std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(detail::saturate<std::int64_t>(-0x1p63) == std::numeric_limits<std::int64_t>::min());
  BOOST_TEST(detail::saturate<std::int64_t>(0x1p62) == std::int64_t{1} << 62);
  BOOST_TEST(detail::saturate<int>(infinity) == std::numeric_limits<int>::max());
  BOOST_TEST(detail::saturate<int>(-infinity) == std::numeric_limits<int>::min());
  BOOST_TEST(detail::saturate<double>(1e300) == 1e300);
  BOOST_TEST(detail::saturate<float>(0.1) == 0.1F);
}

BOOST_AUTO_TEST_CASE(whole_numbers_below_the_largest_one_are_exact) {
  for (const double number : {0.0, 1.0, -1.0, 126.0, -128.0}) BOOST_TEST(detail::is_exact_in_type<std::int8_t>(number));
  for (const double number : {0.5, -0.5, 127.0, 128.0, -129.0, 1e300, -1e300})
    BOOST_TEST(!detail::is_exact_in_type<std::int8_t>(number));
  BOOST_TEST(!detail::is_exact_in_type<std::int8_t>(std::numeric_limits<double>::quiet_NaN()));
  BOOST_TEST(!detail::is_exact_in_type<unsigned>(-1));
  BOOST_TEST(detail::is_exact_in_type<std::int64_t>(-0x1p63));
  BOOST_TEST(!detail::is_exact_in_type<std::int64_t>(0x1p63));
  for (const double number : {0.5, 1e300, -1e300}) BOOST_TEST(detail::is_exact_in_type<double>(number));
}

BOOST_AUTO_TEST_CASE(a_derivative_has_the_name_of_its_function_as_far_as_a_rule_has_letters) {
  BOOST_TEST(std::string(detail::gradient_name("tanh").letters) == "gradient of tanh");
  BOOST_TEST(std::string(detail::gradient_name("").letters) == "gradient of ");
  const std::string exact = "abcdefghijklmnopqrs", longer = exact + "t";  // 12 + 19 letters
  BOOST_TEST(std::string(detail::gradient_name(exact.c_str()).letters) == "gradient of " + exact);
  BOOST_TEST(std::string(detail::gradient_name(longer.c_str()).letters) == "gradient of " + exact);
}

BOOST_AUTO_TEST_CASE(each_task_and_movement_of_a_pipeline_has_its_own_number) {
  using numbers = detail::pipeline_numbering;
  for (std::uint32_t stages = 1; stages <= 4; ++stages)
    for (std::uint32_t micro_batches = 1; micro_batches <= 5; ++micro_batches) {
      const numbers all{stages, micro_batches};
      std::set<std::uint32_t> used;
      for (const auto part : {numbers::forward, numbers::backward, numbers::y_move, numbers::dy_move})
        for (std::uint32_t s = 0; s < stages; ++s)
          for (std::uint32_t b = 0; b < micro_batches; ++b) used.insert(all.of(part, s, b));
      BOOST_TEST(used.size() == 4 * stages * micro_batches);
      BOOST_TEST(all.count() == used.size());
      BOOST_TEST(*used.begin() == 0U);
      BOOST_TEST(*used.rbegin() == all.count() - 1);
    }
}

BOOST_AUTO_TEST_CASE(einsum_finds_the_fault_of_a_notation) {
  using detail::einsum_fault, detail::einsum_notation, detail::fault_of_einsum;
  using line = xt::xtensor<double, 1>;
  using matrix = xt::xtensor<double, 2>;
  using cube = xt::xtensor<double, 3>;
  static_assert(fault_of_einsum<einsum_notation("bk,kn->bn"), matrix, matrix>() == einsum_fault::none);
  static_assert(fault_of_einsum<einsum_notation("bk->kb"), matrix>() == einsum_fault::none);
  static_assert(fault_of_einsum<einsum_notation("bk->"), matrix>() == einsum_fault::none);
  static_assert(fault_of_einsum<einsum_notation("b,k->bk"), line, line>() == einsum_fault::none);
  static_assert(fault_of_einsum<einsum_notation("...k,kn->...n"), cube, matrix>() == einsum_fault::none);
  static_assert(fault_of_einsum<einsum_notation("...bk,kn->...bn"), matrix, matrix>() == einsum_fault::none);
  static_assert(fault_of_einsum<einsum_notation("bk;kn->bn"), matrix, matrix>() == einsum_fault::notation);
  static_assert(fault_of_einsum<einsum_notation("bk,kn"), matrix, matrix>() == einsum_fault::notation);
  static_assert(fault_of_einsum<einsum_notation("bk,kn->bn"), matrix>() == einsum_fault::number_of_tensors);
  static_assert(fault_of_einsum<einsum_notation("bk->kb"), matrix, matrix>() == einsum_fault::number_of_tensors);
  static_assert(fault_of_einsum<einsum_notation("bk->b,k"), matrix>() == einsum_fault::number_of_tensors);
  static_assert(fault_of_einsum<einsum_notation("bk,kn->bn"), cube, matrix>() == einsum_fault::dimensions);
  static_assert(fault_of_einsum<einsum_notation("bk,kn->bn"), matrix, cube>() == einsum_fault::dimensions);
  static_assert(fault_of_einsum<einsum_notation("bk,kn->bn"), line, matrix>() == einsum_fault::dimensions);
  static_assert(fault_of_einsum<einsum_notation("...bk,kn->...bn"), line, matrix>() == einsum_fault::dimensions);
  static_assert(fault_of_einsum<einsum_notation("bk->bn"), matrix>() == einsum_fault::unknown_letter);
  static_assert(fault_of_einsum<einsum_notation("bk,kn->bm"), matrix, matrix>() == einsum_fault::unknown_letter);
  static_assert(fault_of_einsum<einsum_notation("bb->b"), matrix>() == einsum_fault::repeated_letter);
  static_assert(fault_of_einsum<einsum_notation("bk->bkk"), matrix>() == einsum_fault::repeated_letter);
  static_assert(fault_of_einsum<einsum_notation("bk->(bk)"), matrix>() == einsum_fault::repeated_letter);
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_SUITE_END()
