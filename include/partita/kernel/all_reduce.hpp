// All-reduce: combines the blocks along some dimensions of a partition by a reduction; every worker gets the result.
#pragma once

#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/reduction_checks.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/reduction.hpp>

namespace partita {

/// Combines, element by element, the blocks of the workers of p whose indices differ only in the given dimensions; each
/// of these workers gets the result: `all_reduce a(p, dimensions<0>, maximum)`.
/// Shapes:   x is this worker's block; the blocks of one group have equal shapes [shape_error, on all workers]. The
///           result has the shape of x. An inactive worker gets a copy of its own input.
/// Requires: dimensions below rank(p), each listed once, and elements that the reduction accepts [compile time].
/// Cost:     as all_sum_reduce, which is all_reduce with `sum`; `mean`, and `any` and `all` of integers, need one more
///           pass over the result.
/// Adjoint:  the kernel itself for `sum` and `mean`; the other reductions have no adjoint.
template <class Extents, class Reduction, class... Policies>
class all_reduce
    : public detail::reduction_checks<Reduction, detail::group_direction::to_all, detail::group_direction::to_all,
                                      false, has_policy<reproducible_t, Policies...>>,
      public detail::collective_kernel<all_reduce<Extents, Reduction, Policies...>> {
  static_assert((std::is_same_v<Policies, reproducible_t> && ...),
                "partita::all_reduce(p, dimensions, reduction, policies...): requires policies among reproducible");
  using base = detail::collective_kernel<all_reduce>;             ///< executes the calls
  using named_reduction = detail::reduction_argument<Reduction>;  ///< the type of the argument `reduction`

 public:
  /// `all_reduce(p, dimensions<0>, maximum)` reduces along dimension 0, `all_reduce(p, all_dimensions_but<1>, maximum)`
  /// along every dimension but 1.
  template <template <std::size_t...> class Named, std::size_t... D>
    requires detail::is_dimension_list<Named<D...>>
  all_reduce(const partition<Extents>& p, Named<D...> named, named_reduction, Policies...)
      : base(make_movement(p, kept_dimensions<Extents::rank()>(named))) {
    check_dimensions<D...>();
  }
  /// `all_reduce(p, dimension_list{0, 2}, maximum)`: reduces along dimensions that are known only at run time; the
  /// dimensions must be below rank(p), each listed once [partition_error].
  all_reduce(const partition<Extents>& p, const dimension_list& along, named_reduction, Policies...)
      : base(make_movement(p, detail::to_kept_dimensions<Extents::rank()>(along, "partita::all_reduce"))) {}
  /// Fallback: the dimensions must be the second argument and the reduction the third; other calls do not compile.
  template <class... Other>
    requires(sizeof...(Other) < 2 || detail::is_not_a_dimension_list<Other...>)
  explicit all_reduce(const partition<Extents>& p, Other...) : base(make_movement(p, {})) {
    static_assert(sizeof...(Other) > 1 && !detail::is_not_a_dimension_list<Other...>,
                  "partita::all_reduce(p, dimensions, reduction): requires the dimensions to reduce along, "
                  "dimensions<0>, all_dimensions_but<0> or a dimension_list, and a reduction, sum or maximum");
  }
  /// Fallback for a second argument that is no list of dimensions, with a reduction that is passed as an overloaded
  /// function, such as `sum`: a compile-time error.
  template <class Other>
    requires detail::is_not_a_dimension_list<Other>
  all_reduce(const partition<Extents>& p, Other, named_reduction) : base(make_movement(p, {})) {
    static_assert(!detail::is_not_a_dimension_list<Other>,
                  "partita::all_reduce(p, dimensions, reduction): requires the dimensions to reduce along, "
                  "dimensions<0>, all_dimensions_but<0> or a dimension_list, and a reduction, sum or maximum");
  }

 private:
  template <std::size_t... D>
  static constexpr void check_dimensions() {  ///< a compile-time error unless D are distinct dimensions of p
    static_assert(detail::are_dimensions_below_rank<Extents::rank(), D...>,
                  "partita::all_reduce(p, dimensions<...>, reduction): requires dimensions below rank(p)");
    static_assert(detail::are_distinct_dimensions<D...>,
                  "partita::all_reduce(p, dimensions<...>, reduction): requires each dimension once");
  }
  /// Plans a reduction along each dimension d for which kept[d] is false.
  static detail::collective_movement make_movement(const partition<Extents>& p,
                                                   const std::array<bool, Extents::rank()>& kept) {
    return detail::make_sum_movement(p, kept, "partita::all_reduce", detail::reduction_call_text<Reduction>(),
                                     detail::mixed(detail::type_number<Reduction>(), sizeof...(Policies)));
  }
};

/// All-reduce in groups that were made at run time: `all_reduce(everyone, groups, maximum)`. A worker in no group gets
/// a copy of its own input. Shapes, requirements and cost are those of all_reduce(p, dimensions, reduction).
template <class Reduction, class... Policies>
class all_reduce<worker_groups, Reduction, Policies...>
    : public detail::reduction_checks<Reduction, detail::group_direction::to_all, detail::group_direction::to_all,
                                      false, has_policy<reproducible_t, Policies...>>,
      public detail::collective_kernel<all_reduce<worker_groups, Reduction, Policies...>> {
  static_assert((std::is_same_v<Policies, reproducible_t> && ...),
                "partita::all_reduce(everyone, groups, reduction, policies...): requires policies among reproducible");

 public:
  all_reduce(const world& everyone, const worker_groups& groups, detail::reduction_argument<Reduction>, Policies...)
      : detail::collective_kernel<all_reduce>(detail::make_movement_in_groups(
            everyone, groups,
            {.name = "partita::all_reduce",
             .reduction = detail::reduction_call_text<Reduction>(),
             .fingerprint = detail::mixed(detail::type_number<Reduction>(), sizeof...(Policies))},
            group_plan::kind::all_sum_reduce)) {}
};

template <class Extents, class Dimensions, class Named, class... Policies>
all_reduce(const partition<Extents>&, Dimensions, Named, Policies...)
    -> all_reduce<Extents, typename detail::named_reduction_tag<Named>::type, Policies...>;
template <class Extents, class Dimensions, class... Policies>
all_reduce(const partition<Extents>&, Dimensions, sum_t (*)(detail::reduction_name), Policies...)
    -> all_reduce<Extents, sum_t, Policies...>;
template <class Extents, class Dimensions, class... Policies>
all_reduce(const partition<Extents>&, Dimensions, mean_t (*)(detail::reduction_name), Policies...)
    -> all_reduce<Extents, mean_t, Policies...>;
template <class Extents>
all_reduce(const partition<Extents>&) -> all_reduce<Extents, sum_t>;  ///< no dimensions: does not compile
template <class Extents, class Dimensions>
all_reduce(const partition<Extents>&, Dimensions) -> all_reduce<Extents, sum_t>;
template <class Named, class... Policies>
all_reduce(const world&, const worker_groups&, Named, Policies...)
    -> all_reduce<worker_groups, typename detail::named_reduction_tag<Named>::type, Policies...>;
template <class... Policies>
all_reduce(const world&, const worker_groups&, sum_t (*)(detail::reduction_name), Policies...)
    -> all_reduce<worker_groups, sum_t, Policies...>;
template <class... Policies>
all_reduce(const world&, const worker_groups&, mean_t (*)(detail::reduction_name), Policies...)
    -> all_reduce<worker_groups, mean_t, Policies...>;

}  // namespace partita
