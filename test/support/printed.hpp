// What a call prints to the standard error stream.
#pragma once

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>

namespace test {

/// What a call prints to the standard error stream of this process.
template <class Call>
std::string printed(Call call) {
  std::FILE* const file = std::tmpfile();
  BOOST_REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  call();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO), ::close(before);
  std::rewind(file);
  std::string all;
  char some[512];
  for (std::size_t n = 0; (n = std::fread(some, 1, sizeof some, file)) > 0;) all.append(some, n);
  std::fclose(file);
  return all;
}

}  // namespace test
