// One of several jobs that use the same files at the same time. two_jobs.py runs it.
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/operations.hpp>
#include <cstdlib>
#include <iostream>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <string>
#if __has_include(<hdf5.h>)
#include <partita/io/hdf5.hpp>
#endif

using namespace partita;

namespace {

constexpr extents<60, 41> global;
constexpr file_options crowded{.page_bytes = 512, .owner_bytes = 0, .run_bytes = 8, .sync = false};

using rows = partition<extents<dynamic, 1>>;

xt::xtensor<double, 2> filled(const rows& p, double value) {
  xt::xtensor<double, 2> x(decomposition<2>::balanced(global.array(), p.grid().shape()).shape(p.index()));
  x.fill(value);
  return x;
}
/// Whether all elements on all workers equal a value.
bool all_are(const world& everyone, const xt::xtensor<double, 2>& x, double value) {
  int right = 1, all = 0;
  for (const double element : x) right = right != 0 && element == value ? 1 : 0;
  boost::mpi::all_reduce(everyone.communicator(), right, all, boost::mpi::minimum<int>());
  return all != 0;
}
/// Returns the first element of worker 0 on all workers.
double first_of(const world& everyone, const xt::xtensor<double, 2>& x) {
  double value = x.size() == 0 ? 0 : *x.data();
  boost::mpi::broadcast(everyone.communicator(), value, 0);
  return value;
}
void say(const world& everyone, const std::string& line) {
  if (everyone.id() == 0) std::cout << line << std::endl;
}

/// Replaces the file repeatedly, each time with a different number in all elements.
int replace(const world& everyone, const rows& p, const std::string& folder, long times) {
  for (long k = 1; k <= times; ++k) save_npy(folder + "/w.npy", p, global, filled(p, static_cast<double>(k)), crowded);
  say(everyone, "replaced " + std::to_string(times));
  return 0;
}
/// Loads the file meanwhile: all elements must be those of one version.
int load(const world& everyone, const rows& p, const std::string& folder, long times) {
  long right = 0, mixed = 0, refused = 0;
  for (long k = 0; k < times; ++k) {
    try {
      const auto x = load_npy<double, 2>(folder + "/w.npy", p, crowded);
      ++(all_are(everyone, x, first_of(everyone, x)) ? right : mixed);
    } catch (const io_error& e) {
      ++refused;
      say(everyone, e.what());
    }
  }
  say(everyone,
      "loaded " + std::to_string(right) + " mixed " + std::to_string(mixed) + " refused " + std::to_string(refused));
  return 0;
}
/// Saves every second step, and each tenth step, which other jobs save as well. Only one job succeeds with a shared
/// step; the others get an error.
int save(const world& everyone, const rows& p, const std::string& folder, long base, long times) {
  long saved = 0, late = 0, refused = 0;
  checkpoint_saver behind(folder + "/run", {.slab_bytes = 1000, .files = crowded});
  for (long k = 0; k < times; ++k) {
    const bool common = k % 10 == 9;
    const auto step = static_cast<std::uint64_t>(common ? 1000000 + k : 2 * k + base);
    const auto x = filled(p, static_cast<double>(step));
    try {
      if (k % 3 == 0) {
        behind.save(step, named("x", p, global, x), named("y", p, global, x));
        behind.finish();
      } else {
        save_checkpoint(folder + "/run", step, named("x", p, global, x), named("y", p, global, x),
                        checkpoint_options{.slab_bytes = 1000, .files = crowded});
      }
      ++saved;
    } catch (const io_error& e) {
      const bool expected = common && std::string(e.what()).find("a step that is not there yet") != std::string::npos;
      ++(expected ? late : refused);
      if (!expected) say(everyone, e.what());
    }
  }
  say(everyone,
      "saved " + std::to_string(saved) + " late " + std::to_string(late) + " refused " + std::to_string(refused));
  return 0;
}
/// Checks that each listed step is complete.
int look(const world& everyone, const rows& p, const std::string& folder) {
  long good = 0, lost = 0, mixed = 0;
  for (const std::uint64_t step : checkpoint_steps(folder + "/run", everyone)) {
    try {
      const checkpoint found = load_checkpoint(folder + "/run", everyone, step);
      bool right = found.step() == step;
      for (const char* name : {"x", "y"})
        right = all_are(everyone, found.load<double, 2>(name, p), static_cast<double>(step)) && right;
      ++(right ? good : mixed);
    } catch (const io_error& e) {
      ++lost;
      say(everyone, e.what());
    }
  }
  say(everyone, "whole " + std::to_string(good) + " mixed " + std::to_string(mixed) + " lost " + std::to_string(lost));
  return 0;
}

#if __has_include(<hdf5.h>)
std::string dataset(long base, long k) { return std::to_string(base) + "_" + std::to_string(k); }
/// Adds datasets to one HDF5 file, each filled with one number.
int add(const world& everyone, const rows& p, const std::string& folder, long base, long times) {
  for (long k = 0; k < times; ++k)
    save_hdf5(folder + "/w.h5", dataset(base, k), p, global, filled(p, static_cast<double>(1000 * base + k)), crowded);
  say(everyone, "added " + std::to_string(times) + " refused 0");
  return 0;
}
/// Checks that each of them is complete.
int find(const world& everyone, const rows& p, const std::string& folder, long base, long times) {
  long good = 0, mixed = 0, lost = 0;
  for (long k = 0; k < times; ++k) {
    try {
      const auto x = load_hdf5<double, 2>(folder + "/w.h5", dataset(base, k), p);
      ++(all_are(everyone, x, static_cast<double>(1000 * base + k)) ? good : mixed);
    } catch (const io_error& e) {
      ++lost;
      say(everyone, e.what());
    }
  }
  say(everyone, "whole " + std::to_string(good) + " mixed " + std::to_string(mixed) + " lost " + std::to_string(lost));
  return 0;
}
#else
int add(const world& everyone, const rows&, const std::string&, long, long times) {
  say(everyone, "added " + std::to_string(times) + " refused 0");
  return 0;
}
int find(const world& everyone, const rows&, const std::string&, long, long) {
  say(everyone, "whole 0 mixed 0 lost 0");
  return 0;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  if (argc < 3) return 2;
  const world everyone;
  const rows p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const std::string verb = argv[1], folder = argv[2];
  const auto number = [&](int k) { return k < argc ? std::atol(argv[k]) : 0; };
  return verb == "replace" ? replace(everyone, p, folder, number(3))
         : verb == "load"  ? load(everyone, p, folder, number(3))
         : verb == "save"  ? save(everyone, p, folder, number(3), number(4))
         : verb == "add"   ? add(everyone, p, folder, number(3), number(4))
         : verb == "find"  ? find(everyone, p, folder, number(3), number(4))
                           : look(everyone, p, folder);
}
