// The sums that one worker takes part in at a call, begun and ended: in the groups that it gives its block to or is the root of.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <partita/array/strided.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/kernel/detail/group_ways.hpp>
#include <utility>

namespace partita::detail {

/// Whose block the sum becomes: the small worker's of a group, or that of all its members.
enum class sum_goes { to_root, to_all };

/// Large workers give x; who gets the sum of the blocks of a group, added up as Sum does, gets it into y. A root that is in no
/// other group may want it where its own dense block is.
template <class T, std::size_t Rank, class Sum>
class group_sum {
 public:
  /// `dense_x` are the elements of x one after the other, needed by those who give. All blocks stay where they are to the end.
  group_sum(world_state& world, group_ways& ways, const strided<const T, Rank>& x, const T* dense_x, const strided<T, Rank>& y,
            sum_goes where = sum_goes::to_root)
      : world_(&world), ways_(&ways), x_(x), y_(y), dense_x_(dense_x), dense_y_(y.dense()), where_(where) {}

  /// Waits for nobody. If it will be `under_way` for a while, messages may leave ahead.
  void start(bool under_way) {
    under_way_ = under_way;
    for_each_group([&](const worker_group& g, group_way& way) {
      if (g.members.size() == 1) return;
      way.template start_sum<Sum>(given(g), gets(g) && dense_y_ ? y_.data : nullptr, elements(g), where_ == sum_goes::to_all);
      if (under_way) way.template send_ahead<Sum>(*world_, given(g), elements(g));
    });
  }
  void finish() {
    const auto incoming = [&](std::size_t n) { return world_->buffer_of<T>(2, n); };
    if (ways_->plan().groups.empty()) copy(y_, x_);
    for_each_group([&](const worker_group& g, group_way& way) {
      const std::size_t n = elements(g);
      const tag about = under_way_ ? way.ahead : tag::block;
      const auto into = [&] { return gets(g) && dense_y_ ? y_.data : world_->buffer_of<T>(1, n); };
      if (g.members.size() == 1) {
        if (y_.data != x_.data) copy(y_, x_);
        return;
      }
      if (where_ == sum_goes::to_all)
        way.template finish_sum_to_all<Sum>(*world_, given(g), into(), n, about, incoming);
      else
        way.template finish_sum<Sum>(*world_, given(g), n, about, into, incoming);
      if (gets(g) && !dense_y_) copy<T, Rank>(y_, dense_block<const T>(into(), y_.shape));
    });
  }

 private:
  template <class F>
  void for_each_group(F f) {
    const group_plan& plan = ways_->plan();
    for (std::size_t k = 0; k < plan.groups.size(); ++k) f(plan.groups[k], ways_->way(k));
  }
  bool gets(const worker_group& g) const { return g.position == 0 || where_ == sum_goes::to_all; }
  const T* given(const worker_group& g) const { return g.position != 0 || g.root_is_large ? dense_x_ : nullptr; }
  std::size_t elements(const worker_group& g) const { return gets(g) ? y_.size() : x_.size(); }

  world_state* world_;
  group_ways* ways_;
  strided<const T, Rank> x_;
  strided<T, Rank> y_;
  const T* dense_x_;
  bool dense_y_, under_way_ = false;
  sum_goes where_;
};

/// One that is under way: what its start and its end need lives as long as it does.
template <class T, std::size_t Rank, class Sum>
class started_sum {
 public:
  started_sum(std::shared_ptr<world_state> world, std::shared_ptr<group_ways> ways) : world_(std::move(world)), ways_(std::move(ways)) {}

  void start(const strided<const T, Rank>& x, const strided<T, Rank>& y, sum_goes where) {
    const bool packs = ways_->plan().large && !x.dense();  // not into the world's buffers: other calls come in between
    if (packs) {
      packed_ = make_pooled<T, Rank>(ways_->memory(), x.shape);
      copy(block_of(packed_), x);
    }
    sum_.emplace(*world_, *ways_, x, packs ? packed_.data() : x.data, y, where);
    sum_->start(true);
  }
  void finish() {
    sum_->finish();
    packed_ = {};
  }

 private:
  std::shared_ptr<world_state> world_;
  std::shared_ptr<group_ways> ways_;
  pooled_tensor<T, Rank> packed_;
  std::optional<group_sum<T, Rank, Sum>> sum_;
};

}  // namespace partita::detail
