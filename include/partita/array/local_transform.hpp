// Fourier, cosine and sine transforms of one worker's block by FFTW, on strided memory in place. This is the only
// header that uses FFTW; partita.hpp does not include it.
#pragma once

#if !__has_include(<fftw3.h>)
#error \
    "partita: Fourier transforms take FFTW 3: install libfftw3-dev, link what `pkg-config --libs fftw3 fftw3f` prints"
#endif
#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <partita/array/fourier_rule.hpp>
#include <partita/array/strided.hpp>
#include <partita/core/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// FFTW's functions for numbers of this type.
template <class Real>
struct fftw_of;
#define PARTITA_FFTW_OF(Real, prefix)                                     \
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
PARTITA_FFTW_OF(double, fftw_)
PARTITA_FFTW_OF(float, fftwf_)
#undef PARTITA_FFTW_OF

/// FFTW's planner may be used by one thread at a time; all plans of this library are made and destroyed under this
/// lock.
inline std::mutex fftw_planner;

template <class T>
struct real_of_element {
  using type = T;
};
template <class T>
struct real_of_element<std::complex<T>> {
  using type = T;
};
/// The type of the real and the imaginary part.
template <class T>
using real_of = typename real_of_element<T>::type;

inline fftw_r2r_kind fftw_kind(real_transform kind) {
  switch (kind) {
    case real_transform::dct_1:
      return FFTW_REDFT00;
    case real_transform::dct_2:
      return FFTW_REDFT10;
    case real_transform::dct_3:
      return FFTW_REDFT01;
    case real_transform::dct_4:
      return FFTW_REDFT11;
    case real_transform::dst_1:
      return FFTW_RODFT00;
    case real_transform::dst_2:
      return FFTW_RODFT10;
    case real_transform::dst_3:
      return FFTW_RODFT01;
    default:
      return FFTW_RODFT11;
  }
}

/// Calls f(row, n, stride) for each row of a block along its last dimension.
template <class T, std::size_t Rank, class F>
void for_each_row(const strided<T, Rank>& block, F f) {
  if (block.size() == 0) return;
  index<Rank> at{};
  for (T* row = block.data;;) {
    f(row, block.shape[Rank - 1], block.strides[Rank - 1]);
    std::size_t d = Rank - 1;
    while (d > 0 && at[d - 1] + 1 == block.shape[d - 1]) {
      row -= static_cast<std::ptrdiff_t>(at[d - 1]) * block.strides[d - 1];
      at[--d] = 0;
    }
    if (d == 0) return;
    ++at[d - 1];
    row += block.strides[d - 1];
  }
}
/// Multiplies all elements of a block.
template <class T, std::size_t Rank>
void multiply_by(const strided<T, Rank>& block, double factor) {
  if (factor == 1) return;
  const auto by = static_cast<real_of<T>>(factor);
  for_each_row(block, [by](T* row, std::size_t n, std::ptrdiff_t stride) {
    for (std::size_t k = 0; k < n; ++k) row[static_cast<std::ptrdiff_t>(k) * stride] *= by;
  });
}
/// The elements of a block with one index along a dimension.
template <class T, std::size_t Rank>
strided<T, Rank> slice_of(const strided<T, Rank>& block, std::size_t dimension, std::size_t k) {
  std::array<std::size_t, Rank> at{}, extent = block.shape;
  at[dimension] = k;
  extent[dimension] = 1;
  return block.part(at, extent);
}
/// Multiplies the first and the last element of each line along a dimension.
template <class T, std::size_t Rank>
void multiply_ends(const strided<T, Rank>& block, std::size_t dimension, const end_factors& by) {
  if (block.size() == 0) return;
  multiply_by(slice_of(block, dimension, 0), by.first);
  multiply_by(slice_of(block, dimension, block.shape[dimension] - 1), by.last);
}

/// The transforms of blocks, with the plans of FFTW that they have used. Not for several threads at once.
class local_transforms {
 public:
  explicit local_transforms(bool measure) : measure_(measure) {}

  /// y is the transform of x along these dimensions, one after the other; all are whole in the block. x and y may be
  /// the same memory if their elements have one type. x is overwritten if a line is complex to real.
  template <class In, class Out, std::size_t Rank>
  void run(const strided<In, Rank>& x, const strided<Out, Rank>& y, const std::vector<line_transform>& lines) {
    if (y.size() == 0) return;
    constexpr bool in_real = std::is_floating_point_v<In>, out_real = std::is_floating_point_v<Out>;
    double factor = 1;
    for (const line_transform& line : lines) factor *= line.factor;
    if constexpr (in_real && out_real) {
      real_to_real(x, y, lines);
    } else if constexpr (in_real) {
      const line_transform& half = lines.front();
      real_to_complex(x, y, half.dimension);
      multiply_ends(y, half.dimension, half.after);
      complex_to_complex(y, y, {lines.begin() + 1, lines.end()});
    } else if constexpr (out_real) {
      const line_transform& half = lines.back();
      complex_to_complex(x, x, {lines.begin(), lines.end() - 1});
      multiply_ends(x, half.dimension, half.before);
      // the first number of half of a spectrum is real, and the last one if n is even: their imaginary parts have no
      // meaning, and FFTW does not promise to ignore them
      without_imaginary_part(slice_of(x, half.dimension, 0));
      if (const std::size_t n = y.shape[half.dimension]; n % 2 == 0)
        without_imaginary_part(slice_of(x, half.dimension, n / 2));
      complex_to_real(x, y, half.dimension);
    } else {
      complex_to_complex(x, y, lines);
    }
    multiply_by(y, factor);
  }

