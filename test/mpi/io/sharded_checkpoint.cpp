// Tensors of a struct, a tuple or a list are saved by one call and loaded by one call, also on a different mesh.
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"

#include <array>
#include <partita/io/sharded_checkpoint.hpp>
#include <string>
#include <tuple>
#include <vector>

using namespace partita;
using test::refused;

namespace {

constexpr mesh m{axis{"data", 2}, axis{"model", 2}};

double at_index(const shape_list& i, double salt) {
  double value = salt;
  for (const std::size_t k : i) value = 10 * value + static_cast<double>(k);
  return value;
}
template <class T>
sharded_tensor<T> numbers(const world& everyone, const sharding& layout, const shape_list& extents, double salt) {
  return shard<T>(everyone, layout, extents, [salt](const auto& i) { return at_index(i, salt); });
}
/// Whether this worker's block has the values that `numbers` makes.
template <class X>
bool holds(const X& x, double salt) {
  bool same = true;
  x.for_each_local([&](const auto& i, const auto& element) {
    same = same && element == static_cast<std::remove_cvref_t<decltype(element)>>(at_index(i, salt));
  });
  return same;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_tuple_and_a_list_are_loaded_on_another_mesh) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  const std::size_t n = everyone.size();
  const mesh line{axis{"data", n}}, one{axis{"model", 1}};
  const auto w = numbers<double>(everyone, line.layout("data", ""), {7, 3}, 1);
  const auto b = numbers<float>(everyone, line.layout("data"), {5}, 2);
  save_tensors(folder / "runs", 3, std::tuple(w, b));
  save_tensors(folder / "runs", 4, std::tuple(b, w), {.keep_last = 2});

  auto w_2 = numbers<double>(everyone, one.layout("", "model"), {7, 3}, 0);
  auto b_2 = numbers<float>(everyone, line.layout(""), {5}, 0);
  BOOST_TEST(load_tensors(folder / "runs", std::tie(b_2, w_2)) == 4U);
  BOOST_TEST((holds(w_2, 1) && holds(b_2, 2)));
  BOOST_TEST((w_2.layout() == one.layout("", "model") && b_2.layout() == line.layout("")));
  b_2 = numbers<float>(everyone, line.layout("data"), {5}, 0);
  BOOST_TEST(load_tensors(folder / "runs", std::tie(w_2, b_2), 3) == 3U);
  BOOST_TEST((holds(w_2, 1) && holds(b_2, 2)));

  const std::vector<sharded_tensor<double>> list{w, numbers<double>(everyone, line.layout("", "", ""), {2, 1, 3}, 5)};
  save_tensors(folder / "list", 0, list);
  std::array<sharded_tensor<double>, 2> back{numbers<double>(everyone, line.layout("", "data"), {7, 3}, 0),
                                             numbers<double>(everyone, line.layout("data", "", ""), {2, 1, 3}, 0)};
  BOOST_TEST(load_tensors(folder / "list", back) == 0U);
  BOOST_TEST((holds(back[0], 1) && holds(back[1], 5)));
}

BOOST_AUTO_TEST_CASE(a_struct_of_typed_tensors_is_given_by_its_members, *test::at_least(4)) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  struct model {
    sharded<double, m.layout("data", "model")> w;
    sharded<double, m.layout("model")> b;
    auto tensors() { return std::tie(w, b); }
  };
  const auto made = [&](double salt) {
    return model{
        shard<m.layout("data", "model"), double>(everyone, {6, 4}, [=](const auto& i) { return at_index(i, salt); }),
        shard<m.layout("model"), double>(everyone, {4}, [=](const auto& i) { return at_index(i, salt + 1); })};
  };
  model saved = made(1), loaded = made(0);
  save_tensors(folder / "runs", 12, saved.tensors());
  BOOST_TEST(load_tensors(folder / "runs", loaded.tensors()) == 12U);
  BOOST_TEST((holds(loaded.w, 1) && holds(loaded.b, 2)));
}

