// Transforms of one worker's block are those of their definitions, for blocks of any strides, in place or not, in parts
// and by way of buffers, and whatever plans are kept from earlier blocks. Skipped if FFTW is not installed.
#include "mpi_test.hpp"

#if __has_include(<fftw3.h>)
#include "fourier_oracle.hpp"

#include <algorithm>
#include <partita/array/local_transform.hpp>
#include <vector>

namespace {

using namespace partita;
using detail::line_kind;
using detail::local_transforms;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;
template <std::size_t Rank>
constexpr axes_order<Rank> in_order = same_axes<Rank>();  // a call in its place is too much for g++ 12

/// How a block lies in memory: its dimensions from the outermost to the innermost, the elements before it and between
/// its rows, and whether dimension 0 runs backwards.
template <std::size_t Rank>
struct layout {
  axes_order<Rank> order = in_order<Rank>;
  std::size_t offset = 0, gap = 0;
  bool backwards = false;
};

/// A block and the memory that it lies in.
template <class T, std::size_t Rank>
struct stored {
  std::vector<T> memory;
  strided<T, Rank> block;

  stored(const shape<Rank>& extents, const layout<Rank>& l) {
    block.shape = extents;
    std::size_t next = 1;
    for (std::size_t k = Rank; k-- > 0;) {
      const std::size_t d = l.order[k];
      block.strides[d] = static_cast<std::ptrdiff_t>(next);
      next = next * extents[d] + l.gap;
    }
    memory.assign(next + l.offset + 1, T(7));
    block.data = memory.data() + l.offset;
    if (l.backwards && block.size() != 0) {
      block.data += static_cast<std::ptrdiff_t>(extents[0] - 1) * block.strides[0];
      block.strides[0] = -block.strides[0];
    }
  }
  std::size_t place(const partita::index<Rank>& i) const {
    const T* at = block.data;
    for (std::size_t d = 0; d < Rank; ++d) at += static_cast<std::ptrdiff_t>(i[d]) * block.strides[d];
    return static_cast<std::size_t>(at - memory.data());
  }
};

/// A dimension and the kind of transform along it.
struct direction {
  std::size_t dimension;
  line_kind kind = line_kind::complex_to_complex;
  real_transform real = real_transform::dct_1;
};
struct how {
  bool inverse = false;
  fourier_norm norm = fourier_norm::backward;
  bool in_place = false;
};

/// Whether the transform of a block is that of its definition, and nothing around the blocks is written. `extents` are
/// those of the real side.
template <class In, class Out, std::size_t Rank>
bool is_defined(local_transforms& transforms, const shape<Rank>& extents, const std::vector<direction>& directions,
                const how& h = {}, const layout<Rank>& of_x = {}, const layout<Rank>& of_y = {}) {
  auto before = extents, after = extents;
  for (const direction& one : directions) {
    if (one.kind == line_kind::complex_to_real) before[one.dimension] = extents[one.dimension] / 2 + 1;
    if (one.kind == line_kind::real_to_complex) after[one.dimension] = extents[one.dimension] / 2 + 1;
  }
  stored<In, Rank> x(before, of_x);
  stored<Out, Rank> y(after, of_y);
  test::whole_tensor<Rank> whole(before);
  for (std::size_t k = 0; k < whole.values.size(); ++k) {
    const double a = std::sin(static_cast<double>(3 * k + 1)), b = std::cos(static_cast<double>(5 * k + 2));
    In& element = x.memory[x.place(index_of(k, before))];
    if constexpr (std::is_floating_point_v<In>) element = static_cast<In>(a), whole.values[k] = element;
    else element = In(test::number(a, b)), whole.values[k] = test::number(element);
  }
  std::vector<detail::line_transform> lines;
  for (const direction& one : directions) {
    const std::size_t n = extents[one.dimension];
    lines.push_back(detail::make_transform(one.dimension, one.kind, one.real, h.inverse, h.norm, n));
    whole.transform(one.dimension, one.kind, one.real, h.inverse, h.norm, n);
  }
  const std::vector<In> x_before = x.memory;
  stored<Out, Rank>* result = &y;
  if constexpr (std::is_same_v<In, Out>)
    if (h.in_place) result = &x;
  transforms.run(x.block, result->block, lines);
  if (directions.back().kind != line_kind::complex_to_real && !h.in_place && x.memory != x_before) return false;

  double most = 1, error = 0;  // relative to the largest element
  std::vector<Out> around(result->memory.size(), Out(7));
  for (std::size_t k = 0; k < whole.values.size(); ++k) {
    const std::size_t place = result->place(index_of(k, after));
    const test::number element(result->memory[place]);
    most = std::max(most, std::abs(whole.values[k]));
    error = std::max(error, std::abs(element - whole.values[k]));
    around[place] = result->memory[place];
  }
  const double bound = std::is_same_v<detail::real_of<Out>, float> ? 1e-5 : 1e-12;
  return error <= bound * most && around == result->memory;
}

using complex = std::complex<double>;
using narrow_complex = std::complex<float>;
constexpr direction half(std::size_t d) { return {d, line_kind::real_to_complex}; }
constexpr direction from_half(std::size_t d) { return {d, line_kind::complex_to_real}; }
constexpr direction real_along(std::size_t d, real_transform kind) { return {d, line_kind::real_to_real, kind}; }

std::vector<layout<3>> some_layouts() {
  return {{}, {{2, 1, 0}}, {{1, 2, 0}, 0, 3}, {{0, 1, 2}, 1}, {{0, 1, 2}, 0, 1, true}, {{0, 2, 1}, 3, 2, true}};
}

/// Blocks whose plans differ in one number each: in their layouts, kinds, directions, types, dimensions or extents.
std::size_t wrong_small_transforms(local_transforms& transforms) {
  std::size_t wrong = 0;
  const auto count = [&](bool is_right) { wrong += is_right ? 0 : 1; };
  for (const shape<3>& extents : {shape<3>{4, 4, 4}})
    for (const layout<3>& of_x : some_layouts()) {
      for (const layout<3>& of_y : {layout<3>{}, layout<3>{{2, 1, 0}, 1, 2}})
        for (std::size_t d = 0; d < 3; ++d) {
          for (const bool inverse : {false, true})
            count(is_defined<complex, complex, 3>(transforms, extents, {{d}}, {inverse}, of_x, of_y));
          count(is_defined<narrow_complex, narrow_complex, 3>(transforms, extents, {{d}}, {}, of_x, of_y));
          count(is_defined<double, complex, 3>(transforms, extents, {half(d), {(d + 1) % 3}}, {}, of_x, of_y));
          count(is_defined<complex, double, 3>(transforms, extents, {{(d + 1) % 3}, from_half(d)}, {true}, of_x, of_y));
        }
      for (const bool in_place : {true, false}) {
        const how ortho{false, fourier_norm::ortho, in_place};
        count(is_defined<complex, complex, 3>(transforms, extents, {{2}, {0}, {1}}, ortho, of_x));
        count(is_defined<double, double, 3>(
            transforms, extents, {real_along(1, real_transform::dct_2), real_along(0, real_transform::dst_3)}, ortho,
            of_x));
      }
    }
  return wrong;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transforms_of_blocks)

BOOST_AUTO_TEST_CASE(blocks_of_any_strides_have_their_transforms_whatever_plans_are_kept) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(false);
  BOOST_TEST(wrong_small_transforms(transforms) == 0U);
}

