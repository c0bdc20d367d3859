// The environment variables of the library as numbers: any text gives a valid value.
#include <partita/comm/detail/node/measured_link.hpp>
#include <partita/comm/detail/world/environment.hpp>

#include <boost/test/unit_test.hpp>

using namespace partita::detail;

BOOST_AUTO_TEST_SUITE(settings_of_the_environment)

BOOST_AUTO_TEST_CASE(a_number_of_nodes_is_at_least_one_and_at_most_a_thousand_millions) {
  BOOST_TEST(parse_node_count(nullptr) == 1);
  const struct {
    const char* given;
    int nodes;
  } table[] = {{"", 1},
               {"x", 1},
               {"0", 1},
               {"-3", 1},
               {"1", 1},
               {"2", 2},
               {"3", 3},
               {"12", 12},
               {"999999999", 999999999},
               {"1000000000", 1000000000},
               {"1000000001", 1000000000},
               {"99999999999999999999", 1000000000}};
  for (const auto& [given, nodes] : table) BOOST_TEST(parse_node_count(given) == nodes, given);
}

BOOST_AUTO_TEST_CASE(memory_is_shared_unless_the_setting_is_zero) {
  BOOST_TEST(parse_sharing(nullptr));
  for (const char* const shared : {"1", "2", "-1", "10"}) BOOST_TEST(parse_sharing(shared), shared);
  for (const char* const not_shared : {"0", "00", "", "no"}) BOOST_TEST(!parse_sharing(not_shared), not_shared);
}

BOOST_AUTO_TEST_CASE(free_bytes_are_a_number_or_none) {
  BOOST_TEST(parse_free_bytes("0") == 0U);
  BOOST_TEST(parse_free_bytes("17") == 17U);
  BOOST_TEST(parse_free_bytes("68719476736") == std::size_t{1} << 36U);
  BOOST_TEST(parse_free_bytes("many") == 0U);
}

BOOST_AUTO_TEST_CASE(a_patience_is_a_number_of_seconds_or_never) {
  BOOST_TEST(parse_patience(nullptr) == 0.0);
  BOOST_TEST(parse_patience("0.25") == 0.25);
  BOOST_TEST(parse_patience("30") == 30.0);
  BOOST_TEST(parse_patience("999999999") == 999999999.0);
  for (const char* const never : {"", "0", "-1", "soon", "nan", "inf", "1e9", "1e10"})
    BOOST_TEST(parse_patience(never) == 0.0, never);
}

BOOST_AUTO_TEST_CASE(a_link_has_three_costs_and_perhaps_the_longest_eager_message) {
  const node_link_settings all("0.5,0.25,0.125,77");
  BOOST_TEST((all.given && all.latency == 0.5 && all.message == 0.25 && all.byte == 0.125 && all.eager_bytes == 77));
  const struct {
    const char* given;
    std::size_t eager_bytes;
  } table[] = {{"1,1,1", 2048},
               {"1,1,1,", 2048},
               {"1,1,1,0", 2048},
               {"1,1,1,1", 1},
               {"1,1,1,x", 2048},
               {"1,1,1,1073741823", 1073741823},
               {"1,1,1,1073741824", 2048},
               {"999999999,1,1,9", 9}};
  for (const auto& [given, eager_bytes] : table) {
    BOOST_TEST(node_link_settings(given).given, given);
    BOOST_TEST(node_link_settings(given).eager_bytes == eager_bytes, given);
  }
  for (const char* const wrong : {"1e9,1,1", "1,1e9,1", "1,1,1e9", "0,1,1", "1,1,0", "1,1;1", "1 1 1", ",1,1"})
    BOOST_TEST(!node_link_settings(wrong).given, wrong);
}

/// Blocks a little longer than an eager message are cut into eager messages; all others are sent in one.
BOOST_AUTO_TEST_CASE(a_block_goes_in_eager_messages_if_these_are_few) {
  constexpr std::size_t one_message = std::size_t{1} << 30U;
  for (const std::size_t eager :
       {std::size_t{1}, std::size_t{2048}, std::size_t{8191}, std::size_t{8192}, std::size_t{32768}}) {
    const measured_link link{{}, eager};
    const std::size_t most = eager < 8192 ? eager : 4 * eager;
    BOOST_TEST(link.max_eager_bytes() == most);
    for (const std::size_t bytes :
         {std::size_t{0}, eager - 1, eager, eager + 1, 2 * eager, most - 1, most, most + 1, 9 * most})
      BOOST_TEST(link.message_bytes(bytes) == (bytes > eager && bytes <= most ? eager : one_message), bytes);
  }
  BOOST_TEST(measured_link().eager_bytes == 2048U);
}

BOOST_AUTO_TEST_SUITE_END()
