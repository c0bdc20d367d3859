// Everything that channels and groups know about the elements that they move: the size, and how blocks of elements are
// copied, added and sent.
#pragma once

#include <cstddef>
#include <partita/array/copy.hpp>
#include <partita/comm/element.hpp>
#include <type_traits>

namespace partita::detail {

/// Whether blocks of elements of type T may be read and written by other workers in shared memory.
template <class T>
inline constexpr bool is_shareable =
    std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> && sizeof(T) <= 64;

/// The functions that depend on the element type. Channels move bytes and call these functions for whole boxes, so that
/// channels are compiled once and not for every type and rank.
struct element_kind {
  /// Copies a box of this shape between two blocks, whose elements have `element` bytes; strides count elements.
  using copy_function = void (*)(char* to, const std::ptrdiff_t* dst_strides, const char* from,
                                 const std::ptrdiff_t* src_strides, const std::size_t* shape, std::size_t rank,
                                 std::size_t element, stores mode);
  /// Adds a box of this shape to a box of another block, element by element; strides count elements.
  using add_function = void (*)(char* to, const std::ptrdiff_t* dst_strides, const char* from,
                                const std::ptrdiff_t* src_strides, const std::size_t* shape, std::size_t rank);

  std::size_t bytes = 0;                 ///< the size of an element
  copy_function copy = nullptr;          ///< copies a box of elements
  add_function add = nullptr;            ///< adds a box to another; null if elements are only moved
  bool in_shared_memory = false;         ///< whether blocks may be copied through shared memory
  MPI_Datatype (*datatype)() = nullptr;  ///< returns the MPI datatype of an element

  /// Whether two kinds have the same element size, copy function and add function; the element types may differ.
  friend bool operator==(const element_kind& a, const element_kind& b) {
    return a.bytes == b.bytes && a.copy == b.copy && a.add == b.add;
  }

  /// Copies n contiguous elements.
  void copy_row(void* to, const void* from, std::size_t n, stores mode = stores::by_size) const {
    const std::ptrdiff_t unit = 1;
    if (n != 0) copy(static_cast<char*>(to), &unit, static_cast<const char*>(from), &unit, &n, 1, bytes, mode);
  }

  /// Makes the kind of elements that are only moved.
  template <class T>
  static constexpr element_kind moved() {
    return {sizeof(T), select_copy_function<T>(), nullptr, is_shareable<T>, &partita::detail::datatype<T>};
  }
  /// Makes the kind of elements that are moved and added.
  template <class T>
  static constexpr element_kind summed() {
    return {sizeof(T), select_copy_function<T>(), &add_elements<T>, is_shareable<T>, &partita::detail::datatype<T>};
  }

 private:
  /// Selects the copy function: element types that are copied in units of the same size share one function.
  template <class T>
  static constexpr copy_function select_copy_function() {
    if constexpr (std::is_trivially_copyable_v<T>) return &copy_in_units<copy_unit_bytes(sizeof(T))>;
    else return &copy_objects<T>;
  }
  /// Copies trivially copyable elements in units of S bytes.
  template <std::size_t S>
  static void copy_in_units(char* to, const std::ptrdiff_t* dst_strides, const char* from,
                            const std::ptrdiff_t* src_strides, const std::size_t* shape, std::size_t rank,
                            std::size_t element, stores mode) {
    copy_by_units<S>(to, dst_strides, from, src_strides, shape, rank, element, mode, best_instruction_set());
  }
  /// Copies elements that are not trivially copyable, by assignment.
  template <class T>
  static void copy_objects(char* to, const std::ptrdiff_t* dst_strides, const char* from,
                           const std::ptrdiff_t* src_strides, const std::size_t* shape, std::size_t rank, std::size_t,
                           stores mode) {
    copy_block(reinterpret_cast<T*>(to), dst_strides, reinterpret_cast<const T*>(from), src_strides, shape, rank, mode);
  }
  /// Adds a box of elements of type T to a box of another block.
  template <class T>
  static void add_elements(char* to, const std::ptrdiff_t* dst_strides, const char* from,
                           const std::ptrdiff_t* src_strides, const std::size_t* shape, std::size_t rank) {
    add_block(reinterpret_cast<T*>(to), dst_strides, reinterpret_cast<const T*>(from), src_strides, shape, rank);
  }
};

/// The kind of elements T that are only moved.
template <class T>
inline constexpr element_kind element_kind_v = element_kind::moved<T>();

}  // namespace partita::detail
