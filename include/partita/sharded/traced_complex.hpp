// Traced programs with complex values. Tracing determines which values are complex; a program may convert real values
// to complex values and back.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <partita/array/real_part.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/traced_function.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// A complex value of a program that is being traced.
class traced_complex : public traced {
 public:
  using value_type = std::complex<double>;  ///< a placeholder: a program computes with the precision of its arguments
  using traced::traced;
  explicit traced_complex(traced x) : traced(std::move(x)) {}  ///< x must be complex
};

/// The spec of a complex argument of a program, as in `trace(f, spec(layout, {8, 8}), complex_spec({8, 5}))`.
struct complex_spec : spec {
  using spec::spec;
};

/// A traced program whose first argument is real and whose result is complex, or the other way around. Result is the
/// placeholder std::complex<double> or double. The program is called and bound like a traced_function.
template <class Result>
class traced_function_with_result : public traced_function {
  /// The element type of the result for arguments of elements T, in their precision.
  template <class T>
  using result_element_type =
      std::conditional_t<detail::is_complex<Result>, std::complex<detail::real_of<T>>, detail::real_of<T>>;

 public:
  explicit traced_function_with_result(traced_function program) : traced_function(std::move(program)) {}

  template <class T, class... X>
  auto operator()(const sharded_tensor<T>& first, const X&... more) const {
    return this->template call<result_element_type<T>>(first, detail::as_run_time(more)...);
  }
  template <class T, auto Layout, class... X>
  auto operator()(const typed_sharded<T, Layout>& first, const X&... more) const {
    return (*this)(first.run_time_tensor(), more...);
  }
  /// Binds the program for arguments of elements T, which are all real or all complex. A program with real
  /// and complex arguments is bound with `real_and_complex<T>`.
  template <class T>
  auto bind(const world& everyone, const argument_numbers& gradients_of = {},
            const schedule_options& options = {}) const {
    return bound_program<T, result_element_type<T>>(*this, everyone, gradients_of.all(), options);
  }
  template <class T>
  auto bind(const world& everyone, const schedule_options& options) const {
    return bind<T>(everyone, {}, options);
  }
};

/// A tensor of real or of complex numbers. At most one of the members `real` and `complex` holds a tensor; the other
/// one is empty.
template <class R>
struct real_or_complex {
  sharded_tensor<R> real{};                   ///< empty if the numbers are complex
  sharded_tensor<std::complex<R>> complex{};  ///< empty if the numbers are real

  real_or_complex() = default;
  explicit real_or_complex(sharded_tensor<R> x) : real(std::move(x)) {}
  explicit real_or_complex(sharded_tensor<std::complex<R>> x) : complex(std::move(x)) {}
  bool is_complex() const { return complex.state() != nullptr; }  ///< Whether the tensor is complex.
  /// Returns the member whose elements have type T, which is R or std::complex<R>.
  template <class T>
  const sharded_tensor<T>& of() const {
    if constexpr (std::is_same_v<T, R>) return real;
    else return complex;
  }
  /// Applies f to the tensor that is not empty. f must return a tensor of the same element type.
  template <class F>
  real_or_complex transform(F f) const {
    return is_complex() ? real_or_complex(f(complex)) : real_or_complex(f(real));
  }
  /// The tensor as a constant for differentiation, which has no gradient.
  real_or_complex detached() const {
    return transform([](const auto& x) { return detail::detach(x); });
  }
};

/// The type for which a program with real and complex arguments is bound, together with the element type of its result:
/// bound_program<real_and_complex<double>, std::complex<double>> step(program, everyone, {0, 1});
/// const auto& y = step(x, z); // x is real, z complex, as they were traced
/// const std::vector<real_or_complex<double>>& gradients = step.backward(dy);
/// const sharded_tensor<std::complex<double>>& dz = gradients[1].complex;
template <class R>
struct real_and_complex {};

