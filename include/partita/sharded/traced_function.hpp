// Traced functions. A function of tensors is traced into a graph, its layouts are completed from annotations, and it is
// executed with the completed layouts.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/array/real_part.hpp>
#include <partita/comm/element.hpp>
#include <partita/core/config.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/complete.hpp>
#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/detail/mixed_execution.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <partita/sharded/detail/wider_windows.hpp>
#include <partita/sharded/schedule_options.hpp>
#include <partita/sharded/traced.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

template <class T, class Result = T>
class bound_program;
template <class T>
class pipeline;
template <class T>
class measured_times;
template <class Result>
class traced_function_with_result;

namespace detail {

struct mixed_program_access;
class pipeline_stages;

/// T is an element type for which a program can be bound.
template <class T>
concept has_program_elements = std::is_arithmetic_v<T> || is_complex<T>;

template <class Traced, class F, class... Spec>
traced_function make_trace(const F& f, const Spec&... specs);

}  // namespace detail

/// A traced function of tensors. The member `complete()` finds the layouts of all values. `program(x...)` executes the
/// function with these layouts, and can be differentiated like any other function of tensors.
class traced_function {
 public:
  traced_function(std::shared_ptr<detail::traced_program> program, std::vector<value> inputs, value result)
      : program_(std::move(program)), inputs_(std::move(inputs)), result_(result) {}

  const graph& operations() const { return program_->operations; }  ///< the traced operations, and their values
  value input(std::size_t i) const { return inputs_.at(i); }        ///< the number of argument i among the values
  value result() const { return result_; }                          ///< the number of the result among the values
  /// Sets the layout of an argument (or of any value of `operations()`). Discards the result of complete().
  PARTITA_DECL traced_function& constrain(value v, const sharding& layout, std::size_t priority = 0);
  /// Selects by number the arguments whose gradients are wanted: the backward part of `complete()` is computed for
  /// these. Without a call of differentiate_by, gradients of all arguments are computed.
  PARTITA_DECL traced_function& differentiate_by(const std::vector<std::size_t>& arguments);
  /// The layouts of all values and all reshards, forward and backward, which the first call computes (again after
  /// constrain or differentiate_by). explain, to_text and to_svg use the completion.
  PARTITA_DECL const completion& complete() const;

  /// Text that lists the operations with the extents of their results, for error messages.
  PARTITA_DECL text summary() const;
  /// A hash of everything that decides what the program computes and moves. All workers must call bind() on
  /// programs with equal hashes.
  PARTITA_DECL std::uint64_t fingerprint() const;

  /// Executes the program on tensors of its mesh. Arguments are resharded to their completed layouts, and every
  /// operation reads and leaves tensors in their completed layouts. A program with real and complex values takes real
  /// and complex arguments of one precision.
  /// Shapes: those with which the program was traced [shape_error].
  /// Requires: arguments on the traced mesh [partition_error].
  template <class T, class... X>
  sharded_tensor<T> operator()(const sharded_tensor<T>& first, const X&... more) const {
    return call<T>(first, detail::as_run_time(more)...);
  }
  /// Executes the program on typed tensors. The result is a tensor with a run-time layout, which is the completed
  /// layout of the result.
  template <class T, auto Layout, class... X>
  sharded_tensor<T> operator()(const typed_sharded<T, Layout>& first, const X&... more) const {
    return call<T>(first.run_time_tensor(), detail::as_run_time(more)...);
  }
  /// Fallback: a call with arrays is a compile-time error with a readable message.
  template <ranked_array X, class... More>
  detail::rejected_call operator()(const X&, const More&...) const {
    static_assert(detail::dependent_false<X>,
                  "partita::traced_function(x...): requires tensors of the traced mesh; make them of arrays by "
                  "shard(everyone, layout, x)");
    return detail::rejected_call{};
  }

