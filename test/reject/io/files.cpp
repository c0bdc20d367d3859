// Calls on files that are invalid by their types are compile-time errors.
//
// expect SAVE_OF_ANOTHER_RANK: partita::save_npy\(path, p, extents, x\): requires a partition, extents and a block of
//   one rank; reshape.. the partition with extents of 1
// expect SAVE_UNKNOWN_ELEMENTS: partita::save_npy\(path, p, extents, x\): requires elements that a .npy file can hold
// expect SAVE_POLICY: partita::save_npy\(.*\): requires policies among source_cuts\(...\), fortran_order and
//   file_options
// expect SAVE_TWO_CUTS: requires at most one source_cuts\(...\) or result_cuts\(...\); leave one out
// expect CUTS_OF_ANOTHER_RANK: source_cuts\(...\)\): requires one cut for each dimension of the partition
// expect LOAD_ANOTHER_RANK: partita::load_npy<T, rank>\(path, p\): requires a partition of the rank asked for
// expect LOAD_UNKNOWN_ELEMENTS: partita::load_npy<T, rank>\(path, p\): requires elements that a .npy file can hold
// expect LOAD_POLICY: partita::load_npy<T, rank>\(.*\): requires policies among result_cuts\(...\) and file_options
// expect NAMED_POLICY: partita::named\(.*\): requires no policy but source_cuts\(...\)
// expect NAMED_RANK: partita::named\(name, p, extents, x\): requires a partition, extents and a block of one rank
// expect CHECKPOINT_OF_BLOCKS: partita::save_checkpoint\(.*\): requires tensors made by named\(name, p, extents, x\)
// expect CHECKPOINT_LOAD_RANK: partita::checkpoint::load<T, rank>\(name, p\): requires a partition of the rank asked
//   for; reshape.. it with extents of 1
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>

using namespace partita;

struct pixel {
  unsigned char red = 0, green = 0, blue = 0;
};

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xtensor<pixel, 2>& picture,
           const decomposition<2>& cuts, [[maybe_unused]] const checkpoint& saved) {
  const auto p = everyone.partition<2, 1>();
  const extents<4, 5> e;
  save_npy("w.npy", p, e, x, source_cuts(cuts), fortran_order, file_options{});
  static_cast<void>(load_npy<float, 2>("w.npy", p, result_cuts(cuts)));
#if defined(SAVE_OF_ANOTHER_RANK)
  save_npy("w.npy", p, extents<20>{}, x);
#elif defined(SAVE_UNKNOWN_ELEMENTS)
  save_npy("w.npy", p, e, picture);
#elif defined(SAVE_POLICY)
  save_npy("w.npy", p, e, x, result_cuts(cuts));
#elif defined(SAVE_TWO_CUTS)
  save_npy("w.npy", p, e, x, source_cuts(cuts), source_cuts(cuts));
#elif defined(CUTS_OF_ANOTHER_RANK)
  save_npy("w.npy", p, e, x, source_cuts(cut::at({4})));
#elif defined(LOAD_ANOTHER_RANK)
  static_cast<void>(load_npy<float, 3>("w.npy", p));
#elif defined(LOAD_UNKNOWN_ELEMENTS)
  static_cast<void>(load_npy<pixel, 2>("w.npy", p));
#elif defined(LOAD_POLICY)
  static_cast<void>(load_npy<float, 2>("w.npy", p, source_cuts(cuts)));
#elif defined(NAMED_POLICY)
  static_cast<void>(named("w", p, e, x, fortran_order));
#elif defined(NAMED_RANK)
  static_cast<void>(named("w", p, extents<20>{}, x));
#elif defined(CHECKPOINT_OF_BLOCKS)
  save_checkpoint("run", 1, x);
#elif defined(CHECKPOINT_LOAD_RANK)
  static_cast<void>(saved.load<float, 1>("w", p));
#endif
}

int main() {}
