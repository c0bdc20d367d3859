// If one worker throws while a new plan is made, all workers throw the same type with the same message.
#include "mpi_test.hpp"

#include <new>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <stdexcept>
#include <string>

#include "refused.hpp"

namespace {

using namespace partita;
using test::refused;

/// A call that runs `learn` on the last worker while the plan is made, and nothing on the others.
template <class Learn>
void learn_on_the_last(const world& everyone, Learn learn, bool blindly = false) {
  detail::plan_cache<int> cache;
  const detail::local_error none;
  detail::agreed_structure(
      *everyone.state(), cache, {17, none, blindly}, [](int) { return false; },
      [&](detail::local_error&) {
        if (everyone.id() + 1 == everyone.size()) learn();
        return 1;
      },
      [] { return text("a call"); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(errors_while_learning)

BOOST_AUTO_TEST_CASE(are_errors_of_the_same_kind_on_all_workers) {
  const world everyone(test::workers());
  for (const bool blindly : {false, true}) {
    BOOST_TEST(refused<shape_error>([&] {
                 learn_on_the_last(
                     everyone, [] { throw shape_error("a shape"); }, blindly);
               }) == "a shape");
    BOOST_TEST(refused<partition_error>([&] {
                 learn_on_the_last(
                     everyone, [] { throw partition_error("a partition"); }, blindly);
               }) == "a partition");
    BOOST_TEST(refused<error>([&] {
                 learn_on_the_last(
                     everyone, [] { throw error("any"); }, blindly);
               }) == "any");
    const std::string memory = refused<communication_error>([&] {
      learn_on_the_last(
          everyone, [] { throw std::bad_alloc(); }, blindly);
    });
    BOOST_TEST(memory.find("has no memory to prepare a call") != std::string::npos, memory);
    const std::string other = refused<error>([&] {
      learn_on_the_last(
          everyone, [] { throw std::length_error("too long"); }, blindly);
    });
    BOOST_TEST(other.find("cannot prepare a call: too long") != std::string::npos, other);
  }
  // and the world still works
  learn_on_the_last(everyone, [] {});
  const all_sum_reduce sum(everyone.partition(extents(everyone.size())), dimensions<0>);
  BOOST_TEST(sum(xt::xtensor<double, 1>{1, 2})(1) == 2.0 * static_cast<double>(everyone.size()));
}

BOOST_AUTO_TEST_SUITE_END()
