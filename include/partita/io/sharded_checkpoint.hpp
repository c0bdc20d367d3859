// Saves and loads checkpoints of sharded tensors: one call for all tensors of a list, a tuple or a struct, or for
// parameters by their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <partita/core/rejected_call.hpp>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/io/sharded_npy.hpp>
#include <partita/sharded/named_parameters.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// Whether X is a sharded tensor, with a typed or a run-time layout, or a reference to a parameter.
template <class X>
inline constexpr bool is_sharded_value = false;
template <class T>
inline constexpr bool is_sharded_value<sharded_tensor<T>> = true;
template <class T, auto Layout>
inline constexpr bool is_sharded_value<typed_sharded<T, Layout>> = true;
template <class T>
inline constexpr bool is_sharded_value<parameter_ref<T>> = true;

template <class All>
inline constexpr bool is_tuple_of_sharded_tensors = false;  ///< whether All is a std::tuple of sharded values
template <class... X>
inline constexpr bool is_tuple_of_sharded_tensors<std::tuple<X...>> = sizeof...(X) > 0 &&
                                                                      (is_sharded_value<std::remove_cvref_t<X>> && ...);

/// All is a type of several tensors that are saved together: a std::tuple of tensors or of references to tensors, a
/// range of tensors of one type, or named parameters.
template <class All>
concept sharded_tensors = is_tuple_of_sharded_tensors<std::remove_cvref_t<All>> || requires(All& all) {
  requires is_sharded_value<std::remove_cvref_t<decltype(*all.begin())>>;
  all.end();
};

/// Calls f(tensor) for each of the tensors in `all`.
template <class All, class F>
void for_each_tensor(All& all, F f) {
  if constexpr (is_tuple_of_sharded_tensors<std::remove_cvref_t<All>>)
    std::apply([&](auto&... x) { (f(x), ...); }, all);
  else
    for (auto& x : all) f(x);
}

/// Returns the value of a tensor or a parameter as a tensor with a run-time layout.
template <class T>
const sharded_tensor<T>& run_time_value(const sharded_tensor<T>& x) {
  return x;
}
template <class T, auto Layout>
const sharded_tensor<T>& run_time_value(const typed_sharded<T, Layout>& x) {
  return x.run_time_tensor();
}
template <class T>
sharded_tensor<T> run_time_value(const parameter_ref<T>& x) {
  return x.read();
}
/// Assigns a value with the same layout to a tensor or a parameter.
template <class T>
void assign_value(const parameter_ref<T>& x, const sharded_tensor<T>& value) {
  x.write(value);
}
template <class T>
void assign_value(sharded_tensor<T>& x, const sharded_tensor<T>& value) {
  x = value;
}
template <class T, auto Layout>
void assign_value(typed_sharded<T, Layout>& x, const sharded_tensor<T>& value) {
  x = typed_sharded<T, Layout>(value);
}

/// Calls f with the rank of a tensor as a std::integral_constant. Ranks up to 6 are supported (chosen, as each rank is
/// compiled separately).
template <class X, class F>
void call_with_rank(const X& x, const char* call, F f) {
  if constexpr (requires { std::integral_constant<std::size_t, X::rank()>(); }) {
    static_assert(X::rank() > 0, "partita::save_tensors(folder, step, tensors): requires tensors of rank 1 or more");
    f(std::integral_constant<std::size_t, X::rank()>());
  } else {
    const std::size_t rank = run_time_value(x).rank();
    [&]<std::size_t... R>(std::index_sequence<R...>) {
      if (((rank == R + 1 && (f(std::integral_constant<std::size_t, R + 1>()), true)) || ...)) return;
      throw shape_error(text("partita::")
                        << call << ": requires tensors of rank 1 to 6, got one of rank " << rank << "; reshape it");
    }(std::make_index_sequence<6>());
  }
}

/// Returns the mesh of a tensor, or throws an error if the tensor is on no mesh.
template <class T>
const std::shared_ptr<bound_mesh>& require_mesh_of_tensor(const sharded_tensor<T>& x, const char* call) {
  if (x.state() == nullptr || !x.state()->on)
    throw partition_error(text("partita::") << call << ": requires tensors on a mesh; shard them first");
  return x.state()->on;
}

/// Whether the tensors in All are named parameters.
template <class All>
concept has_tensor_names = requires(const All& all) { all.name(std::size_t{0}); };
/// The name of tensor k in a checkpoint: the name of a named parameter, or the number k.
template <class All>
std::string tensor_name(const All& all, std::size_t k) {
  if constexpr (has_tensor_names<All>) return all.name(k);
  else return std::to_string(k);
}

