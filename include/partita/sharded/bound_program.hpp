// A traced program bound to the workers of a world: a repeated call plans nothing, and usually allocates nothing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/version.hpp>
#include <partita/sharded/detail/bound_steps.hpp>
#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/detail/outside_tensors.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// A traced program on the workers of a world, made by `program.bind<double>(everyone, {1, 2})`. Binding computes all
/// layouts, the order of operations, the bounds of all blocks, all movements, and the place of each block in
/// preallocated storage. A call executes the steps that were recorded at binding. Unless `wider_windows` is set, the
/// result of a call equals that of the traced program bitwise.
///   const auto& y = step(x, w1, w2);            // y is in memory of the program: its next call overwrites y
///   const auto& gradients = step.backward(dy);  // gradients of arguments 1 and 2, in this order
/// Shapes:   those with which the program was traced [shape_error, on all workers].
/// Requires: tensors on the traced mesh in this world, on no tape [error, on all workers except at checks::local].
/// Cost:     one agreement per call (none at checks::local), the computation and movements of the program. An argument
///           whose layout is not the one that completion chose for it is resharded first, which allocates memory. One
///           thread at a time may call a program.
/// Adjoint:  `backward`, at most once after a call; each gradient has the layout cotangent(layout of its argument):
///           that of the argument, but reduced where the argument is partial, and partial where the argument is
///           reduced.
///
/// Arguments and their gradients have elements of type T; the result and its cotangent have elements of type Result,
/// because a program may compute complex results from real arguments, or real results from complex arguments. For T =
/// real_and_complex<double> some arguments are real and others complex; see <partita/sharded/traced_complex.hpp>.
template <class T, class Result>
class bound_program {
  using tensor_traits = detail::tensors_of_program<T>;  ///< functions and types for tensors of elements T
  using tensor = typename tensor_traits::tensor;        ///< an argument, or a gradient

 public:
  using value_type = T;  ///< the element type of arguments and gradients

  /// Binds the program; `gradients_of` are the numbers of the arguments whose gradients are wanted. Collective.
  bound_program(const traced_function& program, const world& everyone,
                const std::vector<std::size_t>& gradients_of = {}, const schedule_options& options = {})
      : mesh_(detail::bound_mesh::of(everyone, placed_mesh(program.operations().on()))) {
    mesh_->one_call([&] {
      agree_on_binding(program, gradients_of, options);
      if (options.wider_windows.value_or(false)) steps_.multiply_adds_per_second = options.model.multiply_adds;
      record_steps(program, gradients_of);
      steps_.plan_steps(*mesh_, options);
    });
  }

  template <class... X>
    requires(detail::tensor_value<X> && ...)
  const sharded_tensor<Result>& operator()(const X&... x) {
    static_assert((tensor_traits::template takes<typename X::value_type> && ...),
                  "partita::bound_program: requires tensors of the element type that it was bound for; bind another");
    const std::array<detail::tensor_argument, sizeof...(X)> given{detail::as_run_time(x)...};
    mesh_->one_call([&] {
      detail::agree_on_arguments(mesh_->everyone(), fingerprint_, "partita::bound_program(x...)", given.data(),
                                 given.size(), inputs_.data(), inputs_.size(), {});
      [[maybe_unused]] std::size_t i = 0;
      (inputs_[i++].set_tensor(steps_, detail::as_run_time(x)), ...);
      detail::ensure_unique_memory(steps_, result_, result_block_number_);
      steps_.run(false);
    });
    is_called_ = !gradients_.empty();
    if (!is_called_) release_arguments();
    return result_;
  }

  /// Returns the gradients with respect to the arguments `gradients_of`, computed from the cotangent dy of the result
  /// of the last call.
  const std::vector<tensor>& backward(const sharded_tensor<Result>& dy) {
    const detail::tensor_argument given(dy);
    mesh_->one_call([&] {
      detail::agree_on_arguments(
          mesh_->everyone(), fingerprint_, "partita::bound_program::backward(dy)", &given, 1, &cotangent_, 1,
          is_called_ ? text() : text("requires a call since it was bound, with gradients, or since the last backward"));
      cotangent_.set_tensor(steps_, dy);
      for (std::size_t k = 0; k < gradients_.size(); ++k)
        tensor_traits::ensure_unique_memory(steps_, gradients_[k], gradient_block_numbers_[k]);
      const detail::scoped_value<bool> back(detail::run_state.is_backward, true);
      steps_.run(true);
    });
    is_called_ = false;
    release_arguments();
    return gradients_;
  }

  /// The bytes of storage for intermediate values on this worker.
  std::size_t bytes_held() const { return steps_.bytes_held(); }
  /// The bytes of storage that this worker would need if no two blocks shared memory.
  std::size_t bytes_without_sharing() const { return steps_.unshared_bytes(); }

