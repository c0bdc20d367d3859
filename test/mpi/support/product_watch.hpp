// What a test does before and after each product of matrices of double that this worker computes: to say what happens
// while it does.
#pragma once

#include <functional>

namespace test {

struct product_watch {
  std::function<void()> before, after;
};
/// The watch of this worker; nobody watches at first.
product_watch& watched_products();

}  // namespace test
