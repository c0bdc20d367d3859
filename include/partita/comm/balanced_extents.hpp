// Extents whose product is a given number of workers and that are as equal as possible, like those of MPI_Dims_create.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/error.hpp>
#include <partita/core/extents.hpp>
#include <partita/core/short_list.hpp>

namespace partita {
namespace detail {

/// Writes `rank` factors, each at most `most`, in descending order, whose product is n: of all such lists the one with
/// the smallest first factor, then the smallest second factor, and so on. Returns false if there is no such list.
constexpr bool find_balanced_factors(std::size_t n, std::size_t rank, std::size_t most, std::size_t* factors) {
  if (rank == 0) return n == 1;
  for (std::size_t d = 1; d <= n && d <= most; ++d) {
    if (n % d != 0) continue;
    std::size_t product = 1;  // d to the power `rank`, or n if the power is larger
    for (std::size_t k = 0; k < rank && product < n; ++k) product = product > n / d ? n : product * d;
    factors[0] = d;
    if (product >= n && find_balanced_factors(n / d, rank - 1, d, factors + 1)) return true;
  }
  return false;
}

/// Throws the error for no worker, or for several workers at rank 0.
constexpr void require_enough_workers(std::size_t workers, std::size_t rank) {
  if (workers == 0 || (rank == 0 && workers != 1))
    throw partition_error(text("partita::balanced_extents(workers, rank): requires at least one worker, and one only "
                               "for rank 0, got ")
                          << workers << " workers and rank " << rank);
}

}  // namespace detail

/// Extents in descending order whose product is the number of workers: the first extent is as small as possible, then
/// the second, and so on. Examples: 4 x 3 and 3 x 2 x 2 for 12 workers, and 7 x 1 for 7 workers. A call:
/// `everyone.partition(balanced_extents<2>(everyone.size()))`.
/// Shapes:   the result is dynamic_extents<Rank>, for a dynamic_partition<Rank>. With the rank as the second argument
///           the result is a shape_list, for a rank that is known at run time only.
/// Requires: at least one worker; exactly one if the rank is 0 [partition_error].
/// Cost:     no communication; a constant expression.
/// Adjoint:  none.
template <std::size_t Rank>
constexpr dynamic_extents<Rank> balanced_extents(std::size_t workers) {
  static_assert(Rank <= most_dimensions, "partita::balanced_extents<Rank>(workers): requires a rank of at most 16");
  detail::require_enough_workers(workers, Rank);
  std::array<std::size_t, Rank> factors{};
  detail::find_balanced_factors(workers, Rank, workers, factors.data());
  return dynamic_extents<Rank>(factors);
}
constexpr shape_list balanced_extents(std::size_t workers, std::size_t rank) {
  detail::require_enough_workers(workers, rank);
  auto factors = shape_list::filled(rank, 1);
  if (rank > 0) detail::find_balanced_factors(workers, rank, workers, &factors[0]);
  return factors;
}

}  // namespace partita
