// What a reshard's exchange costs each worker, computed from the boxes without listing them: elements, messages, time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/mesh_block.hpp>
#include <partita/plan/mesh_links.hpp>
#include <vector>

namespace partita {

/// An exchange of a reshard: both shardings of one mesh, and the axes (as bits) whose summands are gathered.
struct reshard_exchange {
  sharding from{}, to{};      ///< the shardings before and after the exchange
  std::uint32_t reduced = 0;  ///< as bits, the axes whose summands are gathered and reduced

  /// The number of summands of each element that are gathered and reduced.
  constexpr std::size_t summands() const {
    std::size_t n = 1;
    for (std::size_t a = 0; a < from.on.rank(); ++a)
      if ((reduced >> a & 1U) != 0) n *= from.on.size(a);
    return n;
  }
};

/// What one worker receives. A message has the cost of the slowest axis along which sender and receiver differ.
struct received_share {
  std::size_t elements = 0, messages = 0;   ///< received from other workers
  double seconds = 0, latency_seconds = 0;  ///< `latency_seconds`: the part of `seconds` for latencies
};

/// What the workers of a mesh receive: the largest numbers of any worker, and the mean number of elements.
struct exchange_cost {
  std::size_t elements = 0, messages = 0;  ///< the most that a worker receives
  double mean = 0, seconds = 0,
         latency_seconds = 0;  ///< the mean of elements; the longest time; its part for latencies
};

namespace detail {

/// The number of indices that two intervals have in common.
constexpr std::size_t overlap_length(const interval& a, const interval& b) {
  const std::size_t start = a.start > b.start ? a.start : b.start, stop = a.stop < b.stop ? a.stop : b.stop;
  return stop > start ? stop - start : 0;
}

/// The axes of a sharding with a pending reduction, as bits.
constexpr std::uint32_t partial_axes(const sharding& s) {
  std::uint32_t bits = 0;
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if (s.pending[a] != pending_reduction::none) bits |= std::uint32_t{1} << a;
  return bits;
}

/// Computes the cost of an exchange from the parts of each dimension in both shardings. The number of a worker's part
/// is the sum, over the axes, of the worker's coordinate times a stride. Links of equal speed form a class; classes are
/// in order, the slowest first.
class exchange_counter {
 public:
  constexpr exchange_counter(const reshard_exchange& e, const shape_list& shape, const mesh_links& over,
                             std::size_t element_bytes)
      : m_(e.from.on),
        reduced_axes_(e.reduced),
        element_bytes_(static_cast<double>(element_bytes)),
        summands_(e.summands()) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      dimensions_.push_back({});
      dimension& one = dimensions_.back();
      split_dimension(e.from.cuts[d], shape[d], one.from, d, &axis_steps::from_dimension, &axis_steps::from_stride);
      split_dimension(e.to.cuts[d], shape[d], one.to, d, &axis_steps::to_dimension, &axis_steps::to_stride);
      find_overlaps(one);
    }
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (m_.size(a) > 1 && ((e.from.cut_axes() | e.to.cut_axes() | e.reduced) >> a & 1U) != 0) axes_.push_back(a);
    find_link_classes(over);
  }

  /// What the worker at a place of the mesh receives in the exchange.
  constexpr received_share at(std::size_t place) const {
    std::size_t from[most_dimensions] = {}, to[most_dimensions] = {};
    for (const std::size_t a : axes_) advance(a, coordinate_of(m_, place, a), from, to);
    return share(from, to);
  }
  /// The largest numbers of messages and elements that a worker receives, the mean number of elements, and the longest
  /// time. Cost: O(workers along axes in use, times rank).
  constexpr exchange_cost cost() const {
    exchange_cost out;
    std::size_t from[most_dimensions] = {}, to[most_dimensions] = {}, coordinate[most_axes] = {};
    std::size_t workers = 0;
    for (double total = 0;;) {
      const received_share one = share(from, to);
      ++workers, total += static_cast<double>(one.elements);
      if (one.elements > out.elements) out.elements = one.elements;
      if (one.messages > out.messages) out.messages = one.messages;
      if (one.seconds > out.seconds) out.seconds = one.seconds, out.latency_seconds = one.latency_seconds;
      std::size_t k = 0;  // add one to the coordinates
      for (; k < axes_.size(); ++k) {
        const std::size_t a = axes_[k];
        advance(a, 1, from, to);
        if (++coordinate[a] < m_.size(a)) break;
        advance(a, std::size_t{0} - coordinate[a], from, to);
        coordinate[a] = 0;
      }
      if (k < axes_.size()) continue;
      out.mean = total / static_cast<double>(workers);
      return out;
    }
  }

