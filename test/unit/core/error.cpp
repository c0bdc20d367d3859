// The exceptions: they have one base class, and own their error message.
#include <boost/test/unit_test.hpp>
#include <partita/comm/detail/diagnostics/disagreement.hpp>
#include <partita/comm/detail/world/failure.hpp>
#include <partita/core/error.hpp>
#include <string>
#include <typeinfo>
#include <vector>

using namespace partita;

namespace {

template <class Error>
void throws_its_sentence() {
  const auto thrower = [] { throw Error(text("partita::call: requires ") << 2 << " and was given " << 3); };
  BOOST_CHECK_EXCEPTION(thrower(), Error, [](const Error& e) {
    return std::string(e.what()) == "partita::call: requires 2 and was given 3";
  });
  BOOST_CHECK_THROW(thrower(), error);
  BOOST_CHECK_THROW(thrower(), std::exception);
}

/// What a worker throws after others have reported an error of this type to it.
template <class Error>
void comes_back_from_another_worker() {
  const auto thrower = [] { detail::raise(detail::failure_kind_of_error(Error("why")), "why"); };
  BOOST_CHECK_EXCEPTION(thrower(), Error,
                        [](const Error& e) { return typeid(e) == typeid(Error) && std::string(e.what()) == "why"; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(core_error)

BOOST_AUTO_TEST_CASE(every_error_is_caught_as_itself_as_error_and_as_a_standard_exception) {
  throws_its_sentence<shape_error>();
  throws_its_sentence<partition_error>();
  throws_its_sentence<disagreement_error>();
  throws_its_sentence<communication_error>();
  throws_its_sentence<io_error>();
}

BOOST_AUTO_TEST_CASE(an_error_has_the_same_type_on_the_workers_that_hear_of_it) {
  comes_back_from_another_worker<shape_error>();
  comes_back_from_another_worker<partition_error>();
  comes_back_from_another_worker<disagreement_error>();
  comes_back_from_another_worker<io_error>();
  comes_back_from_another_worker<error>();
  BOOST_CHECK_THROW(detail::raise(detail::failure::memory, "why"), communication_error);
}

BOOST_AUTO_TEST_CASE(calls_that_differ_are_told_with_the_workers_that_make_them) {
  const std::string begin = "partita: workers make different calls: ",
                    end = "; every worker of a world makes every call with the same arguments";
  const auto told = [](const std::string& calls) {  // a report for each call, whose fingerprint is its letter
    std::vector<detail::call_report> reports;
    for (const char call : calls) {
      reports.emplace_back();
      reports.back().fingerprint = static_cast<std::uint64_t>(call);
      reports.back().sentence = text("call ") << call;
    }
    return std::string(detail::describe_difference(reports).c_str());
  };
  BOOST_TEST(told("ab") == begin + "worker 0 makes call a, worker 1 makes call b" + end);
  BOOST_TEST(told("aab") == begin + "worker 0 and 1 other make call a, worker 2 makes call b" + end);
  BOOST_TEST(told("abbb") == begin + "worker 0 makes call a, worker 1 and 2 others make call b" + end);
  BOOST_TEST(told("abcde") ==
             begin + "worker 0 makes call a, worker 1 makes call b, worker 2 makes call c, and 2 other calls are made" +
                 end);
  // calls beyond the third are counted, not the workers that make them
  const struct {
    const char* calls;
    const char* others;
  } beyond_three[] = {{"abc", ""},
                      {"abcabc", ""},
                      {"abcd", ", and 1 other call is made"},
                      {"abcddd", ", and 1 other call is made"},
                      {"abcded", ", and 2 other calls are made"},
                      {"aabbccddeeff", ", and 3 other calls are made"}};
  for (const auto& [calls, others] : beyond_three) {
    const std::string all = told(calls), told_third = all.substr(all.find("call c") + 6);
    BOOST_TEST(told_third == others + end, calls);
  }

  std::vector<detail::call_report> reports(3);
  BOOST_TEST((detail::first_difference(reports).operation == detail::first_difference::none));
  reports[2].operations_hash = 1, reports[2].operations = {7, 5},
  reports[0].operations = reports[1].operations = {7, 6};
  BOOST_TEST(detail::first_difference(reports).operation == 1U);
  reports[1].kind = static_cast<std::uint64_t>(detail::failure::io), reports[1].sentence = "the first";
  reports[2].kind = static_cast<std::uint64_t>(detail::failure::shape), reports[2].sentence = "the second";
  BOOST_CHECK_EXCEPTION(detail::throw_first_error(reports), io_error,
                        [](const io_error& e) { return std::string(e.what()) == "the first"; });

  detail::local_operations done;
  const std::uint64_t one = done.note(3, "add", {4, 5}),
                      both = done.note(4, "a name that is longer than its room is", {6});
  BOOST_TEST((done.history_hash() == both && one != both && done.fingerprint(0) == 3 && done.fingerprint(2) == 0));
  BOOST_TEST((done.description(0) == "add of a tensor of extents [4, 5]"));
  BOOST_TEST((done.description(1) == "a name that is longer than its  of a tensor of extents [6]"));
  BOOST_TEST((done.description(2) == "no operation of a tensor"));
  detail::local_operations other;
  other.note(5, "", {}), other.note(4, "", {});
  BOOST_TEST(other.history_hash() != both);  // which depends on all operations
}

BOOST_AUTO_TEST_CASE(a_copied_error_has_a_message_of_its_own) {
  std::string sentence;
  try {
    shape_error copy("");
    {
      const shape_error original("a message");
      copy = original;
    }
    throw copy;
  } catch (const error& e) {
    sentence = e.what();
  }
  BOOST_TEST(sentence == "a message");
}

BOOST_AUTO_TEST_SUITE_END()
