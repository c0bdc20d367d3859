// A block of more than 2^31 elements and bytes from one worker to another, by every strategy, checked element by
// element. Takes three times its bytes of memory: mpirun -n 2 bench/large [GiB, 2.2]
#include <partita/kernel/repartition.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace partita;

std::int8_t element(std::size_t k) { return static_cast<std::int8_t>(k * 0x9e3779b97f4a7c15ULL >> 57U); }

struct outcome {
  double seconds = 0;
  bool right = true;
};

/// Moves rows of `width` elements that lie `pitch` apart on worker 0 to worker 1.
template <class X, class... Policies>
outcome move(const world& everyone, const X& x, std::size_t width, std::size_t pitch, Policies... policies) {
  const repartition r(everyone.partition<1, 1>(workers{0}), everyone.partition<1, 1>(workers{1}), policies...);
  outcome o;
  for (int turn = 0; turn < 2; ++turn) {  // the first one faults its pages in
    everyone.communicator().barrier();
    const double start = MPI_Wtime();
    const auto y = r(x);
    everyone.communicator().barrier();
    o.seconds = MPI_Wtime() - start;
    if (everyone.id() == 1)
      for (std::size_t i = 0; i < y.shape()[0]; ++i)
        for (std::size_t j = 0; j < width; ++j) o.right = o.right && y.data()[i * width + j] == element(i * pitch + j);
  }
  return o;
}

void report(const world& everyone, const char* name, double bytes, const outcome& o) {
  const int own = o.right ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, everyone.communicator());
  if (everyone.id() == 0)
    std::printf("%-34s %6.2f s  %6.2f GB/s  %s\n", name, o.seconds, bytes / o.seconds / 1e9,
                all != 0 ? "right" : "WRONG");
  std::fflush(stdout);
  if (all == 0) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const boost::mpi::environment environment(argc, argv);
  const world everyone;
  if (everyone.size() < 2) return std::puts("large: needs 2 workers"), 1;
  const double gibibytes = argc > 1 ? std::atof(argv[1]) : 2.2;
  const std::size_t pitch = std::size_t{1} << 20, width = pitch - 4096;  // rows of a strided block
  const auto height = static_cast<std::size_t>(gibibytes * 1024) + 1;
  const std::size_t rows = everyone.id() == 0 ? height : 0;
  xt::xtensor<std::int8_t, 2> x({rows, pitch});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = element(k);
  const auto part = xt::view(x, xt::all(), xt::range(std::size_t{0}, width));
  const double whole_bytes = static_cast<double>(height * pitch), part_bytes = static_cast<double>(height * width);
  if (everyone.id() == 0) std::printf("%zu elements, %zu of them strided\n", height * pitch, height * width);

  report(everyone, "contiguous, shared memory", whole_bytes, move(everyone, x, pitch, pitch));
  report(everyone, "contiguous, messages", whole_bytes, move(everyone, x, pitch, pitch, strategy::message));
  report(everyone, "strided, shared memory", part_bytes, move(everyone, part, width, pitch));
  report(everyone, "strided, messages packed", part_bytes,
         move(everyone, part, width, pitch, strategy::message, messages::packed));
  report(everyone, "strided, messages chunked", part_bytes,
         move(everyone, part, width, pitch, strategy::message, messages::chunked));
  report(everyone, "strided, messages typed", part_bytes,
         move(everyone, part, width, pitch, strategy::message, messages::typed));
}
