// The error message of a call that throws.
#pragma once

#include <partita/core/error.hpp>
#include <string>

namespace test {

/// The message of the `Error` that a call throws; empty if it throws nothing. Other exceptions are passed on.
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
