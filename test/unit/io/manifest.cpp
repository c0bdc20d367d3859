// Checksums and manifests: known test vectors, combined checksums, and every changed bit is detected.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <partita/io/manifest.hpp>
#include <random>

namespace {

using namespace partita;

manifest some_manifest() {
  return {12,
          4096,
          {{"weight", "<f4", {12, 16}, 896, {0xe3069283U}},
           {"layer.1-bias_", "<c16", {}, 144, {0U}},
           {"large", "|b1", {0, 3, 9000}, 10000, {1, 2, 0xffffffffU}}}};
}
/// The text with the checksum that belongs to it.
std::string sealed(const std::string& body) { return body + detail::manifest_seal(body.data(), body.size()); }
text problem_of(const std::string& body) { return parse_manifest(sealed(body)).error_message; }
/// A manifest without its checksum.
std::string body_of(const manifest& m) {
  const std::string json = to_json(m);
  return json.substr(0, json.size() - detail::manifest_seal_bytes);
}
std::string replaced(std::string body, const std::string& from, const std::string& to) {
  return body.replace(body.find(from), from.size(), to);
}

BOOST_AUTO_TEST_SUITE(manifests)

BOOST_AUTO_TEST_CASE(both_ways_to_a_checksum_give_what_the_standard_says) {
  const std::string zeros(32, '\0'), ones(32, '\xff'), digits = "123456789";
  std::string ascending, descending;
  for (char c = 0; c < 32; ++c) {
    ascending += c;
    descending += static_cast<char>(31 - c);
  }
  const auto both = [](const std::string& s) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(s.data());
    const std::uint32_t sum = crc32c(bytes, s.size());
    BOOST_TEST(detail::crc32c_by_tables(bytes, s.size(), 0) == sum);
    if (detail::has_crc32c_instruction()) BOOST_TEST(detail::crc32c_by_instruction(bytes, s.size(), 0) == sum);
    return sum;
  };
  BOOST_TEST(both("") == 0U);  // the vectors of RFC 3720, B.4
  BOOST_TEST(both(zeros) == 0x8a9136aaU);
  BOOST_TEST(both(ones) == 0x62a8ab43U);
  BOOST_TEST(both(ascending) == 0x46dd794eU);
  BOOST_TEST(both(descending) == 0x113fdb5cU);
  BOOST_TEST(both(digits) == 0xe3069283U);
  std::mt19937 random(1);
  for (std::size_t n = 0; n < 300; ++n) {
    std::string s(n, ' ');
    for (char& c : s) c = static_cast<char>(random());
    both(s.substr(n % 9 < n ? n % 9 : 0));
  }
}

BOOST_AUTO_TEST_CASE(checksums_of_pieces_make_that_of_the_whole) {
  std::mt19937 random(2);
  std::string s(5000, ' ');
  for (char& c : s) c = static_cast<char>(random());
  const std::uint32_t whole = crc32c(s.data(), s.size());
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t n = random() % 5001;
    const std::uint32_t first = crc32c(s.data(), n), second = crc32c(s.data() + n, s.size() - n);
    BOOST_TEST(crc32c_of_both(first, second, s.size() - n) == whole);
    BOOST_TEST(crc32c(s.data() + n, s.size() - n, first) == whole);
  }
  static_assert(crc32c_of_both(0, 0x8a9136aaU, 32) == 0x8a9136aaU);
  // longer than any memory: zeros behind zeros, in two steps and in one
  const std::uint64_t far = (std::uint64_t{1} << 40U) + 12345;
  BOOST_TEST(crc32c_of_both(crc32c_of_both(whole, 0, far), 0, far) == crc32c_of_both(whole, 0, 2 * far));
}

BOOST_AUTO_TEST_CASE(a_manifest_is_json_and_comes_back) {
  const manifest m = some_manifest();
  const std::string json = to_json(m);
  const manifest_found found = parse_manifest(json);
  BOOST_TEST(found.error_message == "");
  BOOST_TEST((found.manifest == m));
  const auto read = nlohmann::json::parse(json);
  BOOST_TEST(read["step"] == 12);
  BOOST_TEST(read["tensors"][0]["crc32c"][0] == "e3069283");
  BOOST_TEST(read["tensors"][2]["extents"][2] == 9000);
  BOOST_TEST((parse_manifest(to_json({0, 1, {}})).error_message == ""));
}

