// The movement of an index exchange: rows are packed (unless all workers share memory), the executor moves one box to
// each receiver, and rows are placed or combined where they arrive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/world.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/index_planner.hpp>
#include <partita/kernel/detail/row_block.hpp>
#include <partita/rule/reduction.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A pending movement of rows, which are placed or combined at its end. If the object is destroyed without finish(),
/// the movement is completed nevertheless, because it may fill a block of the caller.
template <class Result, class Complete>
class pending_rows {
 public:
  pending_rows(Result result, pending<written_in_place> moved, Complete complete)
      : result_(std::move(result)), pending_movement_(std::move(moved)), complete_rows_(std::move(complete)) {}
  pending_rows(pending_rows&& other) noexcept
      : result_(std::move(other.result_)),
        pending_movement_(std::move(other.pending_movement_)),
        complete_rows_(std::move(other.complete_rows_)),
        is_pending_(std::exchange(other.is_pending_, false)) {}
  pending_rows& operator=(pending_rows&&) = delete;
  ~pending_rows() {
    if (!is_pending_) return;
    try {
      complete();
    } catch (const error&) {  // the next call of the workers reports the error
    }
  }

  /// Keeps an object alive until the movement is complete, such as a block that was evaluated for this exchange.
  void keep(std::shared_ptr<const void> object_to_keep) { pending_movement_.keep(std::move(object_to_keep)); }
  /// Waits for completion and returns the result; a second call is an error.
  Result finish() {
    complete();
    return std::move(result_);
  }

 private:
  void complete() {  // waits, and then places or combines the received rows, once
    pending_movement_.finish();
    if (std::exchange(is_pending_, false)) complete_rows_();
  }

  Result result_;                               ///< the result that finish() returns
  pending<written_in_place> pending_movement_;  ///< the movement of rows between workers
  Complete complete_rows_;                      ///< places or combines the received rows
  bool is_pending_ = true;                      ///< whether the received rows must still be placed or combined
};

/// The values of a call with N blocks that all workers compare, and this worker's blocks.
template <std::size_t N>
struct row_call {
  std::uint64_t operation_number = 0, type = 0;       ///< which operation it is; a hash of element types and row shapes
  const char* direction = "";                         ///< the text after the kernel's name in messages
  std::array<described_block, N> described_blocks{};  ///< the blocks in messages
  std::array<row_block, N> inputs{}, outputs{};       ///< the blocks whose rows are sent, and those that are filled
  local_error own_error{};                            ///< this worker's error, if any

  /// The offset in bytes of each block's row inside a packed row, which contains one row of every block.
  std::array<std::size_t, N> offsets() const {
    std::array<std::size_t, N> all{};
    for (std::size_t f = 0, next = 0; f < N; ++f) {
      next = align_up(next, inputs[f].element_bytes);
      all[f] = next;
      next += inputs[f].row_bytes();
    }
    return all;
  }
  std::size_t row_pitch() const {  // the bytes from the start of a packed row to the start of the next
    if constexpr (N == 1) return inputs[0].row_bytes();
    const std::size_t end = offsets()[N - 1] + inputs[N - 1].row_bytes();
    return align_up(end, 16);
  }

 private:
  static std::size_t align_up(std::size_t offset, std::size_t element_bytes) {  // rounds up to an element's copy unit
    const std::size_t unit = copy_unit_bytes(element_bytes);
    return (offset + unit - 1) / unit * unit;
  }
};

/// The movement of an index exchange: a forward call copies rows, an adjoint call combines rows with a reduction.
class index_movement : public planned_movement<index_planner> {
  using base = planned_movement<index_planner>;  ///< the movement of packed rows

 public:
  explicit index_movement(index_planner planner) : base(std::move(planner)) {
    shared_transport() = this->planner().shared_transport();
  }

  const index_pattern& pattern() const { return *planner().pattern(); }  ///< the rows that are moved

