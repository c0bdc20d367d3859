// The steps on blocks that a worker executes in one run of a program. The steps are recorded once and then executed
// many times, in order, in preallocated storage. The blocks may have different element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/program_trace.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/step_order.hpp>
#include <partita/plan/timetable.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <partita/sharded/detail/execution.hpp>
#include <partita/sharded/detail/planned_exchange.hpp>
#include <partita/sharded/detail/program_order.hpp>
#include <partita/sharded/detail/step_storage.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <partita/sharded/schedule_options.hpp>
#include <vector>

namespace partita::detail {

class joined_exchange;

/// The recorded steps of a program, their order, and the storage of their blocks.
class bound_steps final : public step_list {
 public:
  /// Adds a block whose memory the caller sets by set_memory before a run; returns its number. Precedes plan_steps.
  PARTITA_DECL std::uint32_t add_outside_block(const step_block& one);
  /// Whether a step sets the block, and the caller does not set its memory.
  PARTITA_DECL bool is_set_by_step(const step_block& one);

  /// Ends the forward pass: the steps that are added from now on belong to the backward pass.
  void begin_backward() { forward_step_count_ = steps_.size(); }
  /// Orders the steps and assigns storage to all blocks. Blocks that neither a step sets nor the caller passes are
  /// constants and keep their memory. Collective over the world, with equal options on all workers. Throws an error on
  /// all workers if every order that is tried needs more than `options.memory` bytes of storage on some worker.
  PARTITA_DECL void plan_steps(bound_mesh& on, const schedule_options& options);
  /// Assigns storage to all blocks for a given order of the steps, which may be on several meshes of the world. The
  /// mesh `on` must outlive this object. Collective.
  PARTITA_DECL void plan_steps(bound_mesh& on, std::vector<ordered_step> order);
  /// The bytes of storage that an order needs on the worker that needs most. Collective.
  PARTITA_DECL std::size_t max_storage_bytes(bound_mesh& on, std::vector<ordered_step> order);
  /// Makes the steps that are added from now on belong to task `task`.
  void begin_task(std::uint32_t task) { task_ = task; }
  /// The blocks that each step reads and sets, and its estimated time, which `plan_steps` sets.
  const std::vector<step_use>& uses() const { return step_uses_; }
  /// Sets the memory of an outside block, or of a result, for the next runs.
  void set_memory(std::uint32_t block_number, void* memory) { blocks_[block_number].address = memory; }

  /// Executes the forward pass or, if `backward`, the backward pass.
  PARTITA_DECL void run(bool backward) const;
  PARTITA_INLINE void advance() const override;  ///< Advances pending movements, and starts waiting ones.
  /// The estimated times of all steps in their order.
  PARTITA_DECL timetable estimated_times() const;
  /// The measured times of the last runs of the program. Runs measure times only after the first call of this function
  /// or if a trace is written; times that were not measured are 0.
  PARTITA_DECL timetable measured_timetable();
  std::size_t bytes_held() const { return bytes_held_; }          ///< this worker's storage for blocks, in bytes
  std::size_t unshared_bytes() const { return unshared_bytes_; }  ///< that storage if no two blocks shared memory
  PARTITA_DECL static double seconds_now();                       ///< the time of a steady clock since its epoch

 private:
  static constexpr std::uint32_t nothing = step_use::nothing;  ///< in place of the number of a block: a step has none
  /// How a step is executed: it computes, it moves elements, or it is the first of several movements that share their
  /// messages. Movements that share the messages of an earlier movement are executed together with the earlier one.
  struct step {
    std::unique_ptr<step_work> work{};             ///< the computation; null for a movement
    std::shared_ptr<planned_exchange> exchange{};  ///< the movement; null for a computation
    std::shared_ptr<joined_exchange> joined{};     ///< null unless it is the first of movements that share messages
    bool takes_part = true;  ///< whether this worker takes part in the step; if not, it skips the step

    PARTITA_DECL box_exchange* opened_exchange() const;  ///< that of `joined` or, if it is null, of `exchange`
  };
  struct block {                  ///< a block that steps read or set
    step_block recorded_block{};  ///< keeps its address in use until storage is allocated; of a constant, for all runs
    bool is_set = false;          ///< whether a step sets it
    bool is_exchanged = false;    ///< whether an exchange reads or sets it
    bool is_outside = false;      ///< whether its memory belongs to the caller
    void* address = nullptr;      ///< of its elements: in storage_, or in memory of the caller
  };

