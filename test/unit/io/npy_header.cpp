// The header of a .npy file: headers of NumPy are parsed, and all invalid bytes result in an error message.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <partita/io/npy_header.hpp>
#include <random>
#include <sstream>
#include <vector>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace {

using namespace partita;

npy_header_found parsed(const std::string& bytes) {
  const std::vector<unsigned char> exact(bytes.begin(), bytes.end());  // on the heap: a sanitizer sees a look behind it
  return parse_npy_header(exact.data(), exact.size());
}
/// A file of this version around a literal.
std::string around(const std::string& literal, unsigned version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (unsigned k = 0; k < (version == 1 ? 2U : 4U); ++k) bytes += static_cast<char>(literal.size() >> 8U * k);
  return bytes + literal;
}
std::string problem_of(const std::string& literal) { return parsed(around(literal)).error_message.c_str(); }
template <class... N>
std::string shape_text(N... n) {
  const std::array<std::size_t, sizeof...(N)> extents{static_cast<std::size_t>(n)...};
  const npy_header h = parsed(make_npy_header("<f4", false, extents.data(), extents.size())).header;
  std::ostringstream out;
  for (std::size_t d = 0; d < h.rank; ++d) out << h.extents[d] << ' ';
  return out.str();
}

BOOST_AUTO_TEST_SUITE(npy_headers)

