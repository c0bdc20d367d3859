// A mesh: the arrangement of workers along named axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/error.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/sharding/axis_list.hpp>
#include <partita/rule/sharding/written.hpp>
#include <type_traits>

namespace partita {

struct sharding;

/// One dimension of a mesh: its name and the number of workers along it.
struct axis {
  static constexpr std::size_t most_letters = 15;  ///< the longest name

  char name_characters[most_letters + 1]{};  ///< the name and zeros
  std::uint32_t size = 0;                    ///< the number of workers along the axis

  constexpr axis() = default;  ///< without a name and workers: to be assigned
  /// Makes an axis. Requires a name of 1 to 15 characters other than '+' and '?', and at least one worker; otherwise
  /// throws a partition_error.
  constexpr axis(const char* name, std::size_t workers) : size(static_cast<std::uint32_t>(workers)) {
    std::size_t n = 0;
    for (; name[n] != '\0'; ++n) {
      if (n == most_letters || name[n] == '+' || name[n] == '?')
        throw partition_error(
            text("partita::axis: requires a name of at most 15 characters without '+' and '?'; rename ") << name);
      name_characters[n] = name[n];
    }
    if (n == 0) throw partition_error("partita::axis: requires a name; give it one");
    if (workers == 0) throw partition_error(text("partita::axis: requires a worker along ") << name << "; give 1");
    if (size != workers)
      throw partition_error(text("partita::axis: requires as many workers as can be counted, got ")
                            << workers << " along " << name);
  }

  constexpr const char* name() const { return name_characters; }  ///< The name of the axis.
  constexpr bool is_named(const char* other) const {              ///< whether the name is `other`
    std::size_t k = 0;
    while (name_characters[k] != '\0' && name_characters[k] == other[k]) ++k;
    return name_characters[k] == other[k];
  }
  friend constexpr bool operator==(const axis&, const axis&) = default;
};

/// A mesh of workers, whose major axis is the first. A mesh can be a template argument.
struct mesh {
  axis axes[most_axes]{};                   ///< the axes, major first; the first `count` are used
  std::size_t count = 0;                    ///< the number of axes
  bool requires_explicit_reshards = false;  ///< every reshard must be written: see no_implicit_reshard()

  constexpr mesh() = default;  ///< without axes: one worker
  /// Makes a mesh from axes, whose names must be distinct; otherwise throws a partition_error.
  template <class... Axis>
    requires(sizeof...(Axis) > 0 && sizeof...(Axis) <= most_axes && (std::is_same_v<Axis, axis> && ...))
  constexpr explicit mesh(const Axis&... all) {
    (push_back(all), ...);
  }
  /// Fallback: any other constructor arguments are a compile-time error with a readable message.
  PARTITA_FALLBACK_CONSTRUCTOR(mesh) {
    static_assert(
        detail::dependent_false<Given...>,
        "partita::mesh{axes...}: requires axes with names; write mesh{axis{\"data\", 2}, axis{\"model\", 4}}, "
        "or mesh::of_shape(sizes)");
  }
  /// Makes a mesh from sizes only, as some frameworks define process meshes: the axes are named 0, 1, ….
  template <class Sizes>
  static constexpr mesh of_shape(const Sizes& sizes) {
    mesh m;
    for (const auto workers : sizes) {
      const char name[] = {static_cast<char>('0' + static_cast<int>(m.count)), '\0'};
      m.push_back(axis(name, static_cast<std::size_t>(workers)));
    }
    return m;
  }

  constexpr void push_back(const axis& one) {  ///< adds a minor axis, with a new name [partition_error]
    if (count == most_axes)
      throw partition_error(text("partita::mesh: requires at most ") << most_axes << " axes; merge some");
    for (std::size_t a = 0; a < count; ++a)
      if (axes[a].is_named(one.name()))
        throw partition_error(text("partita::mesh: requires different names; rename one axis ") << one.name());
    if (one.size > static_cast<std::size_t>(-1) / size())
      throw partition_error(text("partita::mesh: requires as many workers as can be counted, got ")
                            << size() << " times " << one.size);
    axes[count++] = one;
  }

  /// A copy of the mesh without implicit communication of tensors: every reshard must be written in the program. An
  /// operation that needs another layout of an operand does not compile where layouts are types, and throws a
  /// partition_error where layouts are run-time values.
  constexpr mesh no_implicit_reshard() const {
    mesh m = *this;
    m.requires_explicit_reshards = true;
    return m;
  }

  constexpr std::size_t rank() const { return count; }  ///< The number of axes.
  /// The number of workers of the mesh.
  constexpr std::size_t size() const {
    std::size_t product = 1;
    for (std::size_t a = 0; a < count; ++a) product *= axes[a].size;
    return product;
  }
  constexpr std::size_t size(std::size_t a) const { return axes[checked_axis(a)].size; }  ///< the number along axis a
  /// The number of blocks into which the axes `cut` split a dimension.
  constexpr std::size_t size(axis_list cut) const {
    std::size_t product = 1;
    for (std::size_t k = 0; k < cut.size(); ++k) product *= axes[cut[k]].size;
    return product;
  }
  /// Returns the axis number a if the mesh has such an axis; otherwise throws a partition_error.
  constexpr std::size_t checked_axis(std::size_t a) const {
    if (a < count) return a;
    throw partition_error(text("partita::mesh: requires axis numbers below ") << count << ", not " << a);
  }
  /// The number of the axis whose name is the `length` characters at `name`; a partition_error if no axis has it.
  constexpr std::size_t number(const char* name, std::size_t length) const {
    for (std::size_t a = 0; a < count; ++a) {
      std::size_t k = 0;
      while (k < length && axes[a].name_characters[k] == name[k]) ++k;
      if (k == length && (length > axis::most_letters || axes[a].name_characters[length] == '\0')) return a;
    }
    text wanted(", but there is no \"");
    for (std::size_t k = 0; k < length; ++k) wanted << name[k];
    wanted << "\"; there are";
    for (std::size_t a = 0; a < count; ++a) wanted << ' ' << axes[a].name();
    throw partition_error(text("partita::mesh: requires the name of an axis of the mesh") << wanted);
  }
  constexpr std::size_t number(const char* name) const {  ///< the number of the axis of this name, or a partition_error
    std::size_t length = 0;
    while (name[length] != '\0') ++length;
    return number(name, length);
  }

  /// Makes a sharding from one entry for each dimension: "" is unsharded, "a" sharded by axis a, "a+b" by a and within
  /// it by b, "?" open, "a+?" sharded by a and open to more axes.
  template <class... Entry>
  constexpr sharding layout(const Entry&... entries) const;

  friend constexpr bool operator==(const mesh&, const mesh&) = default;
};

/// Writes a mesh as its axes, for example data 2 x model 4.
template <std::size_t Capacity>
constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const mesh& m) {
  for (std::size_t a = 0; a < m.rank(); ++a) out << (a == 0 ? "" : " x ") << m.axes[a].name() << ' ' << m.axes[a].size;
  return out;
}

}  // namespace partita
