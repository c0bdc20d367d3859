// The exceptions: they have one base class, and own their error message.
#include <boost/test/unit_test.hpp>
#include <partita/comm/detail/world/failure.hpp>
#include <partita/core/error.hpp>
#include <string>
#include <typeinfo>

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
  const auto thrower = [] { detail::raise(detail::failure_of(Error("why")), "why"); };
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
