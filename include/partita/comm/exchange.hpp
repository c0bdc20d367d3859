// Carrying out a repartition's plan with messages: pack, exchange, unpack; one message for each pair of workers.
#pragma once

#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/comm/datatype.hpp>
#include <partita/comm/message.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <vector>

namespace partita {

/// Moves the boxes of a plan between strided blocks. All receives are posted first, then what stays is copied while messages
/// travel. A box travels in the order of the source's dimensions; where the plan permutes them the receiver turns it.
/// Cost:  one message per peer; each moved element is packed and unpacked once unless its box is contiguous as it stands.
class message_exchange {
 public:
  template <class T, std::size_t Rank>
  void operator()(detail::world_state& world, const repartition_plan<Rank>& plan, const strided<const T, Rank>& x,
                  const strided<T, Rank>& y) {
    requests_.clear();
    const axes_order<Rank> same = same_axes<Rank>(), back = inverse_axes(plan.axes);
    T* incoming = world.buffer_of<T>(1, plan.elements_received());
    T* outgoing = world.buffer_of<T>(0, plan.elements_sent());
    T* place = incoming;
    for_each_peer(plan.receives, [&](const auto* first, const auto* last) {
      const std::size_t n = volume(first, last);
      T* const whole = last - first == 1 ? in_place(y, *first, back) : nullptr;
      post(whole != nullptr ? whole : place, n, [&](T* data, int count, MPI_Request* request) {
        detail::check(MPI_Irecv(data, count, detail::datatype<T>(), static_cast<int>(first->worker),
                                static_cast<int>(detail::tag::repartition), world.communicator(), request),
                      "MPI_Irecv");
      });
      place += n;
    });
    place = outgoing;
    for_each_peer(plan.sends, [&](const auto* first, const auto* last) {
      const std::size_t n = volume(first, last);
      const T* from = last - first == 1 ? in_place(x, *first, same) : nullptr;
      if (from == nullptr) {
        from = place;
        T* next = place;
        for (const auto* t = first; t != last; ++t) {
          const auto shape = t->where.shape();
          copy<T, Rank>(dense_block<T>(next, shape), x.part(t->at, shape));
          next += t->where.volume();
        }
      }
      post(from, n, [&](const T* data, int count, MPI_Request* request) {
        detail::check(MPI_Isend(data, count, detail::datatype<T>(), static_cast<int>(first->worker),
                                static_cast<int>(detail::tag::repartition), world.communicator(), request),
                      "MPI_Isend");
      });
      place += n;
    });
    for (const auto& k : plan.kept)
      copy<T, Rank>(y.turned(back).part(in_source_order(k.at_destination, plan.axes), k.where.shape()),
                    x.part(k.at_source, k.where.shape()));
    detail::check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    place = incoming;
    for_each_peer(plan.receives, [&](const auto* first, const auto* last) {
      if (last - first > 1 || in_place(y, *first, back) == nullptr) {
        const T* next = place;
        for (const auto* t = first; t != last; ++t) {
          const strided<T, Rank> box = y.part(t->at, t->where.shape()).turned(back);
          copy<T, Rank>(box, dense_block<const T>(next, box.shape));
          next += t->where.volume();
        }
      }
      place += volume(first, last);
    });
  }

 private:
  template <class Transfers, class F>
  static void for_each_peer(const Transfers& transfers, F f) {
    const auto* const end = transfers.data() + transfers.size();
    for (const auto* first = transfers.data(); first != end;) {
      const auto* last = first;
      while (last != end && last->worker == first->worker) ++last;
      f(first, last);
      first = last;
    }
  }
  template <class Transfer>
  static std::size_t volume(const Transfer* first, const Transfer* last) {
    std::size_t n = 0;
    for (; first != last; ++first) n += first->where.volume();
    return n;
  }
  /// Where a box starts if its elements follow each other in the block in the order in which they travel, else nullptr.
  template <class T, std::size_t Rank>
  static T* in_place(const strided<T, Rank>& block, const transfer<Rank>& t, const axes_order<Rank>& order) {
    const auto sub = block.part(t.at, t.where.shape()).turned(order);
    return sub.dense() ? sub.data : nullptr;
  }
  template <class T, class Start>
  void post(T* data, std::size_t n, Start start) {
    detail::in_messages<T>(n, [&](std::size_t first, int count) {
      requests_.push_back(MPI_REQUEST_NULL);
      start(data + first, count, &requests_.back());
    });
  }

  std::vector<MPI_Request> requests_;
};

}  // namespace partita
