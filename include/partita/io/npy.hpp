// Saves and loads a tensor on a partition as one standard .npy file, which NumPy and xtensor also read and write.
#pragma once

#include <cstddef>
#include <partita/array/expression.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/io/detail/new_file.hpp>
#include <partita/io/detail/open_npy.hpp>
#include <partita/io/detail/slabs.hpp>
#include <partita/io/file_policy.hpp>
#include <string>
#include <type_traits>

namespace partita {

namespace detail {

/// Collective. Writes a tensor to a temporary file beside the one to replace; renames it when all workers have written.
template <class T, std::size_t Rank, bool FortranOrder, bool CutsGiven, class Extents, class X>
void replace_npy(const file_call& call, const std::string& path, const partition<Extents>& p,
                 const std::array<std::size_t, Rank>& global, const X& x, const file_request<Rank>& request) {
  const std::size_t bytes =
      make_npy_header(npy_type_of<T>(), FortranOrder, global.data(), Rank).size() + volume_of(global) * sizeof(T);
  replace_file(call, path, bytes, request.options.sync, [&](posix_file& file, const std::string& temporary) {
    // 1. Move the tensor to the owners of the slabs, and the bytes at the ends of slabs to the owner of their page.
    const auto slab = slab_to_write<T, Rank>::template of<FortranOrder, CutsGiven>(call, p, global, x, request);
    const slab_partition<Rank>& where = slab.slabs();
    const auto received = exchange_shared_pages(where.owners, where.domains, slab.data());
    // 2. On each owner, write the range of the file that belongs to it.
    if (!where.is_owner() ||
        where.domains.write_starts[where.owner_position()] >= where.domains.write_starts[where.owner_position() + 1])
      return file_error();
    int error = call.is_leader() ? 0 : file.open(temporary, O_WRONLY);
    if (error == 0) error = write_domain(file, where, slab.header(), slab.data(), received);
    if (error == 0 && request.options.sync) error = file.sync();
    if (error == 0) error = file.close();
    return call.errno_error("write", temporary, error, write_error_advice);
  });
}

}  // namespace detail

/// Writes a tensor that is partitioned over p to one .npy file. The policies are `source_cuts(...)`, if the shapes of
/// the blocks do not determine the cuts, `fortran_order` and `file_options{...}`.
/// Shapes:   x is this worker's block on p of a tensor of these extents, with any cuts that repartition accepts;
///           inactive workers pass a block of zero volume. All workers of the world call save_npy.
/// Requires: rank(p) == rank(x) == rank(extents), numbers, bool or std::complex [compile time]; blocks of a tensor of
///           these extents [shape_error]; a place to write [io_error]. Errors are thrown on all workers, and then the
///           old file, if there was one, is intact, unless the error says that the new file is written. The new file
///           gets the mode of the old one and, if this process may set it, the owner. If `path` is a symbolic link, the
///           link stays and its target is replaced.
/// Cost:     one repartition to the owners of the file (none if the blocks are its slabs already), and at most one
///           message of less than one page from each owner to another; then all owners write at the same time, with one
///           fdatasync each if file_options::sync is true. Each owner needs memory for one slab of the file.
/// Adjoint:  none; load_npy is the inverse.
template <class Extents, std::size_t... E, ranked_array X, class... Policies>
void save_npy(const std::string& path, const partition<Extents>& p, const extents<E...>& global, const X& x,
              const Policies&... policies) {
  using T = element_of<X>;
  constexpr std::size_t rank = sizeof...(E);
  static_assert(Extents::rank() == rank && rank_of<X> == rank,
                "partita::save_npy(path, p, extents, x): requires a partition, extents and a block of one rank; "
                "reshape() the partition with extents of 1");
  static_assert(npy_element<T>,
                "partita::save_npy(path, p, extents, x): requires elements that a .npy file can hold: numbers, bool or "
                "std::complex of real numbers");
  static_assert(((detail::is_source_cuts<Policies> || std::is_same_v<Policies, fortran_order_t> ||
                  std::is_same_v<Policies, file_options>)&&...),
                "partita::save_npy(path, p, extents, x, policies...): requires policies among source_cuts(...), "
                "fortran_order and file_options");
  constexpr bool reversed = (std::is_same_v<Policies, fortran_order_t> || ...);
  constexpr bool cuts_given = (detail::is_source_cuts<Policies> || ...);
  if constexpr (!strided_array<const X>) {
    save_npy(path, p, global, xt::xtensor<T, rank>(x), policies...);
  } else {
    detail::one_call(*p.world().state(), [&] {
      const auto request = detail::file_request<rank>::of(policies...);
      const auto shape = global.array();
      const detail::file_call call(p.world(), p.size() == 0 ? 0 : p.workers()[0],
                                   text("partita::save_npy(\"") << path.c_str() << "\", p, extents " << shape << ", x)",
                                   detail::hash_arguments<T>(p, request) << (reversed ? 1 : 0));
      call.all_and(0);
      detail::check_save_arguments(call, p, shape.data(), rank, sizeof(T));
      detail::call_with_unwinding(
          [&] { detail::replace_npy<T, rank, reversed, cuts_given>(call, path, p, shape, x, request); });
    });
  }
}

/// Fallback: a call without extents is a compile-time error with a readable message.
template <class Extents, class X, class... A>
  requires(!is_extents<X>)
void save_npy(const std::string&, const partition<Extents>&, const X&, const A&...) {
  static_assert(detail::dependent_false<X>,
                "partita::save_npy(path, p, extents, x): requires the extents of the whole tensor before the block; "
                "write save_npy(path, p, extents(8, 12), x)");
}

/// Reads a .npy file as a tensor on p, in balanced blocks or as `result_cuts(...)` states. Supports C and Fortran
/// order, both byte orders, and versions 1 to 3.
/// Shapes:   the result is this worker's block on p, of zero volume if this worker is inactive. All workers of the
///           world call load_npy.
/// Requires: a complete, readable file with elements T [io_error] and rank Rank [shape_error], on all workers. If
///           another job replaces the file during the call, all workers read the old file or all read the new one.
/// Cost:     one worker reads the header. If the file is in C order, and the blocks occupy runs of `run_bytes` bytes or
///           more in it on average, each worker reads its own block. For shorter runs, or in Fortran order, each owner
///           of a slab reads one range of the file, all at the same time, and one repartition moves the elements.
/// Adjoint:  none; save_npy is the inverse.
template <class T, std::size_t Rank, class Extents, class... Policies>
auto load_npy(const std::string& path, const partition<Extents>& p, const Policies&... policies) {
  static_assert(Extents::rank() == Rank,
                "partita::load_npy<T, rank>(path, p): requires a partition of the rank asked for; reshape() it with "
                "extents of 1");
  static_assert(npy_element<T>,
                "partita::load_npy<T, rank>(path, p): requires elements that a .npy file can hold: numbers, bool or "
                "std::complex of real numbers");
  static_assert(((detail::is_result_cuts<Policies> || std::is_same_v<Policies, file_options>)&&...),
                "partita::load_npy<T, rank>(path, p, policies...): requires policies among result_cuts(...) and "
                "file_options");
  return detail::one_call(*p.world().state(), [&] {
    const auto request = detail::file_request<Rank>::of(policies...);
    const detail::file_call call(p.world(), p.size() == 0 ? 0 : p.workers()[0],
                                 text("partita::load_npy(\"") << path.c_str() << "\", p)",
                                 detail::hash_arguments<T>(p, request) << 2);
    call.all_and(0);
    if (p.size() == 0)
      call.make_error(detail::file_error::kind::partition, "requires a partition of at least one worker").raise();
    return detail::read_unchanged_file(call, path, [&](detail::common_file& source, bool is_retry) {
      if (is_retry && p.active()) static_cast<void>(source.open());  // early, as the file was just replaced
      const auto metadata = detail::open_npy<T, Rank>(call, source);
      detail::no_verifier nothing;
      return detail::read_npy<T, Rank, (detail::is_result_cuts<Policies> || ...)>(call, source, metadata, p, request,
                                                                                  nothing);
    });
  });
}
/// Fallback: a call without element type or rank is a compile-time error with a readable message.
template <class T = void, class Extents, class... Policies>
auto load_npy(const std::string&, const partition<Extents>&, const Policies&...) {
  static_assert(detail::dependent_false<T>,
                "partita::load_npy<T, rank>(path, p): requires the element type and the rank, which partitions do not "
                "tell; write load_npy<float, 2>(path, p)");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(save_npy) {
  static_assert(detail::dependent_false<Given...>,
                "partita::save_npy(path, p, extents, x): requires a path, a partition, the extents of the whole tensor "
                "and a block, in this order; write save_npy(\"w.npy\", p, extents(8, 12), w)");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(load_npy) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::load_npy<T, rank>(path, p): requires an element type, a rank, a path and a partition, in this order");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD_OF_VALUES(load_npy)

template <auto Rank, class T>
auto load_npy(detail::any_argument, detail::any_argument) {
  static_assert(detail::dependent_false<T>,
                "partita::load_npy<T, rank>(path, p): requires the element type before the rank; write load_npy<float, "
                "2>(path, p)");
  return detail::rejected_call{};
}
template <class T, auto Rank>
auto load_npy(detail::any_argument, detail::any_argument) {
  static_assert(detail::dependent_false<T>,
                "partita::load_npy<T, rank>(path, p): requires a path and a partition, in this order");
  return detail::rejected_call{};
}

}  // namespace partita