  /// Binds the program to the workers of a world and computes everything that does not depend on values once; see
  /// bound_program. `gradients_of` are the numbers of the arguments whose gradients are wanted; the options say how
  /// movements overlap with computing, and how much memory a worker may use. By default, elements are double.
  template <detail::has_program_elements T = double>
  bound_program<T> bind(const world& everyone, const argument_numbers& gradients_of = {},
                        const schedule_options& options = {}) const {
    return bound_program<T>(*this, everyone, gradients_of.all(), options);
  }
  template <detail::has_program_elements T = double>
  bound_program<T> bind(const world& everyone, const schedule_options& options) const {
    return bound_program<T>(*this, everyone, {}, options);
  }
  /// Fallback: binding for other element types is a compile-time error.
  template <class T>
    requires(!detail::has_program_elements<T>)
  detail::rejected_call bind(const detail::any_argument&, const detail::any_argument& = {},
                             const detail::any_argument& = {}) const {
    static_assert(detail::dependent_false<T>,
                  "partita::traced_function::bind<T>(everyone, gradients, options): requires elements of a type of "
                  "numbers, such as double");
    return {};
  }

 private:
  template <class, class>
  friend class bound_program;
  template <class>
  friend class pipeline;
  template <class>
  friend class measured_times;
  friend struct detail::mixed_program_access;
  friend class detail::pipeline_stages;
  template <class>
  friend class traced_function_with_result;
  template <class Traced, class F, class... Spec>
  friend traced_function detail::make_trace(const F& f, const Spec&... specs);

