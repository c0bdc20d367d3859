// The adjoints of operations, composed of operations.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/rule/sharding/tensors_of_rule.hpp>
#include <partita/sharded/detail/apply.hpp>
#include <vector>

namespace partita::detail {

template <class T>
applied_operation elements_operation(element_function f, const std::vector<sharded_tensor<T>>& x, double number = 0) {
  std::vector<shape_list> shapes;
  for (const auto& one : x) shapes.push_back(one.extents());
  const shape_span span(shapes.data(), shapes.size());
  return {bound(rule_of(f).named(name_of(f))(span), span), block_work::elements, f, number};
}
template <class T>
sharded_tensor<T> of_elements(element_function f, const std::vector<sharded_tensor<T>>& x, double number = 0) {
  return run_operation(elements_operation(f, x, number), x);
}

/// Reduces a cotangent of the result to the extents of operand i: sums over the dimensions along which the operand was
/// repeated.
template <class T>
sharded_tensor<T> summed_to(const rule& how, std::size_t i, const sharded_tensor<T>& dy) {
  if (dy.state() == nullptr) return dy;
  const std::size_t y = how.operand_count;
  bool same = how.rank(i) == how.rank(y);
  for (std::size_t d = 0; same && d < how.rank(i); ++d)
    same = how.at(i, d).count == how.at(y, d).count &&
           (how.at(i, d).count == 0 || how.term(how.at(i, d), 0) == how.term(how.at(y, d), 0));
  if (same) return dy;
  return run_operation<T>({rule_of_tensors(how, {y}, i, "sum over what was repeated"), block_work::map}, {dy});
}

/// Operand i of an element function, reshaped to the rank of the result: missing dimensions get extent 1. An operand
/// that `broadcast_dimensions` placed elsewhere than at the end keeps its placement.
template <class T>
sharded_tensor<T> placed_as_operand(const rule& how, std::size_t i, const sharded_tensor<T>& x) {
  const std::size_t y = how.operand_count, n = how.rank(i), more = how.rank(y) - n;
  std::uint32_t single = 0;
  for (std::size_t k = 0; k < n; ++k) single |= how.at(i, k).count == 0 ? std::uint32_t{1} << k : 0U;
  rule r;
  const own_factors f(r, x.extents(), single);
  r.begin_operand(), f.write(r);
  r.begin_result();
  std::size_t next = 0, trailing = 0;
  for (std::size_t d = 0; d < how.rank(y); ++d) {
    r.add_dimension();
    const auto is = [&](std::size_t k) {  // dimension k is here, as far as factors show
      return k < n && how.at(i, k).count > 0 && how.at(y, d).count > 0 &&
             how.term(how.at(i, k), 0) == how.term(how.at(y, d), 0);
    };
    while (in(single, next)) ++next;  // a dimension of extent 1 may be placed anywhere
    if (!is(next)) continue;
    if (next + more == d) ++trailing;
    r.add_term(f[next++]);
  }
  std::size_t placed = 0;
  for (std::size_t k = 0; k < n; ++k) placed += in(single, k) ? 0U : 1U;
  if (trailing == placed) return x;  // already placed as in NumPy's rule
  return run_operation<T>({r.complete().with(linearity::movement).named("broadcast"), block_work::reshape}, {x});
}

/// The cotangents of an element function, before they are summed to the extents of their operands.
template <class T>
sharded_tensor<T> element_cotangent(const applied_operation& op, const std::vector<sharded_tensor<T>>& x,
                                    const sharded_tensor<T>& y, std::size_t i, const sharded_tensor<T>& dy) {
  using e = element_function;
  if (is_comparison(op.function)) return {};
  switch (op.function) {
    case e::add:
    case e::shift:
      return dy;
    case e::subtract:
      return i == 0 ? dy : of_elements<T>(e::scale, {dy}, -1);
    case e::multiply:
      return of_elements<T>(e::multiply, {dy, placed_as_operand(op.how, 1 - i, x[1 - i])});
    case e::divide: {
      const auto by = placed_as_operand(op.how, 1, x[1]);
      if (i == 0) return of_elements<T>(e::divide, {dy, by});
      return of_elements<T>(e::scale, {of_elements<T>(e::divide, {of_elements<T>(e::multiply, {dy, y}), by})}, -1);
    }
    case e::maximum:
      return of_elements<T>(e::pass_to_greater, {dy, x[i], x[1 - i]});
    case e::minimum:  // x[i] is the smaller one where the other one is greater
      return of_elements<T>(e::pass_to_greater, {dy, x[1 - i], x[i]});
    case e::scale:
      return of_elements<T>(e::scale, {dy}, op.number);
    case e::over:
      return of_elements<T>(e::over, {dy}, op.number);
    case e::number_over:
      return of_elements<T>(e::scale, {of_elements<T>(e::divide, {of_elements<T>(e::multiply, {dy, y}), x[0]})}, -1);
    case e::power:
      return of_elements<T>(e::power_gradient, {dy, x[0]}, op.number);
    case e::relu:
      return of_elements<T>(e::relu_gradient, {dy, x[0]});
    case e::exp:
      return of_elements<T>(e::multiply, {dy, y});
    case e::log:
      return of_elements<T>(e::divide, {dy, x[0]});
    case e::tanh:
      return of_elements<T>(e::tanh_gradient, {dy, y});
    case e::sigmoid:
      return of_elements<T>(e::sigmoid_gradient, {dy, y});
    case e::sqrt:
      return of_elements<T>(e::sqrt_gradient, {dy, y});
    case e::abs:
      return of_elements<T>(e::abs_gradient, {dy, x[0]});
    case e::square:
      return of_elements<T>(e::scale, {of_elements<T>(e::multiply, {dy, x[0]})}, 2);
    case e::gelu:
      return of_elements<T>(e::gelu_gradient, {dy, x[0]});
    case e::where:
    case e::where_number:
    case e::unless_number:
      if (i == 0) return {};
      return of_elements<T>(i == 1 && op.function != e::unless_number ? e::pass_where : e::pass_unless, {dy, x[0]});
    default:
      throw error(text("partita: there is no second derivative of ") << name_of(op.function));
  }
}

template <class T>
pull_back<T> adjoint_of(const applied_operation& op, const std::vector<sharded_tensor<T>>& x,
                        const sharded_tensor<T>& y) {
  switch (op.work) {
    case block_work::elements:
      return [op, x, y](std::size_t i, const sharded_tensor<T>& dy) {
        return summed_to(op.how, i, element_cotangent(op, x, y, i, dy));
      };
    case block_work::product:
      return [op, x](std::size_t i, const sharded_tensor<T>& dy) {
        return run_operation<T>({rule_of_tensors(op.how, {2, 1 - i}, i, "gradient of a product"), block_work::product},
                                {dy, x[1 - i]});
      };
    case block_work::reshape:
      return [op](std::size_t, const sharded_tensor<T>& dy) {
        return run_operation<T>(
            {rule_of_tensors(op.how, {1}, 0, "reshape back").with(linearity::movement), block_work::reshape}, {dy});
      };
    case block_work::pick: {
      sharding there = bare(x[0].layout().finished()), rows = there;
      rows.cuts[--rows.dimensions] = axis_list();
      return [op, there, rows](std::size_t, const sharded_tensor<T>& dy) {
        applied_operation back{rule_of_tensors(op.how, {1}, 0, "gradient of a pick"), block_work::spread};
        back.labels = op.labels;
        return run_operation<T>(back, {dy}, {&rows, &there});
      };
    }
    case block_work::rows:
      return [op](std::size_t, const sharded_tensor<T>& dy) {
        applied_operation back{rule_of_tensors(op.how, {1}, 0, "gradient of a lookup"), block_work::to_rows};
        back.labels = op.labels;
        return run_operation<T>(back, {dy});
      };
    case block_work::own:
      return own_adjoint(*op.own, op.how.name(), x, y);
    case block_work::map:
    case block_work::spread:
    case block_work::to_rows:
      break;
  }
  const applied_operation back{rule_of_tensors(op.how, {1}, 0, "repeat over what was summed"), block_work::map};
  if (op.kind == owed_reduction::sum)
    return [back](std::size_t, const sharded_tensor<T>& dy) { return run_operation<T>(back, {dy}); };
  return [op, back, x, y](std::size_t, const sharded_tensor<T>& dy) {  // split equally over all maxima
    const auto finished = y.layout().is_partial() ? reshard(y, y.layout().finished()) : y;
    const auto ones = of_elements<T>(element_function::shift, {of_elements<T>(element_function::scale, {x[0]}, 0)}, 1);
    const auto there =
        of_elements<T>(element_function::pass_if_equal, {ones, x[0], run_operation<T>(back, {finished})});
    const auto count = run_operation<T>({rule_of_tensors(op.how, {0}, 1, "count"), block_work::map}, {there});
    const auto share = of_elements<T>(element_function::divide, {dy, count});
    return of_elements<T>(element_function::multiply, {there, run_operation<T>(back, {share})});
  };
}

}  // namespace partita::detail
