// The two movements between parts of a tensor and the whole of it that all_gather and reduce_scatter are made of.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/datatype.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/schedule.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/flight.hpp>
#include <partita/kernel/detail/part_sum.hpp>
#include <partita/kernel/detail/structure.hpp>
#include <partita/plan/block_group.hpp>
#include <vector>

namespace partita::detail {

/// Which cuts a movement knows: any that tiles the tensor, or the balanced one alone.
enum class known_cuts { any, balanced };

/// Each worker of a group holds a part of a tensor; `gather` gives all of them the whole, `scatter` takes a whole from each and leaves
/// every worker its part of their sum. Both find the same structures: the cuts that were met.
template <class Extents>
class part_movement {
 public:
  static constexpr std::size_t rank = Extents::rank();
  using shape_type = std::array<std::size_t, rank>;

  part_movement(const partition<Extents>& p, const std::array<bool, rank>& kept, const char* name, known_cuts cuts)
      : p_(p), group_(block_group_of(p.grid(), kept, p.world().id())), name_(name), cuts_(cuts) {
    fingerprint_ = mixed(p.grid().fingerprint(), cuts == known_cuts::any ? 128 : 129);
    for (bool k : kept) fingerprint_ = mixed(fingerprint_, k ? 1 : 0);
  }

  const std::vector<std::size_t>& members() const { return group_.members; }
  std::size_t structures_made() const { return structures_.made(); }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }

  /// Every worker gives its part and gets the whole. A worker outside the partition gets a copy of what it gave.
  template <class T>
  pooled_tensor<T, rank> gather(const strided<const T, rank>& x, const target<T, rank>& wanted, const char* direction, const complaint& before = {}) {
    flight_->land();
    structure& s = settle(
        state(), structures_, fingerprint_of<T>(1),
        [&](const structure& known) { return !group_.active() ? fits_copy(wanted, x) : known.part == x.shape && fits(wanted, known.whole); },
        [&](complaint& trouble) {
          open_ways();
          const auto shapes = shapes_of_group(x.shape);
          parted_tensor<rank> tensor = joined(shapes, group_.shape);
          if (!tensor.problem.empty())
            complain(trouble, direction) << tensor.problem;
          else if (cuts_ == known_cuts::balanced && !tensor.balanced(group_.shape))
            complain(trouble, direction) << "requires blocks cut as the result of the forward call was (the balanced cut of " << tensor.whole
                                         << " over " << group_.shape << "), got a block of " << x.shape;
          else
            expect_shape(wanted, group_.active() ? tensor.whole : x.shape, name_, trouble);
          return trouble.kind == failure::none ? learnt(tensor) : structure{};
        },
        [&] { return describe<T>(direction, x.shape); }, before);
    pooled_tensor<T, rank> y;
    const strided<T, rank> to = result(group_.active() ? s.whole : x.shape, wanted, y);
    if (!group_.active()) {
      copy(to, x);
      return y;
    }
    box_exchange<T, rank>& way = *exchange<T>(s.gathering, s.together);
    way.start(x.data, x.strides, to.data, to.strides);
    way.finish();
    return y;
  }

  /// Every worker gives a whole and gets its part of the sum, added up in the order of the group's members.
  template <class T>
  pooled_tensor<T, rank> scatter(const strided<const T, rank>& x, const target<T, rank>& wanted, const char* direction, const complaint& before = {}) {
    structure& s = agree_on_whole(x, wanted, direction, before);
    pooled_tensor<T, rank> y;
    const strided<T, rank> to = result(group_.active() ? s.part : x.shape, wanted, y);
    if (!group_.active()) {
      copy(to, x);
      return y;
    }
    part_sum<T, rank> sum = sum_of(*exchange<T>(s.scattering, s.apart), s, x, to);
    sum.expect(ways_->memory());
    sum.give();
    sum.finish();
    return y;
  }