 private:
  /// A plan of FFTW and what it was made for: kind, shapes, strides and alignments.
  struct made_plan {
    std::vector<std::ptrdiff_t> key;
    std::shared_ptr<void> plan;
  };
  static constexpr std::size_t most = 64;  // chosen: a program that uses more shapes plans them again

  template <class T, std::size_t Rank>
  static void without_imaginary_part(const strided<std::complex<T>, Rank>& block) {
    for_each_row(block, [](std::complex<T>* row, std::size_t n, std::ptrdiff_t stride) {
      for (std::size_t k = 0; k < n; ++k) row[static_cast<std::ptrdiff_t>(k) * stride].imag(0);
    });
  }

  template <class T, std::size_t Rank>
  void complex_to_complex(const strided<T, Rank>& x, const strided<std::remove_const_t<T>, Rank>& y,
                          const std::vector<line_transform>& lines) {
    if (lines.empty()) return copy_unless_same(x, y);
    using fftw = fftw_of<real_of<std::remove_const_t<T>>>;
    const int sign = lines.front().backward ? FFTW_BACKWARD : FFTW_FORWARD;
    std::vector<std::size_t> along;
    for (const line_transform& line : lines) along.push_back(line.dimension);
    const auto plan = [sign](const auto& l, const auto& o, auto* in, auto* out, unsigned flags) {
      return fftw::complex_to_complex(static_cast<int>(l.size()), l.data(), static_cast<int>(o.size()), o.data(), in,
                                      out, sign, flags);
    };
    run<fftw>({1, sign}, x, y, along, plan, fftw::run_complex_to_complex);
  }
  template <class T, class C, std::size_t Rank>
  void real_to_complex(const strided<T, Rank>& x, const strided<C, Rank>& y, std::size_t dimension) {
    using fftw = fftw_of<real_of<C>>;
    const auto plan = [](const auto& l, const auto& o, auto* in, auto* out, unsigned flags) {
      return fftw::real_to_complex(static_cast<int>(l.size()), l.data(), static_cast<int>(o.size()), o.data(), in, out,
                                   flags | FFTW_PRESERVE_INPUT);
    };
    run<fftw>({2}, x, y, {dimension}, plan, fftw::run_real_to_complex);
  }
  template <class C, class T, std::size_t Rank>
  void complex_to_real(const strided<C, Rank>& x, const strided<T, Rank>& y, std::size_t dimension) {
    using fftw = fftw_of<T>;
    const auto plan = [](const auto& l, const auto& o, auto* in, auto* out, unsigned flags) {
      return fftw::complex_to_real(static_cast<int>(l.size()), l.data(), static_cast<int>(o.size()), o.data(), in, out,
                                   flags);
    };
    run<fftw>({3}, x, y, {dimension}, plan, fftw::run_complex_to_real);
  }
  template <class In, class T, std::size_t Rank>
  void real_to_real(const strided<In, Rank>& x, const strided<T, Rank>& y, const std::vector<line_transform>& lines) {
    using fftw = fftw_of<T>;
    std::vector<std::size_t> along;
    std::vector<typename fftw::kind> kinds;
    std::vector<std::ptrdiff_t> key{4};
    bool in_place = lines.empty();
    for (const line_transform& line : lines) {
      along.push_back(line.dimension);
      kinds.push_back(static_cast<typename fftw::kind>(fftw_kind(line.real)));
      key.push_back(static_cast<std::ptrdiff_t>(line.real));
      in_place = in_place || line.before.any();
    }
    if (in_place) copy_unless_same(x, y);
    for (const line_transform& line : lines) multiply_ends(y, line.dimension, line.before);
    if (lines.empty()) return;
    const auto plan = [&kinds](const auto& l, const auto& o, auto* in, auto* out, unsigned flags) {
      return fftw::real_to_real(static_cast<int>(l.size()), l.data(), static_cast<int>(o.size()), o.data(), in, out,
                                kinds.data(), flags);
    };
    if (in_place) run<fftw>(std::move(key), y, y, along, plan, fftw::run_real_to_real);
    else run<fftw>(std::move(key), x, y, along, plan, fftw::run_real_to_real);
    for (const line_transform& line : lines) multiply_ends(y, line.dimension, line.after);
  }

  template <class In, class T, std::size_t Rank>
  static void copy_unless_same(const strided<In, Rank>& x, const strided<T, Rank>& y) {
    if (x.data != y.data) copy<T, Rank>(y, x);
  }

