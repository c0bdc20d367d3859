// The operations of pooling and interpolation of sharded tensors, which compute each output from taps (the inputs in
// its window, with their weights), and their adjoints. The taps and the computation on them are those of the layers in
// nn/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/nn/pooling.hpp>
#include <partita/sharded/parts.hpp>
#include <vector>

namespace partita::detail {

/// The rule for tensors of shape [n, c, ...], which does not shard features; sharded features are read in windows.
constexpr partita::rule rule_of_samples(const char* name, std::size_t operands, std::size_t rank) {
  partita::rule r;
  const std::size_t n = r.add_factor(dynamic, 'n'), c = r.add_factor(dynamic, 'c');
  for (std::size_t t = 0; t <= operands; ++t) {
    t < operands ? r.begin_operand() : r.begin_result();
    r.add_dimension(n), r.add_dimension(c);
    for (std::size_t d = 2; d < rank; ++d) r.add_whole_dimension();
  }
  return r.complete().named(name);
}

/// The taps of a pooling or interpolation rule, for a tensor with extents `input_extents`.
template <class Rule, std::size_t Rank>
struct sampling_of_blocks {
  Rule sampling_rule;                             ///< the pooling or interpolation
  std::array<std::size_t, Rank> input_extents{};  ///< the extents of the whole input

  std::uint64_t fingerprint() const { return hasher(sampling_rule.fingerprint()).mix(input_extents).value(); }
  /// The taps of these outputs along dimension d.
  taps taps_of(std::size_t d, interval outputs) const { return sampling_rule.taps_of(d, outputs, input_extents[d]); }
  /// The box of inputs that a box of outputs reads, along the features.
  short_list<interval> input_intervals(const short_list<interval>& y) const {
    short_list<interval> all;
    for (std::size_t d = 2; d < Rank; ++d) all.push_back(taps_of(d, y[d]).footprint());
    return all;
  }
  /// The smallest box of outputs, along the features, that contains all outputs that read inputs in the box `cells`.
  short_list<interval> output_intervals(const short_list<interval>& cells) const {
    const auto m = sampling_rule.outputs(input_extents);
    short_list<interval> all;
    for (std::size_t d = 2; d < Rank; ++d) {
      const taps t = taps_of(d, {0, m[d]});
      interval these;
      for (std::size_t o = 0; o < m[d]; ++o)
        for (std::size_t k = t.first[o]; k < t.first[o + 1]; ++k) {
          if (t.input[k] < cells[d].start || t.input[k] >= cells[d].stop) continue;
          if (these.size() == 0) these.start = o;
          these.stop = o + 1;
        }
      all.push_back(these);
    }
    return all;
  }
  /// The taps of the outputs in box y, with indices relative to the box `cells`, which contains their inputs.
  local_taps<Rank> local_taps_of(const short_list<interval>& y, const short_list<interval>& cells) const {
    local_taps<Rank> by;
    for (std::size_t d = 0; d < Rank; ++d) {
      by.by_dimension[d] = taps_of(d, y[d]);
      for (std::size_t& i : by.by_dimension[d].input) i -= cells[d].start;
      by.window[d] = cells[d].size(), by.outputs[d] = y[d].size();
    }
    return by;
  }
  /// The box of the inputs that a box of outputs reads, along all dimensions.
  short_list<interval> input_box(const short_list<interval>& y) const { return with_features(y, input_intervals(y)); }
  /// Replaces the intervals of a box along the features by the intervals `features`.
  static short_list<interval> with_features(short_list<interval> box, const short_list<interval>& features) {
    for (std::size_t d = 2; d < Rank; ++d) box[d] = features[d - 2];
    return box;
  }
};

/// Copies the elements of the box `box` that are in the box of block y to y, and sets all other elements of y to 0.
template <class T>
void copy_overlap(const tensor_part<T>& y, const short_list<interval>& box, const T* elements) {
  for (T& element : y) element = T(0);
  shape_list here, there, shape;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const std::size_t from = box[d].start > y.box[d].start ? box[d].start : y.box[d].start,
                      to = box[d].stop < y.box[d].stop ? box[d].stop : y.box[d].stop;
    if (from >= to) return;
    here.push_back(from - y.box[d].start), there.push_back(from - box[d].start), shape.push_back(to - from);
  }
  copy_elements(tensor_part<const T>{elements, shape_of_box(box), {}, {}}, there, y, here, shape);
}

