// A sharding converted to a partition and cuts has the same blocks, also if several axes shard one dimension unevenly.
#include <partita/sharded/sharded_partition.hpp>

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "refused.hpp"
#include "simulated_mesh.hpp"

namespace {

using namespace partita;
using test::refused;

const mesh m{axis{"data", 2}, axis{"model", 4}};

std::vector<std::size_t> sizes_of(const cut& c) {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < c.parts(); ++k) all.push_back(c.size(k));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sharding_to_partition)

BOOST_AUTO_TEST_CASE(axes_of_one_dimension_cut_one_after_the_other) {
  BOOST_TEST(
      (sizes_of(mesh_cut(m, m.layout("data+model")[0], 10)) == std::vector<std::size_t>{2, 1, 1, 1, 2, 1, 1, 1}));
  BOOST_TEST(
      (sizes_of(mesh_cut(m, m.layout("model+data")[0], 10)) == std::vector<std::size_t>{2, 1, 2, 1, 1, 1, 1, 1}));
  BOOST_TEST((mesh_cut(m, m.layout("model")[0], 10) == cut::balanced(10, 4)));
  BOOST_TEST((mesh_cut(m, m.layout("")[0], 10) == cut::balanced(10, 1)));
}

BOOST_AUTO_TEST_CASE(a_mesh_stands_on_the_workers_that_are_named) {
  const placed_mesh four = placed_mesh::of_ids({{4, 5}, {6, 7}}, "data", "model");
  BOOST_TEST((four.mesh() == mesh(axis{"data", 2}, axis{"model", 2})));
  BOOST_TEST(four.worker(2) == 6U);
  BOOST_TEST(four.place(5) == 1U);
  BOOST_TEST(four.place(0) == 4U);
  text written;
  written << four;
  BOOST_TEST(written.c_str() == std::string("data 2 x model 2 on [4, 5, 6, 7]"));
  BOOST_TEST((placed_mesh::of_ids({3, 1}, "x") == placed_mesh(mesh(axis{"x", 2}), workers{3, 1})));
  BOOST_TEST((placed_mesh::of_ids({{{0}, {1}}, {{2}, {3}}}, "a", "b", "c").mesh() ==
              mesh(axis{"a", 2}, axis{"b", 2}, axis{"c", 1})));
}

BOOST_AUTO_TEST_CASE(rows_of_different_lengths_and_too_few_workers_are_refused_with_both_sizes) {
  BOOST_TEST(refused([] {
               placed_mesh::of_ids({{4, 5}, {6}}, "data", "model");
             }) == "partita::placed_mesh::of_ids: requires rows of one length, not 2 and 1; give a full arrangement");
  BOOST_TEST(
      refused([] {
        placed_mesh(m, workers{0, 1});
      }) ==
      "partita::placed_mesh: requires as many workers as the mesh data 2 x model 4 has places (8), got 2; give 8");
  BOOST_TEST(refused([] { placed_mesh(m).worker(8); }) ==
             "partita::placed_mesh::worker: requires a place below 8, got 8");
  BOOST_TEST(
      refused([] {
        partition_of<1>(m.layout("", "data"), {4, 4});
      }) ==
      "partita::partition_of: requires a sharding and a shape of rank 1, got (, data) and [4, 4]; name their rank");
  BOOST_TEST(refused([] { partition_of<1>(m.layout("data"), {4}, placed_mesh(m), 4); }) ==
             "partita::partition_of: requires a copy below 4 (what the axes leave that cut nothing), got 4");
  BOOST_TEST(refused([] {
               partition_of<1>(m.layout("data"), {4}, placed_mesh::of_ids({{4, 5}, {6, 7}}, "data", "model"));
             }) ==
             "partita::partition_of: requires a sharding on the mesh that is placed, data 2 x model 2, got (data) on "
             "data 2 x model 4; make it from that mesh");
}

