// Fourier, cosine and sine transforms of a tensor between partitions: repartitions make the transformed dimensions
// whole, and FFTW transforms them. partita.hpp does not include this header: include it where FFTW is installed
// (Debian: libfftw3-dev, pkg-config fftw3 fftw3f).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <partita/array/fourier_rule.hpp>
#include <partita/comm/partition.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/block_layout.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/fourier_arguments.hpp>
#include <partita/kernel/detail/fourier_engine.hpp>
#include <partita/kernel/detail/fourier_plan.hpp>
#include <partita/kernel/detail/fourier_run.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {

/// A pending transform, whose first repartition, if there is one, has started.
template <class In, class Out, std::size_t Rank, std::size_t N>
class pending_fourier {
 public:
  pending_fourier(fourier_run<In, Out, Rank, N> run, std::shared_ptr<const void> object_to_keep)
      : run_(std::move(run)), kept_object_(std::move(object_to_keep)) {}
  /// Completes the transform and returns the result, a tuple for several fields. Every worker must call finish(),
  /// because the remaining repartitions are collective.
  auto finish() { return run_.finish(); }

 private:
  fourier_run<In, Out, Rank, N> run_;        ///< the transform, of which the first repartition is pending
  std::shared_ptr<const void> kept_object_;  ///< the fields, which live until the transform is complete
};

/// The type in which one view of a caller's tuple is stored: a reference for an lvalue, otherwise the view itself.
template <class View>
using stored_view_type = std::conditional_t<std::is_lvalue_reference_v<View>, View, std::remove_reference_t<View>>;

}  // namespace detail

/// The discrete Fourier, cosine or sine transform of a tensor along the dimensions D, from p_x to p_y; the function
/// fourier_transform makes this operator.
///
/// The layouts in which the transformed dimensions are whole follow from the kind of transform, the extents and the
/// partitions (choose_pencils), and each change of layout is one repartition. The transform is linear over the real
/// numbers.
template <class Kind, std::size_t Rank, std::size_t... D>
class fourier_operator {
  template <class T, bool Forward>
  using result_element = detail::fourier_result_type<Kind, T, Forward>;  ///< the elements of results for fields of T

 public:
  /// Makes the transform; p_y is empty if the kernel chooses the layout of the result.
  fourier_operator(const dynamic_partition<Rank>& p_x, const std::optional<dynamic_partition<Rank>>& p_y, Kind kind,
                   const fourier_options& options)
      : kind_(kind), engine_(std::make_shared<engine>(make_definition(p_x, p_y, kind, options))) {}