namespace detail {

template <class Real>
struct traced_type<std::complex<Real>> {
  using type = traced_complex;
};
template <class Traced>
struct traced_arg<Traced, complex_spec> {  ///< the class of the traced value of a complex argument: traced_complex
  using type = traced_complex;
};
template <>
struct program_class<double, std::complex<double>> {  ///< real argument, complex result
  using type = traced_function_with_result<std::complex<double>>;
};
template <>
struct program_class<std::complex<double>, double> {
  using type = traced_function_with_result<double>;  ///< complex argument, real result
};

/// The interface of an operation of a program whose result has another element type than its operands, for elements
/// whose real type is R.
template <class R>
struct typed_element_change {
  virtual ~typed_element_change() = default;
  virtual real_or_complex<R> result(const std::vector<real_or_complex<R>>& x) const = 0;  ///< the result for operands x
};
template <class Op, class R>
struct typed_element_change_of_op : typed_element_change<R> {  ///< computed by Op::convert
  Op op;                                                       ///< which converts its operands
  explicit typed_element_change_of_op(const Op& declared) : op(declared) {}
  real_or_complex<R> result(const std::vector<real_or_complex<R>>& x) const override {  ///< of op on operands x
    if constexpr (is_complex<typename Op::operand_type>) return convert<std::complex<R>>(x);
    else return convert<R>(x);
  }

 private:
  template <class T>
  real_or_complex<R> convert(const std::vector<real_or_complex<R>>& x) const {  ///< from elements T
    std::vector<sharded_tensor<T>> operands;
    for (const auto& one : x) operands.push_back(one.template of<T>());
    return real_or_complex<R>(op.convert(operands));
  }
};
/// An operation Op whose result has another element type than its operands, for both precisions.
template <class Op>
struct element_type_change final : custom_op,
                                   typed_element_change_of_op<Op, float>,
                                   typed_element_change_of_op<Op, double> {
  explicit element_type_change(const Op& op)
      : custom_op(fingerprint_of_operation(op)),
        typed_element_change_of_op<Op, float>(op),
        typed_element_change_of_op<Op, double>(op) {}
};

/// The access that the execution of programs with real and complex values has to the private members of a program.
struct mixed_program_access {
  template <class R>
  struct values final : program_values {  ///< the values of such a program, for elements whose real type is R
    const traced_function& program;       ///< the program that is executed
    const std::vector<real_or_complex<R>>& arguments;  ///< in the order of the program
    std::vector<real_or_complex<R>> all;               ///< all values, by their numbers in the graph

    values(const traced_function& p, const std::vector<real_or_complex<R>>& x)
        : program(p), arguments(x), all(p.operations().values()) {}
    void set_argument(std::size_t argument, value v, const sharding& layout) override {  ///< stores it as value v
      all[v.number] = arguments[argument].transform([&](const auto& x) { return reshard(x, layout); });
    }
    void execute(std::size_t o, const std::vector<sharding>& operand_layouts, const sharding& computed_layout,
                 const sharding& final_layout) override {  ///< operation o; stores its result
      std::vector<real_or_complex<R>> operands;
      for (std::size_t i = 0; i < operand_layouts.size(); ++i) {
        const auto& x = all[program.operand(o, i).number];
        operands.push_back(program.is_gradient_stopped(o, i) ? x.detached() : x);
      }
      all[program.operand(o, operand_layouts.size()).number] =
          result(o, operands, operand_layouts, computed_layout).transform([&](const auto& y) {
            return reshard(y, final_layout);
          });
    }

   private:
    real_or_complex<R> result(std::size_t o, std::vector<real_or_complex<R>>& x,
                              const std::vector<sharding>& operand_layouts, const sharding& computed_layout) const {
      const applied_operation& work = program.program_->applied_operations[o];
      if (const auto* const change = dynamic_cast<const typed_element_change<R>*>(work.custom.get())) {
        const scoped_name name(work.how.name());
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] = x[i].transform([&](const auto& z) { return reshard(z, operand_layouts[i]); });
        return change->result(x);
      }
      if (x[0].is_complex())
        return real_or_complex<R>(run_single_step<std::complex<R>>(o, x, operand_layouts, computed_layout));
      return real_or_complex<R>(run_single_step<R>(o, x, operand_layouts, computed_layout));
    }
    template <class T>
    sharded_tensor<T> run_single_step(std::size_t o, const std::vector<real_or_complex<R>>& x,
                                      const std::vector<sharding>& operand_layouts,
                                      const sharding& computed_layout) const {  ///< operands x of one type T
      std::vector<sharded_tensor<T>> operands;
      for (const auto& one : x) operands.push_back(one.template of<T>());
      return program.template run_one_operation<T>(o, operands, operand_layouts, computed_layout);
    }
  };

