// Random programs in which one worker makes a mistake: TRIALS of them, each with its own world. A trial passes if no
// worker hangs, no successful call gives a wrong value, all workers whose same call fails get the same error, and calls
// after a failed call are right. Run under mpirun as `misuse SEED TRIALS [REPORT]`; the last line is the closing line,
// and a line of JSON is appended to the report.
#include <unistd.h>
#include <atomic>
#include <boost/mpi/collectives/all_gather.hpp>
#include <boost/mpi/environment.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/all_to_all.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/convolution.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/sharded_tensor.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace partita;

namespace {

using line = extents<dynamic>;
using plane = extents<dynamic, dynamic>;
using signals = extents<dynamic, dynamic, dynamic>;

/// A folder that all workers of this job share with no other job.
std::string folder() { return "/tmp/partita_misuse_" + std::to_string(::getppid()); }
constexpr file_options unsure{.owner_bytes = 4096, .sync = false};

/// Every kernel of a world. Worker k passes blocks filled with k + 1, so results depend only on the size.
class kernels {
 public:
  static constexpr int kinds = 22, two_calls = 8;

  /// A different kind with the same number of calls.
  static int instead_of(int kind, int further) {
    const int other = (kind + further) % kinds;
    return kind == two_calls || other == two_calls ? kind : other;
  }

  kernels(checks level, std::uint64_t trial)
      : everyone_(level),
        n_(everyone_.size()),
        me_(everyone_.id()),
        p_(everyone_.partition(line(n_))),
        step_(1000 * trial) {
    of_doubles_.weight().fill(1);
    of_floats_.weight().fill(1);
  }