BOOST_AUTO_TEST_CASE(a_manifest_is_written_a_line_a_tensor) {
  const std::string body =
      "{\n"
      "  \"format\": \"partita checkpoint\",\n"
      "  \"version\": 1,\n"
      "  \"step\": 12,\n"
      "  \"slab_bytes\": 4096,\n"
      "  \"tensors\": [\n"
      "    {\"name\": \"w\", \"type\": \"<f4\", \"extents\": [12, 16], \"bytes\": 5000,\n"
      "     \"crc32c\": [\"e3069283\", \"0000000a\"]},\n"
      "    {\"name\": \"b\", \"type\": \"<f8\", \"extents\": [], \"bytes\": 0,\n"
      "     \"crc32c\": []}\n"
      "  ],\n";
  BOOST_TEST(to_json({12, 4096, {{"w", "<f4", {12, 16}, 5000, {0xe3069283U, 10}}, {"b", "<f8", {}, 0, {}}}}) ==
             sealed(body));
  BOOST_TEST(sealed("123456789") == "123456789  \"checksum\": \"e3069283\"\n}\n");
}

BOOST_AUTO_TEST_CASE(entries_may_have_any_order_and_any_spaces_between_them) {
  const manifest_found turned = parse_manifest(
      sealed("{\"tensors\": [{\"crc32c\": [\"0000000a\"], \"bytes\": 7, \"extents\": [3], \"type\": \"<f4\", \"name\": "
             "\"w\"}], \"slab_bytes\": 64, \"step\": 3, \"version\": 1, \"format\": \"partita checkpoint\",\n"));
  BOOST_TEST(turned.error_message == "");
  BOOST_TEST((turned.manifest == manifest{3, 64, {{"w", "<f4", {3}, 7, {10}}}}));
  std::string spaced;
  for (const char c : body_of(some_manifest()))
    spaced += std::string(c == ':' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}' ? "\t\r\n " : "") + c;
  const manifest_found found = parse_manifest(sealed(spaced));
  BOOST_TEST(found.error_message == "");
  BOOST_TEST((found.manifest == some_manifest()));
}

/// Numbers have no signs, points or leading zeros, and a checksum has eight hexadecimal digits.
BOOST_AUTO_TEST_CASE(numbers_and_checksums_are_written_in_one_way) {
  const std::string body = body_of(some_manifest());
  for (const char* bad : {"012", "00", "+12", "1.5", "1e1", "", "0x12", "1 2", "\"12\""})
    for (const char* entry : {"\"step\": 12", "\"slab_bytes\": 4096", "\"bytes\": 896", "\"version\": 1"}) {
      const std::string name = std::string(entry).substr(0, std::string(entry).find(' ') + 1);
      BOOST_TEST(problem_of(replaced(body, entry, name + bad)) == "its manifest is not written as one", name << bad);
    }
  BOOST_TEST(problem_of(replaced(body, "[12, 16]", "[12, 016]")) == "its manifest is not written as one");
  for (const char* bad : {"", "0000000", "000000000", "0000000g", "0000000`", "0000000/", "0000000:", "0000000@",
                          "0000000A", "0000000-", "       0"})
    BOOST_TEST(problem_of(replaced(body, "e3069283", bad)) == "its manifest is not written as one", bad);
  for (const std::string good : {"00000000", "ffffffff", "0123abcd", "9a9a9a9a", "0000000f"})
    BOOST_TEST(parse_manifest(sealed(replaced(body, "e3069283", good))).manifest.tensors[0].checksums[0] ==
                   std::stoul(good, nullptr, 16),
               good);
}

BOOST_AUTO_TEST_CASE(another_format_and_what_follows_a_manifest_are_refused) {
  const std::string body = body_of(some_manifest());
  for (const char* format : {"partita checkpoints", "partita checkpoin", "", "Partita checkpoint"})
    BOOST_TEST(problem_of(replaced(body, "partita checkpoint", format)) ==
               "its manifest is of another format or version");
  for (const char* version : {"0", "2", "11"})
    BOOST_TEST(problem_of(replaced(body, "\"version\": 1", std::string("\"version\": ") + version)) ==
               "its manifest is of another format or version");
  BOOST_TEST(problem_of(to_json(some_manifest())) == "its manifest has more than spaces behind its end");
  for (const char* name : {"format", "version", "step", "slab_bytes", "tensors", "name", "type", "extents", "crc32c"})
    BOOST_TEST(problem_of(replaced(body, std::string("\"") + name + "\"", "\"other\"")) ==
                   "its manifest is not written as one",
               name);
  for (const char* bad : {"<f\n4", "<f\\u0034", "<f\x1f"})
    BOOST_TEST(problem_of(replaced(body, "<f4", bad)) == "its manifest is not written as one");
  const manifest_found found = parse_manifest(sealed(replaced(body, "<f4", "<f 4\xc3\xa9")));  // any other character
  BOOST_TEST(found.error_message == "");
  BOOST_TEST(found.manifest.tensors[0].type == "<f 4\xc3\xa9");
}

