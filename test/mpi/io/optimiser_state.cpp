// Training resumes exactly from the saved state of an optimiser, also with different layouts and workers.
#include "../support/folder.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mpi_test.hpp>
#include <partita/io/optimiser_state.hpp>
#include <refused.hpp>
#include <string>
#include <tuple>
#include <vector>

using namespace partita;

namespace {

/// Parameters with given layouts, and steps whose gradients are a function of the global index and the step.
struct training {
  sharded_tensor<double> w, b;
  sharded_adam<double> optimiser;

  training(const world& everyone, const mesh& m, const sharding& of_w, const sharding& state)
      : w(shard<double>(everyone, of_w, {5, 3}, value)),
        b(shard<double>(everyone, m.layout(""), {4}, value)),
        optimiser({{w, state}, {b}}, {.learning_rate = 0.1}) {}
  training(const training&) = delete;
  static double value(const short_list<std::size_t>& i) { return static_cast<double>(i[0] + 2 * i[i.size() - 1]); }

  void step() {
    const double n = static_cast<double>(optimiser.steps());
    auto dw = w, db = b;
    dw.for_each_local([&](const auto& i, double& v) { v = value(i) - n; });
    db.for_each_local([&](const auto& i, double& v) { v = 3 - value(i) * n; });
    optimiser.step(std::tuple(dw, db));
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_saved_optimiser_goes_on_on_other_layouts_and_workers) {
  world everyone(test::workers());
  const std::size_t p = everyone.size();
  const test::folder folder(test::workers());
  const std::string path = folder / "adam.npy";
  const mesh m{axis{"a", p}};
  training first(everyone, m, m.layout("", "a"), m.layout("a", ""));
  for (int k = 0; k < 3; ++k) first.step();
  save_optimiser(path, everyone, first.optimiser);
  first.step();
  const auto w = first.w.whole<2>();
  const auto b = first.b.whole<1>();
  // one worker fewer, different layouts
  const world fewer = everyone.part(workers(0, p == 1 ? 1 : p - 1));
  if (fewer.active()) {
    const mesh other{axis{"x", 1}, axis{"y", fewer.size()}};
    training second(fewer, other, other.layout("y", "x"), other.layout("", "y"));
    for (int k = 0; k < 3; ++k) second.step();  // computes the parameters, which are not in the file
    training third(fewer, other, other.layout("y", "x"), other.layout("", "y"));
    third.w = second.w;
    third.b = second.b;
    load_optimiser(path, fewer, third.optimiser);
    BOOST_TEST(third.optimiser.steps() == 3U);
    third.step();
    BOOST_TEST((third.w.whole<2>() == w));
    BOOST_TEST((third.b.whole<1>() == b));
    auto c = shard<double>(fewer, other.layout(""), {4}, training::value);
    sharded_adam<double> small({{c}}, {});
    BOOST_CHECK_THROW(load_optimiser(path, fewer, small), shape_error);
  }
}

BOOST_AUTO_TEST_CASE(any_number_of_steps_comes_back_also_in_elements_that_hold_few_digits) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  auto w = shard<float>(everyone, m.layout("a"), {5}, [](const auto& i) { return static_cast<float>(i[0]); });
  sharded_adam<float> saved({{w}}), loaded({{w}});
  for (const std::size_t steps : {0U, 1U, (1U << 20U) - 1, 1U << 20U, (1U << 24U) + 1, (1U << 31U) - 1}) {
    saved.restore_steps(steps);
    save_optimiser(folder / "adam.npy", everyone, saved);
    load_optimiser(folder / "adam.npy", everyone, loaded);
    BOOST_TEST(loaded.steps() == steps);
  }
}

/// The file has the number of steps in two parts, the states of each parameter in C order, and a fingerprint.
BOOST_AUTO_TEST_CASE(a_file_of_an_optimiser_has_its_states_in_order) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "adam.npy";
  const mesh m{axis{"a", everyone.size()}};
  const auto one = everyone.partition<1>(workers{0});
  for (const sharding& layout : {m.layout("a", ""), m.layout("", "a"), m.layout("", "")}) {
    training t(everyone, m, layout, layout);
    for (int k = 0; k < 2; ++k) t.step();
    std::vector<double> states;
    for (std::size_t s = 0; s < 2; ++s) {
      const auto moments = t.optimiser.state(0, s).whole<2>();
      states.insert(states.end(), moments.begin(), moments.end());
    }
    for (std::size_t s = 0; s < 2; ++s) {
      const auto moments = t.optimiser.state(1, s).whole<1>();
      states.insert(states.end(), moments.begin(), moments.end());
    }
    BOOST_TEST(states.size() == 2 * (15 + 4U));
    for (const std::size_t steps : {std::size_t{2}, (std::size_t{3} << 20U) + 5}) {
      t.optimiser.restore_steps(steps);
      save_optimiser(path, everyone, t.optimiser);
      const xt::xtensor<double, 1> all = load_npy<double, 1>(path, one);
      if (everyone.id() != 0) continue;
      BOOST_TEST(all.size() == states.size() + 3);
      if (all.size() != states.size() + 3) continue;
      BOOST_TEST((all(0) == (steps == 2 ? 0 : 3) && all(1) == (steps == 2 ? 2 : 5)));
      BOOST_TEST(std::equal(states.begin(), states.end(), all.data() + 2));
      const double fingerprint = all(all.size() - 1);
      BOOST_TEST((fingerprint >= 0 && fingerprint < (1 << 20) && fingerprint == std::floor(fingerprint)));
    }
  }
}

