// The sharding of one tensor on a mesh: the axes that shard each dimension, and the pending reductions over other axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/short_list.hpp>
#include <partita/core/version.hpp>
#include <partita/rule/sharding/bounded_list.hpp>
#include <partita/rule/sharding/mesh.hpp>
#include <partita/rule/sharding/pending_reduction.hpp>
#include <type_traits>

namespace partita {

/// The role of one mesh axis for a tensor: the axis shards a dimension, or replicates the tensor, or the tensor is
/// partial over the axis.
struct placement {
  enum class what : std::uint8_t { replicate, shard, partial };  ///< what the axis does
  what kind = what::replicate;                                   ///< what the axis does
  std::uint8_t dimension = 0;                                    ///< the dimension that the axis shards, for `shard`
  pending_reduction reduction = pending_reduction::none;         ///< the pending reduction over the axis, for `partial`

  static constexpr placement replicate() { return {}; }  ///< The axis replicates the tensor.
  static constexpr placement shard(std::size_t d) {      ///< the axis shards dimension d
    return {what::shard, static_cast<std::uint8_t>(d), pending_reduction::none};
  }
  /// The tensor is partial over the axis.
  static constexpr placement partial(pending_reduction kind) { return {what::partial, 0, kind}; }
  friend constexpr bool operator==(const placement&, const placement&) = default;
};

/// One list of axes for each dimension of a tensor. Over an axis in no list the tensor is partial if `pending` has a
/// reduction for the axis, and replicated if not. Shardings can be template arguments. No axis is used twice. Shardings
/// are made by mesh::layout, of_dims_mapping and of_placements, or from sharding(mesh, rank) by cut() and partial().
struct sharding {
  mesh on{};                                           ///< the mesh
  std::array<axis_list, most_dimensions> cuts{};       ///< for each dimension, the axes that shard it, major first
  std::array<pending_reduction, most_axes> pending{};  ///< for each mesh axis, the reduction that is pending over it
  std::uint8_t dimensions = 0;                         ///< the number of dimensions of the tensor
  std::uint8_t priority = 0;         ///< the priority of an annotation in a program: lower numbers are applied first
  std::uint16_t open = 0;            ///< one bit per dimension that may be sharded further
  std::uint16_t must_replicate = 0;  ///< one bit per axis over which the tensor must stay replicated
  std::uint16_t reduced_over = 0;    ///< one bit per axis over which the value is replicated and its cotangent partial

  constexpr sharding() = default;  ///< of a scalar, on a mesh without axes
  constexpr sharding(const mesh& m, std::size_t rank) : on(m), dimensions(static_cast<std::uint8_t>(rank)) {
    if (rank > most_dimensions)
      throw shape_error(text("partita::sharding: requires at most ")
                        << most_dimensions << " dimensions; reshape to fewer");
  }

  constexpr std::size_t rank() const { return dimensions; }  ///< The number of dimensions.
  constexpr axis_list operator[](std::size_t d) const { return cuts[d]; }
  constexpr bool is_open(std::size_t d) const { return (open >> d & 1U) != 0; }  ///< Dimension d may get more axes.
  constexpr bool is_partial() const {                                            ///< whether any reduction is pending
    for (pending_reduction kind : pending)
      if (kind != pending_reduction::none) return true;
    return false;
  }
  /// Whether two shardings of one mesh describe the same position of every element and the same pending reductions; no
  /// other members are compared.
  constexpr bool same_layout(const sharding& other) const {
    bool same = dimensions == other.dimensions;
    for (std::size_t d = 0; d < most_dimensions; ++d) same = same && cuts[d] == other.cuts[d];
    for (std::size_t a = 0; a < most_axes; ++a) same = same && pending[a] == other.pending[a];
    return same;
  }
  /// The axes that shard some dimension of the tensor, as a bit set.
  constexpr std::uint32_t cut_axes() const {
    std::uint32_t bits = 0;
    for (std::size_t d = 0; d < rank(); ++d) bits |= cuts[d].set();
    return bits;
  }