BOOST_AUTO_TEST_CASE(what_is_written_is_what_numpy_writes) {
  const std::size_t extents[] = {3, 4};
  const std::string header = make_npy_header("<f4", false, extents, 2);
  BOOST_TEST(header.size() == 128U);
  BOOST_TEST(header.substr(10, 59) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
  BOOST_TEST(header.back() == '\n');
  BOOST_TEST(make_npy_header("|b1", true, extents, 1).find("'fortran_order': True, 'shape': (3,), }") !=
             std::string::npos);
  BOOST_TEST(make_npy_header("|b1", true, extents, 0).find("'shape': (), }") != std::string::npos);
  for (std::size_t rank = 0; rank <= 64; ++rank) {
    const std::vector<std::size_t> long_ones(rank, 1234567);
    BOOST_TEST(make_npy_header("<f8", false, long_ones.data(), rank).size() % 64 == 0U);
  }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  BOOST_TEST(shape_text() == "");
  BOOST_TEST(shape_text(5) == "5 ");
  BOOST_TEST(shape_text(0, 7) == "0 7 ");
  BOOST_TEST(shape_text(1, 2, 3, 4, 5) == "1 2 3 4 5 ");
  const std::size_t extents[] = {3, 4};
  const npy_header h = parsed(make_npy_header(npy_type_of<std::complex<double>>(), true, extents, 2)).header;
  BOOST_TEST((h.kind == 'c' && h.item_bytes == 16 && h.fortran_order && h.byte_order == native_byte_order));
  BOOST_TEST(h.data_at == 128U);
  BOOST_TEST(h.data_bytes == 192U);
}

/// A header says how long it is, whatever its length: in one byte or in two.
BOOST_AUTO_TEST_CASE(a_header_of_any_length_is_read) {
  for (std::size_t rank = 0; rank <= 64; ++rank) {
    std::vector<std::size_t> extents(rank, 1);
    for (std::size_t d = 0; d < rank; ++d) extents[d] = d % 2 == 0 ? 1 : 0;
    if (rank > 1) extents[rank - 1] = 1234567890123456789;
    const std::string header = make_npy_header("<u2", rank % 2 == 1, extents.data(), rank);
    const npy_header_found found = parsed(header);
    BOOST_TEST(found.error_message == "");
    BOOST_TEST(found.header.data_at == header.size());
    BOOST_TEST(found.header.fortran_order == (rank % 2 == 1));
    const auto* const first = found.header.extents.data();
    BOOST_TEST((std::vector<std::size_t>(first, first + found.header.rank) == extents));
    BOOST_TEST(header.find_last_not_of(' ', header.size() - 2) == header.find('}'));
    BOOST_TEST(header.size() - header.find('}') <= 64 + 2U);  // no longer than it must be
  }
}

BOOST_AUTO_TEST_CASE(what_xtensor_writes_is_read_and_says_the_same) {
  const xt::xtensor<double, 2> x({2, 3}, 1.5);
  const std::string bytes = xt::dump_npy(x);
  const npy_header h = parsed(bytes).header;
  BOOST_TEST((h.kind == 'f' && h.item_bytes == 8 && !h.fortran_order && h.rank == 2));
  BOOST_TEST(h.extents[1] == 3U);
  BOOST_TEST(h.data_at + h.data_bytes == bytes.size());
  const std::size_t extents[] = {2, 3};
  const std::string ours = make_npy_header(npy_type_of<double>(), false, extents, 2);
  const std::size_t words = ours.find('}') + 1;
  BOOST_TEST(bytes.substr(10, words - 10) == ours.substr(10, words - 10));
}

BOOST_AUTO_TEST_CASE(every_element_type_has_its_name) {
  BOOST_TEST(npy_type_of<bool>() == "|b1");
  BOOST_TEST(npy_type_of<std::int8_t>() == "|i1");
  BOOST_TEST(npy_type_of<std::uint16_t>() == "<u2");
  BOOST_TEST(npy_type_of<long long>() == "<i8");
  BOOST_TEST(npy_type_of<float>() == "<f4");
  BOOST_TEST(npy_type_of<std::complex<float>>() == "<c8");
  BOOST_TEST(npy_type_of<long double>() == "<f16");
  static_assert(!npy_element<std::string> && !npy_element<std::complex<int>> && npy_element<char>);
}

BOOST_AUTO_TEST_CASE(versions_orders_of_bytes_and_old_writers_are_read) {
  const std::string plain = "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }";
  for (unsigned version = 1; version <= 3; ++version) {
    const npy_header_found found = parsed(around(plain, version));
    BOOST_TEST(found.error_message == "");
    BOOST_TEST((found.header.byte_order == '>' && found.header.fortran_order));
    BOOST_TEST(found.header.data_at == plain.size() + (version == 1 ? 10 : 12));
  }
  const npy_header_found old = parsed(around("{\"shape\": (2L, 3L), \"fortran_order\":False,\t\"descr\":\"=u1\"} \n"));
  BOOST_TEST(old.error_message == "");
  BOOST_TEST((old.header.byte_order == '|' && old.header.kind == 'u' && old.header.data_bytes == 6));
  for (const std::string order : {"=", ""}) {  // that of the machine
    const auto native = parsed(around("{'descr': '" + order + "f4', 'fortran_order': False, 'shape': (2,), }"));
    BOOST_TEST((native.error_message.empty() && native.header.byte_order == native_byte_order));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_header_is_told_why) {
  const std::string type = "{'descr': '<f4', ", rest = "'fortran_order': False, 'shape': (2,), }";
  BOOST_TEST(problem_of(type + rest) == "");
  BOOST_TEST(problem_of("") == "its header begins with no dictionary");
  BOOST_TEST(problem_of("__import__('os')") == "its header begins with no dictionary");
  BOOST_TEST(problem_of("{'descr': '<f4', }") == "its header lacks one of descr, fortran_order and shape");
  BOOST_TEST(problem_of(type + type.substr(1) + rest) == "its header has an entry twice");
  BOOST_TEST(problem_of(type + "'other': 1, " + rest) ==
             "its header has an entry that is none of descr, fortran_order and shape");
  BOOST_TEST(problem_of(type + rest + "+ 1") == "its header has more than spaces behind its dictionary");
  BOOST_TEST(problem_of("{'descr': [('a', '<f4')], " + rest).find("structured type") != std::string::npos);
  for (const char* bad : {"|O", "<f3", "<U7", "<M8[ns]", "f", "", "<i16", "|f4", "<f00000000000000000004", "<f4 "})
    BOOST_TEST(problem_of("{'descr': '" + std::string(bad) + "', " + rest).find("names the type") != std::string::npos,
               bad);
  const auto with_shape = [&](const std::string& shape) {
    return problem_of(type + "'fortran_order': False, 'shape': " + shape + ", }");
  };
  for (const auto& [bad, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"(2)", "has a shape that is a number in parentheses and no tuple"},
           {"(2 3)", "has a shape without commas"},
           {"(2,", "has a shape whose extents are not numbers below 2^63"},
           {"2", "has a shape that is no tuple"},
           {"[2]", "has a shape that is no tuple"}})
    BOOST_TEST(with_shape(bad) == std::string("its header ") + why, bad);
  for (const char* bad : {"(-2,)", "(2,,3)", "(,)", "(02,)", "(9223372036854775808,)", "(99999999999999999999999,)"})
    BOOST_TEST(with_shape(bad) == "its header has a shape whose extents are not numbers below 2^63", bad);
  BOOST_TEST(with_shape("(2.5,)") == "its header has a shape without commas");
  BOOST_TEST(problem_of(type + "fortran_order: False}") == "its header has an entry without a quoted name");
  BOOST_TEST(problem_of(type + "'fortran_order' False}") == "its header has an entry without a colon");
  BOOST_TEST(problem_of(type + "'fortran_order': False 'shape': (2,)}") ==
             "its header has entries without a comma between them");
  BOOST_TEST(problem_of("{'descr': f4, " + rest) == "its header has a type that is no quoted string");
  std::string deep = "(";
  for (int d = 0; d < 65; ++d) deep += "1, ";
  BOOST_TEST(with_shape(deep + ")") == "its header has a shape of more than 64 dimensions");
  BOOST_TEST(with_shape("(" + deep.substr(4) + ")") == "");
  BOOST_TEST(problem_of(type + "'fortran_order': 0, 'shape': (2,), }").find("neither True nor False") !=
             std::string::npos);
  BOOST_TEST(problem_of(type + "'fortran_order': False, 'shape': (4611686018427387904, 4), }").find("2^63") !=
             std::string::npos);
  for (const char* empty :
       {"(0, 4611686018427387904, 4)", "(4611686018427387904, 0, 4)", "(4611686018427387904, 4, 0)"})
    BOOST_TEST(problem_of(type + "'fortran_order': False, 'shape': " + empty + ", }") == "", empty);
}

BOOST_AUTO_TEST_CASE(the_types_that_are_read_are_numbers_of_the_sizes_that_numpy_has) {
  const auto read = [](const std::string& type) {
    return parsed(around("{'descr': '" + type + "', 'fortran_order': False, 'shape': (3,), }"));
  };
  const auto has_size = [](char kind, std::size_t n) {
    for (const std::size_t size : kind == 'b'                  ? std::vector<std::size_t>{1}
                                  : kind == 'i' || kind == 'u' ? std::vector<std::size_t>{1, 2, 4, 8}
                                  : kind == 'f'                ? std::vector<std::size_t>{2, 4, 8, 12, 16}
                                  : kind == 'c'                ? std::vector<std::size_t>{8, 16, 24, 32}
                                                               : std::vector<std::size_t>{})
      if (size == n) return true;
    return false;
  };
  for (const char kind : std::string("biufcOSUVmMaBFC?"))
    for (std::size_t n = 1; n <= 130; ++n)
      for (const std::string order : {"<", ">", "|", "=", ""}) {
        const npy_header_found found = read(order + kind + std::to_string(n));
        const bool is_number = has_size(kind, n) && !(order == "|" && n > 1);
        BOOST_TEST(found.error_message.empty() == is_number, order << kind << n);
        if (!is_number) continue;
        const char expected = n == 1 ? '|' : order == "<" || order == ">" ? order[0] : native_byte_order;
        BOOST_TEST((found.header.kind == kind && found.header.item_bytes == n && found.header.byte_order == expected));
        BOOST_TEST(found.header.data_bytes == 3 * n);
      }
  const std::string names = "its header names the type '",
                    only = "'; only plain numbers, bool and complex numbers are read";
  const std::string a(40, 'a');
  for (const auto& [type, shown] :
       {std::pair<std::string, std::string>{"<f3", "<f3"}, {a, a}, {a + "b", a}, {"a\tb\x01", "a?b?"}, {"", ""}})
    BOOST_TEST(read(type).error_message.c_str() == names + shown + only, type);
}

/// A file has fewer than 2^63 bytes, those of its header included.
BOOST_AUTO_TEST_CASE(elements_end_before_2_to_the_63rd_byte) {
  const auto of_bytes = [](std::size_t n) {
    return around("{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(n) + ",), }");
  };
  const std::size_t most = static_cast<std::size_t>(-1) / 2, header = of_bytes(most).size();
  BOOST_TEST(parsed(of_bytes(most - header)).error_message == "");
  BOOST_TEST(parsed(of_bytes(most - header)).header.data_bytes == most - header);
  for (const std::size_t n : {most - header + 1, most})
    BOOST_TEST(parsed(of_bytes(n)).error_message == "its header has extents whose product is above 2^63 bytes");
}