BOOST_AUTO_TEST_CASE(what_was_not_saved_so_is_refused_and_changes_nothing) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  const mesh line{axis{"data", everyone.size()}};
  auto w = numbers<double>(everyone, line.layout("data", ""), {4, 3}, 1);
  auto b = numbers<double>(everyone, line.layout("data"), {4}, 2);
  save_tensors(folder / "runs", 1, std::tie(w, b));
  w = numbers<double>(everyone, line.layout("data", ""), {4, 3}, 7);
  BOOST_TEST(refused<shape_error>([&] {
               load_tensors(folder / "runs", std::tie(w));
             }).find("requires as many tensors as were saved, got 1 and a checkpoint of 2") != std::string::npos);
  auto longer = numbers<double>(everyone, line.layout("data"), {5}, 2);
  BOOST_TEST(refused<shape_error>([&] {
               load_tensors(folder / "runs", std::tie(w, longer));
             }).find("number 1 has [5]") != std::string::npos);
  auto floats = numbers<float>(everyone, line.layout("data"), {4}, 2);
  BOOST_TEST(refused<io_error>([&] {
               load_tensors(folder / "runs", std::tie(w, floats));
             }).find("the type asked for") != std::string::npos);
  BOOST_TEST(holds(w, 7));
  BOOST_TEST(!refused<io_error>([&] { load_tensors(folder / "runs", std::tie(w, b), 2); }).empty());
  auto partial = numbers<double>(everyone, line.layout("").partial("data"), {4}, 2);
  BOOST_TEST(refused<partition_error>([&] {
               save_tensors(folder / "runs", 2, std::tie(partial));
             }).find("reshard it") != std::string::npos);
  BOOST_TEST(
      !refused<shape_error>([&] { save_tensors(folder / "runs", 2, std::vector<sharded_tensor<float>>()); }).empty());
  load_tensors(folder / "runs", std::tie(w, b));
  BOOST_TEST((holds(w, 1) && holds(b, 2)));
}

/// A list has tensors of different ranks, each with a layout of its own.
BOOST_AUTO_TEST_CASE(tensors_of_rank_1_to_6_come_back) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  const mesh line{axis{"data", everyone.size()}};
  std::vector<sharded_tensor<double>> saved, loaded;
  for (std::size_t rank = 1; rank <= 6; ++rank) {
    shape_list n;
    for (std::size_t d = 0; d < rank; ++d) n.push_back(1 + (d + rank) % 3);
    const sharding whole(line, rank);
    saved.push_back(numbers<double>(everyone, whole.cut(rank - 1, axis_list{0}), n, static_cast<double>(rank)));
    loaded.push_back(numbers<double>(everyone, rank % 2 == 0 ? whole : whole.cut(0, axis_list{0}), n, 0));
  }
  save_tensors(folder / "runs", 1, saved);
  BOOST_TEST(load_tensors(folder / "runs", loaded) == 1U);
  for (std::size_t rank = 1; rank <= 6; ++rank) BOOST_TEST(holds(loaded[rank - 1], static_cast<double>(rank)), rank);

  const std::vector<sharded_tensor<double>> large{
      saved[0], numbers<double>(everyone, sharding(line, 7), shape_list{1, 1, 1, 1, 1, 1, 1}, 1)};
  const std::string end = ": requires tensors of rank 1 to 6, got one of rank 7; reshape it";
  BOOST_TEST(refused<shape_error>([&] { save_tensors(folder / "runs", 2, large); }) ==
             "partita::save_tensors(folder, step, tensors)" + end);
  const checkpoint there = load_checkpoint(folder / "runs", everyone);
  BOOST_TEST(there.step() == 1U);
  BOOST_TEST(there.tensors().size() == 6U);
  for (std::size_t k = 0; k < 6; ++k) BOOST_TEST(there.tensors()[k].name == std::to_string(k));
  const std::vector<sharded_tensor<double>> none;
  BOOST_TEST(refused<shape_error>([&] { save_tensors(folder / "runs", 2, none); }) ==
             "partita::save_tensors(folder, step, tensors): requires at least one tensor");
}

/// The error names what differs from the checkpoint, and nothing is loaded.
BOOST_AUTO_TEST_CASE(a_difference_from_a_checkpoint_is_named_in_full) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  const mesh line{axis{"data", everyone.size()}};
  const std::string start = "partita::load_tensors(folder, tensors): requires ";
  auto w = numbers<double>(everyone, line.layout("data", ""), {4, 3}, 1);
  auto b = numbers<double>(everyone, line.layout("data"), {4}, 2);
  save_tensors(folder / "runs", 1, std::tie(w, b));
  save_tensors(folder / "runs", 2, named_parameters<double>{{"w", w}, {"b", b}});
  auto v = numbers<double>(everyone, line.layout("", ""), {4, 2}, 5);
  const auto told = [&](auto&& tensors, std::uint64_t step) {
    return refused<shape_error>([&] { load_tensors(folder / "runs", tensors, step); });
  };
  BOOST_TEST(told(std::tie(w), 1) == start + "as many tensors as were saved, got 1 and a checkpoint of 2");
  BOOST_TEST(told(std::tie(w, b, v), 1) == start + "as many tensors as were saved, got 3 and a checkpoint of 2");
  BOOST_TEST(told(std::tie(v, b), 1) ==
             start + "tensors of the extents that were saved; number 0 has [4, 2], and the checkpoint holds [4, 3]");
  BOOST_TEST(told(std::tie(w, v), 1) ==
             start + "tensors of the extents that were saved; number 1 has [4, 2], and the checkpoint holds [4]");
  BOOST_TEST(told(named_parameters<double>{{"w", v}, {"c", b}}, 2) ==
             start + "tensors of the extents that were saved; w has [4, 2], and the checkpoint holds [4, 3]");
  BOOST_TEST(told(named_parameters<double>{{"b", b}, {"c", v}}, 2) ==
             start + "names that were saved; the checkpoint does not have c");
  BOOST_TEST((holds(w, 1) && holds(b, 2) && holds(v, 5)));
}

