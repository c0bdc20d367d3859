// Prints sharded tensors in readable form.
#pragma once

#include <cstddef>
#include <partita/sharded/sharded.hpp>

namespace partita {

/// Writes the layout of a tensor and at most 64 elements of this worker's block: `[4, 6] (data, ) on data 2 x model 2;
/// here [0, 2) x [0, 6): 1 2 3 …`. The elements of a partial tensor are not shown. No communication.
template <class Stream, class T>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const sharded_tensor<T>& x) {
  constexpr std::size_t most_shown = 64;  // chosen: a reader can still read this number of elements
  stream << (text() << "" << x.extents());
  if (x.state()->on) stream << (text(" ") << "" << x.layout() << " on " << x.state()->on->where());
  if (!x.state()->active()) {
    stream << text("; nothing here");
    return stream;
  }
  stream << text("; here");
  const auto here = x.box();
  for (std::size_t d = 0; d < here.size(); ++d)
    stream << (text(d == 0 ? " [" : " x [") << here[d].start << ", " << here[d].stop << ')');
  if (x.layout().is_partial()) {
    stream << text(" a summand");
    return stream;
  }
  stream << text(":");
  for (std::size_t k = 0; k < x.size() && k < most_shown; ++k) {
    stream << text(" ");
    stream << x.data()[k];
  }
  if (x.size() > most_shown) stream << text(" ...");
  return stream;
}

/// Writes a typed tensor in the same form as a run-time tensor.
template <class Stream, class T, auto Layout>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const typed_sharded<T, Layout>& x) {
  return stream << x.run_time_tensor();
}

}  // namespace partita