BOOST_AUTO_TEST_CASE(a_header_that_is_cut_off_anywhere_is_refused) {
  const std::size_t extents[] = {3, 4};
  for (unsigned version = 1; version <= 3; ++version) {
    const std::string whole = version == 1
                                  ? make_npy_header("<f4", false, extents, 2)
                                  : around("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", version);
    for (std::size_t n = 0; n < whole.size(); ++n) BOOST_TEST(!parsed(whole.substr(0, n)).error_message.empty(), n);
  }
  std::string endless("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
  BOOST_TEST(!parsed(endless + std::string(100, ' ')).error_message.empty());
  for (const unsigned version : {0U, 4U, 9U})
    BOOST_TEST(parsed(around("{", version)).error_message.c_str() ==
               "it is a .npy file of version " + std::to_string(version) + ".0; versions 1.0, 2.0 and 3.0 are read");
  std::string minor = make_npy_header("<f4", false, extents, 2);
  minor[7] = 1;
  BOOST_TEST(parsed(minor).error_message.contains("it is a .npy file of version 1.1"));
  const std::string whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  const std::string longest = whole + std::string(npy_header_limit - 12 - whole.size(), ' ');
  BOOST_TEST(parsed(around(longest, 2)).error_message == "");
  for (const std::string& bad : {around(longest + ' ', 2), around(whole, 2).substr(0, 12 + whole.size() - 1)})
    BOOST_TEST(parsed(bad).error_message.c_str() ==
               "its header is cut off or longer than " + std::to_string(npy_header_limit) + " bytes");
}

BOOST_AUTO_TEST_CASE(garbled_bytes_never_give_more_than_they_hold) {
  std::mt19937 random(7);
  const std::size_t extents[] = {3, 4};
  const std::string whole = make_npy_header("<f4", false, extents, 2);
  const std::string letters = "{}()[],:'\"<>|=0123456789L TrueFalsdcfponh_\n\\\x93NUMPY";
  std::size_t accepted = 0;
  for (int trial = 0; trial < 50000; ++trial) {
    std::string bytes = whole;
    for (unsigned k = 1 + random() % 4; k > 0; --k) {
      const std::size_t at = random() % 75;
      if (random() % 3 == 0) bytes.erase(at, 1);
      else if (random() % 2 == 0) bytes.insert(at, 1, letters[random() % letters.size()]);
      else bytes[at] = letters[random() % letters.size()];
    }
    const npy_header_found found = parsed(bytes);
    if (!found.error_message.empty()) continue;
    ++accepted;
    std::size_t bytes_of_data = found.header.item_bytes;
    for (std::size_t d = 0; d < found.header.rank; ++d) bytes_of_data *= found.header.extents[d];
    BOOST_TEST(found.header.data_bytes == bytes_of_data);
    BOOST_TEST(found.header.data_at <= bytes.size());
  }
  BOOST_TEST(accepted > 100U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