BOOST_AUTO_TEST_CASE(columns_over_data_and_rows_over_model_stand_on_the_right_workers) {
  const auto p = partition_of<2>(m.layout("model", "data"), {8, 6});
  BOOST_TEST((p.arrangement.shape() == std::array<std::size_t, 2>{4, 2}));
  BOOST_TEST(p.copies == 1U);
  BOOST_TEST(p.arrangement.worker({1, 0}) == 1U);
  BOOST_TEST(p.arrangement.worker({0, 1}) == 4U);
  const auto copy = partition_of<2>(m.layout("data", ""), {8, 6}, placed_mesh(m), 3);
  BOOST_TEST(copy.copies == 4U);
  BOOST_TEST((copy.arrangement.workers() == workers{3, 7}));
}

BOOST_AUTO_TEST_CASE(every_worker_of_every_copy_holds_the_block_that_the_sharding_says) {
  std::mt19937_64 random(3);
  const mesh three{axis{"a", 2}, axis{"b", 3}, axis{"c", 2}};
  std::vector<std::size_t> ids(three.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = 7 * k % 12;
  const placed_mesh where(three, workers(ids));
  for (std::size_t k = 0; k < 500; ++k) {
    const shape_list shape{random() % 14, random() % 14};
    const sharding s = simulated::random_sharding(three, 2, random);
    std::vector<std::size_t> seen(12, 0);
    const std::size_t copies = partition_of<2>(s, shape, where).copies;
    for (std::size_t copy = 0; copy < copies; ++copy) {
      const auto p = partition_of<2>(s, shape, where, copy);
      for (std::size_t place = 0; place < p.arrangement.size(); ++place) {
        const std::size_t id = p.arrangement.workers()[place];
        const auto expected = mesh_block(s, shape, where.place(id));
        const auto held = p.cuts.block(p.arrangement.index(place));
        ++seen[id];
        for (std::size_t d = 0; d < 2; ++d) {
          BOOST_TEST(held.stop[d] - held.start[d] == expected[d].size());
          if (expected[d].size() > 0) BOOST_TEST(held.start[d] == expected[d].start);
        }
      }
    }
    BOOST_TEST((seen == std::vector<std::size_t>(12, 1)));
  }
}

BOOST_AUTO_TEST_CASE(ids_of_three_axes_are_in_C_order_and_planes_of_different_shapes_are_refused) {
  const placed_mesh cube = placed_mesh::of_ids({{{5, 1}, {0, 7}, {3, 2}}, {{9, 8}, {4, 6}, {11, 10}}}, "a", "b", "c");
  BOOST_TEST((cube.mesh() == mesh(axis{"a", 2}, axis{"b", 3}, axis{"c", 2})));
  const std::size_t ids[] = {5, 1, 0, 7, 3, 2, 9, 8, 4, 6, 11, 10};
  for (std::size_t k = 0; k < 12; ++k) BOOST_TEST(cube.worker(k) == ids[k]);
  BOOST_TEST(!(cube == placed_mesh(cube.mesh())));
  BOOST_TEST(!(placed_mesh(mesh(axis{"a", 2})) == placed_mesh(mesh(axis{"b", 2}))));
  BOOST_TEST(refused([] {
               placed_mesh::of_ids({{{0, 1}}, {{2, 3}, {4, 5}}}, "a", "b", "c");
             }).find("requires rows of one length") != std::string::npos);
  BOOST_TEST(refused([] {
               placed_mesh::of_ids({{{0, 1}}, {{2}}}, "a", "b", "c");
             }) == "partita::placed_mesh::of_ids: requires rows of one length, not 2 and 1; give a full arrangement");
  BOOST_TEST(refused([] {
               placed_mesh::of_ids({{{0, 1}, {2}}, {{3, 4}, {5, 6}}}, "a", "b", "c");
             }) == "partita::placed_mesh::of_ids: requires rows of one length, not 2 and 1; give a full arrangement");
}

BOOST_AUTO_TEST_SUITE_END()
