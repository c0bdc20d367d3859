// What propagation knows of one tensor: its shape and, if it is known, its sharding.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/rule/sharding/sharding.hpp>

namespace partita {

/// The maximal number of operands of one operation. The limits of operands, results and tensors suffice for operations
/// that join or split 64 tensors with a few more, and for their gradients, which have twice as many tensors.
inline constexpr std::size_t most_operands = 72;
inline constexpr std::size_t most_results = 72;   ///< the maximal number of results of one operation
inline constexpr std::size_t most_tensors = 136;  ///< the maximal number of operands and results together

/// A tensor of an operation: its shape, and its sharding unless the sharding is not known.
struct spec {
  sharding layout{};              ///< its sharding, if `known`
  shape_list shape{};             ///< the global extents
  std::size_t element_bytes = 4;  ///< the bytes of an element
  bool known = false;             ///< whether the sharding is known

  constexpr spec() = default;
  constexpr explicit spec(const shape_list& s) : shape(s) {}  ///< without a known sharding
  /// Makes a tensor with a sharding; a shape_error if the rank of the sharding differs from the rank of the shape.
  constexpr spec(const sharding& l, const shape_list& s) : layout(l), shape(s), known(true) {
    if (l.rank() != s.size())
      throw shape_error(text("partita::spec: requires one entry of the sharding for each dimension, but there are ")
                        << l.rank() << " in " << l << " and the shape is " << s
                        << "; write \"\" for a dimension that is not cut");
  }
  constexpr spec with_element_bytes(std::size_t n) const {  ///< a copy with elements of n bytes
    spec s = *this;
    s.element_bytes = n;
    return s;
  }
};

/// A non-owning view of consecutive specs: a braced list, an array, a vector.
struct spec_list {
  const spec* first = nullptr;  ///< the first of `count` consecutive specs
  std::size_t count = 0;        ///< the number of specs

  constexpr spec_list() = default;  ///< an empty list
  constexpr spec_list(std::initializer_list<spec> all) : count(all.size()) { first = all.begin(); }
  constexpr spec_list(const spec* begin, std::size_t n) : first(begin), count(n) {}
  template <class Range>
    requires requires(const Range& r) {
      static_cast<const spec*>(r.data());
      r.size();
    }
  // NOLINT: any contiguous range of specs
  constexpr spec_list(const Range& all) : first(all.data()), count(all.size()) {}

  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const spec& operator[](std::size_t k) const { return first[k]; }
};

/// A non-owning view of the shapes of several tensors, read from specs or from shapes.
struct shape_span {
  const spec* specs = nullptr;         ///< the specs that have the shapes, if `reads_specs`
  const shape_list* shapes = nullptr;  ///< the shapes, unless `reads_specs`
  std::size_t count = 0;               ///< the number of tensors
  bool reads_specs = false;            ///< whether the shapes are those of `specs`, not `shapes`

  constexpr shape_span() = default;  ///< of no tensors
  constexpr shape_span(const spec_list& all) : specs(all.first), count(all.count), reads_specs(true) {}  // NOLINT
  constexpr shape_span(std::initializer_list<shape_list> all) : count(all.size()) { shapes = all.begin(); }
  constexpr shape_span(const shape_list* begin, std::size_t n) : shapes(begin), count(n) {}

  constexpr std::size_t size() const { return count; }
  constexpr const shape_list& operator[](std::size_t k) const { return reads_specs ? specs[k].shape : shapes[k]; }
};

}  // namespace partita