template <class Rule, std::size_t Rank>
struct sample_adjoint_operation;

/// The operation whose outputs are weighted sums of the elements of their windows (taps).
template <class Rule, std::size_t Rank>
struct sample_operation {
  static constexpr bool on_complex = false;                        ///< whether complex elements are accepted
  static constexpr std::uint32_t windowed = 1, adjoint_reads = 0;  ///< operand masks: read in windows, read by adjoint
  static constexpr std::size_t anchor = 1;      ///< tensor 1, the result, whose blocks determine the windows
  static constexpr std::size_t parameters = 1;  ///< the number of data members, which the workers compare
  sampling_of_blocks<Rule, Rank> sampling;      ///< the sampling rule and the extents of the input

  static constexpr partita::rule rule(const shape_span&) { return rule_of_samples("sample", 1, Rank); }
  shape_list result_extents(const shape_span&) const { return sampling.sampling_rule.outputs(sampling.input_extents); }
  /// The box of inputs, along the features, that box y of the outputs reads.
  short_list<interval> window(std::size_t, const short_list<interval>& y, const shape_span&) const {
    return sampling.input_intervals(y);
  }
  /// Returns a function that computes block y from the memory of block x.
  template <class T>
  auto prepared(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    return [by = sampling.local_taps_of(y.box, x.box), n = y.size(), room = taps_buffers<T>()](const T* from,
                                                                                               T* to) mutable {
      if (n > 0) apply_taps(by, from, room, to);
    };
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< the cotangent of x
    return apply_op(sample_adjoint_operation<Rule, Rank>{sampling}, dy);
  }
};
template <class Rule, std::size_t Rank>
struct sample_adjoint_operation {                                  ///< the adjoint of sample_operation
  static constexpr std::uint32_t windowed = 1, adjoint_reads = 0;  ///< operand masks: read in windows, read by adjoint
  static constexpr std::size_t anchor = 1;      ///< tensor 1, the result, whose blocks determine the windows
  static constexpr std::size_t parameters = 1;  ///< the number of data members, which the workers compare
  sampling_of_blocks<Rule, Rank> sampling;      ///< the sampling rule and the extents of the input

  static constexpr partita::rule rule(const shape_span&) { return rule_of_samples("gradient of samples", 1, Rank); }
  shape_list result_extents(const shape_span&) const { return sampling.input_extents; }
  /// The box of outputs, along the features, whose cotangents box x of the inputs reads.
  short_list<interval> window(std::size_t, const short_list<interval>& x, const shape_span&) const {
    return sampling.output_intervals(x);
  }
  /// Returns a function that computes block dx from the memory of block dy.
  template <class T>
  auto prepared(const tensor_part<const T>& dy, const tensor_part<T>& dx) const {
    const auto cells = sampling.input_box(dy.box);
    return [cells, by = sampling.local_taps_of(dy.box, cells), part = dx, room = taps_buffers<T>(),
            window = std::vector<T>(shape_size(shape_of_box(cells)))](const T* from, T* to) mutable {
      part.memory = to;
      apply_taps_adjoint(by, from, room, window.data());
      copy_overlap(part, cells, window.data());
    };
  }
  template <class X>
  X adjoint(std::size_t, const X& dx, const X&, const X&) const {  ///< the cotangent of dy
    return apply_op(sample_operation<Rule, Rank>{sampling}, dx);
  }
};

template <class Rule, std::size_t Rank>
struct max_pool_backward_operation;

