// A transform along dimensions that the partitions do not have, of elements that are not of its kind, or into memory of
// another type is a compile-time error with one message.
//
// first RANKS: partita::fourier_transform<D...>\(p_x, p_y\): requires partitions of equal rank; reshape\(\) one of them
// lines RANKS: 12
// first NO_DIMENSION: partita::fourier_transform<D...>\(p_x, p_y\): requires the dimensions to transform, 1 to 8
// lines NO_DIMENSION: 12
// first OUT_OF_RANGE: partita::fourier_transform<D...>\(p_x, p_y\): requires dimensions of the partitions, below their
//   rank
// lines OUT_OF_RANGE: 12
// first TWICE: partita::fourier_transform<D...>\(p_x, p_y\): requires each dimension once
// lines TWICE: 12
// first KINDS: partita::fourier_transform<D...>\(p_x, p_y, real_to_real\(kinds...\)\): requires one kind for each
//   dimension, or one for all of them
// lines KINDS: 12
// first REAL_OF_COMPLEX: partita::fourier_transform\(p_x, p_y, kind\)\(x\): requires the elements of its kind, of
//   float or double: complex numbers for complex_to_complex and complex_to_real, real ones for real_to_complex
// lines REAL_OF_COMPLEX: 12
// first COMPLEX_OF_REAL: partita::fourier_transform\(p_x, p_y, kind\)\(x\): requires the elements of its kind
// lines COMPLEX_OF_REAL: 12
// first INTEGERS: partita::fourier_transform\(p_x, p_y, kind\)\(x\): requires the elements of its kind, of
//   float or double
// lines INTEGERS: 12
// first ADJOINT_OF_REAL: partita::fourier_transform\(p_x, p_y, kind\).adjoint\(dy\): requires the elements of its
//   result
// lines ADJOINT_OF_REAL: 12
// first BLOCK_OF_ANOTHER_RANK: partita::fourier_transform\(p_x, p_y\)\(x\): requires a block of the rank of its
//   partitions
// lines BLOCK_OF_ANOTHER_RANK: 12
// first RANK_OF_RUN_TIME: partita::fourier_transform\(p_x, p_y\)\(x\): requires an xtensor expression whose rank is
//   part of its type; as_rank<2>\(a\) gives it one
// lines RANK_OF_RUN_TIME: 12
// first VIEW: partita::fourier_transform\(p_x, p_y\).into\(x, view\): requires a view with memory
// lines VIEW: 12
// first INTO_A_TEMPORARY: partita: kernel.into\(x, view\): requires a tensor that outlives the call, or a view of one
// lines INTO_A_TEMPORARY: 12
// first TWO_TYPES: partita::fourier_transform\(p_x, p_y\)\(x...\): requires fields with elements of one type
// lines TWO_TYPES: 12
// first VIEWS: partita::fourier_transform\(p_x, p_y\).into\(std::tie\(x...\), std::tie\(views...\)\): requires a view
//   for each field
// lines VIEWS: 12
// first PLAN: partita::fourier_transform::plan\(extents\): requires extents of the rank of the partitions
// lines PLAN: 12
// first NO_PARTITION: partita::fourier_transform<D...>\(p_x, p_y, kind, options\): requires the dimensions to
//   transform, one or two partitions
// lines NO_PARTITION: 12
#include <partita/kernel/fourier_transform.hpp>

using namespace partita;
using number = std::complex<double>;

void calls(const world& everyone, xt::xtensor<number, 2>& x, [[maybe_unused]] const xt::xtensor<double, 2>& real,
           [[maybe_unused]] const xt::xarray<number>& any_rank) {
  const auto p = everyone.partition<2, 1>();
  const auto legal = fourier_transform<0, 1>(p, p);
  const auto half = fourier_transform<0, 1>(p, p, real_to_complex, {.norm = fourier_norm::ortho});
  legal(x);
  legal(x, x);
  half(real);
#if defined(RANKS)
  fourier_transform<0>(p, everyone.partition<2>());
#elif defined(NO_DIMENSION)
  fourier_transform(p, p);
#elif defined(OUT_OF_RANGE)
  fourier_transform<0, 2>(p, p);
#elif defined(TWICE)
  fourier_transform<1, 0, 1>(p, p);
#elif defined(KINDS)
  fourier_transform<0>(p, p, real_to_real(real_transform::dct_2, real_transform::dct_2));
#elif defined(REAL_OF_COMPLEX)
  half(x);
#elif defined(COMPLEX_OF_REAL)
  legal(real);
#elif defined(INTEGERS)
  half(xt::xtensor<int, 2>());
#elif defined(ADJOINT_OF_REAL)
  half.adjoint(real);
#elif defined(BLOCK_OF_ANOTHER_RANK)
  legal(xt::xtensor<number, 3>());
#elif defined(RANK_OF_RUN_TIME)
  legal(any_rank);
#elif defined(VIEW)
  half.into(real, real);
#elif defined(INTO_A_TEMPORARY)
  legal.into(x, xt::xtensor<number, 2>());
#elif defined(TWO_TYPES)
  legal(x, xt::xtensor<std::complex<float>, 2>());
#elif defined(VIEWS)
  legal.into(std::tie(x, x), std::tie(x));
#elif defined(PLAN)
  static_cast<void>(legal.plan(extents<48>{}));
#elif defined(NO_PARTITION)
  fourier_transform<0>(x, x);
#endif
}
