// A saved sharded tensor is loaded correctly with any layout, and an array of one worker can be sharded over all.
#include "../support/folder.hpp"

#include <mpi_test.hpp>
#include <partita/io/sharded_npy.hpp>
#include <random>
#include "../sharded/layouts.hpp"

using namespace partita;

BOOST_AUTO_TEST_CASE(a_saved_tensor_is_read_under_any_layout) {
  world everyone(test::workers());
  std::mt19937 random(41);
  const std::size_t workers = everyone.size();
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  const auto number = [](const auto& i) { return test::numbered(i); };
  for (const mesh& m : test::meshes(workers)) {
    const auto all = test::layouts(m, 2);
    const sharding s = all[random() % all.size()].without_partials(), t = all[random() % all.size()];
    const shape_list e{5, 3};
    save_npy<2>(path, shard<long long>(everyone, s, e, number));
    const auto y = load_npy<long long, 2>(path, everyone, t, e);
    BOOST_TEST((y.layout() == t));
    const auto same = reshard(y, sharding(m, 2)).whole<2>();
    for (std::size_t k = 0; k < same.size() && everyone.id() < m.size(); ++k)
      BOOST_TEST(same.data()[k] == test::numbered({k / 3, k % 3}));
    BOOST_CHECK_THROW((load_npy<long long, 2>(path, everyone, t, {5, 4})), shape_error);
    // from one worker
    xt::xtensor<long long, 2> x({5, 3});
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = test::numbered({k / 3, k % 3});
    if (everyone.id() != workers - 1) x = xt::zeros<long long>({1, 1});
    const auto z = reshard(shard_from(everyone, workers - 1, t, e, x), sharding(m, 2)).whole<2>();
    if (everyone.id() < m.size()) BOOST_TEST((z == same));
    BOOST_CHECK_THROW(shard_from(everyone, workers - 1, t, {5, 4}, x), shape_error);
  }
}