BOOST_AUTO_TEST_CASE(any_number_of_a_step_comes_back) {
  for (const std::uint64_t step : {std::uint64_t{0}, (std::uint64_t{1} << 63U) - 1, std::uint64_t{1} << 63U,
                                   std::numeric_limits<std::uint64_t>::max()}) {
    const manifest_found found = parse_manifest(to_json({step, 1, {}}));
    BOOST_TEST(found.error_message == "");
    BOOST_TEST(found.manifest.step == step);
  }
  std::string body = to_json({7, 1, {}});
  body = body.substr(0, body.size() - detail::manifest_seal_bytes);
  body.replace(body.find("\"step\": 7"), 9, "\"step\": 18446744073709551616");
  BOOST_TEST(problem_of(body).contains("not written as one"));
}

BOOST_AUTO_TEST_CASE(many_tensors_are_checked_in_time) {
  manifest m{1, 4096, {}};
  for (int k = 0; k < 60000; ++k) m.tensors.push_back({"t" + std::to_string(k), "<f8", {}, 0, {}});
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(parse_manifest(to_json(m)).error_message == "");
  m.tensors.push_back(m.tensors[1234]);
  BOOST_TEST(parse_manifest(to_json(m)).error_message.contains("twice"));
  // some tenths of a second; where each name is compared with all others it is minutes
  BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)));
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_and_every_cut_of_a_manifest_is_found) {
  const std::string json = to_json(some_manifest());
  std::size_t unseen = 0;
  for (std::size_t byte = 0; byte < json.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string other = json;
      other[byte] = static_cast<char>(static_cast<unsigned char>(other[byte]) ^ 1U << bit);
      unseen += parse_manifest(other).error_message.empty() ? 1 : 0;
    }
    unseen += parse_manifest(json.substr(0, byte)).error_message.empty() ? 1 : 0;
  }
  BOOST_TEST(unseen == 0U);
}

BOOST_AUTO_TEST_CASE(a_manifest_that_lies_is_refused_though_its_checksum_is_right) {
  const std::string json = to_json(some_manifest()), body = json.substr(0, json.size() - detail::manifest_seal_bytes);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = body;
    other.replace(other.find(from), from.size(), to);
    return problem_of(other);
  };
  BOOST_TEST(problem_of(body) == "");
  const auto named = [&](const std::string& name) { return with("\"weight\"", '"' + name + '"'); };
  for (const std::string& bad : {std::string("../weight"), std::string(".weight"), std::string("wei/ght"),
                                 std::string("wei:ght"), std::string("wei@ght"), std::string(), std::string(101, 'w')})
    BOOST_TEST(named(bad) == "its manifest names a tensor as none may be called", bad);
  for (const std::string& good : {std::string(100, 'w'), std::string("AZaz09_-."), std::string("-")})
    BOOST_TEST(named(good) == "", good);
  BOOST_TEST(named("large") == "its manifest names a tensor twice");
  BOOST_TEST(with("\"weight\"", "\"we\\\"ight\"").contains("not written as one"));
  BOOST_TEST(with("4096", "0") == "its manifest has slabs of no bytes");
  for (const std::size_t bytes : {0U, 8192U, 12289U, 20000U})  // the three checksums are of 8193 to 12288 bytes
    BOOST_TEST(with("10000", std::to_string(bytes)) == "its manifest has not one checksum for each slab", bytes);
  for (const std::size_t bytes : {8193U, 12288U}) BOOST_TEST(with("10000", std::to_string(bytes)) == "", bytes);
  BOOST_TEST(with("10000", "9223372036854775807").contains("one checksum for each slab"));
  BOOST_TEST(with("10000", "9223372036854775808").contains("not written as one"));
  BOOST_TEST(with("\"version\": 1", "\"version\": 2").contains("another format or version"));
  BOOST_TEST(with("\"step\": 12", "\"step\": -12").contains("not written as one"));
  BOOST_TEST(with("\"step\": 12", "\"step\": 12, \"step\": 12").contains("not written as one"));
  BOOST_TEST(with("\"step\": 12,", "").contains("not written as one"));
  BOOST_TEST(with("e3069283", "E3069283").contains("not written as one"));
  BOOST_TEST(with("[12, 16]", std::string(100000, '[')).contains("not written as one"));
  BOOST_TEST(with("[12, 16]", "[12, 16").contains("not written as one"));
  const auto extents_of = [&](std::size_t rank) {
    std::string all = "[1";
    for (std::size_t d = 1; d < rank; ++d) all += ", 1";
    return with("[12, 16]", all + "]");
  };
  BOOST_TEST(extents_of(64) == "");
  BOOST_TEST(extents_of(65).contains("not written as one"));
  BOOST_TEST(problem_of(body + "{}") == "its manifest is not written as one");
  BOOST_TEST(problem_of("").contains("checksum differs"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
