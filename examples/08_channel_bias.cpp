// Adds a bias per channel to a distributed batch of images and computes the gradient of the bias, on 4 workers.
#include <boost/mpi/environment.hpp>
#include <cstdlib>
#include <iostream>
#include <partita/comm/partition.hpp>
#include <partita/kernel/partitioned_elementwise.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;

  // [operation]
  auto p_images = everyone.partition<2, 1, 2, 1>();  // divides the batch and the rows of the images
  auto p_bias = everyone.partition<1>();             // the whole bias is on worker 0
  const auto images = on(p_images, extents<8, 3, 6, 5>{});
  const auto biases = on(p_bias, extents<3>{});
  partitioned_elementwise add_bias(function::add{}, images, biases, broadcast_dimensions<1>);
  // [/operation]
  if (everyone.id() == 0) std::cout << add_bias.plan();

  const xt::xtensor<double, 4> x = xt::ones<double>(images.block_shape());
  xt::xtensor<double, 1> bias = xt::zeros<double>(biases.block_shape());
  if (p_bias.active()) bias = xt::xtensor<double, 1>{10, 20, 30};

  // [call]
  const auto z = add_bias(x, bias);  // this worker's images, with the bias added to their channels
  const auto dbias = add_bias.rhs().adjoint(xt::ones_like(z));  // sums dz on each worker, then over workers
  // [/call]

  if (everyone.id() == 0)
    std::cout
        << "Eight images of three channels lie on four workers, the three biases on worker 0.\n"
        << "Look at: the plan moves the bias to the images, never the images; the gradient of the bias is a sum.\n";
  bool right = true;
  for (std::size_t image = 0; image < z.shape(0); ++image)
    for (std::size_t channel = 0; channel < 3; ++channel)
      right = right && z(image, channel, 0, 0) == 1.0 + 10.0 * static_cast<double>(channel + 1);
  if (p_bias.active()) right = right && dbias == xt::xtensor<double, 1>{240, 240, 240};  // 8 images of 6 x 5 pixels
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
