// Fourier, cosine and sine transforms of one worker's block, which may have any strides, by FFTW. No other header uses
// FFTW; partita.hpp does not include this header.
#pragma once

#if !__has_include(<fftw3.h>)  // a missing <fftw3.h> gives one error, not many
#include <partita: Fourier transforms take FFTW 3, install libfftw3-dev and link `pkg-config --libs fftw3 fftw3f`>
#endif
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <partita/array/fourier_rule.hpp>
#include <partita/array/real_part.hpp>
#include <partita/array/row_walk.hpp>
#include <partita/array/strided.hpp>
#include <partita/core/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// The functions of FFTW for numbers of type Real.
template <class Real>
struct fftw_of;
#define PARTITA_DEFINE_FFTW_TYPES(Real, prefix)                           \
  template <>                                                             \
  struct fftw_of<Real> {                                                  \
    using plan = prefix##plan;                                            \
    using number = prefix##complex;                                       \
    using dimension = prefix##iodim64;                                    \
    using kind = prefix##r2r_kind;                                        \
    static constexpr auto complex_to_complex = &prefix##plan_guru64_dft;  \
    static constexpr auto real_to_complex = &prefix##plan_guru64_dft_r2c; \
    static constexpr auto complex_to_real = &prefix##plan_guru64_dft_c2r; \
    static constexpr auto real_to_real = &prefix##plan_guru64_r2r;        \
    static constexpr auto run_complex_to_complex = &prefix##execute_dft;  \
    static constexpr auto run_real_to_complex = &prefix##execute_dft_r2c; \
    static constexpr auto run_complex_to_real = &prefix##execute_dft_c2r; \
    static constexpr auto run_real_to_real = &prefix##execute_r2r;        \
    static constexpr auto destroy = &prefix##destroy_plan;                \
    static constexpr auto allocate = &prefix##malloc;                     \
    static constexpr auto release = &prefix##free;                        \
    static constexpr auto alignment = &prefix##alignment_of;              \
  };
PARTITA_DEFINE_FFTW_TYPES(double, fftw_)
PARTITA_DEFINE_FFTW_TYPES(float, fftwf_)
#undef PARTITA_DEFINE_FFTW_TYPES

/// Serialises FFTW's planner, which one thread may use at a time: all plans of the library are made and destroyed under
/// this lock.
inline std::mutex fftw_planner;

/// FFTW's name for a real-to-real transform.
inline fftw_r2r_kind fftw_kind(real_transform kind) {
  // in the order of the enumerators of real_transform
  constexpr fftw_r2r_kind kinds[] = {FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11, FFTW_RODFT00,
                                     FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11, FFTW_DHT};
  return kinds[static_cast<std::size_t>(kind)];
}

/// Calls f(row, n, stride) for the elements of a block, as rows that are as long as possible.
template <class T, std::size_t Rank, class F>
void for_each_row(const strided<T, Rank>& block, F f) {
  row_walk<1, Rank> walk;
  for (std::size_t d = 0; d < Rank; ++d) walk.add(block.shape[d], {block.strides[d]});
  const std::ptrdiff_t stride = walk.innermost_plane().column_step[0];
  walk.for_each_row([&](const std::array<std::ptrdiff_t, 1>& at, std::size_t n) { f(block.data + at[0], n, stride); });
}
/// Multiplies all elements of a block by a factor.
template <class T, std::size_t Rank>
void scale_block(const strided<T, Rank>& block, double factor) {
  if (factor == 1) return;
  const auto by = static_cast<real_of<T>>(factor);
  for_each_row(block, [by](T* row, std::size_t n, std::ptrdiff_t stride) {
    for (std::size_t k = 0; k < n; ++k) row[static_cast<std::ptrdiff_t>(k) * stride] *= by;
  });
}
/// The part of a block with the `count` indices from `first` on along a dimension.
template <class T, std::size_t Rank>
strided<T, Rank> slice_of_block(const strided<T, Rank>& block, std::size_t dimension, std::size_t first,
                                std::size_t count = 1) {
  std::array<std::size_t, Rank> at{}, extent = block.shape;
  at[dimension] = first;
  extent[dimension] = count;
  return block.part(at, extent);
}
/// Multiplies the first and the last element of each line of a block along a dimension.
template <class T, std::size_t Rank>
void multiply_line_ends(const strided<T, Rank>& block, std::size_t dimension, const end_factors& by) {
  if (block.size() == 0) return;
  scale_block(slice_of_block(block, dimension, 0), by.first);
  scale_block(slice_of_block(block, dimension, block.shape[dimension] - 1), by.last);
}