  /// A movement that was started and is not finished, and whether this worker sends messages in it.
  struct pending_movement {
    box_exchange* exchange = nullptr;  ///< the movement's open exchange
    bool sends_messages = false;       ///< whether this worker sends messages in it
  };
  /// The limit of pending movements in which this worker sends messages, if each node has one worker: movements that
  /// start together share the link, and all of them arrive late; with a single movement the link is idle until the next
  /// poll. Training steps of six layers on two hosts at 1 Gbit/s took 72.7 ms without a limit of pending movements,
  /// 70.3 ms with a limit of one, and 68.6 ms with a limit of two. Workers that share a node start every movement at
  /// once, because a start may wait for the starts of other workers.
  static constexpr std::size_t most_pending_per_node = 2, any_number = ~std::size_t{0};

  PARTITA_INLINE void add(const std::vector<step_block>& x, const step_block& y, std::unique_ptr<step_work> work,
                          const std::shared_ptr<planned_exchange>& exchange) override;   ///< adds a step; see step_list
  PARTITA_DECL std::uint32_t block_number_of(const step_block& one, bool is_exchanged);  ///< its index; adds new blocks
  /// Removes the computations whose results no step reads and the program does not return.
  PARTITA_DECL void drop_unread_blocks();
  PARTITA_DECL void estimate_step_times(const link_cost& link, const step_model& model);  ///< sets step_use::seconds
  /// Gives each block that a step sets, except outside blocks, an offset in one of two storages: one for the blocks
  /// that exchanges read or set, one for all other blocks. A block keeps its memory from the first step that sets it to
  /// the last step that reads it. Returns the sum of the bytes of both storages.
  PARTITA_DECL std::size_t place_blocks();
  /// Opens the exchanges of all movements. On lanes above 0 and, if `uses_own_channels` is true, on all lanes, the
  /// program opens its own copies of cached exchanges, which no other call uses.
  PARTITA_DECL void open_exchanges(bound_mesh& on, bool uses_own_channels);
  /// Allocates storage for the blocks, and opens channels for the movements.
  PARTITA_DECL void make_room(bound_mesh& on, bool uses_own_channels);
  /// Writes the estimated timetable into the trace, to which all runs after this call add their times.
  PARTITA_DECL void begin_trace();
  void* address(std::uint32_t b) const { return b == nothing ? nullptr : blocks_[b].address; }  ///< memory of block b
  PARTITA_DECL void add_pending_movement(const step& one) const;  ///< marks the started movement as pending
  /// Starts the first of the movements that wait to be started. Returns whether this worker sends messages in it.
  PARTITA_DECL bool start_next_movement() const;
  /// Starts all waiting movements up to that of step `one`, then waits until the movement of step `one` is complete.
  PARTITA_DECL void finish(const step& one) const;

  std::vector<step> steps_;                           ///< the recorded steps, in the order in which they were added
  std::vector<step_use> step_uses_;                   ///< the blocks that each step reads and sets
  program_order order_;                               ///< the order in which run() executes the steps
  std::uint32_t task_ = 0;                            ///< the task to which steps that are added now belong
  std::size_t forward_step_count_ = ~std::size_t{0};  ///< the number of steps of the forward pass
  std::vector<block> blocks_;                         ///< the blocks that steps read or set, by block number
  std::vector<block_lifetime> lifetimes_[2];          ///< the lifetimes of the blocks in each storage
  std::vector<std::size_t> block_numbers_[2];         ///< the numbers of the blocks in each storage
  tensor_block<std::uint64_t> storage_[2];  ///< for blocks that do not move, and for blocks that exchanges read or set
  std::size_t bytes_held_ = 0, unshared_bytes_ = 0;  ///< see bytes_held(), unshared_bytes()
  mutable std::vector<pending_movement> pending_;    ///< started movements that are not finished
  mutable std::vector<std::size_t> waiting_steps_;   ///< the positions in order_ of movements that wait for their start
  std::size_t max_pending_sends_ = any_number;       ///< the limit of pending movements in which this worker sends
  mutable std::vector<double> event_begins_and_ends_;  ///< begin and end of each event, in seconds; empty: unmeasured
  program_trace trace_;                                ///< the trace of all runs, if traces are enabled
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/bound_steps.ipp>
#endif