/// A tensor without a mesh is refused at each place of a list, and nothing is saved or loaded.
BOOST_AUTO_TEST_CASE(a_tensor_on_no_mesh_is_refused_wherever_it_stands) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  auto w = numbers<double>(everyone, mesh{axis{"data", everyone.size()}}.layout("data", ""), {4, 3}, 1);
  save_tensors(folder / "runs", 1, std::tie(w, w, w));
  for (std::size_t place = 0; place < 3; ++place) {
    std::vector<sharded_tensor<double>> all(3, w);
    all[place] = sharded_tensor<double>();
    const std::string end = ": requires tensors on a mesh; shard them first";
    BOOST_TEST(refused<partition_error>([&] { save_tensors(folder / "runs", 2, all); }) ==
               "partita::save_tensors(folder, step, tensors)" + end);
    BOOST_TEST(refused<partition_error>([&] { load_tensors(folder / "runs", all); }) ==
               "partita::load_tensors(folder, tensors)" + end);
  }
  BOOST_TEST((checkpoint_steps(folder / "runs", everyone) == std::vector<std::uint64_t>{1}));
}

BOOST_AUTO_TEST_CASE(named_parameters_are_loaded_by_their_names) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  const mesh line{axis{"data", everyone.size()}};
  auto w = numbers<double>(everyone, line.layout("data", ""), {4, 3}, 1);
  auto b = numbers<double>(everyone, line.layout("data"), {4}, 2);
  const named_parameters<double> saved{{"encoder.weight", w}, {"encoder.bias", b}};
  save_tensors(folder / "runs", 1, saved);
  save_tensors(folder / "runs", 2, std::tie(w, b));

  // a list in a different order and layout, and one with fewer names
  auto v = numbers<double>(everyone, line.layout("", "data"), {4, 3}, 0);
  auto c = numbers<double>(everyone, line.layout(""), {4}, 0);
  named_parameters<double> loaded{{"encoder.bias", c}};
  BOOST_TEST(load_tensors(folder / "runs", loaded, 1) == 1U);
  BOOST_TEST((holds(c, 2) && holds(v, 0)));
  c = numbers<double>(everyone, line.layout("data"), {4}, 7);
  loaded.add("encoder.weight", v);
  load_tensors(folder / "runs", loaded, 1);
  BOOST_TEST((holds(c, 2) && holds(v, 1)));
  BOOST_TEST(v.layout() == line.layout("", "data"));

  const auto says = [&](const char* what, const auto& f) {
    const std::string said = refused<shape_error>(f);
    BOOST_TEST(said.find(what) != std::string::npos, said);
  };
  says("requires names that were saved; the checkpoint does not have encoder.bias",
       [&] { load_tensors(folder / "runs", loaded, 2); });
  const named_parameters<double> exchanged{{"encoder.bias", v}};
  says("encoder.bias has [4, 3]", [&] { load_tensors(folder / "runs", exchanged, 1); });
  says("\"encoder.bias\" is given twice", [&] { loaded.add("encoder.bias", v); });
}

BOOST_AUTO_TEST_CASE(another_list_on_one_worker_is_the_same_error_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const test::folder folder(everyone.communicator());
  const mesh line{axis{"data", everyone.size()}};
  auto w = numbers<double>(everyone, line.layout("data", ""), {4, 3}, 1);
  auto b = numbers<double>(everyone, line.layout("data"), {4}, 2);
  auto c = numbers<double>(everyone, line.layout(""), {4}, 2);
  save_tensors(folder / "runs", 1, std::tie(w, b));
  const bool odd = everyone.id() == 0;
  const std::vector<sharded_tensor<double>> one{w}, two{w, b};
  BOOST_CHECK_THROW(save_tensors(folder / "runs", 2, odd ? one : two), disagreement_error);
  std::vector<sharded_tensor<double>> l_1{w, c}, l_2{w, b};
  BOOST_CHECK_THROW(load_tensors(folder / "runs", odd ? l_1 : l_2), disagreement_error);
  BOOST_TEST(load_tensors(folder / "runs", std::tie(w, b)) == 1U);
  BOOST_TEST((holds(w, 1) && holds(b, 2)));
}
