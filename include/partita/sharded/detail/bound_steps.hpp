// The steps on blocks that a worker executes in one run of a program, in order. They are recorded once and then
// executed many times in preallocated storage. Blocks may have elements of different types.
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
#include <partita/sharded/detail/step_storage.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <partita/sharded/schedule_options.hpp>
#include <vector>

namespace partita::detail {

class joined_exchange;

/// The steps of a program.
class bound_steps final : public step_list {
 public:
  /// The number of a block whose memory is passed from outside for each run; to be called before `settle`.
  PARTITA_DECL std::uint32_t held_outside(const step_block& one);
  /// Whether the block is set by a step and not visible from outside.
  PARTITA_DECL bool is_made_inside(const step_block& one);

  /// From the next step on, steps are of the backward pass.
  void begin_backward() { forward_ = steps_.size(); }
  /// Orders the steps and assigns storage to all blocks. Blocks that no step sets are constants and keep their memory.
  /// Collective over the world, with equal options on all workers. Throws on all workers if the storage of one of them
  /// exceeds the limit.
  PARTITA_DECL void settle(bound_mesh& on, const schedule_options& options);
  /// The same for a given order, of steps of any meshes of the world; `on` must outlive them.
  PARTITA_DECL void settle(bound_mesh& on, std::vector<ordered_step> order);
  /// The bytes of storage that this order takes on the worker where they are most. Collective.
  PARTITA_DECL std::size_t most_bytes(bound_mesh& on, std::vector<ordered_step> order);
  /// From now on steps belong to this task.
  void begin_task(std::uint32_t task) { task_ = task; }
  /// The steps as their order sees them, without times before `settle`.
  const std::vector<step_use>& uses() const { return uses_; }
  void set_memory(std::uint32_t block_number, void* memory) { blocks_[block_number].at = memory; }

  /// Executes the forward pass, or the backward pass.
  PARTITA_DECL void run(bool backward) const;
  PARTITA_INLINE void advance() const override;
  /// The estimated times of the order.
  PARTITA_DECL timetable estimated() const;
  /// The times of the last runs. They are taken from the first call on; before, they are 0.
  PARTITA_DECL timetable measured();
  std::size_t bytes_held() const { return bytes_held_; }
  std::size_t bytes_apart() const { return bytes_apart_; }

 private:
  static constexpr std::uint32_t nothing = step_use::nothing;
  /// How a step is executed: it computes, it moves, or it is the first of several movements that share their messages.
  /// The others are executed with it.
  struct step {
    std::unique_ptr<block_step> done{};
    std::shared_ptr<planned_exchange> exchange{};
    std::shared_ptr<joined_exchange> joined{};  // of the first of the movements that share their messages
    bool has_part = true;                       // whether this worker has something to do

    PARTITA_DECL box_exchange* opened() const;
  };
  struct block {
    step_block made{};  // kept until all numbers are assigned, so that no other block gets its address
    bool is_set = false, moved = false, outside = false;
    void* at = nullptr;
  };

  /// A movement that has started, and whether this worker sends messages in it.
  struct pending_movement {
    box_exchange* exchange = nullptr;
    bool sends_messages = false;
  };
  /// A worker alone on its node starts movements that send messages one after another, so many at one time: those that
  /// are started together share the link, and all of them arrive late. With one alone, the link is idle until the next
  /// poll. Training steps of six layers on two hosts at 1 Gbit took 72.7 ms with any number, 70.3 with 1 and 68.6 with
  /// 2. Workers that share a node start movements at once, because a start may wait for those of the others.
  static constexpr std::size_t most_on_links_of_one = 2, any_number = ~std::size_t{0};

  PARTITA_INLINE void put(const std::vector<step_block>& x, const step_block& y, std::unique_ptr<block_step> done,
                          const std::shared_ptr<planned_exchange>& exchange) override;
  PARTITA_DECL std::uint32_t number_of(const step_block& one, bool moved);
  /// Leaves out steps that compute what no step reads.
  PARTITA_DECL void drop_unread();
  /// Estimates the times of all steps.
  PARTITA_DECL void estimate(const link_cost& link, const step_model& model);
  /// Orders the steps by what this worker knows; small movements may share their messages if `join` is true.
  PARTITA_DECL void order_alone(const order_limits& limits, bool join);
  /// Takes over the order that the first worker of the mesh finds: the estimates differ between workers whose blocks
  /// differ. Collective. Returns false on all workers, without an order, if some worker cannot take it over.
  PARTITA_DECL bool order_together(bound_mesh& on, const order_limits& limits, bool join);
  /// Gives each block its place in one of two storages, from the first to the last time that the order needs it.
  /// Returns the bytes.
  PARTITA_DECL std::size_t place_blocks();
  /// `apart`: on channels that no other call on a mesh uses.
  PARTITA_DECL void open_exchanges(bound_mesh& on, bool apart);
  /// Storage for the blocks, and channels for the movements.
  PARTITA_DECL void make_room(bound_mesh& on, bool apart);
  /// Writes the estimated timetable into the trace, which from now on has the times of all runs.
  PARTITA_DECL void begin_trace();
  PARTITA_DECL static double seconds_now();
  void* address(std::uint32_t b) const { return b == nothing ? nullptr : blocks_[b].at; }
  PARTITA_DECL void pend(const step& one) const;
  /// Starts the first movement that waits. Returns whether this worker sends messages in it.
  PARTITA_DECL bool start_first() const;
  PARTITA_DECL void start_waiting(std::size_t on_links) const;
  /// Waits until the movement has arrived, and starts it and those before it, if they have not started.
  PARTITA_DECL void finish(const step& one) const;

  std::vector<step> steps_;
  std::vector<step_use> uses_;  // what each step reads and sets
  std::vector<ordered_step> order_;
  std::uint32_t task_ = 0;
  std::size_t forward_ = ~std::size_t{0};  // the number of steps of the forward pass
  std::size_t backward_from_ = 0;          // where the backward pass begins in the order
  std::vector<block> blocks_;
  std::vector<block_lifetime> lives_[2];  // in each storage, and the blocks
  std::vector<std::size_t> whose_[2];
  tensor_block<std::uint64_t> storage_[2];
  std::size_t bytes_held_ = 0, bytes_apart_ = 0;
  mutable std::vector<pending_movement> pending_;
  mutable std::vector<std::size_t>
      waiting_;  // positions in the order of movements that are to start, the earliest first
  std::size_t most_on_links_ = any_number;
  mutable std::vector<double> times_;  // of each event, when it begins and ends; empty if they are not taken
  program_trace trace_;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/bound_steps.ipp>
#endif
