// What one worker does in a collective call that spreads or reduces blocks: it starts and finishes the transfer in
// every group to which it sends its block or from which it gets one. Compiled once, for all element types, ranks and
// reductions.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <partita/comm/collective_channels.hpp>
#include <partita/kernel/detail/untyped_block.hpp>
#include <utility>

namespace partita::detail {

/// The direction in which blocks move in the groups of a plan.
enum class group_direction {
  spread,   ///< blocks of small workers to the large workers
  to_root,  ///< the reduced blocks of the large workers to the small workers
  to_all    ///< the reduced blocks of the large workers to all of them
};

class collective_transfer;

/// The steps of a transfer that only reductions need. A spread has none, so that programs without reductions do not
/// compile them.
struct group_sums {
  using step = void (*)(collective_transfer&, const worker_group&, collective_channel&);
  step begin_ahead, start, finish;
};

/// The blocks of a call on this worker and the operation on them. The blocks are the caller's, by pointer: a block has
/// room for 16 dimensions, and copying it would take longer than copying the elements of a small block.
struct collective_job {
  group_direction where = group_direction::spread;
  const element_kind* of = nullptr;
  const element_operation* how = nullptr;  ///< only for a reduction
  const group_sums* sums = nullptr;        ///< only for a reduction
  const untyped_block* x = nullptr;        ///< the input
  const untyped_block* y = nullptr;        ///< where the result is written
  const char* dense_x = nullptr;           ///< the elements of x contiguously, if this worker contributes them
  std::size_t parts = 0;                   ///< if not 0, complete the reduction of so many blocks before the spread
  bool completed = false;                  ///< it was completed: all workers, this one too, get dense_x

  /// Whether the input has to be packed contiguously first.
  bool packs() const { return parts != 0 || !x->dense(); }
  /// Packs the input into the memory at `room`.
  void pack(char* room) {
    copy(*of, x->dense_at(room), *x);
    if (parts != 0) how->complete(room, x->size(), parts);
    completed = parts != 0;
    dense_x = room;
  }
  /// Copies this worker's input to its own result.
  void copy_to_own_result() const {
    if (completed) copy(*of, *y, x->dense_at(dense_x));
    else copy(*of, *y, *x);
  }
};

class collective_transfer {
 public:
  /// All blocks, and the job, must stay in place until the end. The messages of a transfer that stays pending have tags
  /// of their own, so that they cannot be confused with those of another transfer.
  collective_transfer(world_state& world, collective_channels& ways, const collective_job& job, bool under_way)
      : world_(&world), ways_(&ways), job_(&job), dense_y_(job.y != nullptr && job.y->dense()), under_way_(under_way) {}

  /// The steps of reductions.
  template <class = void>
  static const group_sums* sums() {
    static constexpr group_sums all{
        [](collective_transfer& t, const worker_group& g, collective_channel& way) { t.begin_sum_ahead(g, way); },
        [](collective_transfer& t, const worker_group& g, collective_channel& way) { t.start_sum(g, way); },
        [](collective_transfer& t, const worker_group& g, collective_channel& way) { t.finish_sum(g, way); }};
    return &all;
  }

  /// What can be done before all workers have agreed on the call, once those of this node have.
  template <class = void>
  void begin_ahead() {
    ways_->sends_speculatively();
    for_each_group([&](const worker_group& g, collective_channel& way) {
      if (job_->where == group_direction::spread) way.spread_ahead(messages(way), {given(g), nullptr, job_->x->size()});
      else job_->sums->begin_ahead(*this, g, way);
    });
  }
  /// What a worker can do alone before any agreement on the call.
  template <class = void>
  void show_ahead() {
    for_each_group([&](const worker_group& g, collective_channel& way) {
      if (g.position == 0) way.show_ahead(messages(way), {job_->dense_x, nullptr, job_->x->size()});
    });
  }
  /// Never waits for another worker.
  template <class = void>
  void start() {
    ways_->begins_to_move();
    for_each_group([&](const worker_group& g, collective_channel& way) {
      if (g.members.size() == 1) return;
      if (job_->where != group_direction::spread) return job_->sums->start(*this, g, way);
      if (!under_way_ || g.position != 0) return;
      way.start_spread(messages(way), {given(g), g.root_is_large && dense_y_ ? job_->y->data : nullptr, elements(g)});
    });
  }
  template <class = void>
  void finish() {
    for_each_group([&](const worker_group& g, collective_channel& way) {
      if (job_->where == group_direction::spread) finish_spread(g, way);
      else job_->sums->finish(*this, g, way);
    });
    if (ways_->does_more()) {
      if (ways_->plan().groups.empty()) job_->copy_to_own_result();
      ways_->has_moved(under_way_);
    }
  }