  /// The address of elements as FFTW takes it. FFTW writes to no input but that of complex_to_real.
  template <class FFTW, class T>
  static auto* address(T* data) {
    using element = std::remove_const_t<T>;
    if constexpr (std::is_floating_point_v<element>) return const_cast<element*>(data);
    else return reinterpret_cast<typename FFTW::number*>(const_cast<element*>(data));
  }
  template <class FFTW, class T>
  static int alignment(T* data) {
    using real = real_of<std::remove_const_t<T>>;
    return FFTW::alignment(reinterpret_cast<real*>(const_cast<std::remove_const_t<T>*>(data)));
  }

  /// Finds or makes the plan along these dimensions of a block that is not empty, and executes it.
  template <class FFTW, class In, class Out, std::size_t Rank, class Plan, class Execute>
  void run(std::vector<std::ptrdiff_t> key, const strided<In, Rank>& x, const strided<Out, Rank>& y,
           const std::vector<std::size_t>& along, Plan plan, Execute execute) {
    std::vector<typename FFTW::dimension> lines, others;
    const auto add = [&](std::vector<typename FFTW::dimension>& to, std::size_t d) {
      const auto n = static_cast<std::ptrdiff_t>(std::max(x.shape[d], y.shape[d]));  // the real side's, if they differ
      to.push_back({n, x.strides[d], y.strides[d]});
      key.insert(key.end(), {static_cast<std::ptrdiff_t>(d), n, x.strides[d], y.strides[d]});
    };
    for (const std::size_t d : along) add(lines, d);
    for (std::size_t d = 0; d < Rank; ++d)
      if (std::find(along.begin(), along.end(), d) == along.end()) add(others, d);
    const bool same = static_cast<const void*>(x.data) == static_cast<const void*>(y.data);
    const int in_alignment = alignment<FFTW>(x.data), out_alignment = alignment<FFTW>(y.data);
    key.insert(key.end(),
               {static_cast<std::ptrdiff_t>(sizeof(real_of<Out>)), same ? 1 : 0, in_alignment, out_alignment});
    auto known = std::find_if(plans_.begin(), plans_.end(), [&](const made_plan& p) { return p.key == key; });
    if (known == plans_.end()) {
      if (plans_.size() == most) plans_.erase(plans_.begin());
      const bool aligned = in_alignment == 0 && out_alignment == 0;
      auto fresh = made<FFTW>(x, y, lines, others, same, aligned, plan);
      known = plans_.insert(plans_.end(), {std::move(key), std::move(fresh)});
    }
    execute(static_cast<typename FFTW::plan>(known->plan.get()), address<FFTW>(x.data), address<FFTW>(y.data));
  }

  /// Makes a plan. FFTW_MEASURE overwrites the arrays that it is given, so it gets arrays of its own.
  template <class FFTW, class In, class Out, std::size_t Rank, class Dimensions, class Plan>
  std::shared_ptr<void> made(const strided<In, Rank>& x, const strided<Out, Rank>& y, const Dimensions& lines,
                             const Dimensions& others, bool same, bool aligned, Plan plan) const {
    using made_type = typename FFTW::plan;
    const std::lock_guard<std::mutex> only(fftw_planner);
    made_type p = nullptr;
    if (!measure_) {
      p = plan(lines, others, address<FFTW>(x.data), address<FFTW>(y.data), FFTW_ESTIMATE);
    } else {
      const scratch<FFTW, std::remove_const_t<In>, Rank> in(x.shape, x.strides);
      const scratch<FFTW, Out, Rank> out(y.shape, y.strides);
      p = plan(lines, others, address<FFTW>(in.data), address<FFTW>(same ? reinterpret_cast<Out*>(in.data) : out.data),
               FFTW_MEASURE | (aligned ? 0U : static_cast<unsigned>(FFTW_UNALIGNED)));
    }
    if (p == nullptr) throw error("partita::fourier_transform: FFTW has no plan for such a block");
    return {static_cast<void*>(p), [](void* it) {
              const std::lock_guard<std::mutex> lock(fftw_planner);
              FFTW::destroy(static_cast<made_type>(it));
            }};
  }
  /// Memory for a block of this shape and these strides, which may be negative.
  template <class FFTW, class T, std::size_t Rank>
  struct scratch {
    scratch(const std::array<std::size_t, Rank>& shape, const std::array<std::ptrdiff_t, Rank>& strides) {
      std::ptrdiff_t before = 0, behind = 1;
      for (std::size_t d = 0; d < Rank; ++d) {
        const std::ptrdiff_t span = (static_cast<std::ptrdiff_t>(shape[d]) - 1) * strides[d];
        (span < 0 ? before : behind) += span < 0 ? -span : span;
      }
      start = static_cast<T*>(FFTW::allocate(static_cast<std::size_t>(before + behind) * sizeof(T)));
      if (start == nullptr) throw std::bad_alloc();
      data = start + before;
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { FFTW::release(start); }
    T* start = nullptr;
    T* data = nullptr;
  };

  bool measure_;
  std::vector<made_plan> plans_;
};

}  // namespace partita::detail