  template <class T, std::size_t Rank>
  auto forward(const strided<const T, Rank>& x, const target<T, Rank>& output, const char* direction,
               const local_error& before, nothing_to_fill) {  // starts to copy wanted rows from their owners
    return start_copying_rows(1, x, output, direction, before);
  }
  template <class T, std::size_t Rank>
  auto backward(const strided<const T, Rank>& dy, const target<T, Rank>& output, const char* direction,
                const local_error& before, nothing_to_fill) {  // starts to add up the rows of dy on their owners
    return start_combining_rows<sum_t>(2, dy, output, direction, before);
  }
  /// Starts to copy the rows of x to the workers that want these rows.
  template <class T, std::size_t Rank>
  auto start_copying_rows(std::uint64_t number, const strided<const T, Rank>& x, const target<T, Rank>& output,
                          const char* direction, const local_error& before) {
    auto y = make_result<T, Rank>(x.shape, pattern().wanted_count, output);
    const strided<T, Rank> to = output.is_given ? output.block : block_of(y);
    row_call<1> call = make_row_call<T>(number, x, to, direction, before);
    require_row_count(call.own_error, direction, x.shape, pattern().owned_count, planner().call_texts().owned);
    require_fitting_output(call.own_error, x, output, pattern().wanted_count);
    return move_rows_forward(call, std::move(y), !output.is_given);
  }
  /// Starts to send each row of dy to the owner of its index, which combines the rows of one index by a reduction.
  template <class Reduction, class T, std::size_t Rank>
  auto start_combining_rows(std::uint64_t number, const strided<const T, Rank>& dy, const target<T, Rank>& output,
                            const char* direction, const local_error& before) {
    auto dx = make_result<T, Rank>(dy.shape, pattern().owned_count, output);
    const strided<T, Rank> to = output.is_given ? output.block : block_of(dx);
    row_call<1> call = make_row_call<T>(mixed(number, type_number<Reduction>()), dy, to, direction, before);
    require_row_count(call.own_error, direction, dy.shape, pattern().wanted_count, planner().call_texts().wanted);
    require_fitting_output(call.own_error, dy, output, pattern().owned_count);
    return move_rows_backward<Reduction, T>(call, std::move(dx), std::array<row_block, 1>{});
  }
  /// Copies the rows of an expression in one blocking call. All workers throw if one passes an error as `before`.
  template <class X>
  pooled_tensor<element_of<X>, rank_of<X>> copy(std::uint64_t number, const X& x, const char* direction,
                                                const local_error& before = {}) {
    return one_call([&] {
      const block_argument<X> argument(x);
      return start_copying_rows(number, argument.block(), target<element_of<X>, rank_of<X>>{}, direction, before)
          .finish();
    });
  }
  /// Sends the rows of an expression to the owners, which combine them, in one blocking call.
  template <class Reduction, class X>
  pooled_tensor<element_of<X>, rank_of<X>> combine(std::uint64_t number, const X& x, const char* direction,
                                                   const local_error& before = {}) {
    return one_call([&] {
      const block_argument<X> argument(x);
      return start_combining_rows<Reduction>(number, argument.block(), target<element_of<X>, rank_of<X>>{}, direction,
                                             before)
          .finish();
    });
  }
  /// Starts to fill the ghost rows of blocks in which the ghost rows follow the owned rows.
  template <class... T, std::size_t... Rank>
  auto refresh(const char* direction, const strided<T, Rank>&... blocks) {
    const std::size_t owned = pattern().owned_count, ghosts = pattern().wanted_count;
    auto call = make_call_in_place(3, direction, blocks...);
    for (std::size_t f = 0; f < sizeof...(T); ++f) call.outputs[f] = call.inputs[f].skip_rows(owned);
    (require_row_count(call.own_error, direction, blocks.shape, owned + ghosts, "index that its worker owns and wants"),
     ...);
    return move_rows_forward(call, written_in_place(), false);
  }
  /// Starts to add each ghost row to the owned row of which it is a copy. The ghost rows are set to zero at the end.
  template <class... T, std::size_t... Rank>
  auto adjoint_refresh(const char* direction, const strided<T, Rank>&... blocks) {
    const std::size_t owned = pattern().owned_count, ghosts = pattern().wanted_count;
    auto call = make_call_in_place(4, direction, blocks...);
    call.outputs = call.inputs;
    for (row_block& rows : call.inputs) rows = rows.skip_rows(owned);
    (require_row_count(call.own_error, direction, blocks.shape, owned + ghosts, "index that its worker owns and wants"),
     ...);
    return move_rows_backward<sum_t, T...>(call, written_in_place(), call.inputs);
  }