  /// Returns the result on this worker. Several fields of one shape, `auto [u, v, w] = f(x, y, z);`, are moved
  /// together: the result is a tuple, bitwise equal to the results of separate calls.
  template <class X, class... More>
  auto operator()(const X& x, const More&... more) const {
    if constexpr (accepts_fields<true, X, More...>())
      return complete_call<true>(std::tie(x, more...), output_views<true, X, More...>(), text());
    else return detail::rejected_call{};
  }
  /// Writes the result into a caller's array or view, which must have the shape of the result and share no memory with
  /// x [shape_error, on all workers]. Several fields: `f.into(std::tie(x, y), std::tie(u, v))`.
  template <class X, class View>
  void into(const X& x, View&& view) const {
    fill_views<true>(std::tie(x), std::tuple<View&&>(std::forward<View>(view)));
  }
  template <class... X, class... View>
  void into(const std::tuple<X...>& x, std::tuple<View...> views) const {
    fill_views<true>(x, std::move(views));
  }
  /// Makes the transforms of the first layout of plan(), and starts the first repartition, if there is one; finish(),
  /// which every worker must call, makes all others. The block x must not change before finish().
  template <class X, class... More>
  auto start(X&& x, More&&... more) const {
    if constexpr (accepts_fields<true, std::remove_cvref_t<X>, std::remove_cvref_t<More>...>())
      return start_call<true>(std::forward<X>(x), std::forward<More>(more)...);
    else return detail::rejected_call{};
  }
  /// The transpose of the transform as a linear operator over the real numbers: <F x, y> == <x, F* y>, where a scalar
  /// product is the sum of the products of the real parts and of the products of the imaginary parts. The result has
  /// the decomposition of the last x whose result had the shape of dy [shape_error if it was not balanced and its plan
  /// was evicted]; without such an x it is balanced [shape_error without p_y, or if dy is half of a spectrum and
  /// fourier_options::real_extent is 0].
  template <class Y, class... More>
  auto adjoint(const Y& dy, const More&... more) const {
    if constexpr (accepts_fields<false, Y, More...>())
      return complete_call<false>(std::tie(dy, more...), output_views<false, Y, More...>(), text());
    else return detail::rejected_call{};
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {  ///< writes the result of the adjoint into an array or view
    fill_views<false>(std::tie(dy), std::tuple<View&&>(std::forward<View>(view)));
  }
  template <class... Y, class... View>
  void adjoint_into(const std::tuple<Y...>& dy, std::tuple<View...> views) const {
    fill_views<false>(dy, std::move(views));
  }
  template <class Y, class... More>
  auto start_adjoint(Y&& dy, More&&... more) const {  ///< starts the adjoint, as start() starts a call
    if constexpr (accepts_fields<false, std::remove_cvref_t<Y>, std::remove_cvref_t<More>...>())
      return start_call<false>(std::forward<Y>(dy), std::forward<More>(more)...);
    else return detail::rejected_call{};
  }

  /// The transforms in each layout, and what this worker moves, for a tensor x of these extents in balanced blocks.
  /// Requires: extents that this kind of Fourier transform accepts [shape_error]. Cost: no communication.
  template <std::size_t... E>
  fourier_plan<Rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == Rank,
                  "partita::fourier_transform::plan(extents): requires extents of the rank of the partitions");
    if constexpr (sizeof...(E) == Rank) return plan(global.array());
    else return {};
  }
  fourier_plan<Rank> plan(const std::array<std::size_t, Rank>& global) const { return valid_engine().plan(global); }
  /// The partition of the result for a tensor x of these extents: p_y, or the partition that the kernel chooses.
  template <std::size_t... E>
  dynamic_partition<Rank> result_partition(const extents<E...>& global) const {
    static_assert(
        sizeof...(E) == Rank,
        "partita::fourier_transform::result_partition(extents): requires extents of the rank of the partitions");
    if constexpr (sizeof...(E) == Rank) return valid_engine().result_partition(global.array());
    else return valid_engine().definition().p_x;
  }

  /// The inverse transform, from p_y to p_x, with the same option `norm`. The inverse of real_to_complex requires the
  /// option real_extent; the inverse of a transform without p_y requires the extents of x [shape_error].
  auto inverse() const {
    const auto& d = valid_engine().definition();
    if (!d.p_y)
      throw shape_error(text(engine::name)
                        << ".inverse(): requires the extents of x, from which the layout of the result "
                           "follows; write inverse(extents)");
    return make_inverse(*d.p_y);
  }
  template <std::size_t... E>
  auto inverse(const extents<E...>& global) const {
    return make_inverse(result_partition(global));
  }

  /// The memory pool for the results of repartitions between layouts; null if the last call made no repartition.
  detail::arena* memory() const { return valid_engine().memory(); }
  std::size_t plans_made() const { return valid_engine().plans_made(); }  ///< The number of plans made so far.
  /// The number of plans made so far, and what this worker sent in all repartitions of the last call.
  kernel_counts counts() const { return valid_engine().counts(); }

 private:
  using engine = detail::fourier_engine<Rank>;  ///< the layouts, the moves between them, and the cached plans

  /// Describes the transform for the engine.
  static detail::fourier_definition<Rank> make_definition(const dynamic_partition<Rank>& p_x,
                                                          const std::optional<dynamic_partition<Rank>>& p_y,
                                                          [[maybe_unused]] Kind kind, const fourier_options& options) {
    detail::fourier_definition<Rank> d{p_x, p_y, shape_list{D...}, {}, {}, options};
    for (std::size_t k = 0; k < sizeof...(D); ++k) {
      d.kinds.push_back(detail::line_kind_of_dimension<Kind>(k, sizeof...(D)));
      if constexpr (detail::is_real_to_real<Kind>)
        d.real_transforms.push_back(kind.transforms[Kind::size == 1 ? 0 : k]);
      else d.real_transforms.push_back({});
    }
    return d;
  }
  engine& valid_engine() const {  ///< the engine; throws an error if this kernel was moved from
    detail::require_valid_kernel(engine_ != nullptr, engine::name);
    return *engine_;
  }

  auto make_inverse(const dynamic_partition<Rank>& p_y) const {  ///< the inverse transform, from p_y to p_x
    const auto& d = valid_engine().definition();
    fourier_options options = d.options;
    if constexpr (std::is_same_v<Kind, real_to_complex_t>) {
      return fourier_operator<complex_to_real_t, Rank, D...>(p_y, d.p_x, complex_to_real, options);
    } else if constexpr (std::is_same_v<Kind, complex_to_real_t>) {
      return fourier_operator<real_to_complex_t, Rank, D...>(p_y, d.p_x, real_to_complex, options);
    } else {
      options.inverse = !options.inverse;
      return fourier_operator<Kind, Rank, D...>(p_y, d.p_x, kind_, options);
    }
  }

  template <bool Forward, class... X>
  static consteval bool accepts_fields() {  ///< whether a call, or its adjoint, accepts fields of these types
    return detail::accepts_fourier_fields<Kind, Rank, Forward, X...>();
  }
  template <class... X>
  using first_field_type = std::tuple_element_t<0, std::tuple<X...>>;  ///< first of X; only its element type is used
  /// The views of the caller that a call with these fields writes to, one for each field.
  template <bool Forward, class... X>
  using output_views =
      std::array<detail::target<result_element<element_of<first_field_type<X...>>, Forward>, Rank>, sizeof...(X)>;
  /// The error message if this worker cannot make a call with these fields and views; empty if it can.
  template <bool Forward, class... X>
  text find_argument_error(const output_views<Forward, X...>& outputs, const X&... x) const {
    constexpr std::size_t N = sizeof...(X);
    std::array<std::array<std::size_t, Rank>, N> views{};
    for (std::size_t f = 0; f < N; ++f) views[f] = outputs[f].block.shape;
    const bool given = outputs[0].is_given;
    const text problem = valid_engine().template describe_unequal_fields<N>(
        Forward, {detail::shape_array<Rank>(x.shape())...}, given ? views.data() : nullptr);
    if (!problem.empty()) return problem;
    using read_only = strided<const result_element<element_of<first_field_type<X...>>, Forward>, Rank>;
    bool shared = false;
    const auto compare = [&](const auto& field, const auto& view) {  // a lazy field is evaluated into other memory
      if constexpr (strided_array<std::remove_reference_t<decltype(field)>>)
        shared = shared || detail::shares_memory(block_argument(field).block(), view);
    };
    for (std::size_t f = 0; f < N && given; ++f) {
      (compare(x, outputs[f].block), ...);
      if constexpr (N > 1)  // g++ 12 warns of a loop that never runs
        for (std::size_t g = 0; g < f; ++g)
          shared = shared || detail::shares_memory(read_only(outputs[g].block), outputs[f].block);
    }
    if (!shared) return {};
    return text(engine::name) << ".into(x, view): requires a view that shares no element with x"
                              << (N > 1 ? " and with the other views" : "") << "; copy x, or give another view";
  }

  /// Makes the workers agree on a call with these blocks, and prepares its transform.
  template <bool Forward, class In, class Out, std::size_t N, class Arguments>
  auto make_fourier_run(const Arguments& arguments, const std::array<detail::target<Out, Rank>, N>& outputs,
                        const text& error_message) const {
    using blocks = std::array<strided<const In, Rank>, N>;  ///< this worker's blocks of the fields
    const auto x = std::apply([](const auto&... a) { return blocks{a.block()...}; }, arguments);
    detail::fourier_call<Rank> call{Forward, N, x[0].shape, {}, detail::type_number<In>(), &detail::type_name<In>};
    if (outputs[0].is_given) call.view_shape = outputs[0].block.shape;
    const auto& s = valid_engine().agree(call, detail::local_error(error_message));
    return detail::fourier_run<In, Out, Rank, N>(engine_, s, Forward, x, outputs);
  }
  /// Completes a blocking call.
  template <bool Forward, class... X>
  auto complete_call(const std::tuple<const X&...>& x, const output_views<Forward, X...>& outputs,
                     const text& error_message) const {
    using In = element_of<first_field_type<X...>>;  ///< the elements of the arguments
    constexpr std::size_t N = sizeof...(X);
    engine& it = valid_engine();
    detail::chained_call call{Forward ? "fourier_transform(p_x, p_y)(x)" : "fourier_transform(p_x, p_y).adjoint(dy)",
                              1,
                              it.identity(),
                              detail::mixed(detail::type_number<In>(), N),
                              &detail::type_name<In>,
                              Rank,
                              detail::to_block_shape(std::get<0>(x))};
    call.chain_identity.number = detail::mixed(call.chain_identity.number, Forward ? 1U : 2U);
    call.fills_view = outputs[0].is_given;
    for (std::size_t d = 0; d < Rank; ++d) call.view_shape[d] = outputs[0].block.shape[d];
    return std::apply(
        [&](const X&... each) {
          const text problem =
              error_message.empty() ? find_argument_error<Forward, X...>(outputs, each...) : error_message;
          const auto run = [&] {
            const std::tuple<block_argument<X>...> arguments(each...);
            auto made = make_fourier_run<Forward, In>(arguments, outputs, problem);
            made.begin();
            return made.finish();
          };
          if (!problem.empty()) call.shape[0] = ~std::size_t{0};  // no cached call has this shape: each step agrees
          return it.calls(Forward).carry_out(
              call, [&] { return it.plans_made(); }, run);
        },
        x);
  }
  template <bool Forward, class... X>
  auto start_call(X&&... x) const {  ///< a non-blocking call, whose finish() returns the results
    using In = element_of<std::remove_cvref_t<first_field_type<X...>>>;
    using Out = result_element<In, Forward>;  ///< the elements of the results
    constexpr std::size_t N = sizeof...(X);
    const output_views<Forward, std::remove_cvref_t<X>...> none{};
    const text problem = find_argument_error<Forward, std::remove_cvref_t<X>...>(none, x...);
    auto arguments = std::make_shared<const std::tuple<detail::kept_argument<X>...>>(std::forward<X>(x)...);
    engine& it = valid_engine();
    const detail::thread_guard only(it.state().calling_thread(), engine::name);
    return detail::one_call(it.state(), [&] {
      auto made = make_fourier_run<Forward, In>(*arguments, none, problem);
      if (made.begin()) made.keep_call_pending();
      return detail::pending_fourier<In, Out, Rank, N>(std::move(made), arguments);
    });
  }
  template <bool Forward, class... X, class... View>
  void fill_views(const std::tuple<X...>& x, std::tuple<View...> views) const {  ///< a call that writes into views
    static_assert(sizeof...(X) == sizeof...(View) && sizeof...(X) > 0,
                  "partita::fourier_transform(p_x, p_y).into(std::tie(x...), std::tie(views...)): requires a view for "
                  "each field");
    if constexpr (sizeof...(X) == sizeof...(View) && sizeof...(X) > 0) {
      if constexpr (accepts_fields<Forward, std::remove_cvref_t<X>...>()) {
        if constexpr ((detail::accepts_fourier_view<detail::stored_view_type<View>,
                                                    result_element<element_of<std::remove_cvref_t<X>>, Forward>,
                                                    Rank>() &&
                       ...)) {
          const auto outputs = std::apply(
              [](auto&... view) {
                return output_views<Forward, std::remove_cvref_t<X>...>{
                    detail::target<result_element<element_of<std::remove_cvref_t<X>>, Forward>, Rank>{
                        true, block_of(view)}...};
              },
              views);
          std::apply([&](const auto&... each) { complete_call<Forward>(std::tie(each...), outputs, text()); }, x);
        }
      }
    }
  }

  friend struct detail::kernel_access;
  template <class X>
  auto forward_(const X& x, const text& error_message) const {  ///< a blocking call, with this worker's error if any
    return complete_call<true>(std::tie(x), output_views<true, X>(), error_message);
  }
  template <class Y>
  auto backward_(const Y& dy, const text& error_message) const {  ///< a blocking call, with this worker's error
    return complete_call<false>(std::tie(dy), output_views<false, Y>(), error_message);
  }
  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  void throw_together_(const text& error_message) const { valid_engine().throw_together(error_message); }
  detail::kernel_identity identity_() const { return valid_engine().identity(); }  ///< its world and fingerprint

  Kind kind_;                       ///< which transform; with real_to_real, also the transform of each dimension
  std::shared_ptr<engine> engine_;  ///< the transform; shared, so that copies of the kernel share the plans
};