  /// The estimated times of all operations and movements of a call and its backward pass. Bytes, and in some cases
  /// times, differ between workers. explain/timetable_picture.hpp prints and draws a timetable.
  partita::timetable timetable() const { return steps_.estimated_times(); }
  /// The measured times of this worker's last call and last backward. After the first call of measured_timetable() each
  /// step reads the clock twice; the first call returns times of 0, unless a trace is written.
  partita::timetable measured_timetable() { return steps_.measured_timetable(); }
  PARTITA_FORMER_NAME("use measured_timetable") partita::timetable measured() { return measured_timetable(); }

 private:
  void agree_on_binding(const traced_function& program, const std::vector<std::size_t>& gradients_of,
                        const schedule_options& options) {  ///< throws if the binding is not valid or differs by worker
    hasher all(program.fingerprint());
    all.mix(mesh_->fingerprint()).mix(detail::type_number<T>()).mix(gradients_of);
    all.mix(options.overlap.value_or(false)).mix(options.overlap.value_or(true));
    all.mix(options.memory).mix(options.pending).mix(options.wider_windows.value_or(false));
    detail::local_error wrong;
    for (const double speed : {options.model.multiply_adds, options.model.memory_bytes}) {
      all.mix(std::bit_cast<std::uint64_t>(speed));
      if (!(speed > 0))
        wrong = {detail::failure::other,
                 text("partita::traced_function::bind: requires a .model with speeds above 0, of multiply_adds and of "
                      "memory_bytes per second; give those of a worker, or leave them out")};
    }
    for (const std::size_t i : gradients_of)
      if (i >= program.inputs_.size())
        wrong = detail::local_error(
            text("partita::traced_function::bind: requires numbers of arguments, of which there are ")
            << program.inputs_.size() << ", got " << i << "; count from 0");
    if (std::is_integral_v<T> && !gradients_of.empty())
      wrong = {
          detail::failure::other,
          text("partita::traced_function::bind: requires elements of float or double for gradients, as derivatives "
               "are no integers; bind it without them, or for double")};
    fingerprint_ = all.value();
    detail::agree_if_checked(*mesh_->everyone().state(), fingerprint_, wrong, [&] {
      return text("partita::traced_function::bind<") << detail::type_name<T>() << "> of " << program.summary();
    });
  }
  /// Records the steps: runs the program and its backward pass on blocks whose elements are not read.
  void record_steps(const traced_function& program, const std::vector<std::size_t>& gradients_of) {
    const detail::scoped_value<detail::step_list*> now(detail::run_state.steps, &steps_);
    const completion& done = program.complete();
    std::vector<tensor> arguments;
    inputs_.resize(program.inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const value v = program.inputs_[i];
      const graph::tensor& of = program.operations()[v];
      arguments.push_back(tensor_traits::recorded(inputs_[i], of.is_complex, steps_, mesh_,
                                                  traced_function::closed_layout(done[v]), of.shape));
    }
    for (const std::size_t i : gradients_of)
      arguments[i] = tensor_traits::transform(
          arguments[i], [](const auto& x) { return x.state()->node ? x : detail::parameter_of(x); });
    const sharded_tensor<Result> y = [&] {
      if constexpr (std::is_same_v<tensor, sharded_tensor<T>>) return program.template run<Result>(arguments);
      else return tensor_traits::template run<Result>(program, arguments);
    }();
    result_ = detail::make_outside_result(steps_, y, result_block_number_);
    steps_.begin_backward();
    if (gradients_of.empty()) return;
    const sharding place = detail::cotangent_sharding(y.layout());
    detail::run_backward(y, cotangent_.template recorded<Result>(steps_, mesh_, place, y.extents()));
    for (const std::size_t i : gradients_of) {
      std::uint32_t& number = gradient_block_numbers_.emplace_back();
      gradients_.push_back(tensor_traits::transform(arguments[i], [&](const auto& x) {
        return detail::make_outside_result(steps_, detail::gradient_of(x), number);
      }));
    }
  }
  /// Releases the blocks of the caller that the last call, or backward, has read.
  void release_arguments() {
    for (detail::outside_argument& one : inputs_) one.memory = {};
    cotangent_.memory = {};
  }

  std::shared_ptr<detail::bound_mesh> mesh_;           ///< the mesh of the program, on workers of the world
  detail::bound_steps steps_;                          ///< recorded by the constructor, executed by each call
  std::vector<detail::outside_argument> inputs_;       ///< for each argument, its layout and its block in a call
  detail::outside_argument cotangent_;                 ///< the argument of backward()
  sharded_tensor<Result> result_;                      ///< the result of the last call; the next call overwrites it
  std::vector<tensor> gradients_;                      ///< of the last backward(), in the order of gradients_of
  std::uint32_t result_block_number_ = 0;              ///< the number of result_'s block in steps_
  std::vector<std::uint32_t> gradient_block_numbers_;  ///< for each of gradients_, the number of its block in steps_
  std::uint64_t fingerprint_ = 0;  ///< a hash of the program, its mesh, T and the options of binding
  bool is_called_ = false;         ///< whether a call was made, with gradients, after which backward() may run once
};

}  // namespace partita