  /// Executes the program in the precision of R, and returns its result.
  template <class R>
  static real_or_complex<R> run(const traced_function& program, const std::vector<real_or_complex<R>>& arguments) {
    values<R> all(program, arguments);
    program.run_all_operations(all);
    const real_or_complex<R>& y = all.all[program.result_.number];
    return program.is_result_stopped_ ? y.detached() : y;
  }
  static std::size_t argument_count(const traced_function& program) { return program.inputs_.size(); }  ///< of program
  static bool is_complex_input(const traced_function& program, std::size_t i) {  ///< whether argument i is complex
    return program.operations()[program.inputs_[i]].is_complex;
  }
  /// Finds the reshards of the backward pass by a dry run, with arguments in their completed layouts.
  static std::vector<backward_reshard> backward_reshards(const traced_function& program) {
    return program.dry_run_moves(sizeof(double), [&](const std::shared_ptr<bound_mesh>& on) {
      std::vector<real_or_complex<double>> arguments;
      for (std::size_t i = 0; i < program.inputs_.size(); ++i) {
        if (is_complex_input(program, i))
          arguments.push_back(real_or_complex<double>(program.dry_run_argument<std::complex<double>>(on, i)));
        else arguments.push_back(real_or_complex<double>(program.dry_run_argument<double>(on, i)));
      }
      const auto back = [](const auto& y) { run_backward(y, dry_run_cotangent(y)); };
      const auto y = run(program, arguments);
      if (y.is_complex()) back(y.complex);
      else back(y.real);
    });
  }
};

template <class R>
struct tensors_of_program<real_and_complex<R>> {
  using tensor = real_or_complex<R>;
  template <class V>
  static constexpr bool takes = std::is_same_v<V, R> || std::is_same_v<V, std::complex<R>>;

  static tensor recorded(outside_argument& one, bool is_complex, bound_steps& steps,
                         const std::shared_ptr<bound_mesh>& mesh, const sharding& layout, const shape_list& extents) {
    if (is_complex) return tensor(one.recorded<std::complex<R>>(steps, mesh, layout, extents));
    return tensor(one.recorded<R>(steps, mesh, layout, extents));
  }
  template <class F>
  static tensor transform(const tensor& x, const F& f) {
    return x.transform(f);
  }
  static void ensure_unique_memory(bound_steps& steps, tensor& result, std::uint32_t number) {
    if (result.is_complex()) detail::ensure_unique_memory(steps, result.complex, number);
    else detail::ensure_unique_memory(steps, result.real, number);
  }
  /// Runs a program with real and complex values. An error if its result is complex and Result real, or the reverse.
  template <class Result>
  static sharded_tensor<Result> run(const traced_function& program, const std::vector<tensor>& arguments) {
    const tensor y = mixed_program_access::run(program, arguments);
    if (y.is_complex() != is_complex<Result>)
      throw error(text("partita::bound_program: requires the type of the elements of the result, which are ")
                  << (y.is_complex() ? "complex" : "real") << ", got " << type_name<Result>()
                  << "; bind the program for that");
    return y.template of<Result>();
  }
};

struct real_complex_execution final : mixed_type_execution {  ///< executes programs with real and complex values
  untyped_tensor run(const traced_function& program, const untyped_tensor* arguments) const override {
    if (const auto type = arguments[0].type; type == type_number<float>() || type == type_number<std::complex<float>>())
      return run_in_precision<float>(program, arguments);
    return run_in_precision<double>(program, arguments);
  }
  std::vector<backward_reshard> backward_reshards(const traced_function& program) const override {
    return mixed_program_access::backward_reshards(program);
  }

