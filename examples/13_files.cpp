// Saves a distributed tensor to one file that NumPy can read, and loads it onto another partition, on 4 workers.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

/// This worker's balanced block, on the partition p, of the 6 x 8 matrix w(i, j) = 10 i + j.
template <class Partition>
xt::xtensor<float, 2> block_of_w(const Partition& p) {
  auto w = zero_volume<float, 2>();
  if (!p.active()) return w;
  const auto box = decomposition<2>::balanced({6, 8}, p.grid().shape()).block(p.index());
  w.resize({box.shape()[0], box.shape()[1]});
  for (std::size_t i = 0; i < w.shape(0); ++i)
    for (std::size_t j = 0; j < w.shape(1); ++j)
      w(i, j) = static_cast<float>(10 * (box.start[0] + i) + box.start[1] + j);
  return w;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  auto p_w = everyone.partition<2, 2>();
  const auto w = block_of_w(p_w);

  // [save]
  const extents<6, 8> global_extents;
  save_npy("w.npy", p_w, global_extents, w);  // all workers call; NumPy can read the file
  // [/save]

  // [load]
  auto p_other = everyone.partition<1, 3>();  // worker 3 gets no element
  const auto columns = load_npy<float, 2>("w.npy", p_other);
  // [/load]
  bool right = columns == block_of_w(p_other);

  // [cuts]
  const auto rows = everyone.partition<4, 1>();
  const auto few = load_npy<float, 2>("w.npy", rows, result_cuts(cut::at({1, 1, 2, 2}), cut::balanced(8, 1)));
  save_npy("w.npy", rows, global_extents, 2 * few, fortran_order);  // replaces the old file when complete
  // [/cuts]
  right = right && load_npy<float, 2>("w.npy", p_w) == xt::xtensor<float, 2>(2 * w);

  // [refused]
  std::string message;
  try {
    load_npy<double, 2>("w.npy", p_w);
  } catch (const io_error& e) {  // all workers catch the same error
    message = e.what();
  }
  // [/refused]
  right = right && !message.empty();

  if (everyone.id() == 0) {
    std::cout << "A 6 x 8 matrix on 2 x 2 workers went into one file, w.npy, and came back as columns on 3 workers.\n"
              << "Worker 0 now holds " << columns.shape(1) << " of its 8 columns; element (5, 0) is " << columns(5, 0)
              << ".\nAsked for numbers of another type, all workers throw the same error:\n  " << message << '\n';
    std::cout << "Look at: the file is one plain .npy; numpy.load reads it, and no worker ever held all of it.\n";
    std::remove("w.npy");
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