 private:
  template <class F>
  void for_each_group(F f) {
    const group_plan& plan = ways_->plan();
    for (std::size_t k = 0; k < plan.groups.size(); ++k) f(plan.groups[k], ways_->way(k));
  }
  element_messages messages(const collective_channel& way) {
    return {*world_, *job_->of, under_way_ ? way.ahead : static_cast<tag>(world_->tag_of_blocks()), ways_->moved(),
            ways_->link()};
  }
  template <class = void>
  char* buffer(std::size_t slot, std::size_t n) {
    return world_->buffer_of<char>(slot, n * job_->of->bytes);
  }

  template <class = void>
  void finish_spread(const worker_group& g, collective_channel& way) {
    const bool root = g.position == 0;
    if (root && g.members.size() == 1) return job_->copy_to_own_result();
    if (root) {
      char* const own = g.root_is_large && dense_y_ ? job_->y->data : nullptr;
      way.spread(messages(way), {job_->dense_x, own, job_->x->size()}, under_way_);
      if (g.root_is_large && own == nullptr) job_->copy_to_own_result();
    } else {
      char* const into = dense_y_ ? job_->y->data : buffer(1, job_->y->size());
      way.spread(messages(way), {nullptr, into, job_->y->size()});
      if (!dense_y_) copy(*job_->of, *job_->y, job_->y->dense_at(into));
    }
  }

  template <class = void>
  void begin_sum_ahead(const worker_group& g, collective_channel& way) {
    if (!g.root_is_large) return;  // so that all members know the length of blocks
    way.sum_to_other_nodes_ahead(messages(way), *job_->how, {given(g), nullptr, job_->x->size()},
                                 job_->where == group_direction::to_all);
  }
  template <class = void>
  void start_sum(const worker_group& g, collective_channel& way) {
    if (way.is_ahead) return;
    const group_blocks b{given(g), gets(g) && dense_y_ ? job_->y->data : nullptr, elements(g)};
    const bool to_all = job_->where == group_direction::to_all;
    way.start_sum(*job_->how, b, to_all);
    if (under_way_) way.send_ahead(messages(way), *job_->how, b, to_all);
  }
  template <class = void>
  void finish_sum(const worker_group& g, collective_channel& way) {
    const std::size_t n = elements(g);
    const element_operation& how = *job_->how;
    const auto incoming = [&](std::size_t elements_there) { return buffer(2, elements_there); };
    const auto into = [&] { return gets(g) && dense_y_ ? job_->y->data : buffer(1, n); };
    if (g.members.size() == 1) {
      if (dense_y_ || how.complete == nullptr) job_->copy_to_own_result();
      else copy(*job_->of, job_->y->dense_at(into()), *job_->x);
    } else if (job_->where == group_direction::to_all) {
      way.finish_sum_to_all(messages(way), how, {given(g), into(), n}, incoming);
    } else {
      way.finish_sum(messages(way), how, given(g), n, into, incoming);
    }
    if (!gets(g)) return;
    if (how.complete != nullptr) how.complete(into(), n, g.contributors());
    if (!dense_y_ && (g.members.size() > 1 || how.complete != nullptr))
      copy(*job_->of, *job_->y, job_->y->dense_at(into()));
  }

  bool gets(const worker_group& g) const { return g.position == 0 || job_->where == group_direction::to_all; }
  const char* given(const worker_group& g) const {
    return job_->where == group_direction::spread ? (g.position == 0 ? job_->dense_x : nullptr)
           : g.position != 0 || g.root_is_large   ? job_->dense_x
                                                  : nullptr;
  }
  std::size_t elements(const worker_group& g) const {
    const bool of_x = job_->where == group_direction::spread ? g.position == 0 : !gets(g);
    return of_x ? job_->x->size() : job_->y->size();
  }

  world_state* world_;
  collective_channels* ways_;
  const collective_job* job_;
  bool dense_y_, under_way_;
};

/// A pending transfer: owns everything that its start and its end need.
template <class = void>
class basic_started_transfer {
 public:
  basic_started_transfer(std::shared_ptr<world_state> world, std::shared_ptr<collective_channels> ways)
      : world_(std::move(world)), ways_(std::move(ways)) {}

  /// `gives`: x is a block that is spread or summed.
  void start(const collective_job& job, bool gives) {
    x_ = *job.x, y_ = *job.y;
    job_ = job;
    job_.x = &x_, job_.y = &y_, job_.dense_x = x_.data;
    if (gives && job_.packs()) {  // not into the world's buffers: other calls come in between
      packed_.emplace(ways_->memory(), x_.size() * job_.of->bytes);
      job_.pack(packed_->data());
    }
    transfer_.emplace(*world_, *ways_, job_, true);
    ways_->ends_later();
    transfer_->start();
  }
  void finish() {
    transfer_->finish();
    packed_.reset();
  }

 private:
  std::shared_ptr<world_state> world_;
  std::shared_ptr<collective_channels> ways_;
  untyped_block x_, y_;
  collective_job job_;
  std::optional<arena_block> packed_;
  std::optional<collective_transfer> transfer_;
};
using started_transfer = basic_started_transfer<>;

}  // namespace partita::detail