  /// Makes a call of some kind with blocks of size m, or m + more on the worker that makes the mistake. Returns whether
  /// the result is right.
  template <class T>
  bool call(int kind, std::size_t m, std::size_t more = 0) {
    const T v = static_cast<T>(me_ + 1), total = static_cast<T>(n_ * (n_ + 1) / 2), most = static_cast<T>(n_);
    const auto vec = [&] { return xt::xtensor<T, 1>(xt::ones<T>({m + more}) * v); };
    const auto mat = [&](std::size_t rows, std::size_t columns) {
      return xt::xtensor<T, 2>(xt::ones<T>({rows + more, columns}) * v);
    };
    const auto all_are = [&](const auto& y, T value, std::size_t size) {
      bool right = out_of_step || y.size() == size;
      for (const T element : y) right = right && element == value;
      return right;
    };
    const auto of_root = [&](std::size_t size) { return me_ == 0 ? size : 0; };
    const auto by_rows = [&](const auto& y) {  // rows 2k and 2k + 1 come from worker k
      bool right = y.size() == 0 || y.shape()[0] == 2 * n_;
      for (std::size_t k = 0; right && k < y.size(); ++k)
        right = y.data()[k] == static_cast<T>(k / y.shape()[1] / 2 + 1);
      return right;
    };
    const auto left = static_cast<T>((me_ + n_ - 1) % n_ + 1), right = static_cast<T>((me_ + 1) % n_ + 1);
    const auto convolve = [&](auto& layer) {  // three weights of 1: sums each cell and its two neighbours
      xt::xtensor<T, 3> x(std::array<std::size_t, 3>{1, 1, m + more});
      x.fill(v);
      const auto y = layer(x);
      bool good = out_of_step || y.size() == m;
      for (std::size_t k = 0; !out_of_step && good && k < m; ++k)
        good = y.data()[k] == v + (k > 0 ? v : me_ > 0 ? left : T{0}) + (k + 1 < m ? v : me_ + 1 < n_ ? right : T{0});
      return good;
    };
    ++step_;  // counted in every call, so that workers in step use the same number
    switch (kind) {
      case 15: {
        const auto y = ring_(vec());
        return out_of_step || (y.size() == m + 2 && y(0) == left && y(1) == v && y(m + 1) == right);
      }
      case 16:
        if constexpr (std::is_same_v<T, double>) return convolve(of_doubles_);
        else return convolve(of_floats_);
      case 17: {
        const auto x = shard_blocks(everyone_, mesh_.layout("w"), {n_ * m}, vec());
        return partita::sum(x).number() == total * static_cast<T>(m) || out_of_step;
      }
      case 18: {
        const auto x = shard_blocks(everyone_, mesh_.layout("w", ""), {2 * n_, m}, mat(2, m));
        const auto y = reshard(x, mesh_.layout("", "w"));
        return out_of_step || by_rows(y.template local<2>());
      }
      case 19: {
        const std::string file = folder() + ".npy";
        save_npy(file, p_, line(n_ * m), vec(), unsure);
        return all_are(load_npy<T, 1>(file, p_, unsure), v, m);
      }
      case 20: {
        const checkpoint_options last{.keep_last = 1, .slab_bytes = 1024, .files = unsure};
        save_checkpoint(folder(), step_, named("x", p_, line(n_ * m), vec()), last);
        return all_are(load_checkpoint(folder(), everyone_, step_).template load<T, 1>("x", p_), v, m);
      }
      case 21:
        return all_are(average_(vec()), total / static_cast<T>(n_), m);
      case 0:
        return all_are(spread_(vec()), 1, m);
      case 1:
        return all_are(sum_(vec()), total, of_root(m));
      case 2:
        return all_are(all_sum_(vec()), total, m);
      case 3:
        return by_rows(turn_(mat(2, m)));
      case 4:
        return by_rows(gather_(mat(2, m)));
      case 5:
        return all_are(scatter_(mat(2 * n_, m)), total, 2 * m);
      case 6:
        return all_are(spread_.adjoint(vec()), total, of_root(m));
      case 7:
        return all_are(sum_.adjoint(vec()), 1, m);
      case 8:
        return all_are(turn_.adjoint(turn_(mat(2, m))), v, 2 * m);
      case 9:
        return all_are(largest_(vec()), most, m);
      case 10:
        return all_are(largest_to_root_(vec()), most, of_root(m));
      case 11:
        return by_rows(swap_(mat(2, m)));
      case 12:
        return all_are(exact_(vec()), total, m);
      case 13:
        return all_are(spread_last_(vec()), most, m);
      default: {
        const auto x = vec();
        auto later = all_sum_.start(x);
        return all_are(later.finish(), total, m);
      }
    }
  }
  /// Starts a non-blocking call, and either drops it at once or keeps it pending until the world ends.
  void begin(std::size_t m, bool let_go) {
    kept_.push_back(std::make_unique<xt::xtensor<double, 1>>(xt::ones<double>({m})));
    auto later = all_sum_.start(*kept_.back());
    if (!let_go) begun_.emplace(std::move(later));
  }

  /// Whether calls of different sizes may match each other. Then a worker that only receives may get any size.
  bool out_of_step = false;

