// Worlds, partitions and kernels print as one short line each.
#include "mpi_test.hpp"

#include <partita/kernel/block_from.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/repartition.hpp>
#include <sstream>

namespace {
using namespace partita;

template <class Thing>
std::string on_stream(const Thing& thing) {
  std::ostringstream out;
  out << thing;
  return out.str();
}
/// What has been counted, without a kernel.
struct counted {
  kernel_counts done;
  kernel_counts counts() const { return done; }
};
bool begins(const std::string& all, const std::string& with) { return all.compare(0, with.size(), with) == 0; }
}  // namespace

BOOST_AUTO_TEST_SUITE(printed)

BOOST_AUTO_TEST_CASE(a_partition_is_its_extents_and_its_workers) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1, 1>();
  BOOST_TEST(on_stream(p) == (everyone.id() == 0 ? "partition [1, 1] of workers [0], this worker at [0, 0]"
                                                 : "partition [1, 1] of workers [0], not this worker"));
  BOOST_TEST(on_stream(p.extents()) == "[1, 1]");
  const auto world_text = [](std::size_t size, std::size_t id) {
    return "world of " + std::to_string(size) + " workers, this is worker " + std::to_string(id);
  };
  BOOST_TEST(on_stream(everyone) == world_text(everyone.size(), everyone.id()));
  BOOST_TEST(on_stream(everyone.part(workers(0, 1))) ==
             (everyone.id() == 0 ? world_text(1, 0) : "world of other workers"));
}

BOOST_AUTO_TEST_CASE(a_kernel_is_its_type_and_what_it_has_done) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1, 1>();
  const auto all = everyone.partition(extents(everyone.size(), 1));
  const broadcast b(one, all);
  const std::string before = on_stream(b);
  BOOST_TEST(begins(before, "broadcast<extents<1, 1>, extents<dynamic, dynamic>"));
  BOOST_TEST(before.find(": 0 plans made; in the last call this worker sent 0 messages of 0 bytes") !=
             std::string::npos);
  b(block_on(one, xt::xtensor<double, 2>({2, 3})));
  BOOST_TEST(on_stream(b).find(": 1 plan made; ") != std::string::npos);
  BOOST_TEST(
      begins(on_stream(halo_exchange(all, {.before = 1, .after = 1}, boundary::zero)), "halo_exchange<extents<"));
  BOOST_TEST(begins(on_stream(repartition(one, all)), "repartition<extents<"));
  BOOST_TEST(begins(on_stream(reduce(all, one, maximum)), "reduce<"));
  BOOST_TEST(on_stream(compose(b, broadcast(all, all))).find("broadcast<extents<") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(all_counts_are_printed_in_their_order) {
  const auto end_of = [](const kernel_counts& done) {
    const std::string all = on_stream(counted{done});
    return all.substr(all.find("counted: "));
  };
  BOOST_TEST(end_of({}) ==
             "counted: 0 plans made; in the last call this worker sent 0 messages of 0 bytes and shared 0 bytes");
  BOOST_TEST(end_of({1, 2, 3, 4}) ==
             "counted: 1 plan made; in the last call this worker sent 2 messages of 3 bytes and shared 4 bytes");
  BOOST_TEST(end_of({2, 1, 8, 16}) ==
             "counted: 2 plans made; in the last call this worker sent 1 messages of 8 bytes and shared 16 bytes");
  const auto name = []<class T>(const T*) { return std::string(detail::name_of_type<T>().c_str()); };
  BOOST_TEST(name(static_cast<const detail::kernel_identity*>(nullptr)) == "kernel_identity");
  BOOST_TEST(name(static_cast<const extents<2, dynamic, 3>*>(nullptr)) == "extents<2, dynamic, 3>");
  BOOST_TEST(name(static_cast<const double*>(nullptr)) == "double");
}

BOOST_AUTO_TEST_SUITE_END()