 private:
  /// Allocates a block of `rows` rows, unless the caller passes the block to fill.
  template <class T, std::size_t Rank>
  pooled_tensor<T, Rank> make_result(std::array<std::size_t, Rank> shape, std::size_t rows,
                                     const target<T, Rank>& output) {
    if (output.is_given) return {};
    shape[0] = rows;
    return make_pooled<T, Rank>(*memory(), shape);
  }
  template <class T, std::size_t Rank>
  static std::uint64_t hash_type_and_shape(const std::array<std::size_t, Rank>& shape) {  // without the number of rows
    std::uint64_t all = mixed(type_number<T>(), Rank);
    for (std::size_t d = 1; d < Rank; ++d) all = mixed(all, shape[d]);
    return all;
  }
  /// The description of a call that moves rows from one block to another.
  template <class T, std::size_t Rank>
  static row_call<1> make_row_call(std::uint64_t number, const strided<const T, Rank>& from, const strided<T, Rank>& to,
                                   const char* direction, const local_error& before) {
    row_call<1> call;
    call.operation_number = number, call.type = hash_type_and_shape<T>(from.shape), call.direction = direction,
    call.own_error = before;
    call.described_blocks[0] = {from.shape.data(), Rank, &type_name<T>};
    call.inputs[0] = make_row_block(from), call.outputs[0] = make_row_block(to);
    return call;
  }
  /// The description of a call that moves rows within each of its blocks.
  template <class... T, std::size_t... Rank>
  static row_call<sizeof...(T)> make_call_in_place(std::uint64_t number, const char* direction,
                                                   const strided<T, Rank>&... blocks) {
    row_call<sizeof...(T)> call;
    call.operation_number = number, call.direction = direction;
    ((call.type = mixed(call.type, hash_type_and_shape<T>(blocks.shape))), ...);
    call.described_blocks = {described_block{blocks.shape.data(), Rank, &type_name<T>}...};
    call.inputs = {make_row_block(blocks)...};
    return call;
  }
  /// Sets an error if a block does not have `rows` rows.
  template <std::size_t Rank>
  void require_row_count(local_error& found_error, const char* direction, const std::array<std::size_t, Rank>& shape,
                         std::size_t rows, const char* required_row) const {
    if (found_error.any() || shape[0] == rows) return;
    found_error = local_error(text(name()) << direction << ": requires a block with a row for each " << required_row
                                           << ", worker " << state().id() << " has " << rows << " and got a block of "
                                           << shape << "; dimension 0 numbers the indices");
  }
  /// Sets an error if the block to fill overlaps x or does not have `rows` rows.
  template <class T, std::size_t Rank>
  void require_fitting_output(local_error& found_error, const strided<const T, Rank>& x, const target<T, Rank>& output,
                              std::size_t rows) const {
    found_error = overlap_error(found_error, x, output, name());
    std::array<std::size_t, Rank> shape = x.shape;
    shape[0] = rows;
    if (!found_error.any()) expect_shape(output, shape, name(), found_error);
  }

  /// Packs the rows that other workers want (not needed if all workers share memory), starts to send these rows, copies
  /// the rows that stay on this worker, and places the received rows at the end. In a call with one dense block, rows
  /// that arrive in the order of their places are received directly there. If all workers share memory, this is done
  /// only for a pooled result (`is_pooled`) whose first row is received: senders write to the pool directly, but to
  /// other memory only through a ring buffer, which costs more than a copy.
  template <std::size_t N, class Result>
  auto move_rows_forward(const row_call<N>& call, Result result, bool is_pooled) {
    const row_transfers& p = pattern().transfers;
    const std::size_t row_pitch = call.row_pitch();
    const auto offsets = call.offsets();
    const bool writes_unpacked = shared_transport()->shares_one_memory(),
               is_written_at_once = is_pooled && p.first_destination() == 0;
    const bool receives_in_place =
        N == 1 && p.arrives_in_order() && call.outputs[0].is_dense && (is_written_at_once || !writes_unpacked);
    auto packed = scratch(writes_unpacked ? 0 : p.sent_count, row_pitch),
         received = scratch(receives_in_place ? 0 : p.received_count, row_pitch);
    const auto pack = [&] {
      for (std::size_t f = 0; f < N && !writes_unpacked; ++f)
        copy_rows(packed_rows(packed.data(), offsets[f], row_pitch, call.inputs[f]), call.inputs[f], p.packed);
    };
    const row_block there = receives_in_place ? call.outputs[0].skip_rows(p.first_destination())
                                              : packed_rows(received.data(), 0, row_pitch, call.outputs[0]);
    auto moved = begin_row_movement(true, call, packed_rows(packed.data(), 0, row_pitch, call.inputs[0]), there, pack);
    for (std::size_t f = 0; f < N; ++f) copy_rows(call.outputs[f], call.inputs[f], pattern().kept);
    auto place = [pattern = receives_in_place ? nullptr : planner().pattern(), row_pitch, offsets,
                  filled = call.outputs, packed = std::move(packed), received = std::move(received)]() mutable {
      for (std::size_t f = 0; f < N && pattern; ++f)
        copy_rows(filled[f], packed_rows(received.data(), offsets[f], row_pitch, filled[f]),
                  pattern->transfers.placed_rows);
    };
    return pending_rows(std::move(result), std::move(moved), std::move(place));
  }

