// Saves checkpoints: one folder per step, with one .npy file per tensor and a manifest that describes the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/array/expression.hpp>
#include <partita/core/config.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/io/detail/checkpoint_writer.hpp>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// A tensor on p with its name, as in `named("weight", p_w, extents<12, 16>{}, w)`. `source_cuts(...)` may follow, as
/// in save_npy. A name has 1 to 100 of the characters A-Z a-z 0-9 _ - and dot, and does not begin with a dot. If x is
/// an lvalue, the result refers to x, so x must outlive the result.
template <class Extents, std::size_t... E, ranked_array X, class... Policies>
auto named(std::string name, const partition<Extents>& p, const extents<E...>& global, X&& x,
           const Policies&... policies) {
  constexpr std::size_t rank = sizeof...(E);
  static_assert(Extents::rank() == rank && rank_of<X> == rank,
                "partita::named(name, p, extents, x): requires a partition, extents and a block of one rank; reshape() "
                "the partition with extents of 1");
  static_assert(npy_element<element_of<X>>,
                "partita::named(name, p, extents, x): requires elements that a .npy file can hold: numbers, bool or "
                "std::complex of real numbers");
  static_assert((detail::is_source_cuts<Policies> && ...),
                "partita::named(name, p, extents, x, policies...): requires no policy but source_cuts(...)");
  using block = std::conditional_t<std::is_lvalue_reference_v<X>, const std::remove_reference_t<X>&, X>;
  return named_tensor<Extents, rank, block, Policies...>{std::move(name), p, global.array(), std::forward<X>(x),
                                                         detail::file_request<rank>::of(policies...)};
}

namespace detail {

template <class T>
inline constexpr bool is_named_tensor = false;  ///< whether T is a named_tensor
template <class Extents, std::size_t Rank, class X, class... Policies>
inline constexpr bool is_named_tensor<named_tensor<Extents, Rank, X, Policies...>> = true;

/// Adds to the hash of a call everything about a tensor that must be equal on all workers.
template <class Extents, std::size_t Rank, class X, class... Policies>
void add_to_hash(argument_hash& number, const named_tensor<Extents, Rank, X, Policies...>& tensor) {
  number << tensor.name.c_str() << hash_arguments<element_of<X>>(tensor.p, tensor.request).value();
  for (const std::size_t n : tensor.global) number << n;
}

/// Throws the same error on all workers if the name of a tensor is invalid or is in `names`, or if the tensor cannot be
/// saved. Adds the name to `names`.
template <class Extents, std::size_t Rank, class X, class... Policies>
void check_tensor(const file_call& call, const named_tensor<Extents, Rank, X, Policies...>& tensor,
                  std::vector<std::string>& names) {
  text sentence;
  if (!is_tensor_name(tensor.name))
    call.make_error(file_error::kind::io, sentence << "requires names of 1 to 100 letters, digits, _, - and dots, not "
                                                      "beginning with a dot; got \""
                                                   << tensor.name.c_str() << "\"; choose another name")
        .raise();
  for (const std::string& other : names)
    if (other == tensor.name)
      call.make_error(file_error::kind::io, sentence << "requires a name of its own for each tensor; \""
                                                     << tensor.name.c_str() << "\" is given twice; choose another name")
          .raise();
  names.push_back(tensor.name);
  if (!(tensor.p.world() == call.everyone()))
    call.make_error(file_error::kind::partition, "requires partitions of one world; make all from the same world")
        .raise();
  check_save_arguments(call, tensor.p, tensor.global.data(), Rank, sizeof(element_of<X>));
}

/// Agrees on a checkpoint, makes its folder, and moves its tensors to the workers that write them. With `copies` the
/// caller may change the blocks as soon as the function returns. The function `each(f)` calls f for all tensors in
/// order; `count` is their number. Collective.
template <class Each>
std::unique_ptr<checkpoint_writer> begin_checkpoint_of_tensors(const char* name, const std::string& folder,
                                                               std::uint64_t step, const checkpoint_options& options,
                                                               bool copies, const world& everyone, std::size_t count,
                                                               Each each) {
  argument_hash number;
  number << step << options.keep_last << options.slab_bytes << options.files.page_bytes << options.files.owner_bytes;
  each([&](const auto& tensor) { add_to_hash(number, tensor); });
  const file_call call(everyone, 0,
                       text(name) << "(\"" << folder.c_str() << "\", " << step << ", " << count
                                  << (count == 1 ? " tensor)" : " tensors)"),
                       number);
  return one_call(*everyone.state(), [&] {
    call.all_and(0);
    std::vector<std::string> names;
    each([&](const auto& tensor) { check_tensor(call, tensor, names); });
    auto made = std::make_unique<checkpoint_writer>(call, folder, step, options);
    made->begin();
    each([&](const auto& tensor) { made->add(tensor, copies); });
    return made;
  });
}
/// Begins a checkpoint of the tensors in the argument list, which `named` has made. Collective.
template <class First, class... Rest>
std::unique_ptr<checkpoint_writer> begin_checkpoint(const char* name, const std::string& folder, std::uint64_t step,
                                                    const checkpoint_options& options, bool copies, const First& first,
                                                    const Rest&... rest) {
  static_assert(is_named_tensor<First> && (is_named_tensor<Rest> && ...),
                "partita::save_checkpoint(folder, step, tensors...): requires tensors made by named(name, p, extents, "
                "x), and checkpoint_options at most as the last argument");
  return begin_checkpoint_of_tensors(name, folder, step, options, copies, first.p.world(), 1 + sizeof...(Rest),
                                     [&](auto f) {
                                       f(first);
                                       (f(rest), ...);
                                     });
}

}  // namespace detail