 private:
  /// A range of the source's parts, and how many of them overlap a part of the target.
  struct overlap_range {
    std::size_t first = 0, end = 0, count = 0;  ///< part numbers (`end`: past the last); how many overlap
  };
  /// One dimension of the tensor.
  struct dimension {
    std::vector<interval> from{}, to{};     ///< the parts of the dimension in both shardings
    std::vector<overlap_range> overlaps{};  ///< the overlapping parts, for each part of the target
    /// For each class but the last, a number for each source part: parts whose coordinates are equal along the axes of
    /// this class and of slower classes have equal numbers.
    std::vector<std::vector<std::size_t>> source_part_sets_by_class{};
  };
  /// The dimension that an axis shards before and after, and how far apart the part numbers of neighbours are there.
  struct axis_steps {
    std::size_t from_dimension = 0, from_stride = 0, to_dimension = 0, to_stride = 0;  ///< strides: 0 for no dimension
  };
  /// The axes whose links have one speed.
  struct link_class {
    mesh_link link{};          ///< the speed of these links
    std::uint32_t axes = 0;    ///< the axes of this class and of all slower classes
    std::size_t summands = 1;  ///< the number of summands on workers with equal coordinates along `axes`
  };

  /// Lists the parts of dimension d, which is sharded by the axes `cuts`, and notes the strides of these axes.
  constexpr void split_dimension(axis_list cuts, std::size_t extent, std::vector<interval>& parts, std::size_t d,
                                 std::size_t axis_steps::*where, std::size_t axis_steps::*stride) {
    parts.push_back({0, extent});
    std::size_t step = m_.size(cuts);
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const std::size_t p = m_.size(cuts[k]);
      step /= p;
      steps_[cuts[k]].*where = d, steps_[cuts[k]].*stride = step;
      std::vector<interval> pieces;
      pieces.reserve(parts.size() * p);
      for (const interval& one : parts)
        for (std::size_t c = 0; c < p; ++c) {
          const interval own = balanced_part(one.size(), p, c);
          pieces.push_back({one.start + own.start, one.start + own.stop});
        }
      parts = static_cast<std::vector<interval>&&>(pieces);
    }
  }
  /// Finds, for each part after the exchange, the parts before it that overlap it.
  constexpr static void find_overlaps(dimension& one) {
    one.overlaps.reserve(one.to.size());
    std::size_t first = 0;
    for (const interval& wanted : one.to) {
      while (first < one.from.size() && one.from[first].stop <= wanted.start) ++first;
      overlap_range sources{first, first, 0};
      for (; sources.end < one.from.size() && one.from[sources.end].start < wanted.stop; ++sources.end)
        sources.count += overlap_length(one.from[sources.end], wanted) != 0;
      one.overlaps.push_back(sources);
    }
  }
  /// Groups the axes in use by the speed of their links, slowest first.
  constexpr void find_link_classes(const mesh_links& over) {
    std::uint32_t left = 0, classified = 0;
    for (const std::size_t a : axes_) left |= std::uint32_t{1} << a;
    while (left != 0) {
      link_class next;
      bool found = false;
      for (const std::size_t a : axes_)
        if (const mesh_link& one = over.along[a]; (left >> a & 1U) != 0 && (!found || is_slower(one, next.link)))
          next.link = one, found = true;
      for (const std::size_t a : axes_)
        if (over.along[a] == next.link) left &= ~(std::uint32_t{1} << a), classified |= std::uint32_t{1} << a;
      next.axes = classified;
      for (const std::size_t a : axes_)
        if ((reduced_axes_ >> a & 1U) != 0 && (classified >> a & 1U) == 0) next.summands *= m_.size(a);
      classes_.push_back(next);
    }
    for (std::size_t c = 0; c + 1 < classes_.size(); ++c)
      for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        std::vector<std::size_t> number_of(dimensions_[d].from.size(), 0);
        for (std::size_t p = 0; p < number_of.size(); ++p)
          for (const std::size_t a : axes_)
            if ((classes_[c].axes >> a & 1U) != 0 && steps_[a].from_stride != 0 && steps_[a].from_dimension == d)
              number_of[p] = number_of[p] * m_.size(a) + p / steps_[a].from_stride % m_.size(a);
        dimensions_[d].source_part_sets_by_class.push_back(static_cast<std::vector<std::size_t>&&>(number_of));
      }
  }
  constexpr static bool is_slower(const mesh_link& a, const mesh_link& b) {  ///< by seconds per byte, then by latency
    return a.seconds_per_byte != b.seconds_per_byte ? a.seconds_per_byte > b.seconds_per_byte : a.latency > b.latency;
  }
  /// Updates a worker's part numbers for a step of `coordinates` along axis a.
  constexpr void advance(std::size_t a, std::size_t coordinates, std::size_t* from, std::size_t* to) const {
    const axis_steps& one = steps_[a];
    from[one.from_dimension] += coordinates * one.from_stride;
    to[one.to_dimension] += coordinates * one.to_stride;
  }

  /// Counts the elements and messages that come over the links of each class. After class c, `elements` counts only
  /// what is held by workers whose coordinates equal this worker's along the axes of the classes up to c; the
  /// difference came over links of class c. After the last class, the worker's own elements remain.
  constexpr received_share share(const std::size_t* from, const std::size_t* to) const {
    received_share out;
    std::size_t elements = summands_, messages = summands_;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      elements *= dimensions_[d].to[to[d]].size();
      messages *= dimensions_[d].overlaps[to[d]].count;
    }
    for (std::size_t c = 0; c < classes_.size() && elements != 0; ++c) {
      std::size_t remaining = classes_[c].summands, boxes = remaining;
      for (std::size_t d = 0; d < dimensions_.size(); ++d) {
        const dimension& one = dimensions_[d];
        const interval& wanted = one.to[to[d]];
        std::size_t length = 0, count = 0;
        if (c + 1 == classes_.size()) {
          length = overlap_length(one.from[from[d]], wanted), count = length != 0;
        } else {
          for (std::size_t p = one.overlaps[to[d]].first; p < one.overlaps[to[d]].end; ++p) {
            if (one.source_part_sets_by_class[c][p] != one.source_part_sets_by_class[c][from[d]]) continue;
            const std::size_t common = overlap_length(one.from[p], wanted);
            length += common, count += common != 0;
          }
        }
        remaining *= length, boxes *= count;
      }
      const mesh_link& link = classes_[c].link;
      out.elements += elements - remaining, out.messages += messages - boxes;
      out.latency_seconds += static_cast<double>(messages - boxes) * link.latency;
      out.seconds += static_cast<double>(elements - remaining) * element_bytes_ * link.seconds_per_byte;
      elements = remaining, messages = boxes;
    }
    out.seconds += out.latency_seconds;
    return out;
  }

  const mesh& m_;                      ///< the mesh of both shardings
  std::uint32_t reduced_axes_;         ///< the axes whose summands are gathered, as bits
  double element_bytes_;               ///< the bytes of an element
  std::size_t summands_;               ///< the number of summands that are gathered
  std::vector<dimension> dimensions_;  ///< the dimensions of the tensor
  axis_steps steps_[most_axes]{};      ///< for each mesh axis, its dimensions and strides
  std::vector<std::size_t> axes_;      ///< the axes in use that have several workers
  std::vector<link_class> classes_;    ///< the slowest links first
};

}  // namespace detail
}  // namespace partita