  /// Packs one row for each row that a forward call receives, starts to send these rows back to the owners, and
  /// combines the received rows at the end, in ascending order of their senders. The wanted rows of `cleared_blocks`
  /// are set to zero at the end; without such blocks, filled rows are first set to the identity of the reduction.
  template <class Reduction, class... T, class Result>
  auto move_rows_backward(const row_call<sizeof...(T)>& call, Result result,
                          const std::array<row_block, sizeof...(T)>& cleared_blocks) {
    constexpr std::size_t N = sizeof...(T);
    constexpr auto each = std::make_index_sequence<N>();
    const row_transfers& p = pattern().transfers;
    const std::size_t row_pitch = call.row_pitch();
    const auto offsets = call.offsets();
    const bool receives_in_place = N == 1 && p.arrives_in_order() && call.inputs[0].is_dense;
    auto packed = scratch(receives_in_place ? 0 : p.received_count, row_pitch),
         received = scratch(p.sent_count, row_pitch);
    const auto pack = [&] {
      if (receives_in_place) return;
      [&]<std::size_t... F>(std::index_sequence<F...>) {
        (pack_returned_rows<Reduction, T>(packed_rows(packed.data(), offsets[F], row_pitch, call.inputs[F]),
                                          call.inputs[F]),
         ...);
      }(each);
    };
    const row_block from = receives_in_place ? call.inputs[0].skip_rows(p.first_destination())
                                             : packed_rows(packed.data(), 0, row_pitch, call.inputs[0]);
    // Before rows are sent to other nodes, a representative combines the rows that workers of its node return.
    const auto return_rows = [&](const std::shared_ptr<box_exchange>& exchange) {
      const std::ptrdiff_t strides[] = {static_cast<std::ptrdiff_t>(row_pitch), 1};
      auto returned = scratch(p.returned_count, row_pitch);
      exchange->start(packed.data(), strides, returned.data(), strides);
      exchange->finish();
      [&]<std::size_t... F>(std::index_sequence<F...>) {
        (combine_returned_rows<Reduction, T>(packed_rows(packed.data(), offsets[F], row_pitch, call.inputs[F]),
                                             packed_rows(returned.data(), offsets[F], row_pitch, call.inputs[F])),
         ...);
      }(each);
    };
    auto moved = begin_row_movement(false, call, from, packed_rows(received.data(), 0, row_pitch, call.outputs[0]),
                                    pack, return_rows);
    auto combine = [pattern = planner().pattern(), row_pitch, offsets, me = state().id(), given = call.inputs,
                    filled = call.outputs, cleared_blocks, packed = std::move(packed),
                    received = std::move(received)]() mutable {
      [&]<std::size_t... F>(std::index_sequence<F...>) {
        (combine_all_rows<Reduction, T>(*pattern, me, filled[F],
                                        packed_rows(received.data(), offsets[F], row_pitch, filled[F]), given[F],
                                        cleared_blocks[F]),
         ...);
      }(std::make_index_sequence<N>());
    };
    return pending_rows(std::move(result), std::move(moved), std::move(combine));
  }
  template <class Reduction, class T>
  void pack_returned_rows(const row_block& packed, const row_block& given) const {  // packs given rows for the owners
    const row_transfers& p = pattern().transfers;
    if (!p.has_repeated_rows && !p.has_two_steps) return copy_rows(packed, given, p.placed_rows, true);
    fill_rows(packed, p.received_count, reduction_identity<Reduction, T>());
    p.placed_rows.for_each([&](const row_run& run) { combine_rows<T>(packed, given, run.reversed(), Reduction()); });
  }
  template <class Reduction, class T>
  void combine_returned_rows(const row_block& packed, const row_block& returned) const {  // combines them into `packed`
    for (const row_transfers::forwarded_part& part : pattern().transfers.forwarded_to_peers)
      combine_rows<T>(packed, returned, {part.first_return_row, part.first_row, part.rows}, Reduction());
  }
  /// Combines the received rows and this worker's own rows in ascending order of their workers.
  template <class Reduction, class T>
  static void combine_all_rows(const index_pattern& p, std::size_t me, const row_block& filled,
                               const row_block& received, const row_block& given, const row_block& cleared_blocks) {
    if (cleared_blocks.element_bytes == 0) fill_rows(filled, p.owned_count, reduction_identity<Reduction, T>());
    const auto keep = [&] {
      p.kept.for_each([&](const row_run& run) { combine_rows<T>(filled, given, run.reversed(), Reduction()); });
    };
    const row_transfers& back = p.transfers;
    bool kept = false;
    for (std::size_t k = 0; k < back.sent_parts.size(); ++k) {
      if (back.sent_parts[k].worker > me && !std::exchange(kept, true)) keep();
      back.packed.for_each_run_in_rows(back.sent_parts[k].first_row, back.sent_parts[k].rows, [&](const row_run& run) {
        combine_rows<T>(filled, received, run.reversed(), Reduction());
      });
    }
    if (!kept) keep();
    if (cleared_blocks.element_bytes != 0) fill_rows(cleared_blocks, p.wanted_count, T{});
  }

