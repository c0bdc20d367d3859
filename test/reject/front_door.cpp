// The most frequent mistakes, with the whole library included: the library's message is the first error, with few other
// lines.
//
// first RANK: partita::repartition\(p_x, p_y\)\(x\): requires a block of the rank of its partitions
// lines RANK: 12
// first RANK_STARTED: partita::repartition\(p_x, p_y\)\(x\): requires a block of the rank of its partitions
// lines RANK_STARTED: 12
// first RANK_OF_RUN_TIME: partita::broadcast\(p_x, p_y\)\(x\): requires an xtensor expression whose rank is part of its
//   type
// lines RANK_OF_RUN_TIME: 12
// first INTO_CONST: partita: kernel.into\(x, view\): requires a view with memory .* which is not const
// lines INTO_CONST: 12
// first REDUCED_INTO_CONST: partita: kernel.into\(x, view\): requires a view with memory .* which is not const
// lines REDUCED_INTO_CONST: 12
// first NO_DIMENSIONS: partita::all_sum_reduce\(p, dimensions\): requires the dimensions to sum along
// lines NO_DIMENSIONS: 12
// first AN_INT: partita::all_sum_reduce\(p, dimensions\): requires the dimensions to sum along
// lines AN_INT: 12
// first NO_OPTIONS: partita::linear<T>\(p_x, p_y, p_w, options\): requires three partitions, then options
// lines NO_OPTIONS: 12
// first NO_TYPE: partita::linear\(p_x, p_y, p_w, options\): requires an element type
// lines NO_TYPE: 12
// first VECTOR: partita::world::partition<E...>\(chosen\): requires its workers as partita::workers
// lines VECTOR: 12
// first NUMBERS: partita::world::partition\(n, ...\): requires extents that say so
// lines NUMBERS: 12
// first UNKNOWN_AXIS: throw partition_error\(text\("partita::mesh: requires the name of an axis of the
//   mesh"\)|constexpr variable
// lines UNKNOWN_AXIS: 12
// first RULE: throw shape_error\(text\("partita::rule: requires "\)|constexpr variable
// lines RULE: 12
// first NOTATION: partita::einsum<notation>\(x...\): requires a notation as
// lines NOTATION: 12
// first TENSORS_OF_NOTATION: partita::einsum<notation>\(x...\): requires as many tensors as the notation has operands
// lines TENSORS_OF_NOTATION: 12
// first RANK_OF_NOTATION: partita::einsum<notation>\(x...\): requires a letter for each dimension of each tensor
// lines RANK_OF_NOTATION: 12
// first LETTER_OF_NOTATION: partita::einsum<notation>\(x...\): requires letters of an operand on the right
// lines LETTER_OF_NOTATION: 12
// first A_SHAPE: partita::repartition\(p_x, p_y, policies...\): requires two partitions
// lines A_SHAPE: 12
// first AN_ARRAY: partita::broadcast\(p_x, p_y, policies...\): requires two partitions
// lines AN_ARRAY: 12
// first ONE_PARTITION: partita::sum_reduce\(p_x, p_y, policies...\): requires two partitions
// lines ONE_PARTITION: 12
// first NO_REDUCTION: partita::reduce\(p_x, p_y, reduction, policies...\): requires two partitions
// lines NO_REDUCTION: 12
// first CUT_OF_ONE: partita::all_to_all\(p_from, p_to\): requires two partitions
// lines CUT_OF_ONE: 12
// first GATHERED_ALONG_AN_INT: partita::all_gather\(p, dimensions<...>\): requires a partition and the dimensions of it
// lines GATHERED_ALONG_AN_INT: 12
// first SCATTERED_ALONG_NOTHING: partita::reduce_scatter\(p, dimensions<...>\): requires a partition and the dimensions
//   of it
// lines SCATTERED_ALONG_NOTHING: 12
#include <partita/partita.hpp>

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 2}};

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<double, 3>& cube,
           const std::vector<int>& ids) {
  const auto p = everyone.partition<2, 2>();
  const auto q = everyone.partition<4, 1>();
  const auto row = everyone.partition<1, 2>();
  const repartition r(p, q);
  const repartition the_same(r);
  const broadcast b(row, p);
  const all_gather g(p, dimensions<0>);
  const all_gather the_other = g;
  const auto X = shard<m.layout("data", "")>(everyone, x);
  einsum<"bk,kn->bn">(X, X);
  einsum<"...k->...">(X);
#if defined(RANK)
  r(cube);
#elif defined(RANK_STARTED)
  r.start(cube);
#elif defined(RANK_OF_RUN_TIME)
  b(xt::xarray<double>(x));
#elif defined(INTO_CONST)
  b.into(x, x);
#elif defined(REDUCED_INTO_CONST)
  all_reduce(p, dimensions<0>, maximum).into(x, x);
#elif defined(NO_DIMENSIONS)
  all_sum_reduce refused(p);
#elif defined(AN_INT)
  all_sum_reduce refused(p, 0);
#elif defined(NO_OPTIONS)
  linear<float> refused(row, row, p);
#elif defined(NO_TYPE)
  linear refused(row, row, p, {.in_features = 16, .out_features = 12});
#elif defined(VECTOR)
  auto refused = everyone.partition<2>(ids);
#elif defined(NUMBERS)
  auto refused = everyone.partition(2, 2);
#elif defined(UNKNOWN_AXIS)
  constexpr auto refused = m.layout("dta", "");
#elif defined(RULE)
  constexpr rule refused = "bmk;kn->bmn";
#elif defined(NOTATION)
  auto refused = einsum<"bk;kn->bn">(X, X);
#elif defined(TENSORS_OF_NOTATION)
  auto refused = einsum<"bk,kn->bn">(X);
#elif defined(RANK_OF_NOTATION)
  auto refused = einsum<"bmk,kn->bmn">(x, x);
#elif defined(LETTER_OF_NOTATION)
  auto refused = einsum<"bk,kn->bz">(X, X);
#elif defined(A_SHAPE)
  repartition refused(p, extents<4, 1>{});
#elif defined(AN_ARRAY)
  broadcast refused(p, x);
#elif defined(ONE_PARTITION)
  sum_reduce refused(p);
#elif defined(NO_REDUCTION)
  reduce refused(p, row);
#elif defined(CUT_OF_ONE)
  all_to_all refused(p);
#elif defined(GATHERED_ALONG_AN_INT)
  all_gather refused(p, 0);
#elif defined(SCATTERED_ALONG_NOTHING)
  reduce_scatter refused(p);
#endif
  static_cast<void>(cube), static_cast<void>(ids), static_cast<void>(the_same), static_cast<void>(the_other);
}
