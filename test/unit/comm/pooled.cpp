// The use of the memory pool and its peak, which a program can set back to the use of the moment.
#include <partita/comm/pooled.hpp>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(use_of_the_pool)

BOOST_AUTO_TEST_CASE(a_peak_that_is_set_back_is_the_use_of_the_moment) {
  partita::pool_use use;
  use.add(100);
  use.add(20);
  BOOST_TEST(use.bytes_in_use == 120U);
  BOOST_TEST(use.most == 120U);
  use.bytes_in_use -= 100;
  use.add(30);
  BOOST_TEST(use.bytes_in_use == 50U);
  BOOST_TEST(use.most == 120U);
  use.reset_peak();
  BOOST_TEST(use.bytes_in_use == 50U);
  BOOST_TEST(use.most == 50U);
  use.bytes_in_use -= 40;
  BOOST_TEST(use.most == 50U);
  use.add(41);
  BOOST_TEST(use.most == 51U);
}

BOOST_AUTO_TEST_CASE(tensors_of_the_pool_count_while_they_live) {
  using partita::pooled;
  const std::size_t before = pooled.bytes_in_use;
  {
    const partita::pooled_tensor<double, 1> kept(std::array<std::size_t, 1>{10});
    { const partita::pooled_tensor<float, 2> dropped(std::array<std::size_t, 2>{3, 5}); }
    BOOST_TEST(pooled.bytes_in_use == before + 80);
    BOOST_TEST(pooled.most >= before + 140);
    pooled.reset_peak();
    BOOST_TEST(pooled.most == before + 80);
  }
  BOOST_TEST(pooled.bytes_in_use == before);
  BOOST_TEST(pooled.most == before + 80);
}

BOOST_AUTO_TEST_SUITE_END()
