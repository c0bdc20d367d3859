// What a Fourier transform is made of: its partitions, dimensions and options; the extents of its result, and the
// layouts through which a tensor passes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <partita/array/fourier_rule.hpp>
#include <partita/comm/partition.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/pencils.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A layout of the tensor, and the dimensions that are transformed in this layout; the adjoint transforms the
/// dimensions in the opposite order.
template <std::size_t Rank>
struct fourier_stage {
  dynamic_partition<Rank> p;                             ///< the partition of the layout
  std::array<std::size_t, Rank> extents_before{};        ///< the extents of the tensor before the transforms
  std::array<std::size_t, Rank> extents_after{};         ///< the extents of the tensor after the transforms
  std::vector<line_transform> lines{}, adjoint_lines{};  ///< the transforms along dimensions, and their adjoints
  bool has_complex_result = false;                       ///< whether the transforms give complex numbers
};
template <std::size_t Rank>
using fourier_route = std::vector<fourier_stage<Rank>>;  ///< the layouts of a transform, from x to the result

/// The arguments with which a transform is constructed.
template <std::size_t Rank>
struct fourier_definition {
  using shape_type = std::array<std::size_t, Rank>;                            ///< the extents of a tensor
  static constexpr const char* name = "partita::fourier_transform(p_x, p_y)";  ///< the transform in messages

  dynamic_partition<Rank> p_x;                    ///< the partition of x
  std::optional<dynamic_partition<Rank>> p_y{};   ///< that of the result; empty if the transform chooses it
  shape_list dimensions{};                        ///< the dimensions to transform
  std::vector<line_kind> kinds{};                 ///< the kind of transform along each of `dimensions`
  std::vector<real_transform> real_transforms{};  ///< the transform along each of `dimensions`, if real_to_real
  fourier_options options{};                      ///< the norm, the direction and other options

  bool has_kind(line_kind kind) const { return kinds.back() == kind; }  ///< whether the last of `kinds` is this kind
  /// The transformed dimension that is listed last; real_to_complex halves the spectrum along it.
  std::size_t last_dimension() const { return dimensions[dimensions.size() - 1]; }
  std::uint64_t fingerprint() const {  // identifies the arguments; equal on all workers
    hasher hash(128);
    hash.mix(p_x.grid().fingerprint()).mix(p_y ? p_y->grid().fingerprint() : 0).mix(dimensions).mix(kinds);
    hash.mix(real_transforms).mix(options.norm).mix(options.inverse).mix(options.real_extent);
    return hash.value();
  }
  /// Throws an error if the options do not fit the kind of transform, or p_x and p_y are partitions of two worlds.
  void require_options() const {
    const bool half = has_kind(line_kind::real_to_complex) || has_kind(line_kind::complex_to_real);
    if (p_y) expect_one_world(p_x, *p_y, "partita::fourier_transform");
    if (half && options.inverse)
      throw shape_error(
          text(name) << ": real_to_complex has no option .inverse, because complex_to_real is its inverse; "
                        "leave the option out");
    if (has_kind(line_kind::complex_to_real) && options.real_extent == 0)
      throw shape_error(
          text(name) << ": complex_to_real requires the number of real elements along dimension " << last_dimension()
                     << ", as m complex numbers are half of the spectrum of 2 m - 2 or 2 m - 1 real ones; "
                        "give {.real_extent = n}");
  }

