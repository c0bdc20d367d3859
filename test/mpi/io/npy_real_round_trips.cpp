// .npy files of real and complex numbers: files of every type, byte order, storage order and rank are loaded correctly,
// and are identical to files that a plain loop writes.
#include "npy_round_trips.hpp"

BOOST_AUTO_TEST_SUITE(npy_real_round_trips)

BOOST_AUTO_TEST_CASE(real_numbers_come_back) {
  test::round_trips files;
  files.of_type<float>();
  files.of_type<double>();
  files.of_type<long double>();
}

BOOST_AUTO_TEST_CASE(complex_numbers_come_back) {
  test::round_trips files;
  files.of_type<std::complex<float>>();
  files.of_type<std::complex<double>>();
  files.of_type<std::complex<long double>>();
}

BOOST_AUTO_TEST_SUITE_END()