  /// A copy of the sharding with dimension d sharded by the axes `by`; a partition_error if an axis is already in use.
  constexpr sharding cut(std::size_t d, axis_list by) const {
    sharding s = *this;
    s.cuts[d] = axis_list();
    for (std::size_t k = 0; k < by.size(); ++k) {
      if ((s.cut_axes() >> by[k] & 1U) != 0)
        throw partition_error(text("partita::sharding: requires every mesh axis at most once, but \"")
                              << on.axes[by[k]].name()
                              << "\" cuts two dimensions of one tensor; leave one of them whole");
      s.require_unused_axis(by[k]);
      s.cuts[d].push_back(by[k]);
    }
    return s;
  }
  /// A copy of the sharding with a pending reduction over axis a; a partition_error if axis a shards the value.
  constexpr sharding partial(std::size_t a, pending_reduction kind = pending_reduction::sum) const {
    if ((cut_axes() >> a & 1U) != 0)
      throw partition_error(text("partita::sharding: requires an axis that cuts no dimension, but \"")
                            << on.axes[a].name() << "\" cuts one and the value cannot be partial over it too");
    sharding s = *this;
    s.require_unused_axis(a);
    s.pending[a] = kind;
    return s;
  }
  /// A copy of the sharding with a pending reduction over the axis of this name, which must not be in use.
  constexpr sharding partial(const char* name, pending_reduction kind = pending_reduction::sum) const {
    return partial(on.number(name), kind);
  }
  /// A copy of the sharding without pending reductions.
  constexpr sharding without_partials() const {
    sharding s = *this;
    s.pending = {};
    return s;
  }
  PARTITA_FORMER_NAME("use without_partials") constexpr sharding finished() const { return without_partials(); }
  /// A copy of the sharding that must stay replicated over an axis; a partition_error if the axis is in use.
  constexpr sharding replicate(const char* name) const {
    sharding s = *this;
    const std::size_t a = on.number(name);
    if ((cut_axes() >> a & 1U) != 0 || pending[a] != pending_reduction::none || is_reduced(a))
      throw partition_error(text("partita::sharding: requires an axis that is not in use, but \"") << name << "\" is");
    s.must_replicate = static_cast<std::uint16_t>(s.must_replicate | 1U << a);
    return s;
  }
  /// A copy of the sharding for a value that is replicated over axis a, and whose cotangent is not summed over axis a.
  /// Making the copy needs no communication: the sum in the backward pass is postponed to where the cotangent is
  /// reduced. An axis that is already in use is a partition_error.
  constexpr sharding reduced(std::size_t a) const {
    if ((cut_axes() >> a & 1U) != 0)
      throw partition_error(text("partita::sharding: requires an axis that cuts no dimension, but \"")
                            << on.axes[a].name() << "\" cuts one and the value cannot be reduced over it");
    sharding s = *this;
    s.require_unused_axis(a);
    s.reduced_over = static_cast<std::uint16_t>(s.reduced_over | 1U << a);
    return s;
  }
  /// A copy that is replicated over the axis of this name, and whose cotangent is not summed over it.
  constexpr sharding reduced(const char* name) const { return reduced(on.number(name)); }
  /// Whether the value is replicated over axis a, and its cotangent partial over a.
  constexpr bool is_reduced(std::size_t a) const { return (reduced_over >> a & 1U) != 0; }
  /// A copy of the sharding with another priority as an annotation of a program.
  constexpr sharding with_priority(std::size_t p) const {
    sharding s = *this;
    s.priority = static_cast<std::uint8_t>(p);
    return s;
  }

  /// The axis that shards each dimension, or -1 for an unsharded dimension. A partition_error if several axes shard a
  /// dimension: use `cuts`.
  constexpr bounded_list<int, most_dimensions> dims_mapping() const {
    bounded_list<int, most_dimensions> mapping;
    for (std::size_t d = 0; d < rank(); ++d) {
      if (cuts[d].size() > 1)
        throw partition_error(
            text("partita::sharding::dims_mapping: requires one axis at most for each dimension, but ")
            << cuts[d].size() << " cut dimension " << d << "; read the axes of the dimension instead");
      mapping.push_back(cuts[d].empty() ? -1 : static_cast<int>(cuts[d][0]));
    }
    return mapping;
  }
  /// Makes a sharding from an axis number or -1 for each dimension, in any range of integers.
  template <class Mapping>
  static constexpr sharding of_dims_mapping(const mesh& m, const Mapping& mapping) {
    sharding s(m, mapping.size());
    std::size_t d = 0;
    for (const auto entry : mapping) {
      if (entry >= 0) s = s.cut(d, axis_list(m.checked_axis(static_cast<std::size_t>(entry))));
      ++d;
    }
    return s;
  }
  static constexpr sharding of_dims_mapping(const mesh& m, std::initializer_list<int> mapping) {
    return of_dims_mapping<std::initializer_list<int>>(m, mapping);
  }

