// The registry knows every operation of `rules::` by its name, and its rule propagates like the function.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <partita/rule/sharding/registry.hpp>
#include <random>
#include <string>
#include <vector>

#include "simulated_mesh.hpp"

namespace {

using namespace partita;

struct twin {
  const char* name;
  operation made;                  ///< by the function of that name
  std::vector<shape_list> shapes;  ///< of its operands
  attributes with{};               ///< what the name is called with for the same operation
};
attributes axes(const attributes::list& all) {
  attributes with;
  with.axes = all;
  return with;
}
attributes sizes(const attributes::extents_list& all) {
  attributes with;
  with.sizes = all;
  return with;
}
attributes axes_and_sizes(const attributes::list& all, const attributes::extents_list& extents) {
  attributes with = sizes(extents);
  with.axes = all;
  return with;
}
attributes count(std::size_t n, const attributes::list& all = {}) {
  attributes with = axes(all);
  with.count = n;
  return with;
}
attributes switches(bool x, bool y) {
  attributes with;
  with.x = x, with.y = y;
  return with;
}
attributes reducing(pending_reduction kind, const attributes::list& all) {
  attributes with = axes(all);
  with.kind = kind;
  return with;
}
attributes keeping(const attributes::list& all) {
  attributes with = axes(all);
  with.keep = true;
  return with;
}
attributes with_switches(attributes with, bool x, bool y) {
  with.x = x, with.y = y;
  return with;
}

}  // namespace