  /// Calls `pack()`, which writes the packed rows, then agrees on the call with all workers, and starts to move the
  /// rows. If an adjoint call needs two exchanges, `return_rows(exchange)` carries out the first exchange.
  template <std::size_t N, class Pack, class... Return>
  pending<written_in_place> begin_row_movement(bool forward, const row_call<N>& call, const row_block& from,
                                               const row_block& to, Pack pack, Return... return_rows) {
    const row_transfers& p = pattern().transfers;
    const std::size_t row_pitch = call.row_pitch();
    const strided<const std::byte, 2> x{
        from.data, {forward ? p.sent_count : p.received_count, row_pitch}, {from.row_stride, 1}};
    const strided<std::byte, 2> y{to.data, {forward ? p.received_count : p.sent_count, row_pitch}, {to.row_stride, 1}};
    box_call<2> moved = make_call_for_type<std::byte>(call.operation_number, call.direction, x.shape);
    moved.forward = forward, moved.type = call.type, moved.own_error = call.own_error;
    moved.data = x.data, moved.strides = x.strides, moved.fills_view = true, moved.view_shape = y.shape;
    planner_.describe_next_call(call.described_blocks.data(), N);
    return one_call([&] {
      finish_pending_operation();
      if (!call.own_error.any()) pack();
      const bool returns = !forward && p.has_two_steps;
      const auto source = [&](const index_structure& s) {
        if (!forward || !s.unpacked_rows) return x;
        const auto offsets = call.offsets();
        s.unpacked_rows->clear(row_pitch);
        for (std::size_t f = 0; f < N; ++f) s.unpacked_rows->add(call.inputs[f], offsets[f]);
        return x;
      };
      auto announced_exchanges = forward ? &index_structure::forward_exchanges : &index_structure::backward_exchanges;
      if (call.own_error.any() || may_send_early()) announced_exchanges = nullptr;
      const std::uint64_t number = start_exchange_in_place(moved, announced_exchanges, source, y, [&] {
        index_structure& s = agree_on_plan(static_cast<base&>(*this), moved, !returns);
        if (returns) (return_rows(planner().find_return_exchange(s, moved.kind)), ...);
        return std::pair(&s, &find_exchange(*this, s, forward, moved.kind));
      });
      return pending<written_in_place>({}, operation(), number);
    });
  }

  /// A block of rows for the intermediate results of one call.
  pooled_tensor<std::byte, 2> scratch(std::size_t rows, std::size_t row_pitch) {
    return make_pooled<std::byte, 2>(*memory(), {rows, row_pitch});
  }
};

}  // namespace partita::detail
