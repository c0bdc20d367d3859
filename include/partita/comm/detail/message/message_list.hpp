// How one worker's boxes are grouped into messages: for each pair of workers, in messages no longer than MPI can count.
#pragma once

#include <cstddef>
#include <partita/comm/detail/exchange/box_list.hpp>
#include <partita/core/config.hpp>
#include <partita/rule/transport_choice.hpp>
#include <vector>

namespace partita::detail {

/// How the form of messages is chosen; the same on all workers. A message of one contiguous box is never copied.
struct message_policy {
  message_form how = message_form::by_size;    ///< the form of all messages, or how it is chosen
  std::size_t chunk = std::size_t{256} << 10;  ///< the bytes of a message if messages are chunked
  std::size_t longest = std::size_t{1} << 30;  ///< the most bytes of any message

  friend bool operator==(const message_policy&, const message_policy&) = default;
};

/// Up to this number of bytes between two workers, latency dominates: MPI's derived types save a pass over the data,
/// and measuring the forms of messages would cost more than it gains.
inline constexpr std::size_t small_exchange = std::size_t{128} << 10;

/// The volume of the boxes that a worker sends to, or receives from, another worker.
struct pair_volume {
  std::size_t worker = 0, bytes = 0, boxes = 0;  ///< the other worker; the bytes and the number of the boxes

  /// Whether the boxes are so large that measuring the forms of their messages pays.
  bool is_worth_a_trial() const { return bytes > small_exchange; }
  /// The form of messages that is used if the forms were not measured. MPI is slow with a derived type of many boxes.
  message_form default_message_form() const {
    return bytes <= small_exchange && boxes == 1 ? message_form::typed : message_form::packed;
  }
};

/// The volume for each worker to which boxes go, or from which they come. The list of boxes must be sorted by worker.
PARTITA_DECL std::vector<pair_volume> pair_volumes(const box_list& boxes, std::size_t element);

/// One message, which contains consecutive boxes of a list.
struct message {
  std::size_t worker = 0, first = 0, last = 0;  ///< the other worker; the message contains boxes [first, last)
  std::size_t bytes = 0;                        ///< the size of these boxes
  message_form how{};                           ///< the form of the message: packed, chunked or typed
};

/// The messages of one worker in one direction, in the order in which they are posted.
struct message_list {
  box_list boxes;            ///< the boxes, of which too large ones are cut
  std::vector<message> all;  ///< the messages, in the order in which they are posted
  std::size_t workers = 0;   ///< the number of workers that get messages, or send them

  /// `form(worker)` is the form of the messages exchanged with a worker: packed, chunked or typed. Both workers of a
  /// pair must use the same form, except that packed and typed may be mixed: their messages contain the same bytes.
  template <class Form>
  message_list(const box_list& whole, std::size_t element, const message_policy& policy, Form form)
      : boxes(whole.rank()) {
    for (std::size_t k = 0; k < whole.size(); ++k) {
      const message_form how = form(whole[k].worker);
      const std::size_t longest = how == message_form::chunked ? policy.chunk : policy.longest;
      std::size_t next = boxes.size();
      for (boxes.add_cut(whole[k], element, longest); next < boxes.size(); ++next) {
        const std::size_t bytes = boxes.volume(next) * element, worker = boxes[next].worker;
        const bool known = !all.empty() && all.back().worker == worker;
        if (!known) ++workers;
        if (!known || all.back().bytes + bytes > longest) all.push_back({worker, next, next, 0, how});
        all.back().last = next + 1;
        all.back().bytes += bytes;
      }
    }
    interleave_workers();
  }

 private:
  /// Orders the messages: the first of each worker, then the second of each, …, so that no pair waits for another.
  PARTITA_DECL void interleave_workers();
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/message_list.ipp>
#endif
