// Calls that match no overload: too few or too many arguments, a wrong order, numbers in place of types. Each error
// states what the call requires. A case has several calls of a kind, with at most twelve lines for each.
//
// first ARRAYS: partita::add\(x, y, broadcast_dimensions<...>\): requires two arrays or tensors
// expect ARRAYS: partita::broadcast_in_dim\(x, extents, broadcast_dimensions<...>\): requires an array or a number and
// expect ARRAYS: partita::extents\(n, ...\): requires numbers, one for each dimension
// expect ARRAYS: partita::clamp\(low, x, high\): requires the array between its two bounds
// lines ARRAYS: 48
// first TENSORS: partita::reshape\(x, extents\): requires a tensor or an array and the extents of the result
// expect TENSORS: partita::mean\(x, dimensions<...>\): requires a tensor or an array, and dimensions
// expect TENSORS: partita::reshard<layout>\(x\): requires a tensor made by shard and a layout of its mesh
// expect TENSORS: partita::softmax\(x, dimensions<d>\): requires a tensor or an array of a known rank, and the
// expect TENSORS: partita::argmax\(x, dimensions<d>\): requires a tensor or an array of a known rank, and the dimension
// expect TENSORS: partita::transpose\(x, permute<...>\): requires a tensor, and an order of its dimensions
// expect TENSORS: partita::sort\(x, dimensions<d>\): requires a tensor or an array, and the dimension as part of the
//   type
// expect TENSORS: partita::top_k\(x, k, dimensions<d>\): requires a tensor or an array, a number, and the dimension
// lines TENSORS: 96
// first PARTS: partita::slice\(x, dimensions<d...>, {from, to}...\): requires a tensor, dimensions as part of the type
// expect PARTS: partita::concatenate\(dimensions<d>, x...\): requires the dimension as part of the type first
// expect PARTS: partita::split\(x, dimensions<d>, extents\): requires a tensor, a dimension as part of the type
// expect PARTS: partita::cross_entropy\(scores, labels\): requires scores
// expect PARTS: partita::shard<layout>\(everyone, x\): requires a layout, the world and an array, in this order
// expect PARTS: partita::einsum<notation>\(x...\): requires the notation as part of the type
// lines PARTS: 84
// first ANOTHER_RANK: partita: requires operands of one rank, or a scalar
// lines ANOTHER_RANK: 12
// first LETTERS: partita::add\(x, y, broadcast_dimensions<...>\): requires two arrays or tensors
// lines LETTERS: 12
// first LOOP: partita: for \(auto e : x\) requires an array|has incomplete type
// expect LOOP: partita: for \(auto e : x\) requires an array, and x is a tensor
// lines LOOP: 14
// first NO_RANK: partita::sharded_tensor: requires the rank of an array of its elements
// lines NO_RANK: 12
// first INDICES: partita::shard<T>\(everyone, layout, extents, f\): requires an f that is called with a global index
// lines INDICES: 12
// first TRACED: partita::traced_function\(x...\): requires tensors of the traced mesh
// lines TRACED: 12
// first MESHES: partita::mesh{axes...}: requires axes with names
// lines MESHES: 24
// first LAYERS: partita::convolution<T, Features>: requires an element type and how many dimensions of features
// expect LAYERS: partita::layer_norm<T, Rank>\(p, options\): requires an element type and the rank of x
// expect LAYERS: partita::batch_norm<T, Rank>\(p, options\): requires an element type and the rank of x
// expect LAYERS: partita::relu: requires a tensor or an array, relu\(x\), or as a layer an element type
// expect LAYERS: partita::sequential\(layers...\): requires layers
// lines LAYERS: 60
// expect OPTIONS: partita::linear<T>\(p_x, p_y, p_w, options\): requires three partitions, then options
// first OPTIONS: partita::adam\(parameters, options\): requires the parameters of layers, and options that say
// expect OPTIONS: partita::dropout\(p, options\): requires a partition, and options that say their names
// expect OPTIONS: partita::max_pooling\(p, options\): requires a partition, and options that say their names
// lines OPTIONS: 48
// first FILES: partita::load_checkpoint\(folder, everyone, step\): requires a folder and the world
// expect FILES: partita::save_npy\(path, p, extents, x\): requires a path, a partition
// expect FILES: partita::load_npy<T, rank>\(path, p\): requires the element type before the rank
// expect FILES: partita::named\(name, p, extents, x\): requires a name, a partition
// lines FILES: 48
// first PARTITIONS: partita::partition::worker\(index\): requires the coordinates of the position between braces
// expect PARTITIONS: partita::world::part\(workers\): requires its workers as partita::workers
// expect PARTITIONS: partita::world::split\(colour\): requires a number
// lines PARTITIONS: 36
#include <partita/partita.hpp>

using namespace partita;

constexpr mesh devices{axis{"data", 2}, axis{"model", 2}};

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<double, 3>& cube) {
  const auto p = everyone.partition<2, 2>();
  const auto four = everyone.partition<1, 1, 2, 2>();
  const auto X = shard<devices.layout("data", "")>(everyone, x);
  const auto Y = X + X * 2 - X / X;  // a valid call
  const layer_norm<double, 2> norm(p, {.shape = {8}});
  const sequential layers(relu<double>(), norm);
#if defined(ARRAYS)
  add(x, x, x);
  broadcast_in_dim(x);
  extents refused("a");
  clamp(x, 0, 1);
#elif defined(TENSORS)
  reshape(X);
  mean(X, 0);
  reshard(X);
  softmax(X, 1);
  argmax(X, 1);
  sort(X, 1);
  top_k(X, dimensions<1>, 3);
  transpose(X, 1, 0);
#elif defined(PARTS)
  slice(X, 0, 2);
  concatenate(X, X);
  concatenate(dimensions<0>);
  split(X, 3);
  cross_entropy(X);
  einsum(std::string("ij,jk->ik"), X, X);
  shard<devices.layout("data", "")>(x, everyone);
#elif defined(ANOTHER_RANK)
  X + cube;
#elif defined(LETTERS)
  X + "a";
#elif defined(LOOP)
  for (const auto e : X) static_cast<void>(e);
#elif defined(NO_RANK)
  auto refused = X.run_time_tensor().local();
#elif defined(INDICES)
  shard<double>(everyone, devices.layout("data", ""), {4, 4}, [](std::size_t i, std::size_t j) { return i + j; });
#elif defined(TRACED)
  trace([](const auto& a) { return sum(a); }, spec(devices.layout("data", ""), {4, 4}))(x);
#elif defined(MESHES)
  const mesh sizes{2, 2};
  const mesh without_names{{"data", 2}, {"model", 2}};
#elif defined(LAYERS)
  convolution<float> no_features(four);
  layer_norm no_type(p);
  batch_norm<float> no_rank(four, {.channels = 4});
  relu number(3);
  sequential no_layer(3);
#elif defined(OPTIONS)
  linear<float> two(p, p, {.in_features = 4, .out_features = 4});
  adam rate(0.1);
  dropout probability(0.5);
  max_pooling kernel(four, 2);
#elif defined(FILES)
  load_checkpoint("steps", x);
  save_npy(p, "w.npy", extents<8, 8>{}, x);
  load_npy<2, double>("w.npy", p);
  named(X);
#elif defined(PARTITIONS)
  p.worker(1, 1);
  everyone.part(2);
  everyone.split("a");
#endif
  static_cast<void>(cube), static_cast<void>(four), static_cast<void>(Y), static_cast<void>(layers);
}
