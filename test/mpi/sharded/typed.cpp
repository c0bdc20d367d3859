// Tensors with their layout in their type; the name of the type is short.
#include <mpi_test.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/sharded.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <string_view>
#include <typeinfo>

using namespace partita;

namespace {

constexpr mesh m{axis{"data", 1}, axis{"model", 2}};
constexpr sharding rows = m.layout("data", ""), columns = m.layout("", "model"), partial = rows.partial("model"),
                   both = m.layout("data+model"), scalar = m.layout().partial("data", pending_reduction::max),
                   reduced = m.layout("", "").reduced("data"), one = m.layout("");

template <sharding S>
constexpr bool is_read_back = layout_of_name<name_of_layout<S>> == S;
static_assert(is_read_back<rows> && is_read_back<columns> && is_read_back<partial> && is_read_back<both>);
static_assert(is_read_back<scalar> && is_read_back<reduced> && is_read_back<one> && is_read_back<m.layout()>);
static_assert(std::string_view(name_of_layout<partial>.characters) == "data=1,model=2 (data, ) partial sum over model");
static_assert(std::is_same_v<sharded<float, rows>, sharded<float, m.layout("data", "")>>);
static_assert(!std::is_same_v<sharded<float, rows>, sharded<float, columns>>);

}  // namespace

BOOST_AUTO_TEST_CASE(the_type_follows_a_reshard, *test::at_least(2)) {
  world everyone(test::workers());
  xt::xtensor<int, 2> x({3, 5});
  for (std::size_t k = 0; k < 15; ++k) x.data()[k] = static_cast<int>(k);
  const auto X = shard<m.layout("", "model")>(everyone, x);
  static_assert(std::is_same_v<decltype(X), const sharded<int, columns>>);
  const auto R = reshard<m.layout("model", "")>(X);
  static_assert(R.layout() == m.layout("model", ""));
  const auto whole = R.whole();
  const bool on_the_mesh = everyone.id() < 2;
  BOOST_TEST((!on_the_mesh || whole == x));
  const auto P = reshard<partial>(R);
  const auto back = reshard<columns>(P);
  BOOST_TEST((!on_the_mesh || back.local() == X.local()));
  const auto F = shard<columns, int>(everyone, {3, 5}, [](const auto& i) { return 5 * i[0] + i[1]; });
  BOOST_TEST((!on_the_mesh || F.local() == X.local()));
}

BOOST_AUTO_TEST_CASE(a_symbol_is_short) {
  BOOST_TEST(std::string_view(typeid(sharded<float, partial>).name()).size() < 512);
}

namespace {
constexpr mesh written = mesh(axis{"a", 2}).no_implicit_reshard();
}  // namespace

BOOST_AUTO_TEST_CASE(on_a_mesh_without_implicit_reshards_every_movement_is_written, *test::at_least(2)) {
  world everyone(test::workers());
  static_assert(layout_of_name<name_of_layout<written.layout("a", "")>> == written.layout("a", ""));
  static_assert(!(written.layout("a", "") == mesh(axis{"a", 2}).layout("a", "")));
  xt::xtensor<double, 2> x({4, 4});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k);
  const auto X = shard<written.layout("a", "")>(everyone, x);
  const auto W = shard<written.layout("", "a")>(everyone, x);
  // sharding a replicated tensor needs no communication, but its adjoint is the opposite movement
  const auto f = [](const auto& one, const auto& other) {
    return sum(square(matmul(one, reshard<written.layout("", "")>(other))));
  };
  static_assert(decltype(matmul(W, reshard<written.layout("", "")>(X)))::layout() ==
                written.layout("", "").partial("a"));
  const auto [loss, gradients] = value_and_gradient(f, X, W);
  static_assert(std::is_same_v<std::tuple_element_t<1, std::remove_cvref_t<decltype(gradients)>>,
                               sharded<double, written.layout("", "a")>>);
  BOOST_CHECK_EXCEPTION(matmul(X.run_time_tensor(), X.run_time_tensor()), partition_error,
                        [](const partition_error& e) { return e.sentence().contains("bytes to a worker"); });
  if (everyone.id() < 2) BOOST_TEST(loss > 0);
}
