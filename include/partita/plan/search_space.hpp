// The search space: the possible shardings of each input, and groups of the corresponding inputs of repeated layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/graph.hpp>
#include <vector>

namespace partita::detail {

/// The shardings of a tensor from which the search chooses: each axis shards at most one dimension, and no block is
/// empty. The first two axes of a dimension occur in both orders; further axes follow in the mesh's order.
struct layout_options {
  std::vector<sharding> layouts{};  ///< the shardings

  layout_options(const mesh& m, const shape_list& shape) { extend(sharding(m, shape.size()), shape, 0); }

 private:
  /// Adds all shardings that extend `layout` by the mesh axes from a on.
  PARTITA_DECL void extend(const sharding& layout, const shape_list& shape, std::size_t a);
};

/// An input whose sharding the search chooses. Option 0 is no annotation: its sharding then follows from the program.
struct search_choice {
  value input{};                                           ///< whose sharding is chosen
  std::vector<sharding> options{};                         ///< option k + 1 is options[k]
  std::size_t size() const { return options.size() + 1; }  ///< The number of options, with option 0.
};

/// The choices of a search: one for each input of rank 1 or more that has no annotation.
template <class Graph>
struct search_space {
  std::vector<search_choice> choices{};  ///< in the order of the inputs
  /// Groups of inputs, by their indices in `choices`, that get the same option: inputs of equal shapes that are the
  /// same operand of the first operations that read them, which have equal names and rules. Either all are
  /// parameters, or none. Each input is in one group; groups of several inputs come first.
  std::vector<std::vector<std::size_t>> groups{};

  explicit search_space(const Graph& g) {  ///< lists the choices of program g
    for (std::uint32_t v = 0; v < g.values(); ++v) {
      const value one{v};
      if (g[one].producer != Graph::none || g.annotation(one) != nullptr || g[one].shape.empty()) continue;
      choices.push_back({one, layout_options(g.on(), g[one].shape).layouts});
    }
    std::vector<first_use> first_uses;
    for (const search_choice& one : choices) first_uses.push_back(find_first_use(g, one.input));
    std::vector<std::uint8_t> grouped(choices.size(), 0);
    for (const bool several : {true, false})
      for (std::size_t k = 0; k < choices.size(); ++k) {
        if (grouped[k] != 0) continue;
        std::vector<std::size_t> together;
        for (std::size_t l = k; l < choices.size(); ++l)
          if (grouped[l] == 0 && first_uses[k].is_interchangeable_with(first_uses[l], g)) together.push_back(l);
        if (several && together.size() < 2) continue;
        for (const std::size_t l : together) grouped[l] = 1;
        groups.push_back(together);
      }
  }
  /// The number of candidates of a search, or `most` if there are more.
  std::size_t size(std::size_t most) const {
    std::size_t all = 1;
    for (const search_choice& one : choices) {
      if (all > most / one.size()) return most;
      all *= one.size();
    }
    return all;
  }

 private:
  /// The first operation that reads an input, and the input's number among the operands of the operation.
  struct first_use {
    value input{};                          ///< the input that is read
    std::uint32_t operation = Graph::none;  ///< the operation, or `none` if no operation reads it
    std::size_t operand = 0;                ///< the input's number among the operands
    /// Whether two inputs may be in one group.
    bool is_interchangeable_with(const first_use& other, const Graph& g) const {
      if (input == other.input) return true;
      if (operation == Graph::none || other.operation == Graph::none || operand != other.operand) return false;
      return g[input].shape == g[other.input].shape && g[input].is_parameter == g[other.input].is_parameter &&
             g.operation(operation).how == g.operation(other.operation).how &&
             g.operation(operation).name == g.operation(other.operation).name;
    }
  };
  static first_use find_first_use(const Graph& g, value v) {  ///< the first use of v in program order
    for (std::uint32_t o = 0; o < g.operations(); ++o)
      for (std::size_t i = 0; i < g.operation(o).operands; ++i)
        if (g.operand(g.operation(o), i) == v) return {v, o, i};
    return {v, Graph::none, 0};
  }
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/plan/impl/search_space.ipp>
#endif