/// Parameters of no elements and of fewer elements than workers, and complex ones.
BOOST_AUTO_TEST_CASE(states_of_small_and_of_complex_parameters_come_back) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "adam.npy";
  const mesh m{axis{"a", everyone.size()}};
  const auto check = [&]<class T>(T salt) {
    const auto made = [&](const char* axes, const shape_list& n, double scale) {
      const sharding s = n.size() == 1 ? m.layout(axes) : m.layout(axes, "");
      return shard<T>(everyone, s, n, [=](const auto& i) { return salt * (scale + static_cast<double>(i[0])); });
    };
    auto u = made("a", {0, 3}, 1), v = made("a", {1}, 2), w = made("a", {2, 2}, 3);
    sharded_adam<T> saved({{u}, {v}, {w}}, {.learning_rate = 0.1});
    saved.step(std::tuple(made("a", {0, 3}, 4), made("a", {1}, 5), made("a", {2, 2}, 6)));
    save_optimiser(path, everyone, saved);
    auto u_2 = made("", {0, 3}, 1), v_2 = made("", {1}, 2), w_2 = made("", {2, 2}, 3);
    sharded_adam<T> loaded({{u_2}, {v_2}, {w_2}}, {.learning_rate = 0.1});
    load_optimiser(path, everyone, loaded);
    BOOST_TEST(loaded.steps() == 1U);
    for (std::size_t s = 0; s < 2; ++s) {
      BOOST_TEST((loaded.state(0, s).template whole<2>() == saved.state(0, s).template whole<2>()));
      BOOST_TEST((loaded.state(1, s).template whole<1>() == saved.state(1, s).template whole<1>()));
      BOOST_TEST((loaded.state(2, s).template whole<2>() == saved.state(2, s).template whole<2>()));
      BOOST_TEST(loaded.state(2, s).template whole<2>()(1, 1) != T(0));
    }
  };
  check(1.0);
  check(std::complex<double>(1, 2));
}

BOOST_AUTO_TEST_CASE(a_state_that_does_not_fit_is_told_why) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "adam.npy", start = "partita::load_optimiser(\"" + path + "\", world, optimiser): ";
  const mesh m{axis{"a", everyone.size()}};
  const auto make = [&](const shape_list& n) {
    return shard<double>(everyone, sharding(m, n.size()), n, [](const auto& i) { return static_cast<double>(i[0]); });
  };
  auto x = make({2, 6});
  sharded_adam<double> saved({{x}});
  save_optimiser(path, everyone, saved);
  for (const std::size_t n : {11U, 13U, 24U}) {
    auto y = make({n});
    sharded_adam<double> other({{y}});
    BOOST_TEST(test::refused<shape_error>([&] { load_optimiser(path, everyone, other); }) ==
               start + "requires the state of as many elements as these parameters take, " + std::to_string(2 * n + 3) +
                   " numbers, but the file has 27");
  }
  for (const shape_list& n : {shape_list{6, 2}, shape_list{12}, shape_list{2, 6, 1}}) {
    auto y = make(n);
    sharded_adam<double> other({{y}});
    BOOST_TEST(test::refused<shape_error>([&] { load_optimiser(path, everyone, other); }) ==
               start +
                   "requires the state of parameters of these extents, in this order, and the file is of others; "
                   "give the parameters in the order of the saved ones");
  }
}