/// Transforms blocks, and keeps up to 64 FFTW plans. Only one thread at a time may use an object.
class local_transforms {
 public:
  explicit local_transforms(bool measure) : should_measure_(measure) {}  ///< measure: FFTW times its algorithms

  /// Sets y to the transform of x along the dimensions of `lines`, one dimension after another. The block has all
  /// elements of the tensor along these dimensions. x and y may be the same memory if their elements have one type. x
  /// is overwritten if a line is complex to real.
  template <class In, class Out, std::size_t Rank>
  void run(const strided<In, Rank>& x, const strided<Out, Rank>& y, const std::vector<line_transform>& lines) {
    if (y.size() == 0) return;
    // If several dimensions are transformed, but not dimension 0, the block passes through all transforms in parts that
    // fit into the cache.
    std::size_t first = Rank;
    for (const line_transform& line : lines) first = std::min(first, line.dimension);
    const std::size_t n = y.shape[0], bytes = y.size() / n * sizeof(Out);
    const std::size_t part = first == 0 || lines.size() < 2 ? n : std::max<std::size_t>(1, cached_bytes / bytes);
    if (part >= n) return transform_part(x, y, lines);
    for (std::size_t k = 0; k < n; k += part) {
      const std::size_t rows = std::min(part, n - k);
      transform_part(slice_of_block(x, 0, k, rows), slice_of_block(y, 0, k, rows), lines);
    }
  }

 private:
  /// A plan of FFTW and its key: the kind, shapes, strides and alignments for which the plan was made.
  struct cached_plan {
    std::vector<std::ptrdiff_t> key;  ///< all numbers that determine the plan
    std::shared_ptr<void> plan;       ///< FFTW's plan, which the deleter destroys
  };
  static constexpr std::size_t max_plans = 64;  ///< kept plans; chosen: a program of more shapes makes plans again
  // The size in bytes of a part of a block that passes through all transforms before the next part does.
  static constexpr std::size_t cached_bytes = std::size_t{1} << 18U;  // chosen: a quarter of a usual L2 cache
  // The bytes of a buffer row. Measured: 64 to 512 bytes are equally fast (128^3, 256^2 x 16 std::complex<double>).
  static constexpr std::size_t buffer_row_bytes = 256;
  static constexpr std::size_t smallest_buffered = std::size_t{1} << 15U;  // bytes of a block; chosen: an L1 cache

  /// Does what run() does, for a part of a block.
  template <class In, class Out, std::size_t Rank>
  void transform_part(const strided<In, Rank>& x, const strided<Out, Rank>& y,
                      const std::vector<line_transform>& lines) {
    constexpr bool in_real = std::is_floating_point_v<In>, out_real = std::is_floating_point_v<Out>;
    double factor = 1;
    for (const line_transform& line : lines) factor *= line.factor;
    if constexpr (in_real == out_real) {
      transform_each_dimension(x, y, lines.begin(), lines.end());
    } else if constexpr (in_real) {
      transform_dimension(x, y, lines.front());
      multiply_line_ends(y, lines.front().dimension, lines.front().after);
      transform_each_dimension(y, y, lines.begin() + 1, lines.end());
    } else {
      const line_transform& half = lines.back();
      transform_each_dimension(x, x, lines.begin(), lines.end() - 1);
      multiply_line_ends(x, half.dimension, half.before);
      // The first number of half of a spectrum is real, and the last number if n is even: their imaginary parts have no
      // meaning, and FFTW does not promise to ignore them.
      clear_imaginary_part(slice_of_block(x, half.dimension, 0));
      if (const std::size_t n = y.shape[half.dimension]; n % 2 == 0)
        clear_imaginary_part(slice_of_block(x, half.dimension, n / 2));
      transform_dimension(x, y, half);
    }
    scale_block(y, factor);
  }
  template <class T, std::size_t Rank>
  static void clear_imaginary_part(const strided<std::complex<T>, Rank>& block) {  ///< sets these to 0
    for_each_row(block, [](std::complex<T>* row, std::size_t n, std::ptrdiff_t stride) {
      for (std::size_t k = 0; k < n; ++k) row[static_cast<std::ptrdiff_t>(k) * stride].imag(0);
    });
  }

