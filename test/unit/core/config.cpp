// The settings that the files of a program are compiled with: each has a place, and a program that mixes two values of
// one setting ends.
#include <partita/core/config.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

namespace {

/// What a child process that expects these values of one setting writes to its error stream, and its exit status.
struct ended {
  int status;
  std::string message;
};
ended end_with(const char* one, const char* other) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    partita_expect_one_setting(6, one);
    partita_expect_one_setting(6, other);
    _exit(0);
  }
  close(ends[1]);
  ended end{};
  char part[256];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;)
    end.message.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return end;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(core_config)

BOOST_AUTO_TEST_CASE(each_of_eight_settings_has_a_place_of_its_own) {
  for (unsigned a = 0; a < 8; ++a)
    for (unsigned b = 0; b < 8; ++b) BOOST_TEST((partita_setting(a) == partita_setting(b)) == (a == b));
}

BOOST_AUTO_TEST_CASE(the_version_and_the_kind_of_build_are_a_setting) {
  std::string expected = "version ";
  for (const int part : {PARTITA_VERSION_MAJOR, PARTITA_VERSION_MINOR, PARTITA_VERSION_PATCH})
    expected += std::to_string(part) + '.';
  expected.back() = ' ';
#ifdef PARTITA_CORE
  expected += "with the compiled core";
#else
  expected += "from headers alone";
#endif
#ifdef _GLIBCXX_DEBUG
  expected += " and _GLIBCXX_DEBUG";
#endif
  BOOST_TEST(*partita_setting(0) == expected);
  static_assert(PARTITA_VERSION / 10000 == PARTITA_VERSION_MAJOR && PARTITA_VERSION % 100 == PARTITA_VERSION_PATCH &&
                PARTITA_VERSION / 100 % 100 == PARTITA_VERSION_MINOR);
}

BOOST_AUTO_TEST_CASE(the_first_value_stays_and_an_equal_text_elsewhere_is_no_other_value) {
  static const char first[] = "in one way";
  static char equal[] = "in one way";
  BOOST_TEST((*partita_setting(7) == nullptr));
  partita_expect_one_setting(7, first);
  partita_expect_one_setting(7, equal);
  BOOST_TEST((*partita_setting(7) == first));
  *partita_setting(7) = nullptr;
}

BOOST_AUTO_TEST_CASE(a_program_of_two_values_ends_with_both_in_its_message) {
  const ended two = end_with("in one way", "in another"), one = end_with("in one way", "in one way");
  BOOST_TEST(two.status == EXIT_FAILURE);
  BOOST_TEST(
      two.message ==
      "partita: this program mixes files that were compiled in two ways: in one way, and in another; compile all "
      "files with the same headers and the same options, and link the libpartita of these headers\n");
  BOOST_TEST(one.status == 0);
  BOOST_TEST(one.message == "");
}

BOOST_AUTO_TEST_SUITE_END()