BOOST_AUTO_TEST_CASE(a_state_of_parameters_of_other_extents_is_refused) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "adam.npy";
  const mesh m{axis{"a", everyone.size()}};
  const auto make = [&](const shape_list& n) {
    return shard<double>(everyone, sharding(m, n.size()), n, [](const auto& i) { return static_cast<double>(i[0]); });
  };
  auto x = make({2, 6}), y = make({4});
  sharded_adam<double> saved({{x}, {y}}, {.learning_rate = 0.1});
  saved.step(std::tuple(make({2, 6}), make({4})));
  save_optimiser(path, everyone, saved);
  for (const auto& [first, second] :
       {std::pair(shape_list{3, 4}, shape_list{4}), std::pair(shape_list{6, 2}, shape_list{4}),
        std::pair(shape_list{12}, shape_list{4}), std::pair(shape_list{4}, shape_list{2, 6}),
        std::pair(shape_list{2, 4}, shape_list{8})}) {  // the same number of elements
    auto v = make(first), w = make(second);
    sharded_adam<double> other({{v}, {w}}, {.learning_rate = 0.1});
    BOOST_CHECK_THROW(load_optimiser(path, everyone, other), shape_error);
    BOOST_TEST(other.steps() == 0U);
  }
  auto v = make({2, 6}), w = make({4});
  sharded_adam<double> same({{v}, {w}}, {.learning_rate = 0.1});
  load_optimiser(path, everyone, same);
  BOOST_TEST(same.steps() == 1U);
  // a file of an earlier version does not have the last number
  const auto one = everyone.partition<1>(workers{0});
  const xt::xtensor<double, 1> all = load_npy<double, 1>(path, one);
  const std::size_t n = 2 + 2 * (12 + 4);
  BOOST_TEST((everyone.id() != 0 || all.size() == n + 1));
  auto front = zero_volume<double, 1>();
  if (everyone.id() == 0) front = xt::xtensor<double, 1>(std::array<std::size_t, 1>{n});
  std::copy_n(all.data(), front.size(), front.data());
  save_npy(path, one, extents<dynamic>(n), front);
  sharded_adam<double> earlier({{v}, {w}}, {.learning_rate = 0.1});
  load_optimiser(path, everyone, earlier);
  BOOST_TEST(earlier.steps() == 1U);
}

/// The extents 2, 2 and 2 are those of a matrix and a vector in either order, and of three vectors.
BOOST_AUTO_TEST_CASE(a_state_of_the_same_extents_in_other_groups_is_refused) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto make = [&](const shape_list& n) {
    return shard<double>(everyone, sharding(m, n.size()), n, [](const auto& i) { return static_cast<double>(i[0]); });
  };
  auto u = make({2}), v = make({2}), w = make({2}), x = make({2, 2});
  sharded_adam<double> matrix_first({{x}, {v}}), vector_first({{v}, {x}}), vectors({{u}, {v}, {w}});
  sharded_adam<double>* const all[] = {&matrix_first, &vector_first, &vectors};
  const std::string path = folder / "adam.npy";
  for (std::size_t saved = 0; saved < 3; ++saved) {
    all[saved]->restore_steps(saved + 5);
    save_optimiser(path, everyone, *all[saved]);
    for (std::size_t k = 0; k < 3; ++k) {
      all[k]->restore_steps(1);
      const std::string told = test::refused<shape_error>([&] { load_optimiser(path, everyone, *all[k]); });
      BOOST_TEST(told.empty() == (k == saved), saved << " in " << k);
      BOOST_TEST(all[k]->steps() == (k == saved ? saved + 5 : 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(files_of_another_element_type_on_one_worker_are_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  const auto p = everyone.partition(extents(everyone.size()));
  const auto save = [&]<class T>(T one) { save_npy(path, p, extents(everyone.size()), xt::xtensor<T, 1>{one}); };
  const auto load = [&]<class T>(T) { return load_npy<T, 1>(path, p).size(); };
  save(1.0);
  for (const std::size_t odd : {std::size_t{0}, everyone.size() - 1}) {
    const bool is_odd = everyone.id() == odd;
    BOOST_CHECK_THROW(is_odd ? save(std::int64_t{1}) : save(1.0), disagreement_error);
    BOOST_CHECK_THROW(is_odd ? load(std::int64_t{1}) : load(1.0), disagreement_error);
    BOOST_TEST(load(1.0) == 1U);  // the file is as it was
  }
  // elements of as many bytes, and of fewer
  BOOST_CHECK_THROW(load(std::int64_t{1}), io_error);
  BOOST_CHECK_THROW(load(1.0F), io_error);
}

/// The bytes of a file depend on the values alone, also where an element has bytes that hold nothing.
BOOST_AUTO_TEST_CASE(files_hold_nothing_of_the_memory_beside_the_values) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  using line = xt::xtensor<long double, 1>;
  std::string bytes[2];
  for (const int filled : {0, 255}) {
    line x(std::array<std::size_t, 1>{3});
    std::memset(x.data(), filled, 3 * sizeof(long double));
    for (std::size_t k = 0; k < 3; ++k) {
      const long double value = static_cast<long double>(k) / 3;
      std::memcpy(x.data() + k, &value, detail::value_bytes<long double>);
    }
    const std::string path = folder / ("x" + std::to_string(filled) + ".npy");
    save_npy(path, p, extents(3 * everyone.size()), x);
    std::ifstream file(path, std::ios::binary);
    bytes[filled / 255].assign(std::istreambuf_iterator<char>(file), {});
  }
  BOOST_TEST(bytes[0].size() > 3 * sizeof(long double));
  BOOST_TEST((bytes[0] == bytes[1]));
}
