// The two movements between a small and a large partition that broadcast and sum_reduce are made of: spread and collect.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <memory>
#include <partita/comm/lent_block.hpp>
#include <partita/comm/message.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/kernel/detail/flight.hpp>
#include <partita/kernel/detail/group_sum.hpp>
#include <partita/kernel/detail/group_ways.hpp>
#include <partita/kernel/detail/structure.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/rule/policy.hpp>
#include <type_traits>

namespace partita::detail {

/// How a kernel with these policies adds up.
template <class... Policies>
using summation_of = std::conditional_t<has_policy<reproducible_t, Policies...>, rounded_once, in_tree_order>;

class group_movement {
 public:
  group_movement(std::shared_ptr<world_state> world, group_plan plan, const char* name, text call, std::uint64_t fingerprint,
                 bool keep_batch)
      : world_(std::move(world)),
        plan_(std::move(plan)),
        name_(name),
        call_(std::move(call)),
        fingerprint_(fingerprint),
        keep_batch_(keep_batch) {}

  const group_plan& plan() const { return plan_; }
  /// How often block shapes had to be exchanged.
  std::size_t structures_made() const { return spread_.made() + collect_.made(); }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }

  /// Small workers give their block; each large worker gets the block of the small worker it pairs with.
  template <class T, std::size_t Rank>
  pooled_tensor<T, Rank> spread(const strided<const T, Rank>& x, const target<T, Rank>& wanted, const complaint& before = {}) {
    flight_->land();
    const structure& s = agree_on_block<T>(x, wanted, kind_of_call::spread, before);
    result<T, Rank> y(ways_->memory(), result_shape(x, s, plan_.large, plan_.small), wanted);
    if (!plan_.small && !plan_.large) copy(y.block(), x);
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const worker_group& g = plan_.groups[k];
      const bool root = g.position == 0;
      if (root && g.members.size() == 1) {
        copy(y.block(), x);
      } else if (root) {
        T* const own = g.root_is_large && y.dense() ? y.block().data : nullptr;
        ways_->way(k).spread(*world_, dense(x, 0), own, x.size());
        if (g.root_is_large && own == nullptr) copy(y.block(), x);
      } else {
        T* const into = y.dense() ? y.block().data : world_->buffer_of<T>(1, y.block().size());
        ways_->way(k).template spread<T>(*world_, nullptr, into, y.block().size());
        if (!y.dense()) copy<T, Rank>(y.block(), dense_block<const T>(into, y.block().shape));
      }
    }
    return std::move(y).tensor();
  }

  /// As spread, but that the workers of a node look at one block.
  template <class T, std::size_t Rank>
  shared_view_of<T, Rank> share(const strided<const T, Rank>& x, const complaint& before = {}) {
    flight_->land();
    const structure& s = agree_on_block<T>(x, target<T, Rank>{}, kind_of_call::share, before);
    const auto shape = result_shape(x, s, plan_.large, plan_.small);
    lent_header* block = nullptr;
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      const worker_group& g = plan_.groups[k];
      const bool root = g.position == 0;
      const std::size_t n = root ? x.size() : volume_of(shape);
      if (n == 0) continue;
      lent_header* const got = ways_->way(k).template share<T>(*world_, ways_->memory(), root ? dense(x, 0) : nullptr, n, g.root_is_large);
      if (got != nullptr) block = got;
    }
    if (!plan_.small && !plan_.large && x.size() != 0) {  // what this worker gave
      block = lent_blocks::lend(ways_->memory(), x.size() * sizeof(T), 1);
      copy(dense_block<T>(reinterpret_cast<T*>(lent_blocks::elements(block)), x.shape), x);
    }
    return view_of<T, Rank>(block, shape);
  }

  /// Large workers give their block; each small worker gets the sum of the blocks of the large workers it pairs with,
  /// added up as Sum does. A root that is in no other group may want the sum where its own dense block is.
  template <class T, std::size_t Rank, class Sum = in_tree_order>
  pooled_tensor<T, Rank> collect(const strided<const T, Rank>& x, const target<T, Rank>& wanted, const complaint& before = {}) {
    auto y = sum_agreed_on<T, Rank, Sum>(x, wanted, sum_goes::to_root, false, before);
    sum_now<Sum>(x, y.block(), sum_goes::to_root);
    return std::move(y).tensor();
  }

  /// Large workers give their block; each of them gets the sum of the blocks of its group. Requires a plan of all_sum_reduce.
  template <class T, std::size_t Rank, class Sum = in_tree_order>
  pooled_tensor<T, Rank> collect_to_all(const strided<const T, Rank>& x, const target<T, Rank>& wanted) {
    const bool through = wanted.given && plan_.large && plan_.groups[0].members.size() > 1;  // the others cannot write to a caller's
    auto y = sum_agreed_on<T, Rank, Sum>(x, wanted, sum_goes::to_all, false, {}, through);
    sum_now<Sum>(x, y.block(), sum_goes::to_all);
    if (through && y.block().size() != 0) {
      copy<T, Rank>(wanted.block, y.block());
      return {};
    }
    return std::move(y).tensor();
  }

  /// Begins either. The elements of x are there when `fill()` returns, which is called once all workers have agreed.
  template <class T, std::size_t Rank, class Sum, class Fill>
  pending<pooled_tensor<T, Rank>> start_collect(const strided<const T, Rank>& x, const target<T, Rank>& wanted, sum_goes where,
                                                const complaint& before, Fill fill) {
    auto y = sum_agreed_on<T, Rank, Sum>(x, wanted, where, true, before);
    using sum_type = started_sum<T, Rank, Sum>;
    const auto& sum = sums_.find<sum_type>([&] { return std::make_shared<sum_type>(world_, ways_); });
    try {
      fill();
    } catch (...) {  // the others count on this worker
      sum->start(x, y.block(), where);
      sum->finish();
      throw;
    }
    sum->start(x, y.block(), where);
    const std::uint64_t number = flight_->take_off(sum);
    world_->leave_under_way(flight_);
    return {std::move(y).tensor(), flight_, number};
  }

 private:
  struct structure {
    structure_key key;
    std::array<std::size_t, 8> shape{};  ///< of the block that this worker gets

    template <std::size_t Rank>
    std::array<std::size_t, Rank> as() const {
      std::array<std::size_t, Rank> first{};
      for (std::size_t d = 0; d < Rank; ++d) first[d] = shape[d];
      return first;
    }
  };

  /// The block that is filled: the caller's, or a new tensor.
  template <class T, std::size_t Rank>
  class result {
   public:
    result(arena& memory, const std::array<std::size_t, Rank>& shape, const target<T, Rank>& wanted) {
      if (wanted.given && volume_of(shape) != 0) {
        block_ = wanted.block;
      } else {
        tensor_ = make_pooled<T, Rank>(memory, shape);
        block_ = block_of(tensor_);
        if (Rank == 0) *block_.data = T{};
      }
      dense_ = block_.dense();
    }
    const strided<T, Rank>& block() const { return block_; }
    bool dense() const { return dense_; }
    pooled_tensor<T, Rank> tensor() && { return std::move(tensor_); }

   private:
    pooled_tensor<T, Rank> tensor_;
    strided<T, Rank> block_;
    bool dense_ = false;
  };

  /// Ends what is under way, and agrees on the next sum: where it goes, for this worker. `through` a tensor of our own if wanted.
  template <class T, std::size_t Rank, class Sum>
  result<T, Rank> sum_agreed_on(const strided<const T, Rank>& x, const target<T, Rank>& wanted, sum_goes where, bool later,
                                const complaint& before, bool through = false) {
    flight_->land();
    const bool to_all = where == sum_goes::to_all;
    const structure& s = agree_on_sum<T, Sum>(x, wanted, to_all, later, before);
    return {ways_->memory(), to_all ? x.shape : result_shape(x, s, plan_.small, plan_.large), through ? target<T, Rank>{} : wanted};
  }
  template <class Sum, class T, std::size_t Rank>
  void sum_now(const strided<const T, Rank>& x, const strided<T, Rank>& y, sum_goes where) {
    group_sum<T, Rank, Sum> sum(*world_, *ways_, x, plan_.large ? dense(x, 0) : nullptr, y, where);
    sum.start(false);
    sum.finish();
  }

  template <class T, std::size_t Rank>
  static structure_key key_of(bool active, const strided<const T, Rank>& x, const target<T, Rank>& wanted) {
    structure_key key;
    if (active) key << x.shape;
    if (wanted.given) key << wanted.block.shape;
    return key;
  }

  /// What all workers have to ask for together. Ways of adding up, at once or later, are kinds of their own: they send different
  /// messages.
  enum class kind_of_call : std::uint64_t { spread = 1, collect, share, collect_rounded_once, start_collect, start_collect_rounded_once };

  template <class T, std::size_t Rank>
  std::uint64_t fingerprint_of(kind_of_call kind) const {
    return mixed(mixed(fingerprint_, type_number<T>()), 16 * static_cast<std::uint64_t>(kind) + Rank);
  }

  /// Before a block is spread: all make the same call, and who gets it learns its shape.
  template <class T, std::size_t Rank>
  const structure& agree_on_block(const strided<const T, Rank>& x, const target<T, Rank>& wanted, kind_of_call kind,
                                  const complaint& before) {
    const auto key = key_of(plan_.small, x, wanted);
    const worker_group* joined = plan_.joined();
    return settle(
        *world_, spread_, fingerprint_of<T, Rank>(kind), [&](const structure& known) { return known.key == key; },
        [&](complaint& trouble) {
          structure fresh{key, {}};
          find_ways();
          for (const worker_group& g : plan_.groups) {
            std::array<std::uint64_t, Rank + 1> header{};
            for (std::size_t d = 0; d < Rank; ++d) header[d] = x.shape[d];
            partita::detail::spread(*world_, g, header.data(), Rank, tag::header);
            if (&g == joined)
              for (std::size_t d = 0; d < Rank; ++d) fresh.shape[d] = header[d];
          }
          expect_shape(wanted, result_shape(x, fresh, plan_.large, plan_.small), name_, trouble);
          return fresh;
        },
        [&] { return describe<T>(kind, x.shape); }, before);
  }

  /// Before a sum: all make the same call, and the blocks of a sum have one shape.
  template <class T, class Sum, std::size_t Rank>
  const structure& agree_on_sum(const strided<const T, Rank>& x, const target<T, Rank>& wanted, bool to_all, bool later, const complaint& before) {
    const auto key = key_of(plan_.large, x, wanted);
    constexpr bool exact = std::is_same_v<Sum, rounded_once>;
    const auto kind = later ? (exact ? kind_of_call::start_collect_rounded_once : kind_of_call::start_collect)
                            : (exact ? kind_of_call::collect_rounded_once : kind_of_call::collect);
    return settle(
        *world_, collect_, fingerprint_of<T, Rank>(kind), [&](const structure& known) { return known.key == key; },
        [&](complaint& trouble) {
          structure fresh{key, {}};
          find_ways();
          for (const worker_group& g : plan_.groups) {
            const bool contributes = g.position != 0 || g.root_is_large;
            // the largest and the smallest extents of the group in one message: n and the complement of n
            std::array<std::uint64_t, 2 * Rank + 1> mine{}, all{}, incoming{};
            for (std::size_t d = 0; d < Rank; ++d) {
              mine[d] = x.shape[d];
              mine[Rank + d] = ~std::uint64_t{x.shape[d]};
            }
            partita::detail::collect(*world_, g, contributes ? mine.data() : nullptr, all.data(), incoming.data(), 2 * Rank,
                                     tag::header, [](std::uint64_t& a, std::uint64_t b) { a = a > b ? a : b; });
            if (g.position != 0) continue;
            std::array<std::size_t, Rank> least{};
            for (std::size_t d = 0; d < Rank; ++d) {
              fresh.shape[d] = all[d];
              least[d] = ~all[Rank + d];
            }
            const auto shape = fresh.template as<Rank>();
            if (shape == least) continue;
            trouble.kind = failure::shape;
            trouble.sentence << call_ << ": requires the blocks that are summed to have one shape, got extents from " << least
                             << " to " << shape << " among the workers " << g.members
                             << "; give every worker of a sum a block of the same shape";
          }
          if (trouble.kind == failure::none)
            expect_shape(wanted, to_all ? x.shape : result_shape(x, fresh, plan_.small, plan_.large), name_, trouble);
          return fresh;
        },
        [&] { return describe<T>(kind, x.shape); }, before);
  }

  template <class T, std::size_t Rank>
  std::array<std::size_t, Rank> result_shape(const strided<const T, Rank>& x, const structure& s, bool takes, bool gives) const {
    if (takes) return s.template as<Rank>();
    if (!gives) return x.shape;
    std::array<std::size_t, Rank> none{};
    if (Rank >= 2 && keep_batch_) none[0] = x.shape[0];
    return none;
  }

  /// Once, with the first structure: all workers come here together.
  void find_ways() {
    if (!ways_) ways_ = std::make_shared<group_ways>(world_->communicator(), plan_);
  }

  template <class T, std::size_t Rank>
  const T* dense(const strided<const T, Rank>& x, std::size_t slot) {
    if (x.dense()) return x.data;
    T* const packed = world_->buffer_of<T>(slot, x.size());
    copy<T, Rank>(dense_block<T>(packed, x.shape), x);
    return packed;
  }

  template <class T, std::size_t Rank>
  text describe(kind_of_call kind, const std::array<std::size_t, Rank>& shape) const {
    constexpr const char* manners[] = {"", "", "", ", as a shared view", ", reproducible", ", by start", ", reproducible, by start"};
    return text() << call_ << " with a block of shape " << shape << " and elements of " << sizeof(T) << " bytes"
                  << manners[static_cast<std::size_t>(kind)];
  }

  std::shared_ptr<world_state> world_;
  group_plan plan_;
  const char* name_;
  text call_;
  std::uint64_t fingerprint_;
  bool keep_batch_;
  structure_cache<structure> spread_, collect_;
  std::shared_ptr<group_ways> ways_;
  exchanges_by_type sums_;
  std::shared_ptr<flight> flight_ = std::make_shared<flight>();
};

}  // namespace partita::detail
