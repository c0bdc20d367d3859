// Saves checkpoints during computation and resumes from the latest one on another partition, on 4 workers.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

/// Computes up to step `last` on p: each step adds 1 to every element of w, whose initial value is zero. Resumes from
/// the latest checkpoint if one exists. Returns this worker's block, and reports the step at which it began.
template <class Extents>
xt::xtensor<double, 2> compute(const partition<Extents>& p, std::uint64_t last, std::uint64_t& start_step) {
  const extents<6, 8> global_extents;
  const auto shape = decomposition<2>::balanced(global_extents.array(), p.grid().shape());
  xt::xtensor<double, 2> w = zero_volume<double, 2>();
  if (p.active()) w = xt::zeros<double>(shape.shape(p.index()));
  start_step = 0;

  // [resume]
  if (!checkpoint_steps("run", p.world()).empty()) {
    const checkpoint latest = load_checkpoint("run", p.world());
    w = latest.load<double, 2>("weight", p);  // loads onto the partition p, and verifies checksums
    start_step = latest.step();
  }
  // [/resume]

  for (std::uint64_t step = start_step + 1; step <= last; ++step) {
    w += 1.0;
    // [save]
    if (step % 10 == 0)
      save_checkpoint("run", step, named("weight", p, global_extents, w), checkpoint_options{.keep_last = 2});
    // [/save]
  }
  return w;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  if (everyone.id() == 0) std::filesystem::remove_all("run");  // removes the checkpoints of an earlier run
  everyone.communicator().barrier();
  std::uint64_t first = 0, second = 0;
  compute(everyone.partition<2, 2>(), 35, first);  // suppose that the job is killed here: the last saved step is 30
  const auto w = compute(everyone.partition<3, 1>(), 42, second);
  const auto steps = checkpoint_steps("run", everyone);

  bool right = first == 0 && second == 30 && steps == std::vector<std::uint64_t>{30, 40};
  for (std::size_t k = 0; k < w.size(); ++k) right = right && w.data()[k] == 42;
  everyone.communicator().barrier();
  if (everyone.id() == 0) {
    std::cout
        << "35 steps on 2 x 2 workers, a checkpoint every 10. Then the same on 3 x 1 workers: it began at step "
        << second << ".\nEvery element is " << w(0, 0)
        << " after 42 steps. The last two checkpoints are kept: " << steps[0] << " and " << steps[1] << ".\n"
        << "Look at: the second run has other workers, and began where the first was saved, not where it ended.\n";
    std::filesystem::remove_all("run");
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