/// The number of tensors in a call, the mesh of the first tensor, and a hash of everything that must be equal on all
/// workers.
struct saved_tensors {
  std::size_t count = 0;                     ///< the number of tensors
  std::shared_ptr<bound_mesh> first_mesh{};  ///< the mesh of the first tensor
  hasher content_hash{};                     ///< the hash of their names, element types, extents and layouts

  template <class All>
  saved_tensors(const All& all, const char* call) {  ///< `call` is for error messages
    for_each_tensor(all, [&](const auto& x) {
      const auto& value = run_time_value(x);
      content_hash.mix(tensor_name(all, count).c_str());
      if (count++ == 0) first_mesh = require_mesh_of_tensor(value, call);
      else require_mesh_of_tensor(value, call);
      content_hash.mix(type_number<typename std::remove_cvref_t<decltype(value)>::value_type>());
      content_hash.mix(value.extents()).mix(fingerprint_of(value.layout()));
    });
    if (count == 0) throw shape_error(text("partita::") << call << ": requires at least one tensor");
  }
};

/// Loads the tensor of this name from a checkpoint, in the layout of x.
template <std::size_t Rank, class T>
sharded_tensor<T> load_in_layout(const checkpoint& from, const std::string& name, const sharded_tensor<T>& x) {
  const auto& on = x.state()->on;
  const std::uint64_t number = record_tensor<T>(on, "load_tensors", x.layout(), x.extents());
  const auto there = partition_of<Rank>(layout_of(x.layout().without_partials()), x.extents(), on->where());
  const partition<dynamic_extents<Rank>> p(on->everyone(), there.arrangement);
  const xt::xtensor<T, Rank> block = from.load<T, Rank>(name, p, result_cuts(there.cuts));
  return shard_from_partition("load_tensors", on, p, block.data(), x.layout(), x.extents(), number);
}

/// An error message if the tensors of a checkpoint differ in number, names or extents from those that the caller
/// passed, else an empty text. All workers get the same message.
template <class All>
text describe_difference(const checkpoint& from, const All& all, std::size_t count) {
  text problem;
  if (!has_tensor_names<All> && from.tensors().size() != count)
    return problem << "requires as many tensors as were saved, got " << count << " and a checkpoint of "
                   << from.tensors().size();
  std::size_t k = 0;
  for_each_tensor(all, [&](const auto& x) {
    const std::string name = tensor_name(all, k++);
    if (!problem.empty()) return;
    const shape_list wanted = run_time_value(x).extents();
    const manifest_tensor* const saved = from.find(name);
    if (saved != nullptr && !(shape_list(saved->extents) == wanted))
      problem << "requires tensors of the extents that were saved; " << (has_tensor_names<All> ? "" : "number ")
              << name.c_str() << " has " << wanted << ", and the checkpoint holds " << saved->extents;
    if (has_tensor_names<All> && saved == nullptr)
      problem << "requires names that were saved; the checkpoint does not have " << name.c_str();
  });
  return problem;
}

#ifdef PARTITA_CORE
// Saving and loading are compiled once for float and once for double, for all ranks that call_with_rank supports.
#define PARTITA_INSTANTIATE_CHECKPOINTS_OF_RANK(EXTERN, T, R)                                   \
  EXTERN template sharded_tensor<T> load_in_layout<R, T>(const checkpoint&, const std::string&, \
                                                         const sharded_tensor<T>&);             \
  EXTERN template void checkpoint_writer::add(                                                  \
      const named_tensor<dynamic_extents<R>, R, const xt::xtensor<T, R>&, source_cuts_t<R>>&, bool);
#define PARTITA_INSTANTIATE_CHECKPOINTS_OF(EXTERN, T)   \
  PARTITA_INSTANTIATE_CHECKPOINTS_OF_RANK(EXTERN, T, 1) \
  PARTITA_INSTANTIATE_CHECKPOINTS_OF_RANK(EXTERN, T, 2) \
  PARTITA_INSTANTIATE_CHECKPOINTS_OF_RANK(EXTERN, T, 3) \
  PARTITA_INSTANTIATE_CHECKPOINTS_OF_RANK(EXTERN, T, 4) \
  PARTITA_INSTANTIATE_CHECKPOINTS_OF_RANK(EXTERN, T, 5) \
  PARTITA_INSTANTIATE_CHECKPOINTS_OF_RANK(EXTERN, T, 6)
