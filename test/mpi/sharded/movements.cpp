// The predicted movements of functions and completed programs equal the executed ones, forward and backward.
#include "check_operation.hpp"

#include <partita/explain/completion_text.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>

using namespace partita;

namespace {

text written(const std::vector<movement>& all) {
  text out;
  for (const movement& one : all) out << one << "\n";
  return out;
}
/// Predicts the movements of f(x...), runs it forward and backward, and compares. Returns the number of movements.
template <class F, class... X>
std::size_t check_movements(const F& f, const X&... x) {
  const std::size_t none = detail::run_state.movement_totals.bytes;
  const auto said = movements_of(f, x...);
  BOOST_TEST(detail::run_state.movement_totals.bytes == none);
  const std::tuple<X...> leaves(detail::parameter_of(x)...);
  const auto made = record_movements([&] {
    const auto y = std::apply(f, leaves);
    auto seed = detail::dry_run_cotangent(y);
    seed.state()->block = detail::tensor_block<typename decltype(seed)::value_type>(seed.state()->block.shape);
    seed.state()->block.fill(1);
    detail::run_backward(y, seed);
  });
  BOOST_TEST((said == made), "foretold\n" << written(said).c_str() << "made\n" << written(made).c_str());
  std::size_t bytes = 0;
  for (const movement& one : made) bytes += one.bytes;
  BOOST_TEST(detail::run_state.movement_totals.bytes - none == bytes);
  return made.size();
}

}  // namespace

BOOST_AUTO_TEST_CASE(movements_are_foretold_as_they_are_made) {
  world everyone(test::workers());
  std::mt19937 random(37);
  std::size_t movements = 0;
  for (std::size_t k = 0; k < test::random_cases(60); ++k) {
    const auto known = test::meshes(everyone.size());
    const mesh m = known[random() % known.size()];
    const auto at_random = [&](const shape_list& e) {
      const auto all = test::layouts(m, e.size());
      return shard<double>(everyone, all[random() % all.size()], e,
                           [](const auto& i) { return static_cast<double>(test::numbered(i, 1) * 7 % 11); });
    };
    const auto x = at_random({5, 4}), w = at_random({4, 6}), v = at_random({6, 3});
    movements += check_movements(
        [](const auto& a, const auto& b, const auto& c) { return matmul(relu(matmul(a, b)), c); }, x, w, v);
    movements += check_movements(
        [](const auto& a, const auto& b) {
          return sum(multiply(softmax(matmul(a, b)), cumsum(matmul(a, b), dimensions<1>)));
        },
        x, w);
    movements += check_movements(  // operands without a gradient, which have no elements either
        [](const auto& a) { return sum(multiply(multiply(stop_gradient(a), stop_gradient(a)), a)); }, x);
    movements += check_movements(
        [](const auto& a) {
          return maximum(slice(cumsum(a, dimensions<0>), dimensions<0>, {1, 4}), dimensions<1>);
        },
        x);
  }
  BOOST_TEST((everyone.size() == 1 || movements > 0));
}

BOOST_AUTO_TEST_CASE(a_completed_program_says_how_cotangents_lie_and_what_goes_back, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  const auto network = [](const auto& x, const auto& w1, const auto& w2) { return matmul(relu(matmul(x, w1)), w2); };
  auto program = trace(network, spec(m.layout("data", ""), {8, 4}), spec(m.layout("", "model"), {4, 6}),
                       spec(m.layout("model", ""), {6, 2}));
  const auto make = [&](const sharding& s, const shape_list& e) {
    return shard<double>(everyone, s, e, [](const auto& i) { return static_cast<double>(i[0]); });
  };
  const auto x = make(m.layout("data", ""), {8, 4}), w1 = make(m.layout("", "model"), {4, 6}),
             w2 = make(m.layout("model", ""), {6, 2});
  const auto all = movements_of(program, x, w1, w2);
  BOOST_TEST(check_movements(program, x, w1, w2) == all.size());
  // the completion lists all backward movements in the order of their execution
  const auto& told = program.complete().back;
  std::vector<movement> made;
  for (const movement& one : all)
    if (one.backward) made.push_back(one);
  BOOST_TEST(told.size() == made.size());
  for (std::size_t k = 0; k < told.size() && k < made.size(); ++k) {
    BOOST_TEST(std::string(told[k].operation.c_str()) == made[k].operation.c_str());
    BOOST_TEST((told[k].from == made[k].from && told[k].to == made[k].to && told[k].shape == made[k].extents));
    const std::size_t bytes = plan_reshard(m, told[k].from, told[k].to, told[k].shape, {}, sizeof(double)).bytes();
    if (everyone.id() < 4) BOOST_TEST(made[k].bytes == bytes);
  }
  const std::string text_of_all = to_text(program.complete());
  BOOST_TEST(text_of_all.find("back, cotangent, [4, 6] (, model) partial sum over data") != std::string::npos,
             text_of_all);
  auto of_weights = program;
  of_weights.differentiate_by({1, 2});
  BOOST_TEST(of_weights.complete().back.size() < told.size());
  // weights are replicated over data, so their gradients are reduced over it in the backward pass
  std::size_t back = 0;
  for (const movement& one : all) back += one.backward;
  BOOST_TEST(back >= 2U);
  BOOST_TEST((layout_of_cotangent(m.layout("", "model")) == m.layout("", "model")));
  BOOST_TEST((layout_of_cotangent(m.layout("data").partial("model")) == m.layout("data").reduced("model")));
  BOOST_CHECK_THROW(movements_of([](const auto& a) { return multiply(a, a.number()); }, x), error);
}

