// The sentence with which a call is refused.
#pragma once

#include <partita/core/error.hpp>
#include <string>

namespace test {

/// What the `Error` says that a call throws; empty if it throws nothing. Other exceptions go on to who runs the test.
template <class Error = partita::error, class Call>
std::string refused(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace test