  /// The layout s without what only completion reads: open dimensions, axes that must replicate, and the priority.
  PARTITA_DECL static sharding closed_layout(const sharding& s);
  /// The reshards of the backward pass, found by a dry run; empty for a program that cannot be differentiated.
  template <class T>
  std::vector<backward_reshard> backward_reshards() const {
    return dry_run_moves(sizeof(detail::real_of<T>), [this](const std::shared_ptr<detail::bound_mesh>& on) {
      std::vector<sharded_tensor<T>> arguments;
      for (std::size_t i = 0; i < inputs_.size(); ++i) arguments.push_back(dry_run_argument<T>(on, i));
      const auto y = run<T>(arguments);
      detail::run_backward(y, detail::dry_run_cotangent(y));
    });
  }
  /// The reshards of the backward pass that `run(mesh)` makes in a dry run. The bytes of the reshards are converted
  /// from numbers of `bytes_per_number` bytes to numbers of 4 bytes.
  template <class Run>
  std::vector<backward_reshard> dry_run_moves(std::size_t bytes_per_number, const Run& run) const {
    std::vector<movement> log;
    const detail::scoped_log now(log, true);
    try {
      run(std::make_shared<detail::bound_mesh>(operations().on()));
    } catch (const error&) {
      return {};
    }
    std::vector<backward_reshard> all;
    for (const movement& one : log)
      if (one.backward)
        all.push_back(
            {one.operation, one.extents, one.from, one.to, one.most_bytes / bytes_per_number * 4, one.is_complex});
    return all;
  }
  /// Argument i for a dry run, without elements, in its completed layout. The argument is marked as a parameter if its
  /// gradient is wanted.
  template <class T>
  sharded_tensor<T> dry_run_argument(const std::shared_ptr<detail::bound_mesh>& on, std::size_t i) const {
    const sharding argument_layout = closed_layout((*completion_)[inputs_[i]]);
    const shape_list& shape = operations()[inputs_[i]].shape;
    const auto x = detail::tensor_of(on, argument_layout, shape,
                                     detail::new_block<T>(detail::shape_of_box(on->box(argument_layout, shape))));
    const bool is_asked = !gradients_of_ || std::count(gradients_of_->begin(), gradients_of_->end(), i) > 0;
    return is_asked ? detail::parameter_of(x) : x;
  }
  /// Executes operation o, which reads its operands in `operand_layouts` and leaves its result in `computed_layout`.
  template <class T>
  sharded_tensor<T> run_one_operation(std::size_t o, const std::vector<sharded_tensor<T>>& operands,
                                      const std::vector<sharding>& operand_layouts, const sharding& computed_layout,
                                      detail::wider_window<T>* wider = nullptr) const {
    const detail::applied_operation& work = program_->applied_operations[o];
    const operation_window* const window = operations().operation(o).window;
    bool along_cuts = window != nullptr && window->is_needed(operand_layouts.size(), computed_layout);
    for (std::size_t i = 0; window != nullptr && i < operand_layouts.size(); ++i)
      along_cuts = along_cuts || window->is_needed(i, operand_layouts[i]);
    if (!along_cuts) return detail::run_operation<T>(work, operands, {operand_layouts.data(), &computed_layout});
    if (const auto* const own = dynamic_cast<const detail::window_runner<T>*>(window))
      return own->run_in_windows(work, operands, operand_layouts.data(), computed_layout, wider);
    throw error(text("partita: requires elements of float or double to run ")
                << work.how.name() << " in a traced program; cast them");
  }
  /// Computes the elements of the result of elementwise operation o in a box that is wider than this worker's block and
  /// contains it.
  template <class T>
  detail::block_window<T> compute_wider_box(std::size_t o, const std::vector<sharded_tensor<T>>& x,
                                            const sharded_tensor<T>& y, const detail::wider_window<T>& window) const {
    const detail::scoped_name name(program_->applied_operations[o].how.name());
    if (!y.state()->active()) return {y.box(), y.state()->block};
    const auto box = (*window.computed_boxes)[y.state()->on->worker()].box;
    std::vector<detail::tensor_block<T>> blocks{window.operand_window->block};
    std::vector<detail::box_in_tensor> places{{window.operand_window->box, x[0].extents()}};
    for (std::size_t i = 1; i < x.size(); ++i) {
      blocks.push_back(x[i].state()->block);
      places.push_back({x[i].box(), x[i].extents()});
    }
    return {box, detail::local_result<T>(program_->applied_operations[o], blocks, places, {box, y.extents()})};
  }
  /// Whether operation o is elementwise along sharded dimensions; see detail::placed_operation::is_elementwise.
  PARTITA_DECL bool is_elementwise_along_cuts(std::size_t o, const std::vector<sharding>& operand_layouts,
                                              const sharding& computed_layout) const;
  /// The values of a program in which all values have the same element type.
  template <class T>
  struct values_of_one_type final : detail::program_values {
    const traced_function& program;                         ///< the program that is executed
    const std::vector<sharded_tensor<T>>& arguments;        ///< in the order of the program
    std::vector<sharded_tensor<T>> values;                  ///< by their numbers in the graph
    std::vector<detail::wider_result> boxes_of_operations;  ///< for each operation; empty without wider windows
    std::vector<detail::block_window<T>> boxes_of_values;   ///< for each value, the wider box of it that was computed

