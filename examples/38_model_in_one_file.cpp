// Saves a struct of sharded tensors by one call and loads it on another mesh, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <partita/partita.hpp>
#include <tuple>

using namespace partita;

constexpr mesh square_mesh{axis{"data", 2}, axis{"model", 2}};

// [model]
/// The parameters of a model: each tensor is distributed over a mesh as its layout says.
struct model {
  sharded_tensor<double> w, b;
  auto tensors() { return std::tie(w, b); }
};

/// The scores of the model. The function computes on arrays, on sharded tensors and in traced programs.
const auto forward = [](const auto& x, const auto& w, const auto& b) {
  const auto rows = reshape<square_mesh.layout("data", "")>(x, {8, 12});  // one row for each image
  return clip(add(matmul(rows, w), b), 0, 6);
};
// [/model]

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const char* const folder = "model_runs";
  if (everyone.id() == 0) std::filesystem::remove_all(folder);
  everyone.communicator().barrier();

  const auto initial_weight = [](const auto& i) {
    return 0.1 * std::sin(1.0 + static_cast<double>(5 * i[0] + 3 * i[1]));
  };
  const auto no_weight = [](const auto&) { return 0.0; };
  model trained{shard<double>(everyone, square_mesh.layout("", "model"), {12, 4}, initial_weight),
                shard<double>(everyone, square_mesh.layout("", "model"), {1, 4}, no_weight)};
  const auto batch = [&](double salt) {
    return shard<double>(everyone, square_mesh.layout("data", "", ""), {8, 3, 4}, [salt](const auto& i) {
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
    const auto first_half = value_and_gradient(loss_of(first), trained.w, trained.b);
    const auto second_half = value_and_gradient(loss_of(second), trained.w, trained.b);
    const auto [dw, db] = first_half.gradients + second_half.gradients;  // adds the gradients of each tensor
    trained.w = stop_gradient(subtract(trained.w, multiply(reshard(dw, trained.w.layout()), 0.5)));
    trained.b = stop_gradient(subtract(trained.b, multiply(reshard(db, trained.b.layout()), 0.5)));
    after = first_half.value + second_half.value;
    if (step == 1) before = after;
  }
  save_tensors(folder, 20, trained.tensors());
  // [/train]

  // [load]
  const mesh line_mesh{axis{"model", 4}};  // a different mesh, which may have more or fewer workers
  model loaded_model{shard<double>(everyone, line_mesh.layout("model", ""), {12, 4}, no_weight),
                     shard<double>(everyone, line_mesh.layout("", ""), {1, 4}, no_weight)};
  const auto step = load_tensors(folder, loaded_model.tensors());
  const auto singles = cast<float>(loaded_model.w);  // the weights as floats
  // [/load]

  const auto saved = reshard(trained.w, square_mesh.layout("", "")).whole<2>();
  const auto loaded = reshard(loaded_model.w, line_mesh.layout("", "")).whole<2>();
  const bool tensors_agree = saved == loaded && step == 20;
  const auto loaded_floats = reshard(singles, line_mesh.layout("", "")).whole<2>();
  const bool is_close = std::abs(static_cast<double>(loaded_floats(0, 0)) - loaded(0, 0)) < 1e-6;
  if (everyone.id() == 0) {
    std::cout << "The loss went from " << before << " to " << after << "; what was loaded on a mesh of 4 is "
              << (tensors_agree ? "the same" : "not the same") << " as what a mesh of 2 x 2 had saved.\n"
              << "Look at: the struct names its tensors once, in tensors(); one call saves them, one loads them.\n";
    std::filesystem::remove_all(folder);
  }
  return tensors_agree && is_close && after < before ? EXIT_SUCCESS : EXIT_FAILURE;
}
