// Programs that are traced without workers: those that differ in anything that they compute or move have fingerprints
// of their own, annotations are propagated by their priority, and a summary lists the operations.
#include <partita/sharded/complex.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_complex.hpp>
#include <partita/sharded/traced_function.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

using namespace partita;

namespace {

constexpr mesh two{axis{"a", 2}, axis{"b", 2}};
const spec rows(two.layout("a", ""), {4, 4});

}  // namespace

BOOST_AUTO_TEST_SUITE(traced_programs)

BOOST_AUTO_TEST_CASE(programs_that_differ_have_fingerprints_of_their_own) {
  std::map<std::uint64_t, std::string> found;
  const auto add_program = [&](const char* name, auto program) {
    const auto [at, is_new] = found.emplace(program.fingerprint(), name);
    BOOST_TEST(is_new, name << " has the fingerprint of " << at->second);
  };
  const auto trace_two = [](const auto& f) { return trace(f, rows, rows); };
  const auto sum_of = [](const auto& x, const auto& y) { return add(x, y); };
  add_program("add", trace_two(sum_of));
  add_program("multiply", trace_two([](const auto& x, const auto& y) { return multiply(x, y); }));
  add_program("subtract", trace_two([](const auto& x, const auto& y) { return subtract(x, y); }));
  add_program("operands exchanged", trace_two([](const auto& x, const auto& y) { return subtract(y, x); }));
  add_program("one operand twice", trace_two([](const auto& x, const auto&) { return subtract(x, x); }));
  add_program("a number", trace_two([](const auto& x, const auto& y) { return add(multiply(x, 2), y); }));
  add_program("another number", trace_two([](const auto& x, const auto& y) { return add(multiply(x, 3), y); }));
  add_program("stopped operand", trace_two([](const auto& x, const auto& y) { return add(stop_gradient(x), y); }));
  add_program("other stopped operand",
              trace_two([](const auto& x, const auto& y) { return add(x, stop_gradient(y)); }));
  add_program("stopped result", trace_two([](const auto& x, const auto& y) { return stop_gradient(add(x, y)); }));
  add_program("an argument as result", trace_two([](const auto& x, const auto& y) {
                (void)add(x, y);
                return x;
              }));
  add_program("another argument as result", trace_two([](const auto& x, const auto& y) {
                (void)add(x, y);
                return y;
              }));
  add_program("other extents", trace(sum_of, spec(rows.layout, {4, 6}), spec(rows.layout, {4, 6})));
  add_program("another layout", trace(sum_of, spec(two.layout("b", ""), {4, 4}), spec(two.layout("b", ""), {4, 4})));
  add_program("two layouts", trace(sum_of, rows, spec(two.layout("", "b"), {4, 4})));
  add_program("constrained result",
              trace_two([](const auto& x, const auto& y) { return constrain(add(x, y), two.layout("", "a")); }));
  const auto same = trace_two(sum_of), again = trace_two(sum_of);
  BOOST_TEST(same.fingerprint() == again.fingerprint());
  BOOST_TEST(found.at(same.fingerprint()) == "add");
  auto constrained = trace_two(sum_of);
  (void)constrained.complete();
  constrained.constrain(constrained.result(), two.layout("b", "a"));
  BOOST_TEST(constrained.fingerprint() != same.fingerprint());  // the completion before is not used again
}

BOOST_AUTO_TEST_CASE(an_annotation_of_a_lower_number_is_propagated_first) {
  const sharding by_rows = two.layout("a", ""), by_columns = two.layout("", "a");
  const spec open(two.layout("?", "?"), {4, 4});
  const auto of_arguments = [&](std::size_t of_x, std::size_t of_y) {
    auto program = trace([](const auto& x, const auto& y) { return add(x, y); }, open, open);
    program.constrain(program.input(0), by_rows, of_x).constrain(program.input(1), by_columns, of_y);
    return std::string((text() << "" << program.complete()[program.result()]).c_str());
  };
  BOOST_TEST(of_arguments(0, 1) == "(a, )");
  BOOST_TEST(of_arguments(1, 0) == "(, a)");
  const auto of_values = [&](std::size_t of_x, std::size_t of_y) {
    const auto f = [&](const auto& x, const auto& y) {
      return add(constrain(multiply(x, 2), by_rows, of_x), constrain(multiply(y, 3), by_columns, of_y));
    };
    const auto program = trace(f, open, open);
    return std::string((text() << "" << program.complete()[program.result()]).c_str());
  };
  BOOST_TEST(of_values(0, 1) == "(a, )");
  BOOST_TEST(of_values(1, 0) == "(, a)");
}

BOOST_AUTO_TEST_CASE(a_summary_lists_the_operations_and_the_extents_of_their_results) {
  const auto mlp = [](const auto& x, const auto& w1, const auto& w2) { return matmul(relu(matmul(x, w1)), w2); };
  const auto program = trace(mlp, spec(rows.layout, {5, 4}), spec({4, 6}), spec({6, 3}));
  BOOST_TEST(std::string(program.summary().c_str()) == "matmul [5, 6], relu [5, 6], matmul [5, 3]");
  const auto nothing = trace([](const auto& x) { return x; }, rows);
  BOOST_TEST(std::string(nothing.summary().c_str()).empty());
}

BOOST_AUTO_TEST_CASE(gradients_are_of_the_chosen_arguments) {
  const auto loss = [](const auto& x, const auto& w) { return sum(square(matmul(x, w))); };
  auto program = trace(loss, rows, spec({4, 3}));
  const std::size_t of_all = program.complete().back.size();
  program.differentiate_by({0});
  const std::size_t of_x = program.complete().back.size();
  program.differentiate_by({1});
  const std::size_t of_w = program.complete().back.size();
  BOOST_TEST(of_all == of_w);  // the gradient of w is summed over the rows, and that of x is where x is
  BOOST_TEST(of_x < of_w);
  BOOST_CHECK_THROW(program.differentiate_by({2}), std::out_of_range);
}

BOOST_AUTO_TEST_SUITE_END()
