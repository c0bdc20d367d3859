// Initial weights of layers depend only on the seed and the global index: they are the same on every partition and for
// every algorithm.
#include "mpi_test.hpp"

#include <cmath>
#include <complex>
#include <partita/nn/initialise.hpp>
#include <partita/nn/initialise_convolution.hpp>
#include <partita/nn/linear.hpp>

namespace {

using namespace partita;

constexpr std::size_t in = 23, out = 17;

/// The same layer on one worker.
template <class T>
linear<T> whole_layer(const linear_options& options) {
  const world alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const auto one = alone.partition<1, 1>();
  return {one, one, one, options};
}

template <class T, linear_algorithm A>
bool is_part_of(const linear<T, A>& part, const linear<T>& whole) {
  const box<2> mine = part.weight_box();
  bool same = true;
  for (std::size_t i = mine.start[0]; i < mine.stop[0]; ++i)
    for (std::size_t j = mine.start[1]; j < mine.stop[1]; ++j)
      same = same && part.weight()(i - mine.start[0], j - mine.start[1]) == whole.weight()(i, j);
  for (std::size_t i = 0; i < part.bias().size(); ++i) same = same && part.bias()(i) == whole.bias()(mine.start[0] + i);
  return same;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(first_values_of_a_layer)

BOOST_AUTO_TEST_CASE(are_uniform_as_those_of_PyTorch_and_the_same_on_every_partition) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{42}}) {
    const linear_options options{.in_features = in, .out_features = out, .seed = seed};
    const auto whole = whole_layer<double>(options);
    const auto all = everyone.partition(extents(1, n)), one = everyone.partition(extents(1, 1)),
               column = everyone.partition(extents(n, 1));
    BOOST_TEST(is_part_of(linear<double>(one, all, column, options), whole));
    BOOST_TEST(is_part_of(linear<double>(all, one, all, options), whole));
    BOOST_TEST(is_part_of(linear<double, column_parallel>(all, all, column, options), whole));
    BOOST_TEST(is_part_of(linear<double, row_parallel>(all, all, all, options), whole));
    if (n % 2 == 0) {
      const auto half = everyone.partition(extents(1, n / 2)), two = everyone.partition(extents(1, 2));
      BOOST_TEST(is_part_of(linear<double>(half, two, everyone.partition(extents(2, n / 2)), options), whole));
    }
  }
}

BOOST_AUTO_TEST_CASE(lie_within_one_over_the_root_of_the_input_features) {
  const auto layer = whole_layer<double>({.in_features = in, .out_features = 400});
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  for (const auto& values : {xt::xtensor<double, 1>(xt::flatten(layer.weight())), layer.bias()}) {
    const double most = xt::amax(values)(), least = xt::amin(values)(), square = xt::mean(values * values)();
    BOOST_TEST(most < bound);
    BOOST_TEST(least > -bound);
    BOOST_TEST(most > 0.97 * bound);
    BOOST_TEST(least < -0.97 * bound);
    BOOST_TEST(std::abs(xt::mean(values)()) < 0.1 * bound);
    BOOST_TEST(std::abs(3 * square / (bound * bound) - 1) < 0.15);
  }
  BOOST_TEST(layer.bias()(0) != layer.weight()(0, 0));  // the bias uses different random numbers
}

BOOST_AUTO_TEST_CASE(of_complex_elements_have_two_parts_and_the_mean_square_of_real_ones) {
  const auto layer = whole_layer<std::complex<float>>({.in_features = in, .out_features = 400});
  double real = 0, imaginary = 0, both = 0;
  for (const std::complex<float>& w : layer.weight()) {
    real += std::norm(w.real()), imaginary += std::norm(w.imag());
    both += w.real() * w.imag();
  }
  // the expected count in each part of the range
  const double wanted = static_cast<double>(layer.weight().size()) / (6.0 * in);
  BOOST_TEST(std::abs(real / wanted - 1) < 0.05);
  BOOST_TEST(std::abs(imaginary / wanted - 1) < 0.05);
  BOOST_TEST(std::abs(both / wanted) < 0.05);
}