  /// Begins that. The elements of x are there when `fill()` returns, which is called once all workers have agreed.
  template <class T, class Fill>
  pending<pooled_tensor<T, rank>> start_scatter(const strided<const T, rank>& x, const char* direction, const complaint& before, Fill fill) {
    structure& s = agree_on_whole(x, target<T, rank>{}, direction, before);
    auto y = make_pooled<T, rank>(ways_->memory(), group_.active() ? s.part : x.shape);
    if (!group_.active()) {
      fill();
      copy(block_of(y), x);
      return {std::move(y), nullptr, 0};
    }
    using sum_type = started_part_sum<T, rank>;
    const auto& sum = sums_.find<sum_type>([&] { return std::make_shared<sum_type>(ways_); });
    const auto& way = exchange<T>(s.scattering, s.apart);
    sum->expect(way, sum_of(*way, s, x, block_of(y)));
    const std::uint64_t number = flight_->take_off(sum);
    try {
      fill();
    } catch (...) {  // the others count on this worker
      sum->give();
      flight_->land();
      throw;
    }
    sum->give();
    state().leave_under_way(flight_);
    return {std::move(y), flight_, number};
  }

 private:
  struct structure {
    shape_type whole{}, part{};
    index<rank> start{};                      ///< where this worker's part begins in the whole
    exchange_schedule<rank> together;         ///< parts to wholes
    exchange_schedule<rank + 1> apart;        ///< wholes to stacks of the others' pieces
    exchanges_by_type gathering{}, scattering{};
  };

  /// Ends what is under way, and agrees on the next sum.
  template <class T>
  structure& agree_on_whole(const strided<const T, rank>& x, const target<T, rank>& wanted, const char* direction, const complaint& before) {
    flight_->land();
    return settle(
        state(), structures_, fingerprint_of<T>(2),
        [&](const structure& known) { return !group_.active() ? fits_copy(wanted, x) : known.whole == x.shape && fits(wanted, known.part); },
        [&](complaint& trouble) {
          open_ways();
          const auto shapes = shapes_of_group(x.shape);
          for (std::size_t k = 0; k < shapes.size() && trouble.kind == failure::none; ++k)
            if (shapes[k] != shapes[0])
              complain(trouble, direction) << "requires the blocks that are summed to have one shape, got " << shapes[0] << " on worker "
                                           << group_.members[0] << " and " << shapes[k] << " on worker " << group_.members[k]
                                           << "; give every worker of a sum a block of the same shape";
          structure fresh = group_.active() ? learnt(balanced_parts(x.shape, group_.shape)) : learnt({});
          if (trouble.kind == failure::none) expect_shape(wanted, group_.active() ? fresh.part : x.shape, name_, trouble);
          return fresh;
        },
        [&] { return describe<T>(direction, x.shape); }, before);
  }
  template <class T>
  part_sum<T, rank> sum_of(box_exchange<T, rank + 1>& exchange, const structure& s, const strided<const T, rank>& x, const strided<T, rank>& to) const {
    return {exchange, x, to, s.start, group_.position, group_.members.size() - 1};
  }

  /// The result's block: the caller's, or a new one.
  template <class T>
  strided<T, rank> result(const shape_type& shape, const target<T, rank>& wanted, pooled_tensor<T, rank>& y) {
    if (wanted.given && volume_of(shape) != 0) return wanted.block;
    y = make_pooled<T, rank>(ways_->memory(), shape);
    return block_of(y);
  }
  template <class T>
  static bool fits(const target<T, rank>& wanted, const shape_type& shape) {
    return !wanted.given || volume_of(shape) == 0 || wanted.block.shape == shape;
  }
  template <class T>
  static bool fits_copy(const target<T, rank>& wanted, const strided<const T, rank>& x) {
    return fits(wanted, x.shape);
  }

  template <class T, std::size_t R>
  const std::shared_ptr<box_exchange<T, R>>& exchange(exchanges_by_type& exchanges, const exchange_schedule<R>& schedule) {
    return exchanges.find<box_exchange<T, R>>([&] { return std::shared_ptr<box_exchange<T, R>>(ways_->template exchange<T, R>(schedule)); });
  }

  /// The shapes of the group's blocks; all workers of the world take part.
  std::vector<shape_type> shapes_of_group(const shape_type& mine) const {
    std::vector<std::uint64_t> all(state().size() * (rank + 1));
    std::array<std::uint64_t, rank + 1> own{};
    for (std::size_t d = 0; d < rank; ++d) own[d] = mine[d];
    const auto count = static_cast<int>(rank + 1);
    check(MPI_Allgather(own.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, state().communicator()), "MPI_Allgather");
    std::vector<shape_type> shapes(group_.members.size());
    for (std::size_t k = 0; k < shapes.size(); ++k)
      for (std::size_t d = 0; d < rank; ++d) shapes[k][d] = all[group_.members[k] * (rank + 1) + d];
    return shapes;
  }

