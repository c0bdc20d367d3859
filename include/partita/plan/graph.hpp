// A program as a graph of values and operations, for the propagation of shardings through the whole program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/version.hpp>
#include <partita/plan/operation_window.hpp>
#include <partita/rule/sharding/propagate.hpp>
#include <vector>

namespace partita {

/// A tensor of a program, identified by its number in the program.
struct value {
  std::uint32_t number = 0;  ///< the index of the value among those of the program
  friend constexpr bool operator==(value, value) = default;
};

/// The results of an operation, in order. The list converts to a value: the first result.
struct operation_results {
  std::uint32_t first = 0, count = 1;                   ///< the number of the first result's value, and of results
  constexpr operator value() const { return {first}; }  // NOLINT: most operations have one result
  constexpr std::size_t size() const { return count; }  ///< the number of results
  constexpr value operator[](std::size_t j) const { return {first + static_cast<std::uint32_t>(j)}; }
};
using applied PARTITA_FORMER_NAME("use operation_results") = operation_results;

/// A program: operations in the order of their application, each after the operations whose results it reads.
/// Annotations give the shardings of some values; `complete` finds the shardings of the other values. Value names have
/// up to `Letters` letters.
template <std::size_t Letters>
class basic_graph {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  using label = basic_text<Letters>;  ///< the name of a value or of an operation

  struct tensor {                     ///< a value of the program
    shape_list shape{};               ///< the global extents
    label name{};                     ///< the name of the value; a result has that of its operation
    std::uint32_t producer = none;    ///< the operation that makes the value, or `none` for an input
    std::uint32_t annotation = none;  ///< an index in `annotations()`, or `none`
    bool is_parameter = false;        ///< whether the gradient of the value is wanted
    bool is_complex = false;          ///< whether an element is a pair of real numbers
  };
  struct node {                                                 ///< an operation of the program
    rule how{};                                                 ///< the rule of the operation, bound to the shapes
    label name{};                                               ///< the given name, else that of the rule
    std::uint32_t first_operand = 0;                            ///< an index in `operand_values_`
    std::uint32_t operands = 0, first_result = 0, results = 0;  ///< two counts; the number of the first result's value
    /// The communication that the operation itself performs, or null. The object must outlive the graph.
    const operation_window* window = nullptr;
  };

  explicit basic_graph(const mesh& m) : mesh_(m) {}  ///< an empty program, to be sharded on m

  const mesh& on() const { return mesh_; }                  ///< The mesh on which the program is sharded.
  std::size_t values() const { return tensors_.size(); }    ///< The number of values.
  std::size_t operations() const { return nodes_.size(); }  ///< The number of operations.
  const tensor& operator[](value v) const { return tensors_[v.number]; }
  /// The bytes of an element of a value, where a real number has `real` bytes.
  std::size_t element_bytes(value v, std::size_t real) const { return tensors_[v.number].is_complex ? 2 * real : real; }
  /// The bytes of the largest block of a value in this sharding.
  std::size_t block_bytes(value v, const sharding& s, std::size_t real) const {
    std::size_t all = element_bytes(v, real), d = 0;
    for (const std::size_t n : tensors_[v.number].shape) {
      const std::size_t parts = s.on.size(s.cuts[d++]);
      all *= n == dynamic ? 1 : (n + parts - 1) / parts;
    }
    return all;
  }
  const node& operation(std::size_t o) const { return nodes_[o]; }  ///< Operation o of the program.
  value operand(const node& n, std::size_t i) const { return operand_values_[n.first_operand + i]; }  ///< n's operand i
  /// The value that is tensor t of an operation; operands are numbered first, as in rules.
  value of(const node& n, std::size_t t) const {
    return t < n.operands ? operand(n, t) : value{n.first_result + static_cast<std::uint32_t>(t - n.operands)};
  }
  /// The annotation of a value, or null.
  const sharding* annotation(value v) const {
    const std::uint32_t a = tensors_[v.number].annotation;
    return a == none ? nullptr : &annotations_[a];
  }
  const std::vector<sharding>& annotations() const { return annotations_; }  ///< indexed by tensor::annotation