  /// The extents of the transform of a tensor of the given extents.
  shape_type result_extents(shape_type global) const {
    if (has_kind(line_kind::real_to_complex)) global[last_dimension()] = half_spectrum_extent(global[last_dimension()]);
    if (has_kind(line_kind::complex_to_real)) global[last_dimension()] = options.real_extent;
    return global;
  }
  /// The error message if this transform cannot be applied to a tensor of these extents; empty if it can.
  text error_message(const shape_type& global) const {
    text problem;
    const std::size_t n = global[last_dimension()], wanted = options.real_extent;
    if (has_kind(line_kind::real_to_complex)) {
      if (n == 0)
        problem << "requires at least one element along dimension " << last_dimension() << ", got a tensor of "
                << global;
      else if (wanted != 0 && n != wanted)
        problem << "requires " << wanted << " elements along dimension " << last_dimension()
                << ", as {.real_extent = " << wanted << "} says, got a tensor of " << global
                << "; give that tensor, or leave the option out";
    } else if (has_kind(line_kind::complex_to_real) && n != half_spectrum_extent(wanted)) {
      problem << "requires half of the spectrum of " << wanted << " real elements along dimension " << last_dimension()
              << ", which is " << half_spectrum_extent(wanted) << " complex numbers, got a tensor of " << global
              << "; give {.real_extent = n} of the tensor whose spectrum it is";
    }
    for (std::size_t k = 0; k < dimensions.size() && problem.empty(); ++k)
      if (kinds[k] == line_kind::real_to_real && real_transforms[k] == real_transform::dct_1 &&
          global[dimensions[k]] == 1)
        problem << "a cosine transform of type I requires at least 2 elements along dimension " << dimensions[k]
                << ", got a tensor of " << global << "; take another type";
    return problem;
  }

  /// The layouts in which a tensor of these extents is transformed. `balanced`: whether x has balanced blocks on p_x.
  fourier_route<Rank> route(const shape_type& global, bool balanced) const {
    const shape_type result = result_extents(global);
    const bool real_x = has_kind(line_kind::real_to_complex), real_y = has_kind(line_kind::complex_to_real);
    pencil_request request{
        .extents = real_x ? result : global, .grid_x = p_x.grid().shape(), .grid_y = {}, .dimensions = dimensions};
    if (p_y) request.grid_y = p_y->grid().shape();
    const bool of_x = !p_y || p_x.size() >= p_y->size();
    const workers& workers_of_layouts = of_x ? p_x.workers() : p_y->workers();
    request.workers = workers_of_layouts.size();
    request.in_place = balanced && (!p_y || p_x == *p_y);
    if (real_x) request.first_dimension = last_dimension();
    if (real_y) request.last_dimension = last_dimension();

    fourier_route<Rank> all;
    const std::vector<pencil> pencils = choose_pencils(request);
    shape_type now = global;
    bool complex_now = !real_x && !has_kind(line_kind::real_to_real);
    for (std::size_t k = 0; k < pencils.size(); ++k) {
      const bool given = k + 1 == pencils.size() && p_y.has_value();
      fourier_stage<Rank> stage{k == 0 ? p_x : given ? *p_y : layout(workers_of_layouts, pencils[k].grid), now, now};
      for (const std::size_t d : pencils[k].dimensions) {
        const std::size_t n = real_y ? result[d] : global[d];
        std::size_t at = 0;  // the position of d in `dimensions`
        while (dimensions[at] != d) ++at;
        const bool inverse = options.inverse || real_y;  // complex_to_real is an inverse transform
        const line_transform line = make_transform(d, kinds[at], real_transforms[at], inverse, options.norm, n);
        stage.lines.push_back(line);
        stage.adjoint_lines.insert(stage.adjoint_lines.begin(), adjoint_transform(line, n));
        if (line.kind == line_kind::real_to_complex) complex_now = true;
        if (line.kind == line_kind::complex_to_real) complex_now = false;
        now[d] = result[d];
      }
      stage.extents_after = now;
      stage.has_complex_result = complex_now;
      all.push_back(std::move(stage));
    }
    return all;
  }

 private:
  /// Makes the partition of a layout, on as many of the first workers in `workers_of_layouts` as the grid needs.
  dynamic_partition<Rank> layout(const workers& workers_of_layouts, const shape_list& grid_of_layout) const {
    shape_type shape{};
    for (std::size_t d = 0; d < Rank; ++d) shape[d] = grid_of_layout[d];
    return {p_x.world(), grid<dynamic_extents<Rank>>(dynamic_extents<Rank>(shape),
                                                     workers_of_layouts.subset(workers(0, volume_of(shape))))};
  }
};

}  // namespace partita::detail
