// Layers in a bound program: convolutions, pooling, norms and losses give the same as in the traced program, forward
// and backward.
#include "check_bound.hpp"

#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pool.hpp>

using namespace partita;

namespace {

/// A small network of images and parameters.
const auto network = [](const auto& x, const auto& w, const auto& b, const auto& gamma, const auto& beta,
                        const auto& turned, const auto& target) {
  const auto y = normalise_batch(convolve<2>(x, w, b, {.padding = {1, 1}}), gamma, beta);
  const auto small = average_pool<2>(max_pool<2>(relu(y), {.kernel = {2, 2}}), {.kernel = {2, 1}});
  const auto wide =
      convolve_transposed<2>(normalise_rms(small, slice(beta, dimensions<0>, {0, 3}) / 2), turned, {.stride = {2, 2}});
  return mean(losses::bce_with_logits(upsample<2>(normalise_groups<2>(wide, gamma, beta), {.scale = 2}), target));
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_steady_step_of_layers_allocates_nothing) {
  world everyone(test::workers());
  for (const mesh& m : test::meshes(everyone.size())) {
    const std::size_t last = m.rank() - 1;
    for (const sharding& images : {sharding(m, 4).cut(0, axis_list(0)), sharding(m, 4).cut(1, axis_list(0)),
                                   sharding(m, 4).cut(2, axis_list(last))}) {
      auto program = trace(network, spec(images, {5, 2, 8, 6}), spec({4, 2, 3, 3}), spec({4}), spec({4}), spec({4}),
                           spec({4, 4, 2, 2}), spec({5, 4, 8, 12}));
      if (last > 0) program.constrain(program.input(1), sharding(m, 4).cut(0, axis_list(last)));
      test::check_bound(everyone, program, std::make_index_sequence<7>());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_bound_program_has_every_loss) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto f = [](const auto& x, const auto& y) {
    const auto p = sigmoid(x), q = sigmoid(y);
    const auto shares = losses::bce(p, q) + losses::kl(log(p), q) + losses::poisson_nll(p, q, {.log_input = false});
    return sum(shares + losses::mse(x, y) + losses::l1(x, y) * 2 + losses::smooth_l1(x, y), dimensions<0>);
  };
  test::check_bound(everyone, trace(f, spec(m.layout("a", ""), {26, 13}), spec({26, 13})),
                    std::make_index_sequence<2>());
  test::check_bound(everyone, trace(f, spec(m.layout("", "a"), {26, 13}), spec({26, 13})),
                    std::make_index_sequence<2>());
}
