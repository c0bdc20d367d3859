// A call in a child process, for what a process can try once only, or what ends it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

namespace test {

/// The exit status of a child process that ends with the number that a function returns, or 1000 plus the number of the
/// signal that ends the child.
template <class Check>
int status_of_child(Check check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = -1;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace test
