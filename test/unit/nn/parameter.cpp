// A parameter refers to a tensor and its gradient as flat memory, also after new tensors were assigned to them.
#include <boost/test/unit_test.hpp>
#include <partita/nn/parameter.hpp>
#include <string>
#include <vector>

using namespace partita;

BOOST_AUTO_TEST_SUITE(a_parameter)

BOOST_AUTO_TEST_CASE(is_the_memory_of_a_tensor_and_its_gradient) {
  xt::xtensor<float, 2> w{{1, 2, 3}, {4, 5, 6}}, g = 10 * w;
  const parameter<float> p(w, g);
  BOOST_TEST(p.size() == 6U);
  BOOST_TEST(p.value() == w.data());
  BOOST_TEST(p.gradient() == g.data());
  p.value()[5] = p.gradient()[4];
  BOOST_TEST(w(1, 2) == 50.F);
  BOOST_TEST(p.error_message().empty());
}

BOOST_AUTO_TEST_CASE(follows_assignments_and_tells_when_the_shapes_part) {
  xt::xtensor<double, 2> w = xt::zeros<double>({2, 3}), g = w;
  const parameter<double> p(w, g);
  w = xt::ones<double>({3, 2});
  BOOST_TEST(p.size() == 6U);
  BOOST_TEST(p.value() == w.data());
  BOOST_TEST(std::string(p.error_message().c_str()) == "a gradient of the shape of its value [3, 2], got [2, 3]");
  g = xt::zeros<double>({3, 2});
  BOOST_TEST(p.error_message().empty());
}

BOOST_AUTO_TEST_CASE(has_shapes_that_are_equal_or_both_of_no_element) {
  using extents = std::vector<std::size_t>;
  std::vector<extents> shapes;
  for (std::size_t n = 0; n <= 2; ++n) {
    shapes.push_back({n});
    for (std::size_t m = 0; m <= 2; ++m) shapes.push_back({n, m});
  }
  const auto is_empty = [](const extents& shape) {
    for (const std::size_t n : shape)
      if (n == 0) return true;
    return false;
  };
  for (const extents& a : shapes)
    for (const extents& b : shapes)
      BOOST_TEST(detail::can_replace_shape(a, b) == (a == b || (is_empty(a) && is_empty(b))),
                 (text() << a << " for " << b));
  const xt::xtensor<double, 2> full = xt::ones<double>({2, 3});
  for (const auto& empty : {std::array<std::size_t, 2>{0, 3}, {2, 0}}) {
    const xt::xtensor<double, 2> none = xt::zeros<double>(empty);
    for (const bool is_value_empty : {false, true}) {
      auto w = is_value_empty ? none : full, g = is_value_empty ? full : none;
      BOOST_TEST(!parameter<double>(w, g).error_message().empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
