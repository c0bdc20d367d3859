// A worker's part of a sum of wholes, begun and ended: the others' pieces of it come into a stack, and are added up there.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <partita/array/copy.hpp>
#include <partita/array/strided.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <utility>

namespace partita::detail {

/// The place of member `other`'s piece in the stack of member `own`, which holds all pieces but its own.
constexpr std::size_t slot_in_stack(std::size_t other, std::size_t own) { return other < own ? other : other - 1; }

template <std::size_t Rank>
std::array<std::size_t, Rank + 1> stacked(std::size_t n, const std::array<std::size_t, Rank>& shape) {
  std::array<std::size_t, Rank + 1> all{n};
  for (std::size_t d = 0; d < Rank; ++d) all[d + 1] = shape[d];
  return all;
}

/// This worker gives x, as all do, and gets the sum of the pieces that start where its part does.
template <class T, std::size_t Rank>
class part_sum {
 public:
  using exchange_type = box_exchange<T, Rank + 1>;

  /// This worker is member `position` of the group, its part begins at `start`.
  part_sum(exchange_type& exchange, const strided<const T, Rank>& x, const strided<T, Rank>& to, const index<Rank>& start,
           std::size_t position, std::size_t others)
      : exchange_(&exchange), x_(x), to_(to), start_(start), position_(position), others_(others) {}

  /// Waits for nobody.
  void expect(arena& memory) {
    pieces_ = make_pooled<T, Rank + 1>(memory, stacked(others_, to_.shape));
    exchange_->expect(pieces_.data(), block_of(pieces_).strides);
  }
  /// Waits till the others expect.
  void give() {
    std::array<std::ptrdiff_t, Rank + 1> strides{};  // x is a stack of one
    for (std::size_t d = 0; d < Rank; ++d) strides[d + 1] = x_.strides[d];
    exchange_->give(x_.data, strides);
  }
  /// Adds up in the order of the members.
  void finish() {
    exchange_->finish();
    for (std::size_t k = 0; k <= others_; ++k) {
      const auto piece = k == position_ ? x_.part(start_, to_.shape) : layer(slot_in_stack(k, position_));
      if (k == 0)
        copy<T, Rank>(to_, piece);
      else if (piece.size() != 0)
        add_block(to_.data, to_.strides.data(), piece.data, piece.strides.data(), to_.shape.data(), Rank);
    }
    pieces_ = {};
  }

 private:
  strided<const T, Rank> layer(std::size_t k) const {
    const auto stack = block_of(pieces_);
    strided<const T, Rank> one{stack.data, {}, {}};
    for (std::size_t d = 0; d < Rank; ++d) one.shape[d] = stack.shape[d + 1], one.strides[d] = stack.strides[d + 1];
    if (one.size() != 0) one.data += static_cast<std::ptrdiff_t>(k * one.size());  // a stack is dense
    return one;
  }

  exchange_type* exchange_;
  strided<const T, Rank> x_;
  strided<T, Rank> to_;
  index<Rank> start_;
  std::size_t position_, others_;
  pooled_tensor<T, Rank + 1> pieces_;
};

/// One that is under way: what its start and its end need lives as long as it does.
template <class T, std::size_t Rank>
class started_part_sum {
 public:
  explicit started_part_sum(std::shared_ptr<transport> ways) : ways_(std::move(ways)) {}

  void expect(std::shared_ptr<box_exchange<T, Rank + 1>> exchange, part_sum<T, Rank>&& sum) {
    exchange_ = std::move(exchange);
    sum_.emplace(std::move(sum));
    sum_->expect(ways_->memory());
  }
  void give() { sum_->give(); }
  void finish() { sum_->finish(); }

 private:
  std::shared_ptr<transport> ways_;
  std::shared_ptr<box_exchange<T, Rank + 1>> exchange_;
  std::optional<part_sum<T, Rank>> sum_;
};

}  // namespace partita::detail