  /// Applies the transforms from `line` to before `last_line`, which keep the element type, to x, with the result in y.
  template <class In, class Out, std::size_t Rank, class Line>
  void transform_each_dimension(const strided<In, Rank>& x, const strided<Out, Rank>& y, Line line, Line last_line) {
    bool in_place = line == last_line || line->before.has_factors();
    if (in_place && x.data != y.data) copy<Out, Rank>(y, x);
    for (; line != last_line; ++line) {
      multiply_line_ends(y, line->dimension, line->before);
      if (in_place) transform_dimension(y, y, *line);
      else transform_dimension(x, y, *line);
      multiply_line_ends(y, line->dimension, line->after);
      in_place = true;
    }
  }

  /// Transforms along one dimension. In large blocks, lines whose elements are far apart are copied to a buffer, a few
  /// lines at a time: strides of large powers of 2 map to few sets of a cache (13 times slower for 256 lines of stride
  /// 64 KiB).
  template <class In, class Out, std::size_t Rank>
  void transform_dimension(const strided<In, Rank>& x, const strided<Out, Rank>& y, const line_transform& line) {
    const std::size_t d = line.dimension;
    if constexpr (std::is_same_v<std::remove_const_t<In>, Out>)
      if (x.data == y.data && y.strides[d] < 0) {
        // FFTW's planner (3.3.10) recurses without end for a transform in place along a negative stride.
        const auto memory = allocate_for_fftw<Out>(y.size());
        const auto dense = dense_block<Out, Rank>(memory.get(), y.shape);
        copy<Out, Rank>(dense, y);
        transform_dimension(dense, dense, line);
        return copy<Out, Rank>(y, dense);
      }
    std::size_t neighbour_dimension = Rank;
    for (std::size_t e = 0; e < Rank; ++e)
      if (e != d && x.strides[e] == 1 && y.strides[e] == 1 && y.shape[e] > 1) neighbour_dimension = e;
    if (neighbour_dimension == Rank || y.size() * sizeof(Out) < smallest_buffered)
      return execute(find_plan(x, y, line), x, y);

    using input = std::remove_const_t<In>;
    // The columns are divided about equally over the buffers: 65 columns as 5 times 13, not as 4 times 16 and 1.
    const std::size_t extent = y.shape[neighbour_dimension], most_columns = buffer_row_bytes / sizeof(Out);
    const std::size_t pieces = (extent + most_columns - 1) / most_columns, columns = (extent + pieces - 1) / pieces;
    const auto input_buffer = allocate_for_fftw<input>(x.shape[d] * columns);
    fftw_memory<Out> output_buffer;  // null if FFTW works in place
    if constexpr (!std::is_same_v<input, Out>) output_buffer = allocate_for_fftw<Out>(y.shape[d] * columns);
    auto positions = y.shape;  // the positions of the buffers' first columns
    positions[d] = 1;
    positions[neighbour_dimension] = (extent + columns - 1) / columns;
    std::shared_ptr<void> plan;
    std::size_t planned_width = 0;
    for (std::size_t k = 0; k < volume_of(positions); ++k) {
      auto at = index_of(k, positions);
      at[neighbour_dimension] *= columns;
      const std::size_t width = std::min(columns, extent - at[neighbour_dimension]);
      const auto from = neighbouring_lines(x, at, d, neighbour_dimension, width);
      const auto to = neighbouring_lines(y, at, d, neighbour_dimension, width);
      const auto in = dense_block<input, 2>(input_buffer.get(), from.shape);
      Out* result = output_buffer.get();
      if constexpr (std::is_same_v<input, Out>) result = input_buffer.get();
      const auto out = dense_block<Out, 2>(result, to.shape);
      if (planned_width != width) {
        line_transform alone = line;
        alone.dimension = 0;
        plan = find_plan(in, out, alone);
        planned_width = width;
      }
      copy<input, 2>(in, from);
      execute(plan, in, out);
      copy<Out, 2>(to, out);
    }
  }
  /// A view of some neighbouring lines along dimension d as the columns of a matrix.
  template <class T, std::size_t Rank>
  static strided<T, 2> neighbouring_lines(const strided<T, Rank>& block, const index<Rank>& at, std::size_t d,
                                          std::size_t neighbour_dimension, std::size_t width) {
    T* first = block.data;
    for (std::size_t e = 0; e < Rank; ++e) first += static_cast<std::ptrdiff_t>(at[e]) * block.strides[e];
    return {first, {block.shape[d], width}, {block.strides[d], block.strides[neighbour_dimension]}};
  }
  /// Releases aligned memory that FFTW allocated.
  template <class T>
  struct fftw_deleter {
    void operator()(T* memory) const { fftw_of<real_of<T>>::release(memory); }
  };
  template <class T>
  using fftw_memory = std::unique_ptr<T, fftw_deleter<T>>;  ///< uninitialised memory, aligned for FFTW
  template <class T>
  static fftw_memory<T> allocate_for_fftw(std::size_t n) {  ///< memory for n elements; throws std::bad_alloc
    fftw_memory<T> memory(static_cast<T*>(fftw_of<real_of<T>>::allocate(n * sizeof(T))));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }

  /// Converts an element pointer to FFTW's type. FFTW writes to no input except that of a complex-to-real transform.
  template <class FFTW, class T>
  static auto* fftw_pointer(T* data) {
    using element = std::remove_const_t<T>;
    if constexpr (std::is_floating_point_v<element>) return const_cast<element*>(data);
    else return reinterpret_cast<typename FFTW::number*>(const_cast<element*>(data));
  }
  /// The alignment of an address in FFTW's sense: a plan fits arrays of the alignment that it was made for.
  template <class FFTW, class T>
  static int alignment(T* data) {
    using real = real_of<std::remove_const_t<T>>;
    return FFTW::alignment(reinterpret_cast<real*>(const_cast<std::remove_const_t<T>*>(data)));
  }

  /// Runs a plan of FFTW on x and y.
  template <class In, class Out, std::size_t Rank>
  static void execute(const std::shared_ptr<void>& plan, const strided<In, Rank>& x, const strided<Out, Rank>& y) {
    using fftw = fftw_of<real_of<Out>>;
    constexpr bool in_real = std::is_floating_point_v<In>, out_real = std::is_floating_point_v<Out>;
    auto* const p = static_cast<typename fftw::plan>(plan.get());
    auto* const in = fftw_pointer<fftw>(x.data);
    auto* const out = fftw_pointer<fftw>(y.data);
    if constexpr (in_real && out_real) fftw::run_real_to_real(p, in, out);
    else if constexpr (in_real) fftw::run_real_to_complex(p, in, out);
    else if constexpr (out_real) fftw::run_complex_to_real(p, in, out);
    else fftw::run_complex_to_complex(p, in, out);
  }

  /// Finds or makes the plan of a transform along one dimension of a block that is not empty.
  template <class In, class Out, std::size_t Rank>
  std::shared_ptr<void> find_plan(const strided<In, Rank>& x, const strided<Out, Rank>& y, const line_transform& line) {
    using fftw = fftw_of<real_of<Out>>;
    const int in_alignment = alignment<fftw>(x.data), out_alignment = alignment<fftw>(y.data);
    const bool is_in_place = static_cast<const void*>(x.data) == static_cast<const void*>(y.data);
    std::vector<std::ptrdiff_t> key{static_cast<std::ptrdiff_t>(line.kind),
                                    static_cast<std::ptrdiff_t>(line.real),
                                    line.is_backward ? 1 : 0,
                                    static_cast<std::ptrdiff_t>(line.dimension),
                                    static_cast<std::ptrdiff_t>(sizeof(Out)),
                                    is_in_place ? 1 : 0,
                                    in_alignment,
                                    out_alignment};
    for (std::size_t d = 0; d < Rank; ++d)
      key.insert(key.end(), {static_cast<std::ptrdiff_t>(x.shape[d]), static_cast<std::ptrdiff_t>(y.shape[d]),
                             x.strides[d], y.strides[d]});
    for (const cached_plan& known : plans_)
      if (known.key == key) return known.plan;
    if (plans_.size() == max_plans) plans_.erase(plans_.begin());
    auto new_plan = make_plan(x, y, line, is_in_place, in_alignment == 0 && out_alignment == 0);
    plans_.push_back({std::move(key), new_plan});
    return new_plan;
  }

