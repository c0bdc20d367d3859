// .npy files of integers: files of every type, byte order, storage order and rank are loaded correctly, and are
// identical to files that a plain loop writes.
#include "npy_round_trips.hpp"

BOOST_AUTO_TEST_SUITE(npy_round_trips)

BOOST_AUTO_TEST_CASE(integers_of_one_byte_and_bool_come_back) {
  test::round_trips files;
  files.of_type<bool>();
  files.of_type<std::int8_t>();
  files.of_type<std::uint8_t>();
  BOOST_TEST(files.tried == 3 * 36U);
}

BOOST_AUTO_TEST_CASE(integers_of_two_bytes_come_back) {
  test::round_trips files;
  files.of_type<std::int16_t>();
  files.of_type<std::uint16_t>();
}

BOOST_AUTO_TEST_CASE(integers_of_four_bytes_come_back) {
  test::round_trips files;
  files.of_type<std::int32_t>();
  files.of_type<std::uint32_t>();
}

BOOST_AUTO_TEST_CASE(integers_of_eight_bytes_come_back) {
  test::round_trips files;
  files.of_type<std::int64_t>();
  files.of_type<std::uint64_t>();
}

BOOST_AUTO_TEST_SUITE_END()
