// A saved sharded tensor is loaded correctly with any layout, and an array of one worker can be sharded over all.
#include "../support/folder.hpp"

#include <complex>
#include <mpi_test.hpp>
#include <partita/io/sharded_npy.hpp>
#include <random>
#include "../sharded/layouts.hpp"
#include "refused.hpp"

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

/// All calls that make a tensor refuse a layout of fewer or of more dimensions than the tensor has.
BOOST_AUTO_TEST_CASE(layouts_of_another_number_of_dimensions_are_refused) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  const shape_list extents{4, 6};
  const xt::xtensor<double, 2> x = xt::ones<double>({4, 6});
  const auto one = [](const auto&) { return 1.; };
  const sharded_tensor<double> whole = shard(everyone, m.layout("", ""), x);
  save_npy<2>(path, whole);
  for (const sharding& layout : {m.layout("a"), m.layout(""), m.layout("", "a", ""), m.layout("", "", "")}) {
    const std::string words = (text(": requires one entry of the layout for each dimension, but ")
                               << "" << layout << " is given for extents [4, 6]; write")
                                  .c_str();
    const auto refuses = [&](const char* call, auto made) {
      test::expect_refused<shape_error>(made, (call + words).c_str());
    };
    refuses("partita::shard", [&] { shard(everyone, layout, x); });
    refuses("partita::shard", [&] { shard<double>(everyone, layout, extents, one); });
    refuses("partita::shard", [&] { shard_blocks(everyone, layout, extents, x); });
    refuses("partita::shard", [&] { shard_from(everyone, 0, layout, extents, x); });
    refuses("partita::shard", [&] { load_npy<double, 2>(path, everyone, layout, extents); });
    refuses("partita::reshard", [&] { reshard(whole, layout); });
    refuses("partita::reshard", [&] { reshard(whole, placed_mesh(m), layout); });
  }
  BOOST_TEST((reshard(whole, m.layout("a", "")).extents() == extents));  // the world still works
}

BOOST_AUTO_TEST_CASE(bytes_of_a_complex_number_change_places_within_each_of_its_parts) {
  const std::array<std::complex<float>, 3> z{{{1.5F, -2.25F}, {0.1F, 0.2F}, {-3.7F, 1e-9F}}};
  auto turned = z;
  detail::swap_bytes(turned.data(), turned.size());
  const auto* const from = reinterpret_cast<const unsigned char*>(z.data());
  const auto* const to = reinterpret_cast<const unsigned char*>(turned.data());
  constexpr std::size_t part = sizeof(float);
  for (std::size_t k = 0; k < sizeof z; ++k) BOOST_TEST(to[k] == from[k / part * part + part - 1 - k % part]);
}