BOOST_AUTO_TEST_CASE(plans_that_are_measured_leave_blocks_of_any_strides_and_alignment_as_they_are) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(true);
  for (const layout<3>& of_x : some_layouts())
    for (const bool in_place : {true, false}) {
      const how h{true, fourier_norm::forward, in_place};
      BOOST_TEST((is_defined<complex, complex, 3>(transforms, {4, 3, 5}, {{0}}, h, of_x, {{1, 2, 0}, 1, 2, true})));
      BOOST_TEST(
          (is_defined<double, double, 3>(transforms, {4, 3, 5}, {real_along(1, real_transform::dst_2)}, h, of_x)));
    }
}

BOOST_AUTO_TEST_CASE(lines_of_one_extent_of_their_spectrum_differ_by_their_points) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(false);
  for (int turn = 0; turn < 2; ++turn)
    for (const std::size_t n : {4U, 5U, 1U, 2U, 3U}) {
      BOOST_TEST((is_defined<double, complex, 1>(transforms, {n}, {half(0)})));
      BOOST_TEST((is_defined<complex, double, 1>(transforms, {n}, {from_half(0)}, {true})));
    }
}

BOOST_AUTO_TEST_CASE(each_kind_of_real_transform_has_its_definition_with_each_norm) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(false);
  using enum real_transform;
  for (const real_transform kind : {dct_1, dct_2, dct_3, dct_4, dst_1, dst_2, dst_3, dst_4, hartley})
    for (const fourier_norm norm : {fourier_norm::backward, fourier_norm::ortho, fourier_norm::forward})
      for (const bool inverse : {false, true})
        for (const bool in_place : {false, true}) {
          const auto told = static_cast<int>(kind);
          BOOST_TEST(
              (is_defined<double, double, 2>(transforms, {5, 4}, {real_along(0, kind)}, {inverse, norm, in_place})),
              "kind " << told);
          BOOST_TEST((is_defined<float, float, 2>(transforms, {2, 7}, {real_along(1, kind), real_along(0, kind)},
                                                  {inverse, norm, in_place})),
                     "kind " << told);
        }
}

