// The steps on blocks that a worker executes in one run of a program, in order. They are recorded once and then
// executed many times in preallocated storage. Blocks may have elements of different types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// The steps of a program.
class bound_steps final : public step_list {
 public:
  std::size_t size() const { return steps_.size(); }
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
  /// From now on steps belong to this task.
  void begin_task(std::uint32_t task) { task_ = task; }
  /// The steps as their order sees them; `ways` is null if nothing moves.
  PARTITA_DECL std::vector<step_use> uses(transport* ways, const step_model& model) const;
  void set_memory(std::uint32_t block_number, void* memory) { blocks_[block_number].at = memory; }

  /// Executes the forward pass, or the backward pass.
  PARTITA_DECL void run(bool backward) const;
  PARTITA_INLINE void advance() const override;
  /// The times of the order: estimated, or of the last runs since `measure`.
  PARTITA_DECL timetable estimated() const;
  PARTITA_DECL timetable measured() const;
  /// From now on the times of all steps are taken.
  void measure() { times_.assign(2 * order_.size(), 0); }
  bool is_measured() const { return !times_.empty(); }
  std::size_t bytes_held() const { return bytes_held_; }
  std::size_t bytes_apart() const { return bytes_apart_; }

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  static constexpr std::size_t none = ~std::size_t{0};
  struct step {
    std::vector<std::uint32_t> x{};
    std::uint32_t y = nothing;
    std::unique_ptr<block_step> done{};
    std::shared_ptr<planned_exchange> exchange{};
    basic_text<48> name{};
    bool is_backward = false;
    std::uint32_t task = 0;
  };
  struct block {
    step_block made{};  // kept until all numbers are assigned, so that no other block gets its address
    bool is_set = false, moved = false, outside = false;
    void* at = nullptr;
  };

  PARTITA_INLINE void put(const std::vector<step_block>& x, const step_block& y, std::unique_ptr<block_step> done,
                          const std::shared_ptr<planned_exchange>& exchange) override;
  PARTITA_DECL std::uint32_t number_of(const step_block& one, bool moved);
  /// Orders the steps by what this worker knows.
  PARTITA_DECL void order_alone(const std::vector<step_use>& uses, const order_limits& limits);
  /// Takes over the order that the first worker of the mesh finds: the estimates differ between workers whose blocks
  /// differ. Collective. Returns false on all workers, without an order, if some worker cannot take it over.
  PARTITA_DECL bool order_together(bound_mesh& on, const std::vector<step_use>& uses, const order_limits& limits);
  /// Gives each block its place in one of two storages, from the first to the last time that the order needs it.
  /// Returns the bytes.
  PARTITA_DECL std::size_t place_blocks();
  /// `apart`: on channels that no other call on a mesh uses.
  PARTITA_DECL void open_exchanges(bound_mesh& on, bool apart);
  /// Storage for the blocks, and channels for the movements.
  PARTITA_DECL void make_room(bound_mesh& on, bool apart);
  PARTITA_DECL static double seconds_now();

  std::vector<step> steps_;
  std::vector<ordered_step> order_;
  std::uint32_t task_ = 0;
  std::size_t forward_ = none;     // the number of steps of the forward pass
  std::size_t backward_from_ = 0;  // where the backward pass begins in the order
  std::vector<block> blocks_;
  std::vector<block_lifetime> lives_[2];  // in each storage, and the blocks
  std::vector<std::size_t> whose_[2];
  tensor_block<std::uint64_t> storage_[2];
  std::size_t bytes_held_ = 0, bytes_apart_ = 0;
  std::vector<step_use> uses_;
  mutable std::vector<const planned_exchange*> pending_;
  mutable std::vector<double> times_;  // of each event, when it begins and ends; empty if they are not taken
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/bound_steps.ipp>
#endif
