// Saves checkpoints and a file in an endless loop until it is killed, or checks what was saved. killed_saving.py runs
// it.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <string>

using namespace partita;

namespace {

constexpr extents<300, 41> global;
constexpr file_options crowded{.page_bytes = 4096, .owner_bytes = 0};

int save(const world& everyone, const std::string& folder) {
  std::ofstream(folder + "/pid." + std::to_string(everyone.id())) << ::getpid() << '\n';
  const auto p = everyone.partition(extents<1, dynamic>(everyone.size()));
  xt::xtensor<double, 2> x(decomposition<2>::balanced(global.array(), p.grid().shape()).shape(p.index()));
  const auto steps = checkpoint_steps(folder + "/run", everyone);
  for (std::uint64_t step = steps.empty() ? 1 : steps.back() + 1;; ++step) {
    x.fill(static_cast<double>(step));
    save_checkpoint(folder + "/run", step, named("x", p, global, x), named("y", p, global, x + 0.5),
                    checkpoint_options{.keep_last = 2, .slab_bytes = 10000, .files = crowded});
    save_npy(folder + "/w.npy", p, global, x, crowded);
  }
}

bool all_are(const xt::xtensor<double, 2>& x, double value) {
  bool right = true;
  for (const double element : x) right = right && element == value;
  return right;
}

/// Checks that every existing checkpoint and the file are complete and are those of a saved step.
int look(const world& everyone, const std::string& folder) {
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  std::uint64_t latest = 0, in_file = 0;
  bool right = true;
  for (const std::uint64_t step : checkpoint_steps(folder + "/run", everyone)) {
    const checkpoint saved = load_checkpoint(folder + "/run", everyone, step);
    right = right && saved.step() == step && all_are(saved.load<double, 2>("x", p), static_cast<double>(step)) &&
            all_are(saved.load<double, 2>("y", p), static_cast<double>(step) + 0.5);
    latest = step;
  }
  if (std::filesystem::exists(folder + "/w.npy")) {  // the script checks whether it existed before
    const auto w = load_npy<double, 2>(folder + "/w.npy", p);
    in_file = static_cast<std::uint64_t>(*w.data());
    right = right && all_are(w, static_cast<double>(in_file)) && in_file <= latest;
  }
  if (everyone.id() == 0) std::cout << "latest " << latest << " file " << in_file << std::endl;
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  if (argc != 3) return 2;
  const world everyone;
  return argv[1] == std::string("save") ? save(everyone, argv[2]) : look(everyone, argv[2]);
}
