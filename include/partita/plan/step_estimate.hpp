// What the estimate of a step needs to know of a program's operations, independent of the shardings: which operations
// multiply, which gradients are wanted, and the rules of these gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/graph.hpp>
#include <partita/rule/sharding/gradient.hpp>
#include <vector>

namespace partita::detail {

/// The properties of one operation that an estimate needs.
struct operation_estimate {
  std::uint32_t product_factors = 0;  ///< as bits, the factors of the product; 0 if the operation only reads and writes
  tensor_set read_operands = 0, wanted = 0;  ///< the operands that the gradient reads; those whose gradients are wanted
  rule gradient{};                           ///< the rule of its gradient, if any gradient is wanted
};

/// The properties of a program that an estimate needs. A program with parameters has a backward pass; the gradient of a
/// value is wanted if the value depends on a parameter.
template <class Graph>
struct step_estimate {
  const Graph& of;                               ///< the program
  std::vector<operation_estimate> operations{};  ///< indexed by operation number
  std::vector<std::uint8_t> wants_gradient{};    ///< for each value, whether its gradient is wanted
  std::vector<std::uint32_t> last_reader{};      ///< for each value, the last operation that reads it, or `none`
  bool has_parameters = false;                   ///< whether the program has a backward pass

  explicit step_estimate(const Graph& g) : of(g), wants_gradient(g.values(), 0), last_reader(g.values(), Graph::none) {
    for (std::uint32_t v = 0; v < g.values(); ++v) {
      wants_gradient[v] = g[value{v}].is_parameter ? 1 : 0;
      has_parameters = has_parameters || wants_gradient[v] != 0;
    }
    operations.resize(g.operations());
    for (std::uint32_t o = 0; o < g.operations(); ++o) add(o);
  }

 private:
  /// Sets the properties of operation o and of its tensors.
  void add(std::uint32_t o) {
    const typename Graph::node& n = of.operation(o);
    operation_estimate& estimate = operations[o];
    estimate.product_factors = find_product_factors(n.how);
    for (std::size_t i = 0; i < n.operands; ++i) {
      const value v = of.operand(n, i);
      last_reader[v.number] = o;
      if (wants_gradient[v.number] != 0 && !contains(n.how.constant, i)) estimate.wanted |= one_tensor(i);
    }
    if (estimate.wanted == 0 || n.operands + n.results > most_operands) {
      estimate.wanted = 0;
      return;
    }
    for (std::size_t j = 0; j < n.results; ++j) wants_gradient[n.first_result + j] = 1;
    const bool is_linear = n.how.how == linearity::additive || n.how.how == linearity::movement;
    estimate.read_operands = is_linear ? n.how.constant : ~tensor_set{0};
    estimate.gradient = gradient(n.how, {.operands = estimate.read_operands, .operand_gradients = estimate.wanted});
  }
  /// The number of iterations of the loops `factors` (as bits): the product of their sizes.
  static double iteration_count(const rule& r, std::uint32_t factors) {
    double all = 1;
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if ((factors >> f & 1U) != 0 && r.factors[f].size != dynamic) all *= static_cast<double>(r.factors[f].size);
    return all;
  }
  /// The factors (as bits) of the largest product of two operands; 0 if no product has more iterations than the largest
  /// tensor has elements.
  static std::uint32_t find_product_factors(const rule& r) {
    double largest = 0;
    for (std::size_t t = 0; t < r.tensor_count(); ++t) {
      const double size = iteration_count(r, r.factors_of(t));
      if (size > largest) largest = size;
    }
    std::uint32_t loops = 0;
    for (std::size_t i = 0; i < r.operand_count; ++i)
      for (std::size_t k = 0; k < i; ++k) {
        const std::uint32_t both = r.factors_of(i) | r.factors_of(k);
        if (contains(r.constant, i) || contains(r.constant, k) || iteration_count(r, both) <= largest) continue;
        loops = both;
        largest = iteration_count(r, both);
      }
    return loops;
  }
};

}  // namespace partita::detail