 private:
  world everyone_;
  std::size_t n_, me_;
  partition<line> p_, root_ = everyone_.partition(line(std::size_t{1})),
                      last_ = everyone_.partition(line(std::size_t{1}), workers{n_ - 1});
  partition<plane> rows_ = everyone_.partition(plane(n_, std::size_t{1})),
                   columns_ = everyone_.partition(plane(std::size_t{1}, n_));
  broadcast<line, line> spread_{root_, p_}, spread_last_{last_, p_};
  sum_reduce<line, line> sum_{p_, root_};
  all_sum_reduce<line> all_sum_{p_, dimensions<0>};
  all_sum_reduce<line, reproducible_t> exact_{p_, dimensions<0>, reproducible};
  decltype(all_reduce(p_, dimensions<0>, maximum)) largest_ = all_reduce(p_, dimensions<0>, maximum);
  decltype(reduce(p_, root_, maximum)) largest_to_root_ = reduce(p_, root_, maximum);
  repartition<plane, plane> turn_{rows_, columns_};
  all_to_all<plane, plane> swap_{rows_, columns_};
  all_gather<plane> gather_{rows_, dimensions<0>};
  reduce_scatter<plane> scatter_{rows_, dimensions<0>};
  halo_exchange<line> ring_{p_, {.before = {1}, .after = {1}}, boundary::periodic};
  partition<signals> cells_ = everyone_.partition(signals(std::size_t{1}, std::size_t{1}, n_));
  convolution<double, 1> of_doubles_{
      cells_, {.in_channels = 1, .out_channels = 1, .kernel = {3}, .padding = {1}, .bias = false}};
  convolution<float, 1> of_floats_{cells_,
                                   {.in_channels = 1, .out_channels = 1, .kernel = {3}, .padding = {1}, .bias = false}};
  mesh mesh_{axis{"w", n_}};
  decltype(all_reduce(p_, dimensions<0>, mean)) average_ = all_reduce(p_, dimensions<0>, mean);
  std::uint64_t step_;
  std::vector<std::unique_ptr<xt::xtensor<double, 1>>> kept_;
  std::optional<decltype(all_sum_.start(std::declval<const xt::xtensor<double, 1>&>()))> begun_;
};

/// The mistakes. Up to `in_step` all workers make the same number of calls, so calls after the mistake must be right.
enum class mistake {
  none,
  shape,
  type,
  kernel,
  sleeps,
  let_go,
  in_step = let_go,
  never_ends,
  swap,
  missing,
  extra,
  throws,
  leaves,
  level
};
constexpr const char* names[] = {"none", "shape",   "type",  "kernel", "sleeps", "let_go", "never_ends",
                                 "swap", "missing", "extra", "throws", "leaves", "level"};
constexpr int mistakes = 13;

struct own_trouble {};

/// Ends the job if a trial takes too long.
class watchdog {
 public:
  explicit watchdog(int worker) {
    std::thread([this, worker] {
      for (int last = 0, waited = 0;; ++waited) {
        ::usleep(100'000);
        if (std::exchange(last, trial.load()) != trial) waited = 0;
        if (waited < 300) continue;
        std::printf("worker %d hangs in trial %d\n0 passed, 1 failed, 0 skipped\n", worker, last);
        std::fflush(stdout);
        std::_Exit(86);
      }
    }).detach();
  }
  std::atomic<int> trial{0};
};

struct outcome {
  std::vector<std::string> refused;  // the error message of each call; empty if it succeeded
  bool wrong = false, threw = false;
};

outcome run(std::mt19937& random, bool errs, mistake what, std::uint64_t trial) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int calls = 2 + pick(6), at = pick(calls), other = 1 + pick(kernels::kinds - 1), warm = pick(3);
  constexpr std::size_t choice[] = {1, 6, 300, 5000, 40000};
  std::vector<int> kinds;
  std::vector<std::size_t> sizes;
  for (int k = 0; k < calls; ++k) kinds.push_back(pick(kernels::kinds)), sizes.push_back(choice[pick(5)]);
  outcome out;
  try {
    kernels all(what == mistake::level && errs ? checks::local : checks::agree, trial);
    const auto make = [&](int kind, std::size_t m, bool judged, auto element, std::size_t more = 0) {
      try {
        out.wrong = !all.call<decltype(element)>(kind, m, more) && judged ? true : out.wrong;
        out.refused.emplace_back();
      } catch (const error& e) {
        out.refused.emplace_back(e.what());
      }
    };
    for (int round = 0; round < warm; ++round)
      for (std::size_t k = 0; k < kinds.size(); ++k) out.wrong = !all.call<double>(kinds[k], sizes[k]) || out.wrong;
    all.out_of_step = what > mistake::in_step;
    for (int c = 0; c < calls; ++c) {
      const int kind = kinds[static_cast<std::size_t>(c)];
      const std::size_t m = sizes[static_cast<std::size_t>(c)];
      const bool here = c == at, mine = here && errs;
      if (what == mistake::let_go && here) all.begin(m, mine);
      else if (what == mistake::never_ends && here) all.begin(m, false);
      if (mine && what == mistake::throws) throw own_trouble();
      if (mine && what == mistake::leaves) break;
      if (mine && what == mistake::missing) continue;
      if (mine && what == mistake::sleeps) ::usleep(200'000);
      if (mine && what == mistake::extra) make((kind + other) % kernels::kinds, m, false, 0.0);
      if (mine && what == mistake::swap && c + 1 < calls) {
        make(kinds[static_cast<std::size_t>(c) + 1], sizes[static_cast<std::size_t>(c) + 1], false, 0.0);
        make(kind, m, false, 0.0);
        ++c;
      } else if (mine && what == mistake::type) {
        make(kind, m, true, 0.0F);
      } else {
        make(mine && what == mistake::kernel ? kernels::instead_of(kind, other) : kind, m,
             !(here && what == mistake::shape), 0.0, mine && what == mistake::shape ? 1 : 0);
      }
    }
  } catch (const own_trouble&) {
    out.threw = true;
  } catch (const error& e) {
    out.refused.emplace_back(e.what());
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  if (argc < 3) return 2;
  const boost::mpi::communicator judge(MPI_Comm(boost::mpi::communicator()), boost::mpi::comm_duplicate);
  const int seed = std::atoi(argv[1]), trials = std::atoi(argv[2]), n = judge.size();
  watchdog& dog = *new watchdog(judge.rank());
  int failed = 0, refused = 0;
  std::map<std::string, int> tried;
  for (int t = 0; t < trials; ++t) {
    std::mt19937 random(static_cast<unsigned>(seed) * 1'000'003U + static_cast<unsigned>(t));
    const auto what = static_cast<mistake>(random() % mistakes);
    const bool errs = static_cast<int>(random() % static_cast<unsigned>(n)) == judge.rank();
    dog.trial = t + 1;
    const outcome out = run(random, errs, what, static_cast<std::uint64_t>(t));
    const bool in_step = what <= mistake::in_step;
    // in step, a call fails on all workers with one error message or on none, and at most one call fails
    std::string mine = out.wrong ? "WRONG" : "";
    std::size_t times = 0;
    for (const std::string& sentence : out.refused) times += sentence.empty() ? 0 : 1;
    for (const std::string& sentence : out.refused) mine += in_step ? sentence + "|" : "";
    std::vector<std::string> all;
    boost::mpi::all_gather(judge, mine, all);
    int most = 0;
    const int here = static_cast<int>(times);
    MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, judge);
    bool right = true;
    for (const std::string& one : all) right = right && !one.starts_with("WRONG") && (!in_step || one == all[0]);
    right = right && (!in_step || most <= 2) && !(what == mistake::none && most > 0);
    failed += right ? 0 : 1;
    refused += most > 0 ? 1 : 0;
    ++tried[names[static_cast<int>(what)]];
    if (right || judge.rank() != 0) continue;
    std::cout << "seed " << seed << " trial " << t << ": " << names[static_cast<int>(what)] << "\n";
    for (const std::string& one : all) std::cout << "  " << one << "\n";
  }
  if (judge.rank() != 0) return failed == 0 ? 0 : 1;
  static_cast<void>(detail::remove_folder(folder()));
  ::unlink((folder() + ".npy").c_str());
  for (const auto& [name, count] : tried) std::cout << name << " " << count << ", ";
  std::cout << refused << " were refused on " << n << " workers\n"
            << trials - failed << " passed, " << failed << " failed, 0 skipped" << std::endl;
  if (argc > 3)
    std::ofstream(argv[3], std::ios::app) << "{\"name\": \"misuse\", \"workers\": " << n << ", \"trials\": " << trials
                                          << ", \"refused\": " << refused << ", \"failed\": " << failed << "}\n";
  return failed == 0 ? 0 : 1;
}
