// Moves a block of more than 2^31 elements and bytes from one worker to another by every strategy, and checks every
// element. The program needs three times the bytes of the block as memory.
#include <partita/kernel/repartition.hpp>

#include <cstdint>
#include <vector>

#include "machine.hpp"

namespace {

using namespace partita;

std::int8_t element(std::size_t k) { return static_cast<std::int8_t>(k * 0x9e3779b97f4a7c15ULL >> 57U); }

struct outcome {
  std::vector<double> seconds{};
  bool right = true;
};

/// Moves rows of `width` elements from worker 0, where they are `pitch` elements apart, to worker 1.
template <class X, class... Policies>
outcome move(const world& everyone, const X& x, std::size_t width, std::size_t pitch, Policies... policies) {
  const repartition r(everyone.partition<1, 1>(workers{0}), everyone.partition<1, 1>(workers{1}), policies...);
  outcome o;
  for (int turn = 0; turn < 2; ++turn) {  // the first turn causes page faults
    everyone.communicator().barrier();
    const double start = MPI_Wtime();
    const auto y = r(x);
    everyone.communicator().barrier();
    if (turn == 1) o.seconds.push_back(MPI_Wtime() - start);
    if (everyone.id() == 1)
      for (std::size_t i = 0; i < y.shape()[0]; ++i)
        for (std::size_t j = 0; j < width; ++j) o.right = o.right && y.data()[i * width + j] == element(i * pitch + j);
  }
  return o;
}

/// Prints whether the moved elements are right, and returns whether they are right on all workers.
bool report(bench::rows& out, const char* name, double bytes, const outcome& o) {
  const bool right = bench::right_everywhere(o.right);
  out.add_peer(name, "partita", o.seconds,
               {{"bytes", bytes}, {"gigabytes_a_second", bytes / o.seconds[0] / 1e9}, {"right", right}});
  return right;
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t pitch = std::size_t{1} << 20,
                    width = pitch - 4096;  // the distance and the length of the rows of a strided block
  const auto height = static_cast<std::size_t>(line.decimal("gibibytes") * 1024) + 1;
  const std::size_t rows = everyone.id() == 0 ? height : 0;
  xt::xtensor<std::int8_t, 2> x({rows, pitch});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = element(k);
  const auto part = xt::view(x, xt::all(), xt::range(std::size_t{0}, width));
  const double whole_bytes = static_cast<double>(height * pitch), part_bytes = static_cast<double>(height * width);
  out.note(std::to_string(height * pitch) + " elements, " + std::to_string(height * width) + " of them strided");

  return report(out, "contiguous, shared memory", whole_bytes, move(everyone, x, pitch, pitch)) &&
         report(out, "contiguous, messages", whole_bytes, move(everyone, x, pitch, pitch, strategy::message)) &&
         report(out, "strided, shared memory", part_bytes, move(everyone, part, width, pitch)) &&
         report(out, "strided, messages packed", part_bytes,
                move(everyone, part, width, pitch, strategy::message, message_form::packed)) &&
         report(out, "strided, messages chunked", part_bytes,
                move(everyone, part, width, pitch, strategy::message, message_form::chunked)) &&
         report(out, "strided, messages typed", part_bytes,
                move(everyone, part, width, pitch, strategy::message, message_form::typed));
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "large", "a block of more than 2^31 elements and bytes from one worker to another, checked", {2},
      {{"gibibytes", bench::argument::decimal, "the block; three times as much memory is needed", "2.2", "0.002"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