    values_of_one_type(const traced_function& p, const std::vector<sharded_tensor<T>>& x)
        : program(p), arguments(x), values(p.operations().values()) {}
    void set_argument(std::size_t argument, value v, const sharding& layout) override {  ///< reshards it to layout
      values[v.number] = reshard(arguments[argument], layout);
    }
    /// Chooses the operations that compute wider boxes, if the program is bound with wider windows.
    void begin(std::vector<detail::placed_operation>& placed) override {
      const detail::step_list* const steps = detail::run_state.steps;
      if (steps == nullptr || steps->multiply_adds_per_second == 0 || arguments.empty()) return;
      for (std::size_t o = 0; o < placed.size(); ++o)
        placed[o].is_elementwise =
            program.is_elementwise_along_cuts(o, placed[o].operand_layouts, placed[o].computed_layout);
      boxes_of_operations = detail::wider_results(program.operations(), placed, *arguments[0].state()->on, sizeof(T),
                                                  steps->multiply_adds_per_second);
      boxes_of_values.resize(values.size());
    }
    void execute(std::size_t o, const std::vector<sharding>& operand_layouts, const sharding& computed_layout,
                 const sharding& final_layout) override {  ///< stores the result of operation o
      std::vector<sharded_tensor<T>> operands;
      for (std::size_t i = 0; i < operand_layouts.size(); ++i) {
        const sharded_tensor<T>& x = values[program.operand(o, i).number];
        operands.push_back(program.is_gradient_stopped(o, i) ? detail::detach(x) : x);
      }
      const std::size_t result = program.operand(o, operand_layouts.size()).number;
      detail::wider_window<T> window;
      if (!boxes_of_operations.empty() && boxes_of_operations[o].reads_wider_box)
        window.operand_window = &boxes_of_values[program.operand(o, 0).number];
      if (!boxes_of_operations.empty() && !boxes_of_operations[o].computed_boxes.empty())
        window.computed_boxes = &boxes_of_operations[o].computed_boxes;
      values[result] =
          reshard(program.run_one_operation<T>(o, operands, operand_layouts, computed_layout, &window), final_layout);
      if (window.computed_boxes == nullptr) return;
      const bool is_made = window.result_window.block.memory != nullptr;
      boxes_of_values[result] =
          is_made ? window.result_window : program.compute_wider_box(o, operands, values[result], window);
    }
  };
  /// Operand i of operation o, or, if i is the number of operands, the result of operation o. is_gradient_stopped says
  /// whether an operand has no gradient.
  PARTITA_DECL value operand(std::size_t o, std::size_t i) const;
  bool is_gradient_stopped(std::size_t o, std::size_t i) const { return (program_->gradient_stops[o] >> i & 1U) != 0; }
  /// Executes all operations in order, in the completed layouts.
  PARTITA_DECL void run_all_operations(detail::program_values& values) const;
  PARTITA_DECL void require_arguments(const shape_list* extents, std::size_t n) const;  ///< throws unless they fit

  /// Executes the program. The arguments must be as many as the program has, with the same extents.
  template <class Result, class T>
  sharded_tensor<Result> run(const std::vector<sharded_tensor<T>>& arguments) const {
    if constexpr (std::is_same_v<Result, T>)
      if (program_->mixed_execution == nullptr) {
        values_of_one_type<T> values(*this, arguments);
        run_all_operations(values);
        const sharded_tensor<T>& y = values.values[result_.number];
        return is_result_stopped_ ? detail::detach(y) : y;
      }
    std::vector<std::conditional_t<true, detail::untyped_tensor, T>> all;  // dependent: only calls instantiate it
    for (const auto& x : arguments) all.push_back(detail::untyped_tensor::from_tensor(x));
    return run_real_and_complex<Result>(all.data());
  }
  template <class T>
  sharded_tensor<T> run_real_and_complex(const detail::untyped_tensor* arguments) const {  ///< for a result of type T
    return run_real_complex_program(arguments, detail::type_number<T>()).template as_tensor<T>();
  }
  /// Executes a program with real and complex values, and returns its result. Throws an error unless the elements of
  /// the result have the type with number `type`; see type_number.
  PARTITA_DECL detail::untyped_tensor run_real_complex_program(const detail::untyped_tensor* arguments,
                                                               std::uint64_t type) const;
  /// Executes the program, whose result must have elements of type Result.
  template <class Result, class... T>
  sharded_tensor<Result> call(const sharded_tensor<T>&... x) const {
    const shape_list extents[] = {x.extents()...};
    require_arguments(extents, sizeof...(T));
    if constexpr ((std::is_same_v<T, Result> && ...)) return run<Result>(std::vector<sharded_tensor<Result>>{x...});
    else {
      constexpr bool of_one_precision = (std::is_same_v<detail::real_of<T>, detail::real_of<Result>> && ...);
      static_assert(of_one_precision,
                    "partita: program(x...): requires arguments of one precision, real or complex; cast the others");
      if constexpr (of_one_precision) {
        const detail::untyped_tensor all[] = {detail::untyped_tensor::from_tensor(x)...};
        return run_real_and_complex<Result>(all);
      } else {
        return {};
      }
    }
  }

