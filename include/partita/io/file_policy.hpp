// The policies (optional arguments) of calls that save and load files.
#pragma once

#include <cstddef>
#include <optional>
#include <partita/kernel/given_cuts.hpp>

namespace partita {

/// The policy that writes a file in Fortran order: the index of the first dimension varies fastest.
struct fortran_order_t {};
inline constexpr fortran_order_t fortran_order{};  ///< the policy as an argument of save_npy

/// How a file is divided among its owners (the workers that write or read its slabs), and when a save returns. All
/// workers must pass equal options.
struct file_options {
  /// The bytes of a page: no two workers write to one page. On a parallel file system, set this to the stripe size.
  std::size_t page_bytes = 4096;
  std::size_t owner_bytes = 1U << 16U;  ///< chosen: the owners of a file own on average at least this many bytes
  /// Each worker reads its own block if the runs of consecutive bytes that blocks occupy in the file have at least this
  /// many bytes on average. If not, workers read slabs, and a repartition follows (measured: bench/files).
  std::size_t run_bytes = 1U << 12U;
  bool sync = true;  ///< a save returns when the data are on the disk; if false, when the operating system has them
};

namespace detail {

template <class T>
inline constexpr bool is_source_cuts = false;  ///< whether T is the type of the policy source_cuts(...)
template <std::size_t Rank>
inline constexpr bool is_source_cuts<source_cuts_t<Rank>> = true;
template <class T>
inline constexpr bool is_result_cuts = false;  ///< whether T is the type of the policy result_cuts(...)
template <std::size_t Rank>
inline constexpr bool is_result_cuts<result_cuts_t<Rank>> = true;

/// The policies that a program passed to a call that saves or loads a tensor of rank Rank.
template <std::size_t Rank>
struct file_request {
  file_options options;                         ///< the options that the caller passed, or the defaults
  std::optional<decomposition<Rank>> from, to;  ///< the cuts of source_cuts(...) and of result_cuts(...)

  template <class... Policies>
  static file_request of(const Policies&... policies) {  ///< collects the policies of a call
    static_assert(
        ((is_source_cuts<Policies> ? 1 : 0) + ... + 0) <= 1 && ((is_result_cuts<Policies> ? 1 : 0) + ... + 0) <= 1,
        "partita::save_npy, load_npy: requires at most one source_cuts(...) or result_cuts(...); leave one out");
    file_request request;
    (request.apply_policy(policies), ...);
    return request;
  }

 private:
  void apply_policy(fortran_order_t) {}
  void apply_policy(const file_options& given) { options = given; }  ///< stores a policy in this request
  template <std::size_t R>
  void apply_policy(const source_cuts_t<R>& given) {
    static_assert(R == Rank,
                  "partita::save_npy(path, p, extents, x, source_cuts(...)): requires one cut for each "
                  "dimension of the partition; cut::balanced(n, 1) leaves one whole");
    if constexpr (R == Rank) from = given.cuts;
  }
  template <std::size_t R>
  void apply_policy(const result_cuts_t<R>& given) {
    static_assert(R == Rank,
                  "partita::load_npy<T, rank>(path, p, result_cuts(...)): requires one cut for each dimension "
                  "of the partition; cut::balanced(n, 1) leaves one whole");
    if constexpr (R == Rank) to = given.cuts;
  }
};

}  // namespace detail
}  // namespace partita
