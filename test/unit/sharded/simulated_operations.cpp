// Every operation on simulated devices: tensors are sharded as propagation chooses, each device applies the operation's
// local function to its blocks, and the reassembled results equal those of the function on whole tensors.
#include <boost/test/unit_test.hpp>
#include <map>
#include <partita/sharded/detail/sample_operations.hpp>
#include <partita/sharded/drop.hpp>
#include <partita/sharded/einsum.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/sort_along.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include "random_cases.hpp"
#include "simulated_mesh.hpp"

namespace {

using namespace partita;
using simulated::number;
using random_numbers = std::mt19937_64;
using shapes = std::vector<shape_list>;

struct operation_case {
  detail::applied_operation op;
  shapes operands;
};
template <std::size_t N, class Op>
operation_case of(const Op& op, const shapes& operands) {
  return {detail::bind_operation<N, number>(op, shape_span(operands.data(), N)), operands};
}

std::size_t below(random_numbers& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

/// n indices below a bound.
detail::known_indices indices_below(random_numbers& random, std::size_t n, std::size_t bound) {
  auto all = std::make_shared<std::vector<std::size_t>>(n);
  for (std::size_t& one : *all) one = below(random, bound);
  return {all, {n}};
}

operation_case random_operation(random_numbers& random) {
  namespace f = element_functions;
  const auto any = [&] { return below(random, 6); };
  const auto some = [&] { return 1 + below(random, 5); };
  const std::size_t a = any(), b = any(), c = any(), d = some(), one = 1;
  const std::size_t from = below(random, a + 1), to = from + below(random, a + 1 - from);
  switch (below(random, 40)) {
    case 0:
      return of<2>(detail::elements_op<f::add>{}, {{a, b}, {a, b}});
    case 1:
      return of<2>(detail::elements_op<f::multiply>{}, {{a, b}, {a, one}});
    case 2:
      return of<2>(detail::elements_op<f::subtract, false, 1>{}, {{a, b, c}, {b}});
    case 3:
      return of<2>(detail::elements_op<f::maximum>{}, {{a, b}, {a, b}});
    case 4:
      return of<1>(detail::elements_op<f::scale>{{3}}, {{a, b, c}});
    case 5:
      return of<1>(detail::elements_op<f::add_number>{{2}}, {{a, b}});
    case 6:
      return of<3>(detail::elements_op<f::where>{}, {{a, b}, {one, b}, {a, b}});
    case 7:
      return of<2>(detail::elements_op<f::less>{}, {{a, b}, {a, b}});
    case 8:
      return of<2>(detail::matmul_op{}, {{a, b}, {b, c}});
    case 9:
      return of<2>(detail::matmul_op{}, {{a, b, c}, {a, c, d}});
    case 10:
      return of<2>(detail::einsum_op<detail::einsum_notation("bmk,kn->nbm")>{}, {{a, b, c}, {c, d}});
    case 11:
      return of<1>(detail::transpose_op<2, 0, 1>{}, {{a, b, c}});
    case 12:
      return of<1>(detail::reduction_op<sum_t, false, 1>{}, {{a, b, c}});
    case 13:
      return of<1>(detail::reduction_op<maximum_t, true, 0>{}, {{d, b}});
    case 14: {
      const shapes x{{a, b * c}};
      return {{bind_shapes(reshape_rule(x[0], {a * b, c}).named("reshape"), shape_span(x.data(), 1)),
               detail::block_work::reshape},
              x};
    }
    case 15:
      return of<1>(detail::slice_operation<0>{{interval{from, to}}}, {{a, b}});
    case 16:
      return of<1>(detail::pad_operation<true, 1>{{margin{c, 1}}, 0}, {{a, b}});
    case 17:
      return of<1>(detail::pad_operation<false, 0>{{margin{1, c}}, 7}, {{a, b}});
    case 18:
      return of<2>(detail::concatenate_operation<0, 2>{}, {{a, b}, {c, b}});
    case 19: {
      auto rows = std::make_shared<std::vector<std::size_t>>(b * c);
      for (std::size_t& row : *rows) row = below(random, d);
      return of<1>(detail::take_operation<1, 2>{{rows, {b, c}}}, {{a, d}});
    }
    case 20:
      return of<1>(detail::one_hot_operation{d}, {{a, b}});
    case 21:
      return of<1>(detail::argmax_operation<1>{}, {{a, d, c}});
    case 22:
      return of<1>(detail::cumulative_operation<sum_t, 1>{below(random, 2) == 0}, {{a, b, c}});
    case 23:
      return of<2>(detail::take_rows_operation<0>{}, {{d, c}, {a, b}});
    case 24:
      return of<2>(detail::add_rows_operation<1>{d}, {{a, b, c}, {b}});
    case 25:
      return of<1>(detail::reduction_op<product_t, false, 1>{}, {{a, b, c}});
    case 26:
      return of<1>(detail::argmax_operation<0, true>{}, {{d, b}});
    case 27:
      return of<1>(detail::triangle_operation<true>{static_cast<std::ptrdiff_t>(b) - 2}, {{a, c}});
    case 28:
      return of<1>(detail::triangle_operation<false>{static_cast<std::ptrdiff_t>(b) - 2}, {{c, a, d}});
    case 29:
      return of<1>(detail::expand_operation<1>{{b}}, {{a, one, c}});
    case 30:
      return of<1>(detail::take_adjoint_op<0, 1, false>{indices_below(random, b, d), d}, {{b, c}});
    case 31:
      return of<1>(detail::roll_operation<0, 1>{{}, {static_cast<std::ptrdiff_t>(b) - 3, 1}}, {{d, 1 + c}});
    case 32:
      return of<1>(detail::sort_operation<1>{{b, true}}, {{a, b + c, d}});
    case 33:
      return of<1>(detail::sort_operation<0, true>{}, {{d, b}});
    case 34:
      return of<2>(detail::sort_adjoint_operation<1>{{b, false}}, {{a, b}, {a, b + c}});
    case 35:
      return of<2>(detail::take_along_operation<1>{}, {{a, d}, {a, b}});
    case 36:
      return of<2>(detail::add_along_axis_operation<0>{d}, {{b, a}, {b, a}});
    case 37:
      return of<2>(detail::gather_nd_operation<2>{}, {{d, 1 + a, b}, {c, 2}});
    case 38:
      return of<2>(detail::scatter_add_nd_operation<2>{{d, 1 + a}}, {{c, b}, {c, 2}});
    default:
      return of<1>(detail::drop_operation{{.probability = 0.5, .seed = a}, b}, {{a, b, c}});
  }
}

mesh random_mesh(random_numbers& random) {
  static const char* const names[] = {"a", "b", "c"};
  static constexpr std::size_t sizes[] = {1, 2, 2, 3, 4};
  mesh m;
  for (std::size_t a = 0, rank = 1 + below(random, 3); a < rank; ++a)
    m.push_back(axis(names[a], sizes[below(random, 5)]));
  return m.size() <= 12 ? m : random_mesh(random);
}

detail::tensor_block<number> block_of(const simulated::tensor& t) {
  detail::tensor_block<number> block(t.shape);
  std::copy(t.values.begin(), t.values.end(), block.data());
  return block;
}
simulated::tensor tensor_of(const detail::tensor_block<number>& block) {
  simulated::tensor t(block.shape);
  std::copy(block.data(), block.data() + t.values.size(), t.values.begin());
  return t;
}
simulated::block whole_box(const shape_list& shape) {
  simulated::block all;
  for (const std::size_t extent : shape) all.push_back({0, extent});
  return all;
}
simulated::tensor sequentially_done(const operation_case& c, const std::vector<simulated::tensor>& x) {
  std::vector<detail::tensor_block<number>> blocks;
  std::vector<detail::box_in_tensor> places;
  for (const auto& one : x) {
    blocks.push_back(block_of(one));
    places.push_back({whole_box(one.shape), one.shape});
  }
  const shape_list made = result_shape(c.op.how, 0);
  return tensor_of(detail::local_result(c.op, blocks, places, {whole_box(made), made}));
}
simulated::tensor on_devices(const operation_case& c, const std::vector<simulated::tensor>& x,
                             const std::vector<sharding>& lie, const sharding& left, random_numbers& random) {
  std::vector<simulated::devices> held;
  for (std::size_t i = 0; i < x.size(); ++i) held.push_back(simulated::cut(x[i], lie[i], random()));
  const shape_list made = result_shape(c.op.how, 0);
  simulated::devices out;
  for (std::size_t k = 0; k < left.on.size(); ++k) {
    std::vector<detail::tensor_block<number>> blocks;
    std::vector<detail::box_in_tensor> places;
    for (std::size_t i = 0; i < x.size(); ++i) {
      blocks.push_back(block_of(held[i][k]));
      places.push_back({mesh_block(lie[i], x[i].shape, k), x[i].shape});
    }
    out.push_back(tensor_of(detail::local_result(c.op, blocks, places, {mesh_block(left, made, k), made})));
  }
  return simulated::reassembled(out, left, made);
}

/// What an operation along sharded dimensions reads for its results in a box.
template <class Op>
simulated::block read_by(const Op& op, const simulated::block& box, const shape_list& extents) {
  if constexpr (requires { op.window(box, extents); }) {
    return op.window(box, extents);
  } else {  // it names the intervals of the features alone
    simulated::block all{box[0], box[1]};
    for (const interval& one : op.window(0, box, shape_span(&extents, 1))) all.push_back(one);
    return all;
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(operations_on_simulated_devices_are_the_sequential_ones) {
  random_numbers random(2026);
  std::map<std::string, std::size_t> wrong;
  std::size_t partial = 0, cut = 0;
  const std::size_t cases = test::random_cases(48000);
  for (std::size_t k = 0; k < cases; ++k) {
    const operation_case c = random_operation(random);
    ++test::random_operations();
    const mesh m = random_mesh(random);
    std::vector<simulated::tensor> x;
    std::vector<spec> specs;
    for (const shape_list& shape : c.operands) {
      x.push_back(simulated::random_tensor(shape, random));
      specs.emplace_back(simulated::random_sharding(m, shape.size(), random, {pending_reduction::sum}), shape);
    }
    // as operands lie, or as operands and result lie, which a program may have settled
    const shape_list made = result_shape(c.op.how, 0);
    const spec result(simulated::random_sharding(m, made.size(), random), made);
    const propagation p = random() % 2 == 0
                              ? propagate(m, c.op.how, spec_list(specs))
                              : propagate(m, c.op.how, spec_list(specs), spec_list(&result, 1), direction::mixed);
    std::vector<sharding> lie;
    for (std::size_t i = 0; i < x.size(); ++i) lie.push_back(detail::layout_of(p.operands[i]));
    const sharding left = detail::layout_of(p.results[0]);
    partial += left.is_partial();
    cut += left.cut_axes() != 0;
    std::string why;
    try {
      if (!(on_devices(c, x, lie, left, random) == sequentially_done(c, x))) why = "other values";
    } catch (const std::runtime_error& e) {
      why = e.what();
    }
    if (!why.empty() && wrong[c.op.how.name()]++ == 0)
      BOOST_TEST_MESSAGE(c.op.how.name() << ' '
                                         << (text() << "" << specs[0].layout << " -> " << lie[0] << " gives " << left)
                                         << ' ' << why);
  }
  for (const auto& [name, n] : wrong) BOOST_ERROR(n << " wrong results of " << name);
  BOOST_TEST(partial > cases / 20);
  BOOST_TEST(cut > cases / 3);
}

BOOST_AUTO_TEST_CASE(windows_of_what_is_cut_are_the_sequential_ones) {
  random_numbers random(2027);
  const auto holds = [&](const auto& op, const shape_list& extents, const shape_list& made) {
    const auto c = of<1>(op, {extents});
    ++test::random_operations();
    const mesh m = random_mesh(random);
    const sharding s = simulated::random_sharding(m, extents.size(), random);
    const auto x = simulated::random_tensor(extents, random);
    simulated::devices out;
    for (std::size_t k = 0; k < m.size(); ++k) {
      const auto box = mesh_block(s, made, k), read = read_by(op, box, extents);
      simulated::tensor part(simulated::shape_of(read));
      std::size_t at = 0;
      simulated::for_each_index(part.shape,
                                [&](const shape_list& i) { part.values[at++] = x(simulated::shifted(i, read, 1)); });
      const std::vector<detail::tensor_block<number>> blocks{block_of(part)};
      out.push_back(tensor_of(detail::local_result(c.op, blocks, {{read, extents}}, {box, made})));
    }
    return simulated::reassembled(out, s, made) == sequentially_done(c, {x});
  };
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < test::random_cases(4000); ++k) {  // pooling, and its gradient
    const std::size_t n = 1 + below(random, 9), batch = below(random, 3), kernel = 1 + below(random, 4);
    const average_pooling_options<1> options{.kernel = {kernel},
                                             .stride = {{1 + below(random, 4)}},
                                             .padding = {below(random, kernel / 2 + 1)},
                                             .ceil_mode = random() % 2 == 0};
    const detail::window_geometry<3> by("test", options);
    if (!by.error_message({1, 1, n}).empty()) continue;
    const shape_list x{batch, 2, n}, y{batch, 2, by.outputs({1, 1, n})[2]};
    const detail::sampling_of_blocks<detail::window_geometry<3>, 3> of{by, {batch, 2, n}};
    wrong += !holds(detail::sample_operation<detail::window_geometry<3>, 3>{of}, x, y);
    wrong += !holds(detail::sample_adjoint_operation<detail::window_geometry<3>, 3>{of}, y, x);
    wrong += !holds(detail::max_pool_operation<detail::window_geometry<3>, 3>{of}, x, y);
  }
  for (std::size_t k = 0; k < test::random_cases(4000); ++k) {
    const std::size_t a = below(random, 9), b = below(random, 4), from = below(random, a + 1);
    const std::size_t to = from + below(random, a + 1 - from), before = below(random, 4), after = below(random, 4);
    wrong += !holds(detail::slice_operation<0>{{interval{from, to}}}, {a, b}, {to - from, b});
    wrong += !holds(detail::pad_operation<false, 0>{{margin{before, after}}, 5}, {a, b}, {a + before + after, b});
    wrong += !holds(detail::flip_operation<0>{}, {a, b}, {a, b});
    wrong += !holds(detail::roll_operation<0>{{}, {static_cast<std::ptrdiff_t>(before) - 2}}, {a + 1, b}, {a + 1, b});
    wrong += !holds(detail::tile_operation<0>{{}, {1 + after}}, {a + 1, b}, {(a + 1) * (1 + after), b});
    const index_progression some{from, to, 1 + before};
    wrong += !holds(detail::insert_zeros_operation<0>{{}, {some}, {a}}, {some.size(), b}, {a, b});
    if (some.size() > 0) wrong += !holds(detail::strided_operation<0>{{}, {some}}, {a, b}, {some.size(), b});
  }
  BOOST_TEST(wrong == 0U);
}

// Workers compare the rules of an operation by a fingerprint: rules that differ in any member that it has differ in it.
BOOST_AUTO_TEST_CASE(rules_that_differ_have_fingerprints_of_their_own) {
  random_numbers random(2028);
  std::map<std::string, std::size_t> equal;
  for (std::size_t n = 0; n < 400; ++n) {
    const rule r = random_operation(random).op.how;
    const auto differs = [&](const char* what, auto change) {
      rule other = r;
      change(other);
      equal[what] += detail::fingerprint_of(other) == detail::fingerprint_of(r);
    };
    differs("name", [](rule& o) { o.letters_of_name[0] ^= 1; });
    differs("linearity", [](rule& o) { o.how = o.how == linearity::none ? linearity::movement : linearity::none; });
    differs("operands", [](rule& o) { ++o.operand_count, --o.result_count; });
    for (std::size_t f = 0; f < r.factor_count; ++f) {
      differs("size", [f](rule& o) { ++o.factors[f].size; });
      differs("kind", [f](rule& o) {
        auto& kind = o.factors[f].kind;
        kind = kind == factor_kind::pass_through ? factor_kind::collective : factor_kind::pass_through;
      });
      differs("reduction", [f](rule& o) {
        auto& how = o.factors[f].how;
        how = how == pending_reduction::max ? pending_reduction::min : pending_reduction::max;
      });
    }
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      if (r.rank(t) > 0) differs("rank", [t](rule& o) { --o.tensors[t].rank; });
      for (std::size_t d = 0; d < r.rank(t); ++d)
        for (std::size_t k = 0; k < r.at(t, d).count; ++k) {
          differs("terms of a dimension", [&](rule& o) { --o.dimensions[r.tensors[t].first + d].count; });
          differs("factor of a dimension", [&](rule& o) { o.terms[r.at(t, d).first + k] ^= 1U; });
        }
    }
  }
  for (const auto& [what, count] : equal) BOOST_TEST(count == 0U, what);
}

// Rows of other workers come before and behind the block: what lies there in memory is not touched.
BOOST_AUTO_TEST_CASE(a_gradient_of_a_lookup_stays_within_its_block) {
  const auto rows = std::make_shared<const std::vector<std::size_t>>(std::vector<std::size_t>{4, 0, 2, 3, 2});
  const std::vector<number> dy{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<number> memory(12, 77);  // rows -2 to 3 of the block, whose own are 0 and 1
  const shape_list given{5, 2}, block{2, 2};
  const tensor_part<const number> from{dy.data(), given, {interval{0, 5}, interval{0, 2}}, given};
  const tensor_part<number> to{memory.data() + 4, block, {interval{1, 3}, interval{0, 2}}, given};
  detail::take_adjoint_op<0, 1, true>{{rows, {5}}, 5}.local(from, to);
  BOOST_TEST((memory == std::vector<number>{77, 77, 77, 77, 0, 0, 14, 16, 77, 77, 77, 77}));
}
