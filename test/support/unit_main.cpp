// The main function of the unit tests: runs Boost.Test and prints the closing line.
#include <boost/test/framework.hpp>
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <iostream>

#include "closing_line.hpp"
#include "random_cases.hpp"

int main(int argc, char** argv) {
  ::setenv("BOOST_TEST_COLOR_OUTPUT", "no", 0);
  ::setenv("BOOST_TEST_CATCH_SYSTEM_ERRORS", "no", 0);
  namespace bt = boost::unit_test;
  const int status = bt::unit_test_main([] { return true; }, argc, argv);
  const auto& all = bt::results_collector.results(bt::framework::master_test_suite().p_id);
  const std::size_t passed = all.p_test_cases_passed + all.p_test_cases_warned;
  const std::size_t failed = all.p_test_cases_failed;
  if (test::random_operations() > 0)
    std::cout << "random operations on simulated devices: " << test::random_operations() << std::endl;
  test::write_closing_line(std::cout, passed, failed, all.p_test_cases_skipped);
  if (status != 0) return status;
  return test::status_of(passed, failed, all.p_test_cases_skipped);
}