/// Saves tensors in the folder FOLDER/step-N (N has at least 12 digits), which gets this name only when all its files
/// are written. Options may be the last argument: `checkpoint_options{.keep_last = 3}`.
/// Shapes:   each x is this worker's block, as in save_npy. All workers of the world call save_checkpoint. Several jobs
///           may save into one folder: if two save the same step, only one of them succeeds. The call removes
///           incomplete steps of killed jobs.
/// Requires: a folder that exists or can be made and does not contain the step [io_error]; names that are valid for
///           files and unique [io_error]. All workers throw the errors; steps saved before stay intact, except those
///           that `keep_last` removes.
/// Cost:     that of save_npy for each tensor, on each worker a checksum over the bytes that it writes (some 9 GB/s),
///           and from each owner of a slab a message of 4 bytes per slab to one worker.
/// Adjoint:  none; load_checkpoint is the inverse.
template <class First, class... Rest>
void save_checkpoint(const std::string& folder, std::uint64_t step, const First& first, const Rest&... rest) {
  using namespace detail;
  const auto all = std::tie(first, rest...);
  constexpr bool with_options =
      std::is_same_v<std::remove_cvref_t<std::tuple_element_t<sizeof...(Rest), decltype(all)>>, checkpoint_options>;
  constexpr bool of_tensors =
      (is_named_tensor<First> + ... + is_named_tensor<Rest>) > 0 &&
      (is_named_tensor<First> + ... + is_named_tensor<Rest>)+with_options == sizeof...(Rest) + 1;
  static_assert(of_tensors,
                "partita::save_checkpoint(folder, step, tensors...): requires tensors made by named(name, p, extents, "
                "x), and checkpoint_options at most as the last argument");
  checkpoint_options options;
  if constexpr (with_options) options = std::get<sizeof...(Rest)>(all);
  if constexpr (of_tensors) {
    call_with_unwinding([&] {
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        one_call(*first.p.world().state(), [&] {
          const auto made =
              begin_checkpoint("partita::save_checkpoint", folder, step, options, false, std::get<K>(all)...);
          made->write();
          made->end();
        });
      }(std::make_index_sequence<sizeof...(Rest) + (with_options ? 0 : 1)>());
    });
  }
}

/// Saves checkpoints asynchronously: `save` copies the tensors, a thread of each worker writes the copies while the
/// program computes, and the next `save` or `finish` completes the step. At most one checkpoint is pending.
/// Shapes:   those of save_checkpoint.
/// Requires: what save_checkpoint requires; the call that completes the step throws the errors. All workers call the
///           same members. The object must be destroyed before its world.
/// Cost:     a copy of the elements that this worker writes, kept until the step is completed. The thread that writes
///           uses some time of a core.
/// Adjoint:  none; load_checkpoint is the inverse.
class checkpoint_saver {
 public:
  explicit checkpoint_saver(std::string folder, const checkpoint_options& options = {})
      : folder_(std::move(folder)), options_(options) {}
  checkpoint_saver(const checkpoint_saver&) = delete;
  checkpoint_saver& operator=(const checkpoint_saver&) = delete;
  /// Completes a pending checkpoint; prints an error to stderr instead of throwing the error. If the object is
  /// destroyed during stack unwinding, the pending checkpoint is not saved.
  PARTITA_INLINE ~checkpoint_saver();

  /// Completes the previous checkpoint, and starts that of `step`. The caller may change the tensors after the call.
  /// Collective.
  template <class... Tensors>
  void save(std::uint64_t step, const Tensors&... tensors) {
    static_assert(sizeof...(Tensors) > 0 && (detail::is_named_tensor<Tensors> && ...),
                  "partita::checkpoint_saver::save(step, tensors...): requires tensors made by named(name, p, extents, "
                  "x)");
    finish();
    detail::call_with_unwinding([&] {
      pending_ = detail::begin_checkpoint("partita::checkpoint_saver::save", folder_, step, options_, true, tensors...);
    });
    try {
      thread_ = std::thread([it = pending_.get()] { it->write(); });
    } catch (const std::system_error&) {  // no thread is available
      pending_->write();
    }
  }
  /// Waits until the pending checkpoint, if any, is written, and completes its step. If a worker could not write, all
  /// workers throw an io_error. Collective.
  PARTITA_DECL void finish();

 private:
  std::string folder_;                                  ///< the folder of all checkpoints
  checkpoint_options options_;                          ///< the options of all checkpoints
  std::unique_ptr<detail::checkpoint_writer> pending_;  ///< the checkpoint that is being written, or null
  std::thread thread_;                                  ///< writes this worker's bytes
};

PARTITA_FALLBACK_OVERLOAD(named) {
  static_assert(detail::dependent_false<Given...>,
                "partita::named(name, p, extents, x): requires a name, a partition, the extents of the whole tensor "
                "and a block, in this order; write named(\"w\", p, extents(8, 12), w)");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(save_checkpoint) {
  static_assert(detail::dependent_false<Given...>,
                "partita::save_checkpoint(folder, step, tensors...): requires a folder, the number of the step, and "
                "tensors made by named(name, p, extents, x)");
  return detail::rejected_call{};
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/save_checkpoint.ipp>
#endif
