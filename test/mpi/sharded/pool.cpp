// Pooling and upsampling, and their gradients, exactly equal those of the whole tensors for all layouts.
#include "check_operation.hpp"

#include <partita/sharded/pool.hpp>

using namespace partita;

BOOST_AUTO_TEST_CASE(windows_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(19);
  using test::check, test::check_linear;
  using v = std::vector<test::tensor>;
  for (std::size_t k = 0; k < test::random_cases(20); ++k) {
    const std::size_t n = random() % 4, c = random() % 4, kernel = 1 + random() % 3, stride = 1 + random() % 4;
    const std::size_t cells = kernel + random() % 10, size = 1 + random() % 9;
    const max_pooling_options<1> largest{.kernel = {kernel},
                                         .stride = std::array{stride},
                                         .padding = {random() % (kernel / 2 + 1)},
                                         .ceil_mode = random() % 2 == 0};
    check(everyone, "max_pool", random, {{n, c, cells}}, [&](const v& x) { return max_pool<1>(x[0], largest); });
    check(everyone, "adaptive_max_pool", random, {{n, c, cells}},
          [&](const v& x) { return adaptive_max_pool<1>(x[0], {.size = {size}}); });
    check_linear(everyone, "upsample", random, {{n, c, cells}},
                 [&](const v& x) { return upsample<1>(x[0], {.size = std::array{size}}); });
  }
}
