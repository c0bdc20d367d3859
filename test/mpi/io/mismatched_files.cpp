// One worker passes an argument to a call on files that differs from the others'. One table has each argument of each
// call. All workers throw a disagreement_error at the first agreement of the call, and the files are those of before.
#include "../support/folder.hpp"
#include "mpi_test.hpp"

#include <boost/mpi/collectives/all_reduce.hpp>
#include <boost/mpi/collectives/broadcast.hpp>
#include <functional>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/optimiser_state.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/io/sharded_checkpoint.hpp>
#include <partita/io/sharded_npy.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <string>
#include <tuple>
#include <vector>

using namespace partita;

namespace {

struct files {
  const world& everyone;
  const test::folder& folder;
  std::size_t n = everyone.size();
  mesh m{axis{"a", n}};

  partition<dynamic_extents<1>> line() const { return everyone.partition(extents(n)); }
  /// One worker, in a partition of extent 1.
  partition<dynamic_extents<1>> point() const { return everyone.partition(extents(std::size_t{1})); }
  std::string path(const char* name) const { return folder / name; }
  /// All workers make the same tensors, also those that only one of them passes: making one is a call, too.
  template <class T = double>
  sharded_tensor<T> tensor(const char* axes, std::size_t rows) const {
    return shard<T>(everyone, m.layout(axes), {rows}, [](const auto& i) { return static_cast<T>(i[0]); });
  }
  void save(const std::string& name, std::size_t extent) const {
    save_npy(path(name.c_str()), line(), extents<dynamic>(extent), block(extent));
  }
  xt::xtensor<double, 1> block(std::size_t extent) const { return xt::ones<double>({extent / n}); }
};
struct mismatch {
  const char* name;
  std::function<void(const files&, bool odd)> call;
};

const std::vector<mismatch> table{
    {"save_npy, path", [](const files& f, bool odd) { f.save(odd ? "other.npy" : "x.npy", 2 * f.n); }},
    {"save_npy, extents", [](const files& f, bool odd) { f.save("x.npy", odd ? 4 * f.n : 2 * f.n); }},
    {"save_npy, element type",
     [](const files& f, bool odd) {
       const xt::xtensor<long, 1> integers = xt::ones<long>({2});
       if (odd) save_npy(f.path("x.npy"), f.line(), extents<dynamic>(2 * f.n), integers);
       else f.save("x.npy", 2 * f.n);
     }},
    {"save_npy, partition",
     [](const files& f, bool odd) {
       save_npy(f.path("x.npy"), odd ? f.point() : f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n));
     }},
    {"save_npy, order of dimensions",
     [](const files& f, bool odd) {
       if (odd) save_npy(f.path("x.npy"), f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n), fortran_order);
       else f.save("x.npy", 2 * f.n);
     }},
    {"load_npy, path",
     [](const files& f, bool odd) { (void)load_npy<double, 1>(f.path(odd ? "b.npy" : "a.npy"), f.line()); }},
    {"load_npy, partition",
     [](const files& f, bool odd) { (void)load_npy<double, 1>(f.path("a.npy"), odd ? f.point() : f.line()); }},
    {"load_npy, element type",
     [](const files& f, bool odd) {
       if (odd) (void)load_npy<float, 1>(f.path("a.npy"), f.line());
       else (void)load_npy<double, 1>(f.path("a.npy"), f.line());
     }},
    {"save_npy of a tensor, path",
     [](const files& f, bool odd) { save_npy<1>(f.path(odd ? "other.npy" : "x.npy"), f.tensor("a", 2 * f.n)); }},
    {"save_npy of a tensor, layout",
     [](const files& f, bool odd) {
       const auto x = f.tensor("a", 2 * f.n), y = f.tensor("", 2 * f.n);
       save_npy<1>(f.path("x.npy"), odd ? y : x);
     }},
    {"load_npy of a tensor, path",
     [](const files& f, bool odd) {
       (void)load_npy<double, 1>(f.path(odd ? "b.npy" : "a.npy"), f.everyone, f.m.layout("a"), {2 * f.n});
     }},
    {"load_npy of a tensor, layout",
     [](const files& f, bool odd) {
       (void)load_npy<double, 1>(f.path("a.npy"), f.everyone, f.m.layout(odd ? "" : "a"), {2 * f.n});
     }},
    {"load_npy of a tensor, extents",
     [](const files& f, bool odd) {
       (void)load_npy<double, 1>(f.path("a.npy"), f.everyone, f.m.layout("a"), {odd ? 4 * f.n : 2 * f.n});
     }},
    {"save_checkpoint, folder",
     [](const files& f, bool odd) {
       save_checkpoint(f.path(odd ? "others" : "new"), 1,
                       named("w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)));
     }},
    {"save_checkpoint, step",
     [](const files& f, bool odd) {
       save_checkpoint(f.path("runs"), odd ? 9 : 8, named("w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)));
     }},
    {"save_checkpoint, name",
     [](const files& f, bool odd) {
       save_checkpoint(f.path("runs"), 8,
                       named(odd ? "v" : "w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)));
     }},
    {"save_checkpoint, order",
     [](const files& f, bool odd) {
       const auto one = named("v", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)),
                  two = named("w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n));
       if (odd) save_checkpoint(f.path("runs"), 8, two, one);
       else save_checkpoint(f.path("runs"), 8, one, two);
     }},
    {"save_checkpoint, extents",
     [](const files& f, bool odd) {
       const std::size_t extent = odd ? 4 * f.n : 2 * f.n;
       save_checkpoint(f.path("runs"), 8, named("w", f.line(), extents<dynamic>(extent), f.block(extent)));
     }},
    {"save_checkpoint, keep_last",
     [](const files& f, bool odd) {
       save_checkpoint(f.path("runs"), 8, named("w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)),
                       checkpoint_options{.keep_last = odd ? 5U : 0U});
     }},
    {"save_checkpoint, slab_bytes",
     [](const files& f, bool odd) {
       save_checkpoint(f.path("runs"), 8, named("w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)),
                       checkpoint_options{.slab_bytes = odd ? 4096U : 8192U});
     }},
    {"save_checkpoint, element type",
     [](const files& f, bool odd) {
       const xt::xtensor<long, 1> integers = xt::ones<long>({2});
       const auto n = extents<dynamic>(2 * f.n);
       if (odd) save_checkpoint(f.path("runs"), 8, named("w", f.line(), n, integers));
       else save_checkpoint(f.path("runs"), 8, named("w", f.line(), n, f.block(2 * f.n)));
     }},
    {"save_checkpoint, source_cuts",
     [](const files& f, bool odd) {
       const auto cuts = source_cuts(odd ? cut::block_cyclic(2 * f.n, f.n, 1) : cut::balanced(2 * f.n, f.n));
       save_checkpoint(f.path("runs"), 8, named("w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n), cuts));
     }},
    {"checkpoint_saver, step",
     [](const files& f, bool odd) {
       checkpoint_saver saver(f.path("runs"));
       saver.save(odd ? 9 : 8, named("w", f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)));
       saver.finish();
     }},
    {"load_checkpoint, folder",
     [](const files& f, bool odd) { (void)load_checkpoint(f.path(odd ? "more" : "runs"), f.everyone, 1); }},
    {"load_checkpoint, step",
     [](const files& f, bool odd) { (void)load_checkpoint(f.path("runs"), f.everyone, odd ? 2 : 1); }},
    {"checkpoint::load, name",
     [](const files& f, bool odd) {
       (void)load_checkpoint(f.path("runs"), f.everyone, 1).load<double, 1>(odd ? "v" : "w", f.line());
     }},
    {"checkpoint::load, partition",
     [](const files& f, bool odd) {
       (void)load_checkpoint(f.path("runs"), f.everyone, 1).load<double, 1>("w", odd ? f.point() : f.line());
     }},
    {"checkpoint::load, element type",
     [](const files& f, bool odd) {
       const checkpoint saved = load_checkpoint(f.path("runs"), f.everyone, 1);
       if (odd) (void)saved.load<float, 1>("w", f.line());
       else (void)saved.load<double, 1>("w", f.line());
     }},
    {"checkpoint::load, result_cuts",
     [](const files& f, bool odd) {
       const auto cuts = result_cuts(odd ? cut::block_cyclic(2 * f.n, f.n, 1) : cut::balanced(2 * f.n, f.n));
       (void)load_checkpoint(f.path("runs"), f.everyone, 1).load<double, 1>("w", f.line(), cuts);
     }},
    {"save_tensors, folder",
     [](const files& f, bool odd) {
       save_tensors(f.path(odd ? "others" : "new"), 1, std::tuple(f.tensor("a", 2 * f.n)));
     }},
    {"save_tensors, step",
     [](const files& f, bool odd) {
       save_tensors(f.path("tensors"), odd ? 9 : 8, std::tuple(f.tensor("a", 2 * f.n)));
     }},
    {"save_tensors, layout",
     [](const files& f, bool odd) {
       const auto x = f.tensor("a", 2 * f.n), y = f.tensor("", 2 * f.n);
       save_tensors(f.path("tensors"), 8, std::tuple(odd ? y : x));
     }},
    {"load_tensors, folder",
     [](const files& f, bool odd) {
       (void)load_tensors(f.path(odd ? "more" : "tensors"), std::tuple(f.tensor("a", 2 * f.n)), 1);
     }},
    {"load_tensors, step",
     [](const files& f, bool odd) {
       (void)load_tensors(f.path("tensors"), std::tuple(f.tensor("a", 2 * f.n)), odd ? 2 : 1);
     }},
    {"load_tensors, layout",
     [](const files& f, bool odd) {
       const auto x = f.tensor("a", 2 * f.n), y = f.tensor("", 2 * f.n);
       (void)load_tensors(f.path("tensors"), std::tuple(odd ? y : x), 1);
     }},
    {"load_tensors, extents",
     [](const files& f, bool odd) {
       const auto x = f.tensor("a", 2 * f.n), y = f.tensor("a", 4 * f.n);
       (void)load_tensors(f.path("tensors"), std::tuple(odd ? y : x), 1);
     }},
    {"load_tensors, element type",
     [](const files& f, bool odd) {
       std::tuple x(f.tensor("a", 2 * f.n));
       std::tuple y(f.tensor<float>("a", 2 * f.n));
       (void)(odd ? load_tensors(f.path("tensors"), y, 1) : load_tensors(f.path("tensors"), x, 1));
     }},
    {"load_tensors, name",
     [](const files& f, bool odd) {
       auto x = f.tensor("a", 2 * f.n);
       (void)load_tensors(f.path("tensors"), named_parameters<double>{{odd ? "1" : "0", x}}, 1);
     }},
    {"load_tensors, number",
     [](const files& f, bool odd) {
       (void)load_tensors(f.path("tensors"), std::vector(odd ? 2 : 1, f.tensor("a", 2 * f.n)), 1);
     }},
    {"save_optimiser, parameters",
     [](const files& f, bool odd) {
       auto x = f.tensor("a", 2 * f.n), y = f.tensor("a", 4 * f.n);
       sharded_adam<double> one({x, y}, {}), other({y, x}, {});
       save_optimiser(f.path("x.npy"), f.everyone, odd ? other : one);
     }},
    {"load_optimiser, parameters",
     [](const files& f, bool odd) {
       auto x = f.tensor("a", 2 * f.n), y = f.tensor("a", 4 * f.n);
       sharded_adam<double> one({x, y}, {}), other({y, x}, {});
       load_optimiser(f.path("o1.npy"), f.everyone, odd ? other : one);
     }},
    {"save_optimiser, path",
     [](const files& f, bool odd) {
       auto w = f.tensor("a", 2 * f.n);
       sharded_adam<double> o({w}, {});
       save_optimiser(f.path(odd ? "other.npy" : "x.npy"), f.everyone, o);
     }},
    {"load_optimiser, path",
     [](const files& f, bool odd) {
       auto w = f.tensor("a", 2 * f.n);
       sharded_adam<double> o({w}, {});
       load_optimiser(f.path(odd ? "o2.npy" : "o1.npy"), f.everyone, o);
     }},
};

/// Names of files and steps that the calls of the table read.
void prepare(const files& f) {
  f.save("a.npy", 2 * f.n);
  f.save("b.npy", 2 * f.n);
  const auto two = [&](const char* name) { return named(name, f.line(), extents<dynamic>(2 * f.n), f.block(2 * f.n)); };
  for (const char* folder : {"runs", "more"})
    for (const std::uint64_t step : {1U, 2U}) save_checkpoint(f.path(folder), step, two("v"), two("w"));
  for (const char* folder : {"tensors", "more"})
    for (const std::uint64_t step : {1U, 2U})
      save_tensors(f.path(folder), step + (folder[0] == 'm' ? 2 : 0), std::tuple(f.tensor("a", 2 * f.n)));
  auto w = f.tensor("a", 2 * f.n);
  sharded_adam<double> o({w}, {});
  save_optimiser(f.path("o1.npy"), f.everyone, o);
  save_optimiser(f.path("o2.npy"), f.everyone, o);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_call_on_files_with_another_argument_on_one_worker_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const files f{everyone, folder};
  prepare(f);
  const std::size_t names = folder.names();
  const all_sum_reduce sums(f.line(), dimensions<0>);
  const xt::xtensor<double, 1> one_number = xt::ones<double>({1});
  for (const mismatch& one : table)
    for (const std::size_t odd : {std::size_t{0}, everyone.size() - 1}) {
      bool refused = false;
      try {
        one.call(f, everyone.id() == odd);
        (void)sums(one_number);
      } catch (const disagreement_error& e) {
        // If the hash of the call lacked the argument, a call that it makes, or the next one, would be refused.
        const std::string told = e.what();
        refused = told.find("repartition(") == std::string::npos && told.find("all_sum_reduce(") == std::string::npos;
        BOOST_TEST(refused, one.name << " on worker " << odd << " is noticed late: " << told);
      } catch (const error& other) {  // of a later check: the hash lacks the argument
        BOOST_ERROR(one.name << " on worker " << odd << " gives another error: " << other.what());
      }
      BOOST_TEST(boost::mpi::all_reduce(everyone.communicator(), refused, std::logical_and<>()),
                 one.name << " on worker " << odd);
      BOOST_TEST(sums(one_number)(0) == static_cast<double>(everyone.size()));  // the world still works
      BOOST_TEST(folder.names() == names, one.name << " on worker " << odd);
    }
}