  /// Makes a plan. FFTW_MEASURE overwrites the arrays of the plan, so such a plan is made on temporary arrays.
  template <class In, class Out, std::size_t Rank>
  std::shared_ptr<void> make_plan(const strided<In, Rank>& x, const strided<Out, Rank>& y, const line_transform& line,
                                  bool is_in_place, bool is_aligned) const {
    using fftw = fftw_of<real_of<Out>>;
    using input = std::remove_const_t<In>;
    typename fftw::plan plan = nullptr;
    if (const std::lock_guard<std::mutex> only(fftw_planner); !should_measure_) {
      plan = make_fftw_plan<fftw>(x, y, line, x.data, y.data, FFTW_ESTIMATE);
    } else {
      const scratch_block<input, Rank> in(x.shape, x.strides);
      const scratch_block<Out, Rank> out(y.shape, y.strides);
      plan = make_fftw_plan<fftw>(x, y, line, in.data, is_in_place ? reinterpret_cast<Out*>(in.data) : out.data,
                                  FFTW_MEASURE | (is_aligned ? 0U : static_cast<unsigned>(FFTW_UNALIGNED)));
    }
    if (plan == nullptr) throw error("partita::fourier_transform: FFTW has no plan for such a block");
    return {static_cast<void*>(plan), [](void* it) {  // also runs if std::bad_alloc is thrown: lock is free
              const std::lock_guard<std::mutex> lock(fftw_planner);
              fftw::destroy(static_cast<typename fftw::plan>(it));
            }};
  }
  /// Asks FFTW for a plan for blocks of the shapes and strides of x and y at the addresses `from` and `to`.
  template <class FFTW, class In, class Out, std::size_t Rank, class From, class To>
  static typename FFTW::plan make_fftw_plan(const strided<In, Rank>& x, const strided<Out, Rank>& y,
                                            const line_transform& line, From* from, To* to, unsigned fftw_flags) {
    constexpr bool in_real = std::is_floating_point_v<In>, out_real = std::is_floating_point_v<Out>;
    typename FFTW::dimension along{}, others[Rank]{};
    int count = 0;
    for (std::size_t d = 0; d < Rank; ++d) {
      const std::size_t n = std::max(x.shape[d], y.shape[d]);  // the extent of the real side, if the extents differ
      const typename FFTW::dimension one{static_cast<std::ptrdiff_t>(n), x.strides[d], y.strides[d]};
      (d == line.dimension ? along : others[count++]) = one;
    }
    auto* const in = fftw_pointer<FFTW>(from);
    auto* const out = fftw_pointer<FFTW>(to);
    if constexpr (in_real && out_real) {
      const auto kind = static_cast<typename FFTW::kind>(fftw_kind(line.real));
      return FFTW::real_to_real(1, &along, count, others, in, out, &kind, fftw_flags);
    } else if constexpr (in_real) {
      return FFTW::real_to_complex(1, &along, count, others, in, out, fftw_flags | FFTW_PRESERVE_INPUT);
    } else if constexpr (out_real) {
      return FFTW::complex_to_real(1, &along, count, others, in, out, fftw_flags);
    } else {
      return FFTW::complex_to_complex(1, &along, count, others, in, out,
                                      line.is_backward ? FFTW_BACKWARD : FFTW_FORWARD, fftw_flags);
    }
  }
  /// Memory for a block of given shape and strides; strides may be negative.
  template <class T, std::size_t Rank>
  struct scratch_block {
    scratch_block(const std::array<std::size_t, Rank>& shape, const std::array<std::ptrdiff_t, Rank>& strides) {
      std::ptrdiff_t before = 0, behind = 1;
      for (std::size_t d = 0; d < Rank; ++d) {
        const std::ptrdiff_t span = (static_cast<std::ptrdiff_t>(shape[d]) - 1) * strides[d];
        (span < 0 ? before : behind) += span < 0 ? -span : span;
      }
      memory = allocate_for_fftw<T>(static_cast<std::size_t>(before + behind));
      data = memory.get() + before;
    }
    fftw_memory<T> memory;  ///< all memory that the strides can reach
    T* data = nullptr;      ///< element (0, …, 0) of the block
  };

  bool should_measure_;             ///< whether FFTW tries its algorithms when it makes a plan
  std::vector<cached_plan> plans_;  ///< the plans that were made last, oldest first
};

}  // namespace partita::detail
