// The fingerprint of a struct depends on all its members in order, on the types and on their names.
#include <array>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstdint>
#include <numeric>
#include <optional>
#include <partita/comm/fingerprint.hpp>
#include <string>
#include <utility>

using namespace partita;

namespace {

struct options {
  std::size_t channels = 3;
  double epsilon = 1e-5;
  bool affine = true;
  std::optional<double> limit{};
};
std::uint64_t number(const options& all) { return detail::fingerprint_of_members<4>(all); }

struct eleven {
  int a, b, c, d, e, f, g, h, i, j, k;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fingerprint)

BOOST_AUTO_TEST_CASE(each_member_makes_a_difference) {
  const std::uint64_t as_given = number({});
  BOOST_TEST(number({}) == as_given);
  BOOST_TEST(number({.channels = 4}) != as_given);
  BOOST_TEST(number({.epsilon = 1e-6}) != as_given);
  BOOST_TEST(number({.affine = false}) != as_given);
  BOOST_TEST(number({.limit = 0.0}) != as_given);
  BOOST_TEST(number({.limit = 1.0}) != number({.limit = 0.0}));
}

BOOST_AUTO_TEST_CASE(up_to_eleven_members_are_read_in_order) {
  const eleven all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const eleven swapped{2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  eleven last = all;
  last.k = 12;
  const std::uint64_t as_given = detail::fingerprint_of_members<11>(all);
  BOOST_TEST(detail::fingerprint_of_members<11>(swapped) != as_given);
  BOOST_TEST(detail::fingerprint_of_members<11>(last) != as_given);
  BOOST_TEST(detail::fingerprint_of_members<11>(all, 1) != as_given);  // goes on from a seed
}

BOOST_AUTO_TEST_CASE(any_number_of_members_is_mixed_in_order) {
  const auto test = []<std::size_t Members>(std::integral_constant<std::size_t, Members>) {
    std::array<int, Members> all{};
    std::iota(all.begin(), all.end(), 1);
    hasher mixing(7);
    for (const int member : all) mixing.mix(member);
    BOOST_TEST(detail::fingerprint_of_members<Members>(all, 7) == mixing.value(), Members);
  };
  [&]<std::size_t... Before>(std::index_sequence<Before...>) {
    (test(std::integral_constant<std::size_t, Before + 1>{}), ...);
  }(std::make_index_sequence<11>{});
}

BOOST_AUTO_TEST_CASE(types_have_numbers_and_names) {
  BOOST_TEST(detail::type_number<float>() != detail::type_number<double>());
  BOOST_TEST(detail::type_number<long>() != detail::type_number<long long>());
  BOOST_TEST(std::string(detail::type_name<float>().c_str()) == "float");
  BOOST_TEST(std::string(detail::type_name<std::complex<double>>().c_str()) == "std::complex<double>");
}

BOOST_AUTO_TEST_CASE(a_name_of_a_type_has_all_its_arguments) {
  const auto name = []<class T>(T*) { return std::string(detail::type_name<T>().c_str()); };
  BOOST_TEST(name(static_cast<std::pair<int, float>*>(nullptr)) == "std::pair<int, float>");
  BOOST_TEST(name(static_cast<std::array<std::complex<float>, 3>*>(nullptr)).find("std::complex<float>") !=
             std::string::npos);
  BOOST_TEST(name(static_cast<std::array<std::complex<float>, 3>*>(nullptr)).back() == '>');
  BOOST_TEST(name(static_cast<int(*)[2]>(nullptr)).back() == ']');
}

BOOST_AUTO_TEST_CASE(hashes_are_mixed_in_order) {
  BOOST_TEST(detail::mixed(3, 4) == hasher(3).mix(std::uint64_t{4}).value());
  BOOST_TEST(detail::mixed(3, 4) != detail::mixed(4, 3));
  BOOST_TEST(detail::mixed(3, 4) != detail::mixed(3, 5));
}

BOOST_AUTO_TEST_SUITE_END()