  std::shared_ptr<detail::traced_program> program_;       ///< shared with copies and with its traced values
  std::vector<value> inputs_;                             ///< the numbers of the arguments among the values
  value result_;                                          ///< the number of the result among the values
  bool is_result_stopped_ = false;                        ///< whether the result is a constant for differentiation
  std::optional<std::vector<std::size_t>> gradients_of_;  ///< the arguments given to differentiate_by(); none: all
  mutable std::shared_ptr<const completion> completion_;  ///< the result of complete(); null if not known
};

namespace detail {

/// The class of the traced value for an argument whose spec has the type Spec: Traced, unless this template is
/// specialised for Spec.
template <class Traced, class Spec>
struct traced_arg {
  using type = Traced;
};
template <class Traced, class... Spec>
struct first_traced_type {  ///< the class of the traced value for the first argument
  using type = Traced;      ///< if there are no arguments
};
template <class Traced, class First, class... Spec>
struct first_traced_type<Traced, First, Spec...> : traced_arg<Traced, First> {};
/// The class of a traced program, which depends on the placeholders for the element types of its first argument and of
/// its result.
template <class Argument, class Result>
struct program_class {
  using type = traced_function;
};
/// The class of the program that tracing f with these specs makes.
template <class Traced, class F, class... Spec>
using program_type = typename program_class<typename first_traced_type<Traced, Spec...>::type::value_type,
                                            element_of_tensor<decltype(std::declval<const F&>()(
                                                std::declval<typename traced_arg<Traced, Spec>::type>()...))>>::type;

/// Traces f with arguments of the class Traced.
template <class Traced, class F, class... Spec>
traced_function make_trace(const F& f, const Spec&... specs) {
  const spec all[] = {specs...};
  const spec* known = nullptr;
  for (const spec& one : all)
    if (one.known && known == nullptr) known = &one;
  if (known == nullptr)
    throw partition_error("partita::trace: requires a spec with a layout, which says on what mesh; annotate one");
  const auto program = std::make_shared<detail::traced_program>(known->layout.on);
  program->backward_reshards = [](const traced_function& made) {
    return made.program_->mixed_execution ? made.program_->mixed_execution->backward_reshards(made)
                                          : made.backward_reshards<typename Traced::value_type>();
  };
  std::vector<value> inputs;
  for (const spec& one : all)
    inputs.push_back(one.known ? program->operations.input(one.shape, one.layout)
                               : program->operations.input(one.shape));
  const bool complex[] = {is_complex<typename traced_arg<Traced, Spec>::type::value_type>...};
  for (std::size_t i = 0; i < inputs.size(); ++i) program->operations.set_complex(inputs[i], complex[i]);
  const traced result = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return traced(f(typename traced_arg<Traced, Spec>::type(program, inputs[I])...));
  }(std::index_sequence_for<Spec...>());
  if (result.program() != program)
    throw error(
        "partita::trace: requires a function that returns a value of its own program, but got one of another program "
        "that is being traced; make that an argument");
  traced_function made(program, inputs, result.number_in_graph());
  made.is_result_stopped_ = result.is_gradient_stopped();
  return made;
}

}  // namespace detail

/// Calls f with traced values, which have extents but no elements, and records the operations of f, as in `auto program
/// = trace(mlp, spec(layout, {64, 784}), spec({784, 256}), …)`. If a spec has no layout, completion chooses one.
/// Complex arguments are traced by `trace<std::complex<double>>(f, …)` of sharded/complex.hpp, or given by
/// `complex_spec`.
/// Requires: at least one spec with a layout, which gives the mesh [partition_error].
template <class F, class... Spec>
  requires(std::is_convertible_v<const Spec&, spec> && ...)
auto trace(const F& f, const Spec&... specs) {
  return typename detail::program_type<traced, F, Spec...>(detail::make_trace<traced>(f, specs...));
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/traced_function.ipp>
#endif