namespace {

/// A transformer block with a sharded sequence between the products (Korthikanti et al. 2022, figure 5), by `constrain`
/// only.
struct megatron_block {
  sharding tokens, whole;

  template <class X, class W>
  auto operator()(const X& x, const W& q, const W& k, const W& v, const W& o, const W& up, const W& down) const {
    const auto all = constrain(x, whole);
    const auto mixed = matmul(multiply(multiply(matmul(all, q), matmul(all, k)), matmul(all, v)), o);
    const auto y = add(x, constrain(mixed, tokens));
    return add(y, constrain(matmul(relu(matmul(constrain(y, whole), up)), down), tokens));
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_an_operation_moves_itself_on_the_way_back_is_told_for_numbers_of_4_bytes,
                     *test::at_least(2)) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const std::size_t n = 4 * everyone.size();
  const auto program = trace(
      [n](const auto& x) {
        return square(slice(x, dimensions<0>, {2, n}));
      },
      spec(m.layout("a", ""), {n, 3}));
  const auto x =
      shard<double>(everyone, m.layout("a", ""), {n, 3}, [](const auto& i) { return static_cast<double>(i[0]); });
  std::vector<movement> made;
  for (const movement& one : movements_of(program, x))
    if (one.backward) made.push_back(one);
  const auto& told = program.complete().back;
  BOOST_REQUIRE((told.size() == 1U && made.size() == 1U));
  BOOST_TEST(told[0].bytes > 0U);
  BOOST_TEST(2 * told[0].bytes == made[0].most_bytes);
}

BOOST_AUTO_TEST_CASE(a_megatron_block_gathers_twice_and_reduce_scatters_twice_each_way, *test::at_least(2)) {
  world everyone(test::workers());
  const std::size_t n = everyone.size();
  const mesh m{axis{"t", n}};
  const std::size_t sequence = 2 * n, width = 3, inner = 2 * n;
  const auto at = [&](const sharding& s, const shape_list& e) {
    return shard<double>(everyone, s, e, [](const auto& i) { return static_cast<double>(test::numbered(i) % 3); });
  };
  const auto x = at(m.layout("t", ""), {sequence, width});
  const auto columns = at(m.layout("", "t"), {width, inner}), rows = at(m.layout("t", ""), {inner, width});
  const megatron_block block{m.layout("t", ""), m.layout("", "")};
  const auto all = movements_of(block, x, columns, columns, columns, rows, columns, rows);
  std::size_t gathers[2] = {}, reduce_scatters[2] = {}, others = 0, bytes = 0;
  for (const movement& one : all) {
    bytes += one.bytes;
    if (one.from.same_layout(block.tokens) && one.to.same_layout(block.whole)) ++gathers[one.backward];
    else if (one.from.is_partial() && one.to.same_layout(block.tokens)) ++reduce_scatters[one.backward];
    else ++others;
  }
  for (const int way : {0, 1}) {
    BOOST_TEST(gathers[way] == 2U, written(all).c_str());
    BOOST_TEST(reduce_scatters[way] == 2U, written(all).c_str());
  }
  BOOST_TEST(others == 0U, written(all).c_str());
  BOOST_TEST(bytes == 8 * sizeof(double) * 2 * width * (n - 1));  // eight times the tokens that a worker does not hold
  check_movements(block, x, columns, columns, columns, rows, columns, rows);
}
