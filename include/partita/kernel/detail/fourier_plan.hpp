// The plan of a Fourier transform: which dimensions are transformed in which layout, and what one worker moves between
// layouts. A plan holds no data and needs no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/short_list.hpp>
#include <partita/core/text.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <partita/plan/workers.hpp>
#include <vector>

namespace partita {

/// One layout of a transform, the dimensions that are transformed in this layout, and the move to the next layout.
template <std::size_t Rank>
struct fourier_step {
  std::array<std::size_t, Rank> grid{};               ///< the number of parts along each dimension
  partita::workers workers = partita::workers(0, 0);  ///< the workers of this layout
  shape_list dimensions{};                            ///< the dimensions that are transformed in this layout, in order
  bool moves = false;                                 ///< whether a move follows; false in the last layout
  bool moves_complex = false;                         ///< whether numbers are complex after this layout's transforms
  exchange_plan<Rank> move{};                         ///< what this worker sends, keeps and receives in the move
};

/// The plan of one worker for a tensor in balanced blocks.
template <std::size_t Rank>
struct fourier_plan {
  std::array<std::size_t, Rank> extents{};         ///< the extents of the tensor that is transformed
  std::array<std::size_t, Rank> result_extents{};  ///< the extents of the result
  std::vector<fourier_step<Rank>> steps;           ///< the layouts, from x to the result

  /// The number of moves of the whole tensor from one layout to another.
  std::size_t moves() const { return steps.empty() ? 0 : steps.size() - 1; }
  /// The number of messages that this worker sends to other workers in all moves.
  std::size_t messages_sent() const {
    std::size_t n = 0;
    for (const auto& step : steps) n += step.move.messages_sent();
    return n;
  }
  std::size_t elements_sent() const {  // the number of elements that this worker sends in all moves
    std::size_t n = 0;
    for (const auto& step : steps) n += step.move.elements_sent();
    return n;
  }
  /// The number of bytes that this worker sends in all moves, if a real number has `bytes_of_real` bytes.
  std::size_t bytes_sent(std::size_t bytes_of_real) const {
    std::size_t n = 0;
    for (const auto& step : steps) n += step.move.elements_sent() * (step.moves_complex ? 2 : 1) * bytes_of_real;
    return n;
  }
};

/// Writes a plan to a stream: a line with the extents of the tensor and the number of moves, then one line for each
/// layout and one for each move.
template <class Stream, std::size_t Rank>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const fourier_plan<Rank>& plan) {
  text all;
  all << "transform of a " << plan.extents << " tensor, " << plan.moves()
      << (plan.moves() == 1 ? " move\n" : " moves\n");
  for (const fourier_step<Rank>& step : plan.steps) {
    all << "  on " << step.grid << " workers: ";
    if (step.dimensions.empty()) all << "nothing to transform";
    for (std::size_t k = 0; k < step.dimensions.size(); ++k)
      all << (k == 0 ? (step.dimensions.size() == 1 ? "dimension " : "dimensions ") : ", ") << step.dimensions[k];
    all << '\n';
    if (!step.moves) continue;
    const std::size_t messages = step.move.messages_sent();
    all << "  move: worker " << step.move.worker << " sends " << step.move.elements_sent()
        << (step.moves_complex ? " complex numbers to " : " numbers to ") << messages
        << (messages == 1 ? " worker and keeps " : " workers and keeps ") << step.move.elements_kept() << '\n';
  }
  return stream << all;
}

}  // namespace partita