  /// Adds an input of the program.
  value input(const shape_list& shape, const char* name = "") {
    tensors_.push_back({shape, label(name)});
    return {static_cast<std::uint32_t>(tensors_.size() - 1)};
  }
  value input(const shape_list& shape, const sharding& layout, const char* name = "") {
    const value v = input(shape, name);
    constrain(v, layout, layout.priority);
    return v;
  }
  /// Adds an input whose gradient is wanted: a program with parameters has a backward pass.
  value parameter(const shape_list& shape, const char* name = "") { return differentiate_by(input(shape, name)); }
  value parameter(const shape_list& shape, const sharding& layout, const char* name = "") {
    return differentiate_by(input(shape, layout, name));
  }
  /// Makes an input a parameter. (A traced program has only inputs at first.)
  value differentiate_by(value v) {
    tensors_[require_known(v).number].is_parameter = true;
    return v;
  }
  /// Sets whether a value is complex; without this call a result is complex if an operand is.
  void set_complex(value v, bool is_complex) { tensors_[require_known(v).number].is_complex = is_complex; }
  /// Applies a rule, or an operation that makes its rule from the shapes of its operands, to values. Requires shapes
  /// that fit the rule [shape_error].
  operation_results apply(const rule& r, std::initializer_list<value> operands, const char* name = "") {
    std::vector<spec> specs;
    bool is_complex = false;
    for (const value v : operands) specs.emplace_back(tensors_[require_known(v).number].shape);
    for (const value v : operands) is_complex = is_complex || tensors_[v.number].is_complex;
    const auto node_number = static_cast<std::uint32_t>(nodes_.size());
    node n{bind_shapes(r, spec_list(specs)), label(name[0] == '\0' ? r.name() : name)};
    n.first_operand = static_cast<std::uint32_t>(operand_values_.size());
    n.operands = static_cast<std::uint32_t>(operands.size());
    n.first_result = static_cast<std::uint32_t>(tensors_.size());
    n.results = r.result_count;
    for (const value v : operands) operand_values_.push_back(v);
    for (std::size_t j = 0; j < n.results; ++j)
      tensors_.push_back({result_shape(n.how, j), n.name, node_number, none, false, is_complex});
    nodes_.push_back(n);
    return {n.first_result, n.results};
  }
  /// Applies an operation with one result that may compute along sharded dimensions. The rule permits sharded
  /// dimensions (see with_shardable_dimensions) and does not determine the extents of the result, which `result` gives;
  /// `window` describes the communication of the operation.
  operation_results apply(const rule& r, std::initializer_list<value> operands, const char* name,
                          const shape_list& result, const operation_window* window) {
    const operation_results made = apply(r, operands, name);
    tensors_[made.first].shape = result;
    nodes_.back().window = window;
    return made;
  }
  /// Applies an operation that makes its rule from the shapes of its operands.
  template <class Operation>
    requires requires(const Operation& op, const shape_span& shapes) { rule(op(shapes)); }
  operation_results apply(const Operation& op, std::initializer_list<value> operands, const char* name = "") {
    std::vector<shape_list> shapes;
    for (const value v : operands) shapes.push_back(tensors_[require_known(v).number].shape);
    return apply(rule(op(shape_span(shapes.data(), shapes.size()))), operands, name);
  }
  /// Annotates a value with a sharding; `complete` adds no axes to dimensions of the sharding that are not open.
  /// Annotations with lower priority numbers are propagated through the whole program first. Requires one entry for
  /// each dimension [shape_error] and the graph's mesh [partition_error]; a second annotation replaces the first.
  void constrain(value v, const sharding& layout, std::size_t priority = 0) {
    const spec fits(layout, tensors_[require_known(v).number].shape);
    if (!(layout.on == mesh_))
      throw partition_error(text("partita::graph::constrain: requires a sharding of the graph's mesh, but ")
                            << "" << fits.layout << " is on another mesh; make it from that mesh");
    std::uint32_t& a = tensors_[v.number].annotation;
    if (a == none) {
      a = static_cast<std::uint32_t>(annotations_.size());
      annotations_.emplace_back();
    }
    annotations_[a] = layout.with_priority(priority);
  }
  /// Removes the annotation of a value.
  void release(value v) { tensors_[require_known(v).number].annotation = none; }

 private:
  /// Returns v if it is a value of this graph; otherwise throws a shape_error.
  value require_known(value v) const {
    if (v.number >= tensors_.size())
      throw shape_error(text("partita::graph: requires values of this graph, and there is no value ")
                        << v.number << "; make it first");
    return v;
  }

  mesh mesh_;                          ///< the mesh on which the program is sharded
  std::vector<tensor> tensors_;        ///< indexed by value number
  std::vector<node> nodes_;            ///< the operations, in the order of their application
  std::vector<value> operand_values_;  ///< the operands of all operations, one after another
  std::vector<sharding> annotations_;  ///< indexed by tensor::annotation
};

using graph = basic_graph<31>;  ///< The usual type of a program.

}  // namespace partita
