// Arguments that are missing or of a wrong kind: the library's message is the first error, with few other lines.
//
// first LINEAR: partita::linear\(p_x, p_y, p_w, options\): requires an element type and options that say their names
// lines LINEAR: 12
// first LINEAR_OF_NUMBERS: partita::linear<T>\(p_x, p_y, p_w, options\): requires three partitions, then options
// lines LINEAR_OF_NUMBERS: 12
// first DROPOUT_OF_ELEMENTS: partita::partition<Extents>: requires extents
// lines DROPOUT_OF_ELEMENTS: 12
// first HALO_OF_ELEMENTS: partita::partition<Extents>: requires extents
// first HALO: partita::halo_exchange\(p, widths, boundaries\): requires a partition, widths
// lines HALO: 12
// first HALO_OF_THREE: partita::halo_exchange\(p, widths, boundaries\): requires a partition, widths
// lines HALO_OF_THREE: 12
// first HALO_OF_WIDTHS: partita::halo_exchange\(p, widths, boundaries\): requires a partition, widths
// lines HALO_OF_WIDTHS: 12
// first LATER: partita::repartition\(p_x, p_y\)\(x\): requires a block of the rank of its partitions
// lines LATER: 12
// first BLOCK_FROM: partita::block_from\(p, extents, f\): requires the extents of the whole tensor
// lines BLOCK_FROM: 12
// first NOTHING_COMPOSED: partita::compose\(a, b, ...\): requires one operator or more
// lines NOTHING_COMPOSED: 12
// first A_NUMBER_COMPOSED: partita::compose\(a, b, ...\): requires one operator or more
// lines A_NUMBER_COMPOSED: 12
// first SAVED: partita::save_npy\(path, p, extents, x\): requires the extents of the whole tensor
// lines SAVED: 12
// first SAVED_BRACES: partita::save_npy\(path, p, extents, x\): requires .* write save_npy\("w.npy", p, extents
// lines SAVED_BRACES: 12
// first NAMED_BRACES: partita::named\(name, p, extents, x\): requires .* write named\("w", p, extents
// lines NAMED_BRACES: 12
// first LOADED: partita::load_npy<T, rank>\(path, p\): requires the element type and the rank
// lines LOADED: 12
// first LOADED_OF_FLOAT: partita::load_npy<T, rank>\(path, p\): requires the element type and the rank
// lines LOADED_OF_FLOAT: 12
// first CHECKPOINT: partita::save_checkpoint\(folder, step, tensors...\): requires tensors made by named
// lines CHECKPOINT: 12
// first CONVOLUTION: partita::convolution<T, Features>: requires one or three partitions and convolution_options
// lines CONVOLUTION: 12
// first CONVOLUTION_OF_ANOTHER_RANK: partita::convolution<T, Features>: requires one or three partitions
// lines CONVOLUTION_OF_ANOTHER_RANK: 12
// first POOLING: partita::max_pooling\(p, options\): requires a partition, and options
// lines POOLING: 12
// first BATCH_NORM: partita::batch_norm<T, Rank>\(p, options\): requires an element type and a rank
// lines BATCH_NORM: 12
// first EMBEDDING: partita::embedding<T, Rank>\(p, options\): requires an element type and a rank
// lines EMBEDDING: 12
// first ADAM: partita::adam<T>\(parameters, options\): requires the parameters of layers and options
// lines ADAM: 12
// first WORKERS: partita::workers\(n\): requires a range or a list
// lines WORKERS: 12
#include <partita/partita.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<double, 3>& cube) {
  const auto p = everyone.partition<2, 2>();
  const auto q = everyone.partition<4, 1>();
  const auto four = everyone.partition<1, 1, 2, 2>();
  const repartition r(p, q);
  const halo_widths<2> widths{.before = {1, 1}, .after = {1, 1}};
  const halo_exchange h(p, widths, boundary::periodic);
  const halo_exchange same = h;
  const max_pooling pool(four, {.kernel = {2, 2}});
  const adam_options slow{.learning_rate = 1e-4};
  const adam<double> by_name(std::vector<parameter<double>>(), slow);
  save_npy("a.npy", p, extents(8, 12), x);
  compose(r)(x);
#if defined(LINEAR)
  linear refused(p, p, p, 4, 4);
#elif defined(LINEAR_OF_NUMBERS)
  linear<float> refused(p, p, p, 4, 4);
#elif defined(HALO)
  halo_exchange refused(p);
#elif defined(HALO_OF_THREE)
  halo_exchange refused(p, {1, 1, 1});
#elif defined(HALO_OF_WIDTHS)
  halo_exchange refused(p, halo_widths<3>{}, boundary::periodic);
#elif defined(LATER)
  auto later = r.start(cube);
#elif defined(BLOCK_FROM)
  auto refused = block_from(p, [](auto i, auto j) { return i + j; });
#elif defined(NOTHING_COMPOSED)
  auto refused = compose();
#elif defined(A_NUMBER_COMPOSED)
  auto refused = compose(r, 3);
#elif defined(SAVED)
  save_npy("a.npy", p, x);
#elif defined(SAVED_BRACES)
  save_npy("a.npy", p, {8, 6}, x);
#elif defined(NAMED_BRACES)
  auto refused = named("a", p, {8, 6}, x);
#elif defined(LOADED)
  auto refused = load_npy("a.npy", p);
#elif defined(LOADED_OF_FLOAT)
  auto refused = load_npy<float>("a.npy", p);
#elif defined(CHECKPOINT)
  save_checkpoint("steps", 1, x);
#elif defined(CONVOLUTION)
  convolution<float, 2> refused(four);
#elif defined(CONVOLUTION_OF_ANOTHER_RANK)
  convolution<float, 2> refused(four, four, four, convolution_options<1>{});
#elif defined(POOLING)
  max_pooling refused(four);
#elif defined(BATCH_NORM)
  batch_norm refused(four, {.channels = 4});
#elif defined(EMBEDDING)
  embedding refused(p);
#elif defined(ADAM)
  adam<double> refused(x);
#elif defined(DROPOUT_OF_ELEMENTS)
  dropout<float> refused(p);
#elif defined(HALO_OF_ELEMENTS)
  halo_exchange<float> refused(p, {});
#elif defined(WORKERS)
  auto refused = workers("a");
#endif
  static_cast<void>(cube), static_cast<void>(same);
}
