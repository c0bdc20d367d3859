// The error message of a call that throws.
#pragma once

#include <boost/test/unit_test.hpp>
#include <partita/core/error.hpp>
#include <string>

namespace test {

/// The message of the `Error` that a call throws; empty if the call does not throw. Other exceptions are passed on.
template <class Error = partita::error, class Call>
[[nodiscard]] std::string refused(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

/// Fails unless a call throws an `Error` whose message has this part.
template <class Error, class Call>
void expect_refused(Call call, const char* part = "") {
  const std::string message = refused<Error>(call);
  BOOST_TEST(!message.empty(), "a wrong call was not refused");
  BOOST_TEST(message.find(part) != std::string::npos, "got '" << message << "', and not '" << part << "'");
}

}  // namespace test