 private:
  template <class R>
  static untyped_tensor run_in_precision(const traced_function& program, const untyped_tensor* given) {  ///< that of R
    std::vector<real_or_complex<R>> arguments;
    for (std::size_t i = 0; i < mixed_program_access::argument_count(program); ++i) {
      const bool wants_complex = mixed_program_access::is_complex_input(program, i);
      if (given[i].type != (wants_complex ? type_number<std::complex<R>>() : type_number<R>()))
        throw error(
            text("partita::trace: argument ")
            << i << " was traced for " << (wants_complex ? "complex" : "real")
            << " elements of float or double, got others; give these (bind real and complex ones by bound_program<"
               "real_and_complex<double>, Result>), or trace the function with "
            << (wants_complex ? "spec" : "complex_spec"));
      if (wants_complex) arguments.push_back(real_or_complex<R>(given[i].as_tensor<std::complex<R>>()));
      else arguments.push_back(real_or_complex<R>(given[i].as_tensor<R>()));
    }
    const auto y = mixed_program_access::run(program, arguments);
    return y.is_complex() ? untyped_tensor::from_tensor(y.complex) : untyped_tensor::from_tensor(y.real);
  }
};

inline const real_complex_execution mixed_program_executor{};  ///< the executor of all such programs

/// Adds an operation from real to complex values, or from complex to real values, to the traced program. Op declares
/// its rule, and optionally the extents of the result, as an operation of apply_op() does; the placeholders
/// `operand_type` and `result_type` of the element types; and `convert(x)`, which computes the result for tensors in
/// layouts that fit the rule.
template <class Op, class... X>
auto trace_element_change(const Op& op, const X&... x) {
  const shape_list shapes[] = {x.extents()...};
  const shape_span span(shapes, sizeof...(X));
  applied_operation work;
  if constexpr (requires { op.result_extents(span); }) {
    const shape_list extents = op.result_extents(span);
    work.how = bind_shapes(op.rule(span), span, shape_span(&extents, 1));
  } else {
    work.how = bind_shapes(op.rule(span), span);
  }
  work.custom = std::make_shared<const element_type_change<Op>>(op);
  const traced y = trace_operation(work, nullptr, x...);
  y.program()->mixed_execution = &mixed_program_executor;
  y.program()->operations.set_complex(y.number_in_graph(), is_complex<typename Op::result_type>);
  return typename traced_type<typename Op::result_type>::type(y);
}

}  // namespace detail

/// Overloads for complex traced values of functions that do not depend on the element type; see the functions of
/// `traced`.
inline traced_complex constrain(const traced_complex& x, const sharding& layout, std::size_t priority = 0) {
  return traced_complex(constrain(static_cast<const traced&>(x), layout, priority));
}
inline traced_complex stop_gradient(const traced_complex& x) {
  return traced_complex(stop_gradient(static_cast<const traced&>(x)));
}
inline traced_complex reshape(const traced_complex& x, const shape_list& extents) {
  return traced_complex(reshape(static_cast<const traced&>(x), extents));
}
template <std::size_t... E>
traced_complex reshape(const traced_complex& x, const extents<E...>& all) {
  return reshape(x, shape_list(all));
}
template <sharding S, class = void>
traced_complex reshape(const traced_complex& x, const shape_list& extents) {
  return constrain(reshape(x, extents), S);
}

/// Traces a program whose arguments are all complex: `trace<std::complex<double>>(f, spec(layout, {8, 8}))`. The
/// program can be called with, and bound for, std::complex<float> or std::complex<double>. A program with real and
/// complex arguments is traced by `trace(f, …)`, with a complex_spec for each complex argument.
template <class T, class F, class... Spec>
  requires(detail::is_complex<T> && (std::is_convertible_v<const Spec&, spec> && ...))
auto trace(const F& f, const Spec&... specs) {
  return typename detail::program_type<traced_complex, F, Spec...>(detail::make_trace<traced_complex>(f, specs...));
}

}  // namespace partita