#define PARTITA_INSTANTIATE_CHECKPOINTS(EXTERN) \
  PARTITA_INSTANTIATE_CHECKPOINTS_OF(EXTERN, float) PARTITA_INSTANTIATE_CHECKPOINTS_OF(EXTERN, double)
PARTITA_INSTANTIATE_CHECKPOINTS(extern)
#endif

}  // namespace detail

/// Saves tensors as FOLDER/step-N, by one call: `save_tensors("run", step, std::tie(model.w1, model.w2))`, or a
/// std::tuple, std::vector or std::array of tensors. The files are 0.npy, 1.npy, …, or have the names of
/// `named_parameters`.
/// Shapes: tensors of rank 1 or more (1 to 6 if the layout is a run-time value), on meshes of one world.
/// Requires: tensors that are not partial [partition_error], and what save_checkpoint requires.
/// Cost: that of save_checkpoint, and a copy of the elements that this worker writes.
/// Adjoint: none; load_tensors is the inverse.
template <class All>
  requires detail::sharded_tensors<const All>
void save_tensors(const std::string& folder, std::uint64_t step, const All& tensors,
                  const checkpoint_options& options = {}) {
  using namespace detail;
  constexpr const char* call = "save_tensors(folder, step, tensors)";
  const saved_tensors given(tensors, call);
  for_each_tensor(tensors,
                  [&](const auto& x) { require_no_pending_reduction(run_time_value(x).layout(), "save_tensors"); });
  call_with_unwinding([&] {
    const auto made = begin_checkpoint_of_tensors(
        "partita::save_tensors", folder, step, options, true, given.first_mesh->everyone(), given.count, [&](auto f) {
          std::size_t k = 0;
          for_each_tensor(tensors, [&](const auto& x) {
            call_with_rank(x, call, [&](auto rank) {
              constexpr std::size_t r = decltype(rank)::value;
              const auto& value = run_time_value(x);
              using T = typename std::remove_cvref_t<decltype(value)>::value_type;
              const auto& on = value.state()->on;
              const auto there = partition_of<r>(layout_of(value.layout()), value.extents(), on->where());
              const partition<dynamic_extents<r>> p(on->everyone(), there.arrangement);
              auto block = zero_volume<T, r>();
              if (p.active()) block = value.template local<r>();
              f(named(tensor_name(tensors, k++), p,
                      dynamic_extents<r>(extents_as_array<r>(value.extents(), "partita::save_tensors")), block,
                      source_cuts(there.cuts)));
            });
          });
        });
    made->write();
    made->end();
  });
}

/// Loads tensors that save_tensors saved. Each tensor is loaded with the layout of the given tensor, on any mesh and
/// any number of workers. Returns the step that was loaded, by default the highest one, as in `const auto step =
/// load_tensors("run", std::tie(model.w1, model.w2));`.
/// Shapes: as many tensors as were saved, of their types and extents; named parameters may be fewer, in any order.
/// Requires: tensors of these shapes [shape_error, io_error] and what checkpoint::load requires; errors are thrown on
/// all workers, and then no tensor has changed.
/// Cost: that of load_npy for one copy of each tensor, and one exchange per tensor that sends its blocks to their
/// replicas.
/// Adjoint: none; save_tensors is the inverse.
template <class All>
  requires detail::sharded_tensors<std::remove_reference_t<All>>
std::uint64_t load_tensors(const std::string& folder, All&& tensors, std::uint64_t step = ~std::uint64_t{0}) {
  using namespace detail;
  constexpr const char* call = "load_tensors(folder, tensors)";
  const saved_tensors given(tensors, call);
  const world& everyone = given.first_mesh->everyone();
  const checkpoint from =
      step == ~std::uint64_t{0} ? load_checkpoint(folder, everyone) : load_checkpoint(folder, everyone, step);
  const text problem = describe_difference(from, tensors, given.count);
  agree_if_checked(*everyone.state(), hasher(given.content_hash).mix(call).mix(given.count).value(),
                   local_error(problem.empty() ? problem : text("partita::") << call << ": " << problem),
                   [&] { return text("partita::") << call << " with " << given.count << " tensors"; });
  std::vector<std::function<void()>> assign;  // called after all tensors are loaded
  std::size_t k = 0;
  for_each_tensor(tensors, [&](auto& x) {
    call_with_rank(x, call, [&](auto rank) {
      auto value = load_in_layout<decltype(rank)::value>(from, tensor_name(tensors, k++), run_time_value(x));
      assign.push_back([&x, value] { assign_value(x, value); });
    });
  });
  for (const auto& each : assign) each();
  return from.step();
}

}  // namespace partita
