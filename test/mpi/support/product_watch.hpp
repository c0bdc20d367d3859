// Calls functions of a test before and after each matrix product of doubles on this worker, so that the test can check
// what happens meanwhile.
#pragma once

#include <functional>

namespace test {

struct product_watch {
  std::function<void()> before, after;
};
/// The watch of this worker; it is empty at first.
product_watch& watched_products();

}  // namespace test
