// Saves a struct of sharded tensors by one call and loads it on another mesh, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <partita/partita.hpp>
#include <tuple>

using namespace partita;

constexpr mesh four{axis{"data", 2}, axis{"model", 2}};

// [model]
/// The parameters of a model: each tensor is distributed over a mesh as its layout says.
struct model {
  sharded_tensor<double> w, b;
  auto tensors() { return std::tie(w, b); }
};

/// The scores of the model. The same code computes on arrays, on sharded tensors and in traced programs.
const auto forward = [](const auto& x, const auto& w, const auto& b) {
  const auto rows = reshape<four.layout("data", "")>(x, {8, 12});  // each image is a row
  return clip(add(matmul(rows, w), b), 0, 6);
};
// [/model]

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const char* const folder = "model_runs";
  if (everyone.id() == 0) std::filesystem::remove_all(folder);
  everyone.communicator().barrier();

  const auto small = [](const auto& i) { return 0.1 * std::sin(1.0 + static_cast<double>(5 * i[0] + 3 * i[1])); };
  const auto none = [](const auto&) { return 0.0; };
  model here{shard<double>(everyone, four.layout("", "model"), {12, 4}, small),
             shard<double>(everyone, four.layout("", "model"), {1, 4}, none)};
  const auto batch = [&](double salt) {
    return shard<double>(everyone, four.layout("data", "", ""), {8, 3, 4}, [salt](const auto& i) {
      return std::cos(salt + static_cast<double>(i[0] * 7 + i[1] * 3 + i[2]));
    });
  };
  const auto loss_of = [](const auto& x) {
    return [&x](const auto& w, const auto& b) {
      const auto off = subtract(forward(x, w, b), 1.0);
      return mean(multiply(off, off));
    };
  };

  // [train]
  const auto first = batch(1), second = batch(2);
  double before = 0, after = 0;
  for (std::uint64_t step = 1; step <= 20; ++step) {
    const auto one = value_and_gradient(loss_of(first), here.w, here.b);
    const auto two = value_and_gradient(loss_of(second), here.w, here.b);
    const auto [dw, db] = one.gradients + two.gradients;  // adds the gradients of each tensor
    here.w = stop_gradient(subtract(here.w, multiply(reshard(dw, here.w.layout()), 0.5)));
    here.b = stop_gradient(subtract(here.b, multiply(reshard(db, here.b.layout()), 0.5)));
    after = one.value + two.value;
    if (step == 1) before = after;
  }
  save_tensors(folder, 20, here.tensors());
  // [/train]

  // [load]
  const mesh line{axis{"model", 4}};  // a different mesh, also of more or fewer workers
  model there{shard<double>(everyone, line.layout("model", ""), {12, 4}, none),
              shard<double>(everyone, line.layout("", ""), {1, 4}, none)};
  const auto step = load_tensors(folder, there.tensors());
  const auto singles = cast<float>(there.w);  // the weights as floats
  // [/load]

  const auto saved = reshard(here.w, four.layout("", "")).whole<2>();
  const auto loaded = reshard(there.w, line.layout("", "")).whole<2>();
  const bool same = saved == loaded && step == 20;
  const auto rounded = reshard(singles, line.layout("", "")).whole<2>();
  const bool close = std::abs(static_cast<double>(rounded(0, 0)) - loaded(0, 0)) < 1e-6;
  if (everyone.id() == 0) {
    std::cout << "The loss went from " << before << " to " << after << "; what was loaded on a mesh of 4 is "
              << (same ? "the same" : "not the same") << " as what a mesh of 2 x 2 had saved.\n"
              << "Look at: the struct names its tensors once, in tensors(); one call saves them, one loads them.\n";
    std::filesystem::remove_all(folder);
  }
  return same && close && after < before ? EXIT_SUCCESS : EXIT_FAILURE;
}