  /// All workers of the world together, also those that will complain: with the first structure.
  void open_ways() {
    if (!ways_) ways_ = std::make_shared<transport>(state().communicator());
  }

  /// Who writes what where, both ways.
  structure learnt(const parted_tensor<rank>& tensor) const {
    structure s;
    if (!group_.active()) return s;
    const std::size_t me = group_.position, others = group_.members.size() - 1;
    const box<rank>& own = tensor.parts[me];
    s.whole = tensor.whole;
    s.part = own.shape();
    s.start = own.start;
    s.together.worker = s.apart.worker = group_.members[me];
    s.together.source_shape = s.part;
    s.together.received_shape = s.whole;
    s.together.received_strides = dense_strides(s.whole);
    s.apart.source_shape = stacked(1, s.whole);
    s.apart.received_shape = stacked(others, s.part);
    s.apart.received_strides = dense_strides(s.apart.received_shape);
    if (!own.empty()) s.together.kept.push_back({s.part, {}, own.start});
    for (std::size_t k = 0; k <= others; ++k) {
      if (k == me) continue;
      const std::size_t peer = group_.members[k];
      const box<rank>& other = tensor.parts[k];
      if (!own.empty()) {
        s.together.sends.push_back({peer, s.part, {}, offset(own.start, s.together.received_strides), s.together.received_strides});
        s.apart.receives.push_back({peer, stacked(1, s.part), stacked(slot_in_stack(k, me), index<rank>{}), 0, {}});
      }
      if (!other.empty()) {
        s.together.receives.push_back({peer, other.shape(), other.start, 0, {}});
        const auto strides = dense_strides(stacked(others, other.shape()));
        s.apart.sends.push_back({peer, stacked(1, other.shape()), stacked(0, other.start),
                                 static_cast<std::ptrdiff_t>(slot_in_stack(me, k)) * strides[0], strides});
      }
    }
    group_boxes_by_worker(s.together.sends);
    group_boxes_by_worker(s.together.receives);
    group_boxes_by_worker(s.apart.sends);
    group_boxes_by_worker(s.apart.receives);
    return s;
  }

  static std::ptrdiff_t offset(const index<rank>& at, const std::array<std::ptrdiff_t, rank>& strides) {
    std::ptrdiff_t sum = 0;
    for (std::size_t d = 0; d < rank; ++d) sum += static_cast<std::ptrdiff_t>(at[d]) * strides[d];
    return sum;
  }

  text& complain(complaint& trouble, const char* direction) const {
    trouble.kind = failure::shape;
    return trouble.sentence << name_ << "(p, dimensions)" << direction << " with p = " << p_.grid().shape() << ": ";
  }
  template <class T>
  std::uint64_t fingerprint_of(std::uint64_t direction) const {
    return mixed(mixed(fingerprint_, type_number<T>()), direction);
  }
  template <class T>
  text describe(const char* direction, const shape_type& shape) const {
    return text() << name_ << "(p, dimensions)" << direction << " with p = " << p_.grid().shape() << " and a block of shape " << shape
                  << " and elements of " << sizeof(T) << " bytes";
  }
  world_state& state() const { return *p_.world().state(); }

  partition<Extents> p_;
  block_group<rank> group_;
  const char* name_;
  known_cuts cuts_;
  std::uint64_t fingerprint_;
  structure_cache<structure> structures_;
  std::shared_ptr<transport> ways_;
  exchanges_by_type sums_;
  std::shared_ptr<flight> flight_ = std::make_shared<flight>();
};

/// D... are dimensions of a partition of this rank, each of them once.
template <std::size_t Rank, std::size_t... D>
constexpr bool below = ((D < Rank) && ...);
template <std::size_t... D>
constexpr bool each_once() {
  constexpr std::size_t named[] = {D..., 0};
  for (std::size_t a = 0; a < sizeof...(D); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (named[a] == named[b]) return false;
  return true;
}

/// T travels as it lies in memory: written in place by other workers.
template <class T>
concept element_in_place = movable_element<T> && std::is_trivially_copyable_v<T> && sizeof(T) <= page;

}  // namespace partita::detail
