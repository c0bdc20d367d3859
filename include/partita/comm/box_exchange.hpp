// The exchange of boxes between the blocks of many workers. Each box travels by the first channel that reaches its
// receiver: usually through shared memory to a worker of the same node, and in a message to a worker of another node. A
// box that stays on its worker is copied. If the plan accumulates, the received boxes and those that stay are added up.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/diagnostics/trace.hpp>
#include <partita/comm/detail/exchange/way.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Executes one plan many times, for blocks that may differ from call to call. Every worker of the plan takes part in
/// every exchange, and two workers execute the exchanges between them in the same order.
class box_exchange {
 public:
  /// Each box travels by the first channel in `ways` that carries elements of this kind and reaches the other worker;
  /// if there is none, by the last channel. `memory` provides the memory for boxes that are to be added. The channels
  /// `ways` and the arena `memory` must outlive the exchange.
  PARTITA_DECL box_exchange(const std::vector<way*>& ways, arena& memory, lowered_plan plan, const element_kind& kind,
                            bool oversubscribed);
  box_exchange(const box_exchange&) = delete;
  box_exchange& operator=(const box_exchange&) = delete;
  PARTITA_INLINE ~box_exchange();

  /// Makes this object execute another plan, by the same channels and in the same memory, and stores the old plan in
  /// `plan`. Requires: no pending exchange, the same `ways`, plans that do not add boxes up, and no exchange or
  /// transport that was added to this object.
  PARTITA_DECL void follow(const std::vector<way*>& ways, lowered_plan& plan);

  /// Appends a second exchange `next`, which reads the result of this exchange from y or, if this exchange adds boxes
  /// up, from a temporary block. Call append_exchange() before the first start.
  PARTITA_DECL void append_exchange(std::unique_ptr<box_exchange> next);

  /// Adds a transport that sends boxes of the result y to other workers, for example boxes that came from another node.
  /// The added transport begins to send when this worker has sent and received all boxes of the plan. Its channel must
  /// not be a channel of the plan, and its post_send() must not wait. Requires: no boxes are added up. Call the
  /// function before the first start.
  void add_forwarding_transport(std::unique_ptr<box_transport> more) { forwarding_transport_ = std::move(more); }

  /// Adds a transport for boxes that are not in the plan. Call add_transport() before the first start of the exchange.
  PARTITA_DECL void add_transport(std::unique_ptr<box_transport> more);

  /// Makes a `block_writer` the source of all exchanges. Requires: all boxes are contiguous at their receivers and
  /// travel through the memory of one node; no box stays on this worker, and no boxes are added up.
  void set_source_writer(std::shared_ptr<const block_writer> source) { source_writer_ = std::move(source); }

  /// Whether other workers may need this worker's calls of advance() and finish() to complete an exchange that has
  /// started: this worker has data, or room for data, for which they wait.
  PARTITA_DECL bool is_needed() const;
  /// What this worker sends in one exchange: messages, bytes in messages, and bytes through shared memory.
  PARTITA_DECL exchange_traffic counts() const;

  /// Starts an exchange. Strides count elements, in the order of the dimensions of x. If y is dense and in the
  /// channel's arena, senders of the same node can write into y; other boxes come through buffers or messages.
  PARTITA_DECL void start(const void* x, const std::ptrdiff_t* x_strides, void* y, const std::ptrdiff_t* y_strides);
  /// The first half of a start: announces to the senders on this node where their boxes go, without waiting.
  PARTITA_DECL void post_receive(void* y, const std::ptrdiff_t* y_strides);
  /// Whether a start may begin before the workers have agreed on the call. An early start calls start_speculatively()
  /// instead of post_receive(); if the agreement fails, roll_back() undoes start_speculatively().
  PARTITA_DECL bool sends_speculatively() const;
  /// Announces y and packs x as far as possible without waiting.
  PARTITA_DECL void start_speculatively(const void* x, const std::ptrdiff_t* x_strides, void* y,
                                        const std::ptrdiff_t* y_strides);
  /// The second half of a start: sends x, for which it may wait until the receivers have called post_receive().
  PARTITA_DECL void post_send(const void* x, const std::ptrdiff_t* x_strides);
  /// Sends before all workers agree, see `box_transport`. The caller must then call start() with the same x, or
  /// roll_back().
  PARTITA_DECL void send_speculatively(const void* x, const std::ptrdiff_t* x_strides);
  PARTITA_DECL void roll_back();  ///< Undoes start_speculatively() or send_speculatively().
  /// Advances all pending transfers without waiting. Returns true if this worker has completed its part.
  PARTITA_DECL bool advance();
  /// Waits until this worker has done its part, and meanwhile calls `overlapped_work` repeatedly. Then call finish().
  template <class F>
  void wait(F overlapped_work) {
    for (backoff p(oversubscribed_); !advance(); p.pause()) overlapped_work();
  }
  PARTITA_DECL void finish();  ///< Finishes the exchange: afterwards y is complete and x may change.