  /// The placement along each mesh axis. A partition_error if the axes of one dimension are not in the mesh's order.
  constexpr bounded_list<placement, most_axes> placements() const {
    bounded_list<placement, most_axes> all;
    for (std::size_t a = 0; a < on.rank(); ++a)
      all.push_back(pending[a] == pending_reduction::none ? placement::replicate() : placement::partial(pending[a]));
    for (std::size_t d = 0; d < rank(); ++d)
      for (std::size_t k = 0; k < cuts[d].size(); ++k) {
        if (k > 0 && cuts[d][k] < cuts[d][k - 1])
          throw partition_error(
              text("partita::sharding::placements: requires axes in the order of the mesh, but those of dimension ")
              << d << " are not; placements cannot say it");
        all[cuts[d][k]] = placement::shard(d);
      }
    return all;
  }
  /// Makes a sharding from a placement for each mesh axis; axes that shard one dimension are in the mesh's order.
  template <class Placements>
  static constexpr sharding of_placements(const mesh& m, std::size_t rank, const Placements& all) {
    sharding s(m, rank);
    std::size_t a = 0;
    for (const placement& p : all) {
      m.checked_axis(a);
      if (p.kind == placement::what::partial) s = s.partial(a, p.reduction);
      if (p.kind == placement::what::shard) {
        if (p.dimension >= rank)
          throw partition_error(text("partita::sharding::of_placements: requires dimensions below ")
                                << rank << ", not " << p.dimension);
        axis_list by = s.cuts[p.dimension];
        by.push_back(a);
        s = s.cut(p.dimension, by);
      }
      ++a;
    }
    return s;
  }
  static constexpr sharding of_placements(const mesh& m, std::size_t rank, std::initializer_list<placement> all) {
    return of_placements<std::initializer_list<placement>>(m, rank, all);
  }

  friend constexpr bool operator==(const sharding&, const sharding&) = default;

 private:
  constexpr void require_unused_axis(std::size_t a) const {  ///< throws if a is partial, reduced or must replicate
    if ((must_replicate >> a & 1U) != 0 || is_reduced(a) || pending[a] != pending_reduction::none)
      throw partition_error(text("partita::sharding: requires an axis that is not in use, but \"")
                            << on.axes[a].name() << "\" "
                            << (pending[a] != pending_reduction::none ? "is partial"
                                : is_reduced(a)                       ? "is reduced"
                                                                      : "must replicate"));
  }
};

template <class... Entry>
constexpr sharding mesh::layout(const Entry&... entries) const {
  static_assert(sizeof...(Entry) <= most_dimensions, "partita::mesh::layout: requires at most 16 dimensions");
  constexpr bool are_names = (std::is_convertible_v<const Entry&, const char*> && ...);
  static_assert(
      are_names,
      "partita::mesh::layout: requires the axes of each dimension as characters, \"\" where no axis shards it; "
      "write layout(\"data\", \"\"), or layout(name.c_str(), \"\") for a std::string");
  sharding s(*this, sizeof...(Entry));
  [[maybe_unused]] std::size_t d = 0;
  [[maybe_unused]] const auto add = [&](const char* entry) {
    axis_list by;
    while (*entry != '\0') {
      std::size_t length = 0;
      while (entry[length] != '\0' && entry[length] != '+') ++length;
      if (length == 1 && *entry == '?') {
        s.open = static_cast<std::uint16_t>(s.open | 1U << d);
      } else {
        const std::size_t a = number(entry, length);
        if (by.contains(a))
          throw partition_error(text("partita::mesh::layout: requires every mesh axis at most once; \"")
                                << axes[a].name() << "\" stands twice in one entry");
        by.push_back(a);
      }
      entry += length;
      if (*entry == '+') ++entry;
    }
    s = s.cut(d++, by);
  };
  if constexpr (are_names) (add(entries), ...);
  return s;
}

/// Writes a sharding as its layout entries and its pending reductions, as in (data, , model) partial sum over pipe.
template <std::size_t Capacity>
constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const sharding& s) {
  out << '(';
  for (std::size_t d = 0; d < s.rank(); ++d) {
    if (d > 0) out << ", ";
    for (std::size_t k = 0; k < s.cuts[d].size(); ++k) {
      if (k > 0) out << '+';
      out << s.on.axes[s.cuts[d][k]].name();
    }
    if (s.is_open(d)) out << (s.cuts[d].empty() ? "?" : "+?");
  }
  out << ')';
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if (s.pending[a] != pending_reduction::none)
      out << " partial " << name_of(s.pending[a]) << " over " << s.on.axes[a].name();
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if (s.is_reduced(a)) out << " reduced over " << s.on.axes[a].name();
  return out;
}

}  // namespace partita