namespace partita::rules {  // where their names are found first

inline std::vector<twin> twins() {
  const shape_list x{4, 6}, y{6, 8}, image{4, 6, 5, 5}, heads{2, 8, 4, 6};
  const std::vector<shape_list> one{x}, two{x, x}, three{x, x, x}, cube{{4, 6, 8}};
  return {
      {"elementwise", elementwise, two},
      {"elementwise_to", elementwise_to(3), two, count(3)},
      {"elementwise_in_dimensions", elementwise_in_dimensions({0}), {x, {4}}, axes({0})},
      {"add", rules::add, two},
      {"subtract", subtract, two},
      {"add_n", add_n, three},
      {"multiply", multiply, two},
      {"divide", divide, two},
      {"scale", scale, one},
      {"cast", cast, one},
      {"assign", assign, one},
      {"relu", relu, one},
      {"maximum", maximum, two},
      {"where", where, three},
      {"matmul", matmul, {x, y}},
      {"matmul_transposed", matmul_transposed(true, false), {{6, 4}, y}, switches(true, false)},
      {"matmul_bias", matmul_bias(), {x, y, {8}}},
      {"bmm", bmm, {{2, 4, 6}, {2, 6, 8}}},
      {"linear", linear, {x, {8, 6}}},
      {"linear_weight_gradient", linear_weight_gradient, {x, {4, 8}}},
      {"convolution", convolution, {image, {8, 6, 3, 3}}},
      {"grouped_convolution", grouped_convolution(2), {image, {8, 3, 3, 3}}, count(2)},
      {"depthwise_convolution", depthwise_convolution, {image, {6, 1, 3, 3}}},
      {"transposed_convolution", transposed_convolution(), {image, {6, 8, 3, 3}}},
      {"reduction", reduction(pending_reduction::max, {1}).named("reduction"), one,
       reducing(pending_reduction::max, {1})},
      {"sum", sum({1}), one, axes({1})},
      {"mean", mean(), one},
      {"max", rules::max({0}, true), one, keeping({0})},
      {"min", rules::min({1}), one, axes({1})},
      {"sum_of_function", sum_of_function({0}), one, axes({0})},
      {"whole_reduction", whole_reduction({0}), one, axes({0})},
      {"logsumexp", logsumexp({-1}), one, axes({-1})},
      {"p_norm", p_norm(), one},
      {"argmax", argmax({1}), one, axes({1})},
      {"along", rules::along({1}, 2, true), one, with_switches(count(2, {1}), true, false)},
      {"softmax", softmax(), one},
      {"argsort", argsort(0), one, axes({0})},
      {"cumsum", cumsum(1), one, axes({1})},
      {"cummax", cummax(1), one, axes({1})},
      {"cummin", cummin(0), one, axes({0})},
      {"roll", roll({1}), one, axes({1})},
      {"triu", triu(), cube},
      {"cross_entropy_with_softmax", cross_entropy_with_softmax(), {x, {4}}},
      {"cross_entropy_with_softmax", cross_entropy_with_softmax(-1, true), two, switches(true, false)},
      {"layer_norm", layer_norm(), {x, {6}, {6}}},
      {"rms_norm", rms_norm(), {x, {6}}},
      {"group_norm", group_norm(2), {image, {6}, {6}}, count(2)},
      {"instance_norm", instance_norm, {image, {6}, {6}}},
      {"batch_norm", batch_norm, {image, {6}, {6}, {6}, {6}}},
      {"synchronised_batch_norm", synchronised_batch_norm, {image, {6}, {6}, {6}, {6}}},
      {"batch_norm_inference", batch_norm_inference, {image, {6}, {6}, {6}, {6}}},
      {"reshape", reshape({8, 3}), one, sizes({8, 3})},
      {"flatten", flatten(), cube},
      {"squeeze", squeeze(), {{4, 1, 6}}},
      {"unsqueeze", unsqueeze({1}), one, axes({1})},
      {"transpose", transpose({1, 0}), one, axes({1, 0})},
      {"expand", expand({3, 4, 6}), one, sizes({3, 4, 6})},
      {"tile", tile({2, 1}), one, sizes({2, 1})},
      {"slice", slice({1}, {3}), one, axes_and_sizes({1}, {3})},
      {"pad", pad({1}, {8}), one, axes_and_sizes({1}, {8})},
      {"topk", topk(1, 2), one, axes_and_sizes({1}, {2})},
      {"concatenate", concatenate(1), two, axes({1})},
      {"stack", stack(1), two, axes({1})},
      {"split", split(1, {2, 4}), one, axes_and_sizes({1}, {2, 4})},
      {"split_evenly", split_evenly(1, 3), one, count(3, {1})},
      {"unbind", unbind(1), one, axes({1})},
      {"gather", gather(1), {x, {3}}, axes({1})},
      {"index_select", index_select(), {x, {3}}},
      {"gather_nd", gather_nd, {x, {3, 1}}},
      {"take_along_axis", take_along_axis(1), two, axes({1})},
      {"put_along_axis", put_along_axis(1), three, axes({1})},
      {"scatter", scatter, {x, {3}, {3, 6}}},
      {"scatter_nd_add", scatter_nd_add, {x, {3, 1}, {3, 6}}},
      {"index_put", index_put, {x, {3}, {3, 6}}},
      {"one_hot", one_hot(7), one, count(7)},
      {"embedding", embedding(), {x, {8, 6}}},
      {"vocabulary_embedding", vocabulary_embedding, {{8, 6}, x}},
      {"attention", attention, {heads, heads, heads}},
      {"sequence_parallel_attention", sequence_parallel_attention, {heads, heads, heads}},
      {"rope", rope(2), {heads, heads}, count(2)},
      {"expert_dispatch", expert_dispatch(2, 3), {{8, 6}, {8, 4}}, count(3, {2})},
      {"expert_combine", expert_combine, {{12, 6}, {8, 2}, {8, 2}}},
      {"update", update(2), {x, x, x, {1}}, count(2)},
      {"sgd", sgd, {x, {1}, x}},
      {"momentum", momentum, {x, x, x, {1}}},
      {"adam", adam, {x, x, {1}, x, x, {1}, {1}}},
      {"adamw", adamw, {x, x, {1}, x, x, {1}, {1}}},
      {"replicated", replicated({2}), two, sizes({2})},
      {"data_parallel", data_parallel({2, 1}), two, sizes({2, 1})},
  };
}

}  // namespace partita::rules