/// The operation whose outputs are the largest elements of their windows (taps).
template <class Rule, std::size_t Rank>
struct max_pool_operation {
  static constexpr bool on_complex = false;                        ///< whether complex elements are accepted
  static constexpr std::uint32_t windowed = 1, adjoint_reads = 1;  ///< operand masks: read in windows, read by adjoint
  static constexpr std::size_t anchor = 1;      ///< tensor 1, the result, whose blocks determine the windows
  static constexpr std::size_t parameters = 1;  ///< the number of data members, which the workers compare
  sampling_of_blocks<Rule, Rank> sampling;      ///< the sampling rule and the extents of the input

  static constexpr partita::rule rule(const shape_span&) {  ///< does not shard features, which are read in windows
    return rule_of_samples("max_pool", 1, Rank).with(linearity::none);
  }
  shape_list result_extents(const shape_span&) const { return sampling.sampling_rule.outputs(sampling.input_extents); }
  /// The box of inputs, along the features, that box y of the outputs reads.
  short_list<interval> window(std::size_t, const short_list<interval>& y, const shape_span&) const {
    return sampling.input_intervals(y);
  }
  /// Returns a function that computes block y from the memory of block x.
  template <class T>
  auto prepared(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    return [by = sampling.local_taps_of(y.box, x.box), n = y.size(), largest = max_of_taps()](const T* from,
                                                                                              T* to) mutable {
      if (n > 0) largest.forward(by, from, to);
    };
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< the cotangent of x
    return apply_op(max_pool_backward_operation<Rule, Rank>{sampling}, dy, x);
  }
};
/// The adjoint of max_pool_operation: (dy, x) -> dy at the inputs that were the largest. The largest taps are selected
/// again, so that their indices need neither memory nor communication.
template <class Rule, std::size_t Rank>
struct max_pool_backward_operation {
  static constexpr std::uint32_t windowed = 3;  ///< a mask of the operands that are read in windows: both
  static constexpr std::size_t anchor = 2;      ///< tensor 2, the result, whose blocks determine the windows
  static constexpr std::size_t parameters = 1;  ///< the number of data members, which the workers compare
  sampling_of_blocks<Rule, Rank> sampling;      ///< the sampling rule and the extents of the input

  static constexpr partita::rule rule(const shape_span&) {  ///< does not shard features, which are read in windows
    return rule_of_samples("gradient of max_pool", 2, Rank).linear_in({0});
  }
  shape_list result_extents(const shape_span&) const { return sampling.input_extents; }
  /// The box, along the features, of operand i (0: dy, 1: the images) that box x of the result reads.
  short_list<interval> window(std::size_t i, const short_list<interval>& x, const shape_span&) const {
    const auto outputs = sampling.output_intervals(x);
    return i == 0 ? outputs : sampling.input_intervals(sampling.with_features(x, outputs));
  }
  /// Returns a function that computes block dx from the memory of blocks dy and x.
  template <class T>
  auto prepared(const tensor_part<const T>& dy, const tensor_part<const T>& x, const tensor_part<T>& dx) const {
    // dy may contain outputs that read no cell of dx; x may lack the inputs of these outputs.
    const auto y = sampling.with_features(dx.box, sampling.output_intervals(dx.box));
    const shape_list shape = shape_of_box(y);
    shape_list from;
    for (std::size_t d = 0; d < Rank; ++d) from.push_back(shape_size(shape) == 0 ? 0 : y[d].start - dy.box[d].start);
    return [=, by = sampling.local_taps_of(y, x.box), part = dx, given = dy, box = x.box, largest = max_of_taps(),
            block = std::vector<T>(shape_size(shape)), best = std::vector<T>(shape_size(shape)),
            window = std::vector<T>(x.size())](const T* dy_memory, const T* x_memory, T* to) mutable {
      part.memory = to, given.memory = dy_memory;
      if (!block.empty())
        copy_elements(given, from, tensor_part<T>{block.data(), shape, {}, {}}, shape_list::filled(Rank, 0), shape);
      largest.forward(by, x_memory, best.data());
      largest.backward(by, block.data(), window.data());
      copy_overlap(part, box, window.data());
    };
  }
};

}  // namespace partita::detail