/// Transforms a tensor along the dimensions D: `fourier_transform<0, 1, 2>(p_x, p_y)` transforms complex numbers; with
/// `real_to_complex`, real numbers to half of their spectrum along the last of D; with `complex_to_real`, half of a
/// spectrum back (give `{.real_extent = n}`); with `real_to_real(real_transform::dct_2)`, real numbers by cosines or
/// sines. All other dimensions are batch dimensions. Without p_y the kernel chooses the layout of the result, which
/// often saves a repartition; see `result_partition(extents)`. Several fields are moved together, as in `auto [u, v, w]
/// = f(x, y, z);`.
/// Shapes:   x is this worker's block on p_x, in any decomposition that tiles the tensor; the result is its block on
///           p_y, in the balanced decomposition. A worker outside of p_y gets a block of zero volume.
/// Requires: partitions of x's rank, distinct dimensions of x, elements that fit the kind [compile time]; blocks that
///           fit together, fields of one shape, extents that have this transform [shape_error, on all workers].
/// Cost:     each dimension is transformed in a layout that does not partition it; a dimension that p_x does not
///           partition usually needs no repartition. The other repartitions are chosen so that the worker with the
///           largest blocks moves and transforms as few elements as possible (slabs: one repartition, and one to return
///           to slabs). FFTW's plans are cached by shape, strides and alignment of blocks. A line is transformed by one
///           worker: a tensor of a single line is gathered. Several fields take as many messages as one field; on one
///           node each moved element is then copied twice instead of once.
/// Adjoint:  the exact transpose as a linear operator over the real numbers. For complex numbers the adjoint is the
///           transform in the opposite direction with the same factor; the adjoint of `real_to_complex` adds each
///           stored number of the half spectrum once. With fourier_norm::ortho the adjoint is the inverse, except from
///           and to half of a spectrum.
template <std::size_t... D, class X, class Y, class Kind>
  requires detail::is_fourier_kind<Kind>