BOOST_AUTO_TEST_CASE(differ_with_the_seed_and_are_zeros_if_asked_for) {
  const auto one = whole_layer<float>({.in_features = in, .out_features = out}),
             same = whole_layer<float>({.in_features = in, .out_features = out, .seed = 0}),
             other = whole_layer<float>({.in_features = in, .out_features = out, .seed = 1}),
             zeros = whole_layer<float>({.in_features = in, .out_features = out, .initial = initial_values::zeros});
  BOOST_TEST((one.weight() == same.weight() && one.bias() == same.bias()));
  BOOST_TEST((one.weight() != other.weight()));
  BOOST_TEST((one.bias() != other.bias()));
  BOOST_TEST(xt::amax(xt::abs(zeros.weight()))() == 0.F);
  BOOST_TEST(xt::amax(xt::abs(zeros.bias()))() == 0.F);
  BOOST_TEST(xt::amax(xt::abs(one.weight_gradient()))() == 0.F);
}

BOOST_AUTO_TEST_CASE(may_be_a_function_of_the_global_index_or_drawn_by_another_rule) {
  const auto at = [](std::size_t i, std::size_t j) { return static_cast<double>(100 * i + j); };
  const world everyone(test::workers());
  const auto all = everyone.partition(extents(1, everyone.size()));
  const linear_options options{.in_features = in, .out_features = out};
  linear<double> part(all, everyone.partition<1, 1>(), all, options);
  auto whole = whole_layer<double>(options);
  whole.weight() = xt::ones<double>({1, 1});  // the old values do not matter
  initialise(part, at), initialise(whole, at);
  BOOST_TEST(whole.weight()(3, 5) == 305.0);
  BOOST_TEST(xt::amax(xt::abs(whole.bias()))() == 0.0);
  BOOST_TEST(is_part_of(part, whole));
  for (const bool kaiming : {true, false}) {
    kaiming ? kaiming_uniform(part, 42) : xavier_uniform(part, 42);
    kaiming ? kaiming_uniform(whole, 42) : xavier_uniform(whole, 42);
    BOOST_TEST(is_part_of(part, whole));
    const double bound = std::sqrt(6.0 / (kaiming ? in : in + out)), most = xt::amax(xt::abs(whole.weight()))();
    BOOST_TEST(most < bound);
    BOOST_TEST(most > 0.95 * bound);
    BOOST_TEST(xt::amax(xt::abs(whole.bias()))() == 0.0);
  }
}

BOOST_AUTO_TEST_CASE(of_a_convolution_are_the_same_on_every_partition_by_each_rule) {
  const world everyone(test::workers()), alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const convolution_options<1> options{.in_channels = 4, .out_channels = 6, .kernel = {3}};
  const std::size_t n = everyone.size();
  const auto p_x = everyone.partition(extents<1, 1, dynamic>(n));
  const auto p_y = everyone.partition(extents<1, dynamic, 1>(n)), one = everyone.partition(extents<1, dynamic, 1>(1));
  convolution<double, 1> by_features(p_x, options),
      by_channels(one, p_y, everyone.partition(extents<dynamic, 1, 1>(n)), options),
      whole(alone.partition<1, 1, 1>(), options);
  const auto are_parts = [&](auto set) {
    set(by_features), set(by_channels), set(whole);
    for (const auto* layer : {&by_features, &by_channels}) {
      const box<3> mine = layer->weight_box();
      bool same = true;
      for (std::size_t k = 0; k < layer->weight().size(); ++k) {
        const auto i = index_of(k, mine.shape());
        same = same && layer->weight().data()[k] ==
                           whole.weight()(mine.start[0] + i[0], mine.start[1] + i[1], mine.start[2] + i[2]);
      }
      for (const double b : layer->bias()) same = same && b == 0;
      BOOST_TEST(same);
    }
  };
  are_parts([](auto& layer) {
    initialise(layer,
               [](std::size_t o, std::size_t c, std::size_t t) { return static_cast<double>(100 * o + 10 * c + t); });
  });
  BOOST_TEST(whole.weight()(5, 3, 2) == 532.0);
  are_parts([](auto& layer) { kaiming_uniform(layer, 42); });
  BOOST_TEST(xt::amax(xt::abs(whole.weight()))() <= std::sqrt(6.0 / 12));
  BOOST_TEST(xt::amax(xt::abs(whole.weight()))() > 0.9 * std::sqrt(6.0 / 12));
  are_parts([](auto& layer) { xavier_uniform(layer, 42); });
  BOOST_TEST(xt::amax(xt::abs(whole.weight()))() <= std::sqrt(6.0 / 30));
}

BOOST_AUTO_TEST_SUITE_END()
