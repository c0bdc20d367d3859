// A list that stores a few values in place and, if it has more values, all of them on the heap: the result type of
// propagation.
#pragma once

#include <cstddef>

namespace partita {

/// Values in order. Up to `InPlace` values need no allocation, and the list can then be a constexpr variable; with more
/// values the list can still be used within a constant expression.
template <class T, std::size_t InPlace>
class growing_list {
 public:
  constexpr growing_list() = default;  ///< an empty list
  constexpr growing_list(const growing_list& other) { copy_from(other); }
  constexpr growing_list(growing_list&& other) noexcept { move_from(other); }
  constexpr growing_list& operator=(const growing_list& other) {
    if (this != &other) free_memory(), copy_from(other);
    return *this;
  }
  constexpr growing_list& operator=(growing_list&& other) noexcept {
    if (this != &other) free_memory(), move_from(other);
    return *this;
  }
  constexpr ~growing_list() { free_memory(); }

  /// Appends a value.
  constexpr void push_back(const T& value) {
    if (count_ == capacity_) {
      const T copied_value = value;  // a copy, because `value` may refer to an element of this list
      reserve(2 * capacity_);
      data()[count_++] = copied_value;
    } else {
      data()[count_++] = value;
    }
  }

  constexpr std::size_t size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }
  constexpr T* data() { return capacity_ > InPlace ? heap_ : buffer_; }
  constexpr const T* data() const { return capacity_ > InPlace ? heap_ : buffer_; }
  constexpr T& operator[](std::size_t k) { return data()[k]; }
  constexpr const T& operator[](std::size_t k) const { return data()[k]; }
  constexpr T* begin() { return data(); }
  constexpr T* end() { return data() + count_; }
  constexpr const T* begin() const { return data(); }
  constexpr const T* end() const { return data() + count_; }

  friend constexpr bool operator==(const growing_list& a, const growing_list& b) {
    if (a.count_ != b.count_) return false;
    for (std::size_t k = 0; k < a.count_; ++k)
      if (!(a[k] == b[k])) return false;
    return true;
  }

 private:
  constexpr void reserve(std::size_t room) {  ///< copies the values to the heap, to memory for `room` values
    T* const values = new T[room]{};
    for (std::size_t k = 0; k < count_; ++k) values[k] = data()[k];
    if (capacity_ > InPlace) delete[] heap_;
    heap_ = values;
    capacity_ = room;
  }
  constexpr void copy_from(const growing_list& other) {  ///< requires an empty list on this side
    if (other.count_ > InPlace) reserve(other.count_);
    for (count_ = 0; count_ < other.count_; ++count_) data()[count_] = other[count_];
  }
  constexpr void move_from(growing_list& other) {  ///< requires an empty list; leaves `other` empty
    for (std::size_t k = 0; other.capacity_ == InPlace && k < other.count_; ++k) buffer_[k] = other.buffer_[k];
    heap_ = other.heap_, count_ = other.count_, capacity_ = other.capacity_;
    other.heap_ = nullptr, other.count_ = 0, other.capacity_ = InPlace;
  }
  constexpr void free_memory() {  ///< makes the list empty
    if (capacity_ > InPlace) delete[] heap_;
    heap_ = nullptr, count_ = 0, capacity_ = InPlace;
  }

  T buffer_[InPlace]{};                         ///< the values, unless they are on the heap
  T* heap_ = nullptr;                           ///< the values, if there are more than InPlace
  std::size_t count_ = 0, capacity_ = InPlace;  ///< the number of values, and of values for which there is memory
};

}  // namespace partita