 private:
  PARTITA_DECL void divide_boxes(const std::vector<way*>& ways);  ///< Assigns each box to the channel that carries it.
  PARTITA_DECL void set_source(const void* x, const std::ptrdiff_t* x_strides);  ///< Sets x_, the sent block.
  PARTITA_DECL void set_destination(void* y, const std::ptrdiff_t* y_strides);   ///< Sets y_ and final_y_, the result.
  PARTITA_DECL void post_box_receives();  ///< Announces y, or the staging area, to the workers that send to it.
  PARTITA_DECL void send_source_boxes();  ///< Starts to send the boxes of x by all transports.
  PARTITA_DECL void finish_boxes();       ///< Waits until this worker has sent and received all boxes.
  /// Executes the whole first exchange, in which only the workers of this node take part, so that the second exchange
  /// can send its messages.
  PARTITA_DECL void run_first_exchange();
  /// Notes a traced call, and allocates the memory of an exchange that adds boxes: a staging area, and a block for the
  /// sums if a second exchange reads them. All other exchanges test one flag instead of calling this function.
  PARTITA_DECL [[gnu::noinline]] void start_extra_work();
  /// Adds the received boxes, executes the second exchange, if any, releases the memory, and traces the traffic.
  PARTITA_DECL [[gnu::noinline]] void finish_extra_work();
  /// Assigns to each received box a place in the staging area. The boxes from one worker are contiguous, and the boxes
  /// of each worker start at a multiple of 128 bytes, because a channel announces addresses in units of 128 bytes.
  PARTITA_DECL void assign_staging_places();

  /// Adds the received boxes, and the boxes that stay on this worker, to zeros, in the order given by the plan. If the
  /// first box covers the whole block, that box is copied instead.
  PARTITA_DECL void add_received_boxes();
  /// Sets y to zero bytes, which represent zero in numbers; a program's own type with += must represent zero so, too.
  PARTITA_DECL void set_result_to_zero();
  PARTITA_DECL void release_staging_area();  ///< Returns the staging area to the arena, if there is one.
  PARTITA_DECL void release_memory();        ///< Releases the staging area and the intermediate block.

  element_kind kind_;                 ///< the kind of the moved elements
  arena* memory_;                     ///< for the staging area and the intermediate block
  bool oversubscribed_;               ///< whether this machine has more workers than cores
  bool channel_keeps_boxes_ = false;  ///< whether a channel copies the boxes that stay on this worker
  bool is_second_exchange_ = false;   ///< whether this object is the `next_exchange_` of another exchange
  bool was_summed_early_ = false;     ///< whether run_first_exchange() was called before the start of this exchange
  bool does_more_than_move_ = false;  ///< whether it also adds boxes, starts another exchange, or is traced
  lowered_plan plan_;                 ///< the boxes that this worker sends, receives and keeps
  std::vector<std::unique_ptr<box_transport>> transports_;  ///< for channels with boxes, then added ones
  std::vector<std::size_t> channels_of_transports_;         ///< for the former, the index of the channel in `ways`
  std::vector<lowered_plan> channel_plans_;                 ///< scratch memory: the boxes of each channel
  std::unique_ptr<box_transport> forwarding_transport_;     ///< see add_forwarding_transport()
  bool is_forwarding_ = false;                         ///< whether forwarding_transport_ has started in this exchange
  std::size_t staged_bytes_ = 0, unpadded_bytes_ = 0;  ///< bytes of the staging area with and without padding
  std::vector<std::size_t> sum_order_;                 ///< indices of plan_.receives, in the order of the sum
  char* staging_area_ = nullptr;                       ///< where received boxes wait until they are added
  std::size_t traced_call_ = ~std::size_t{0};          ///< the index of this call in the trace
  std::unique_ptr<box_exchange> next_exchange_;        ///< see append_exchange()
  void* intermediate_block_ = nullptr;                 ///< the input of `next_exchange_`, if y is not the input
  std::size_t intermediate_bytes_ = 0;                 ///< the size of `intermediate_block_`
  std::vector<std::ptrdiff_t> x_strides_, y_strides_, dense_strides_;  ///< of x, of y, and of the box that is now added
  block_memory x_, y_, final_y_;  ///< x_ is sent; final_y_ is the caller's y; y_ the intermediate block, or final_y_
  std::shared_ptr<const block_writer> source_writer_;  ///< if not null, it writes the boxes of x
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/box_exchange.ipp>
#endif