namespace {

using partita::rules::twins;

template <class List>
bool same(const List& a, const List& b) {
  return a == b;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(operations_by_name)

BOOST_AUTO_TEST_CASE(a_name_propagates_as_the_function_of_that_name) {
  const registry known = registry::standard();
  const mesh m{axis("a", 2), axis("b", 2)};
  std::mt19937_64 random(7);
  for (const twin& t : twins()) {
    BOOST_TEST_CONTEXT(t.name) {
      BOOST_TEST(known.knows(t.name));
      if (!known.knows(t.name)) continue;
      const shape_span shapes(t.shapes.data(), t.shapes.size());
      const rule named = known(t.name, shapes, t.with), made = t.made(shapes);
      BOOST_TEST(std::string(t.made.name) == t.name);
      std::size_t cut = 0;
      for (std::size_t k = 0; k < 20; ++k) {
        std::vector<spec> operands;
        for (const shape_list& s : t.shapes)
          operands.emplace_back(simulated::random_sharding(m, s.size(), random, {pending_reduction::sum}), s);
        const propagation a = propagate(m, named, operands), b = propagate(m, made, operands);
        BOOST_TEST((same(a.operands, b.operands) && same(a.results, b.results) && same(a.reshards, b.reshards)));
        for (const sharding& s : a.results) cut += s.cutting() != 0;
      }
      BOOST_TEST((cut > 0 || std::string(t.name) == "replicated" || std::string(t.name) == "p_norm" ||
                  std::string(t.name) == "mean"));
    }
  }
}

BOOST_AUTO_TEST_CASE(every_name_of_the_list_is_held_against_its_function) {
  // (those that have no function of their own are other names of one: negate, argmin, log_softmax, prod, any, all)
  const std::vector<std::string> aliases{"negate", "argmin", "log_softmax", "prod", "any", "all"};
  const std::vector<twin> all = twins();
  for (const operation& one : detail::standard_operations) {
    const bool is_held =
        std::any_of(all.begin(), all.end(), [&](const twin& t) { return std::string(t.name) == one.name; });
    const bool is_alias = std::find(aliases.begin(), aliases.end(), one.name) != aliases.end();
    BOOST_TEST(is_held != is_alias, one.name);
  }
}

BOOST_AUTO_TEST_CASE(an_order_names_each_dimension_once) {
  const std::vector<shape_list> matrix{{6, 4}};
  const shape_span shapes(matrix.data(), matrix.size());
  BOOST_TEST(std::string(rules::transpose({1, -2})(shapes).name()) == "transpose");
  BOOST_CHECK_THROW(rules::transpose({0, 0})(shapes), shape_error);
  BOOST_CHECK_THROW(rules::transpose({1, -1})(shapes), shape_error);
  BOOST_CHECK_THROW(rules::transpose({1})(shapes), shape_error);
}

/// An extent that is not known makes extents of results unknown, or leaves them as they are; it counts as no number.
BOOST_AUTO_TEST_CASE(an_extent_that_is_not_known_is_not_known_in_results) {
  std::size_t unknown = 0, refused = 0;
  for (const twin& t : twins()) {
    const auto results = [&](const std::vector<shape_list>& shapes) {
      const shape_span all(shapes.data(), shapes.size());
      const rule made = bound(t.made(all), all);
      std::vector<shape_list> out;
      for (std::size_t j = 0; j < made.result_count; ++j) out.push_back(result_shape(made, j));
      return out;
    };
    const std::vector<shape_list> whole = results(t.shapes);
    for (std::size_t i = 0; i < t.shapes.size(); ++i)
      for (std::size_t d = 0; d < t.shapes[i].size(); ++d)
        BOOST_TEST_CONTEXT(t.name << " of operand " << i << ", " << d) {
          std::vector<shape_list> shapes = t.shapes, found;
          if (shapes[i][d] == 1) continue;  // what is 1 may be left out, or repeated
          shapes[i][d] = dynamic;
          try {
            found = results(shapes);
          } catch (const shape_error&) {  // it must be known
            ++refused;
            continue;
          }
          BOOST_REQUIRE(found.size() == whole.size());
          for (std::size_t j = 0; j < found.size(); ++j) {
            BOOST_REQUIRE(found[j].size() == whole[j].size());
            for (std::size_t e = 0; e < found[j].size(); ++e) {
              BOOST_TEST((found[j][e] == whole[j][e] || found[j][e] == dynamic));
              unknown += found[j][e] != whole[j][e];
            }
          }
        }
  }
  BOOST_TEST(unknown > 60U);
  BOOST_TEST(refused < 20U);
}

BOOST_AUTO_TEST_CASE(what_is_sharded_as_a_batch_is_the_first_dimension_of_each_tensor) {
  const std::vector<shape_list> two{{4, 6}, {4}};
  const shape_span shapes(two.data(), 2);
  BOOST_TEST(((text() << "" << rules::data_parallel({3, 0, 1})(shapes)) == "b_,b->b__,,b"));
  BOOST_TEST(((text() << "" << rules::replicated({3, 0, 1})(shapes)) == "__,_->___,,_"));
}

BOOST_AUTO_TEST_CASE(other_names_stand_for_what_they_say) {
  const registry known = registry::standard();
  const shape_list x{4, 6};
  BOOST_TEST((known("log_softmax", {x}).named("") == rules::softmax()({x}).named("")));
  BOOST_TEST((known("argmin", {x}).named("") == rules::argmax()({x}).named("")));
  BOOST_TEST((known("negate", {x}).named("") == rules::scale({x}).named("")));
  BOOST_TEST((known("prod", {x}).named("") == rules::reduction(pending_reduction::prod)({x}).named("")));
  BOOST_TEST((known("tanh", {x}).named("") == rules::elementwise({x}).named("")));
}

BOOST_AUTO_TEST_SUITE_END()