auto fourier_transform(const partition<X>& p_x, const partition<Y>& p_y, Kind kind,
                       const fourier_options& options = {}) {
  if constexpr (detail::has_fourier_transform<Kind, X::rank(), Y::rank(), D...>())
    return fourier_operator<Kind, X::rank(), D...>(p_x.as_dynamic(), p_y.as_dynamic(), kind, options);
  else return detail::rejected_call{};
}
template <std::size_t... D, class X, class Y>
auto fourier_transform(const partition<X>& p_x, const partition<Y>& p_y, const fourier_options& options = {}) {
  return fourier_transform<D...>(p_x, p_y, complex_to_complex, options);
}
/// Makes a transform whose result has a layout that the kernel chooses.
template <std::size_t... D, class X, class Kind>
  requires detail::is_fourier_kind<Kind>
auto fourier_transform(const partition<X>& p_x, Kind kind, const fourier_options& options = {}) {
  if constexpr (detail::has_fourier_transform<Kind, X::rank(), X::rank(), D...>())
    return fourier_operator<Kind, X::rank(), D...>(p_x.as_dynamic(), std::nullopt, kind, options);
  else return detail::rejected_call{};
}
template <std::size_t... D, class X>
auto fourier_transform(const partition<X>& p_x, const fourier_options& options = {}) {
  return fourier_transform<D...>(p_x, complex_to_complex, options);
}
/// Fallback for arguments that are not partitions, a kind and options: a compile-time error with one readable message.
PARTITA_FALLBACK_OVERLOAD(fourier_transform) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::fourier_transform<D...>(p_x, p_y, kind, options): requires the dimensions to transform, one or two "
      "partitions, and perhaps complex_to_complex, real_to_complex, complex_to_real or real_to_real(...); write "
      "fourier_transform<0, 1>(p_x, p_y)");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD_OF_VALUES(fourier_transform)

}  // namespace partita
