// as_rank of an argument that cannot have the given rank is a compile-time error.
//
// expect OTHER_RANK: partita::as_rank<Rank>\(a\): requires an array of rank Rank, and the type of a says another;
//   reshape a, or leave as_rank out
// expect RANGE: partita::as_rank<Rank>\(a\): requires Rank 1 for a range of numbers; adapt its memory with
// expect LIST: partita::as_rank<Rank>\({a, b, ...}\): requires Rank 1 for a list of numbers
// expect NUMBER: partita::as_rank<Rank>\(a\): requires Rank 0 for a number
// expect BITS: partita::as_rank<Rank>\(a\): requires an xtensor expression, a contiguous range of numbers or a number
// first THREE_EXTENTS: partita: requires one number for each dimension between the braces
// lines THREE_EXTENTS: 12
// first A_MATRIX: partita::as_rank<Rank>\(m\): requires Rank 2 for a matrix, or 1 where its type says
// lines A_MATRIX: 12
#include <partita/array/as_rank.hpp>
#include <partita/array/as_rank_of_memory.hpp>
#include <vector>

using namespace partita;

struct matrix_of_floats {
  float* data() const;
  long rows() const, cols() const, rowStride() const, colStride() const;
};

void calls(const xt::xtensor<float, 2>& ranked, const xt::xarray<float>& any, const std::vector<float>& range,
           const std::vector<bool>& bits, const matrix_of_floats& matrix) {
  static_cast<void>(as_rank<2>(ranked));
  static_cast<void>(as_rank<2>(any));
  static_cast<void>(as_rank<1>(range));
  static_cast<void>(as_rank<1>({1, 2}));
  static_cast<void>(as_rank<0>(1));
  static_cast<void>(as_rank<2>(range.data(), {1, 2})), static_cast<void>(as_rank<2>(matrix));
#if defined(OTHER_RANK)
  as_rank<3>(ranked);
#elif defined(RANGE)
  as_rank<2>(range);
#elif defined(LIST)
  as_rank<2>({1, 2});
#elif defined(NUMBER)
  as_rank<1>(1);
#elif defined(BITS)
  as_rank<1>(bits);
#elif defined(THREE_EXTENTS)
  static_cast<void>(as_rank<2>(range.data(), {1, 2, 3}));
#elif defined(A_MATRIX)
  static_cast<void>(as_rank<1>(matrix));
#endif
  static_cast<void>(bits);
}
