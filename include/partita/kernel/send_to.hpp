// Sends each row to the worker that the sender of the row names: moving particles, buckets of keys, tokens for experts.
#pragma once

#include <memory>
#include <partita/comm/one_call.hpp>
#include <partita/kernel/detail/receiver_pattern.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <utility>

namespace partita {

/// Makes an exchange that sends each row to a given worker: `const auto there = send_to(everyone, receivers); auto
/// arrived = there(x);`, and `there.adjoint(y)` returns the rows to their senders. One object serves any number of
/// blocks of any rank and element type. Collective.
/// Shapes:   x has a row (index of dimension 0) for each entry of `receivers`, and any further dimensions. The result
///           has the rows that all workers send to this worker, in ascending order of the senders and, for each sender,
///           in the order of its rows; `there.rows_of_result()` is their number.
/// Requires: receivers below the number of workers [shape_error, on all workers], and what index_exchange requires.
/// Cost:     one message for each pair of workers on different nodes. Making the object takes two exchanges between all
///           workers, of lists of at most two numbers.
/// Adjoint:  the inverse: each row returns to the place from which it was sent.
inline index_exchange send_to(const world& everyone, const index_list& receivers) {
  constexpr detail::index_call_texts call_texts{"partita::send_to(everyone, receivers)", "receiver",
                                                "row that its worker gets"};
  const auto& state = everyone.state();
  return detail::one_call(*state, [&] {
    std::shared_ptr<detail::transport> shared_transport;
    auto pattern = detail::make_pattern_by_receiver(*state, shared_transport, receivers, call_texts.call);
    return index_exchange(detail::index_planner(state, std::move(shared_transport), std::move(pattern), call_texts));
  });
}

}  // namespace partita