/// Lines whose elements are far apart, in blocks that are larger than an L1 cache: 40 columns are divided into 14, 14
/// and 12.
BOOST_AUTO_TEST_CASE(large_blocks_are_transformed_some_columns_at_a_time) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(false);
  for (const bool in_place : {false, true}) {
    const how ortho{false, fourier_norm::ortho, in_place};
    BOOST_TEST((is_defined<complex, complex, 3>(transforms, {16, 5, 40}, {{1}}, ortho)));
    BOOST_TEST((is_defined<double, double, 3>(transforms, {24, 5, 40}, {real_along(1, real_transform::dct_3)}, ortho)));
  }
  BOOST_TEST((is_defined<double, complex, 3>(transforms, {16, 6, 40}, {half(1)})));
  BOOST_TEST((is_defined<complex, double, 3>(transforms, {24, 5, 40}, {from_half(1)}, {true})));
  const layout<3> last_outermost{{2, 0, 1}, 1, 3, true};
  BOOST_TEST((is_defined<complex, complex, 3>(transforms, {7, 41, 8}, {{0}}, {true}, last_outermost, last_outermost)));
  BOOST_TEST((is_defined<narrow_complex, narrow_complex, 2>(transforms, {6, 790}, {{0}})));
}

/// Blocks that are larger than the part of a cache: 3 and 2 rows of complex numbers, 4 and 2 rows of half of a
/// spectrum, 6 and 2 rows of real numbers.
BOOST_AUTO_TEST_CASE(large_blocks_are_transformed_some_rows_at_a_time) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(false);
  BOOST_TEST((is_defined<complex, complex, 4>(transforms, {5, 4, 4, 300}, {{2}, {1}}, {true, {}, true})));
  BOOST_TEST((is_defined<double, complex, 4>(transforms, {6, 4, 4, 300}, {half(1), {2}})));
  BOOST_TEST((is_defined<complex, double, 4>(transforms, {8, 4, 4, 300}, {{1}, from_half(2)}, {true})));
}

/// Blocks of this size whose rows are not independent of each other: dimension 0 is transformed, too.
BOOST_AUTO_TEST_CASE(large_blocks_are_transformed_as_a_whole_if_dimension_0_is_transformed) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(false);
  for (const bool in_place : {false, true}) {
    BOOST_TEST((is_defined<complex, complex, 3>(transforms, {6, 4, 1100}, {{0}, {1}}, {false, {}, in_place})));
    BOOST_TEST((is_defined<complex, complex, 3>(transforms, {6, 4, 1100}, {{1}, {0}}, {true, {}, in_place})));
  }
  BOOST_TEST((is_defined<double, complex, 3>(transforms, {6, 4, 1100}, {half(1), {0}})));
  BOOST_TEST((is_defined<complex, double, 3>(transforms, {6, 5, 1400}, {{0}, from_half(1)}, {true})));
}

BOOST_AUTO_TEST_CASE(a_block_without_elements_is_left_alone) {
  if (test::workers().rank() != 0) return;
  local_transforms transforms(false);
  BOOST_TEST((is_defined<complex, complex, 3>(transforms, {3, 0, 4}, {{0}, {2}})));
  BOOST_TEST((is_defined<complex, complex, 3>(transforms, {0, 3, 4}, {{1}, {2}})));
  BOOST_TEST((is_defined<double, double, 2>(transforms, {0, 4}, {real_along(1, real_transform::dct_2)})));
}

BOOST_AUTO_TEST_SUITE_END()

#endif
