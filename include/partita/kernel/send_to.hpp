// Sends each row to the worker that its sender names: particles that move, buckets of keys, tokens for experts.
#pragma once

#include <memory>
#include <partita/comm/one_call.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <utility>

namespace partita {

/// Rows go where their senders want them: `const auto there = send_to(everyone, receivers); auto arrived = there(x);`,
/// and `there.adjoint(y)` brings rows back to where they came from. One object serves any number of blocks of any rank
/// and any elements. Collective.
/// Shapes:   x has a row (index of dimension 0) for each entry of `receivers`, and any further dimensions. The result
///           has the rows that all workers send to this one, in ascending order of the senders, those of one sender in
///           their order: `there.rows_of_result()`.
/// Requires: receivers below the number of workers [shape_error, on all workers], and what index_exchange requires.
/// Cost:     one message for each pair of workers on different nodes. To construct: two exchanges of lists of at most
///           two numbers.
/// Adjoint:  the inverse: each row returns to the place that it was sent from.
inline index_exchange send_to(const world& everyone, const index_list& receivers) {
  constexpr detail::index_words words{"partita::send_to(everyone, receivers)", "receiver", "row that its worker gets"};
  const auto& state = everyone.state();
  return detail::one_call(*state, [&] {
    std::shared_ptr<detail::transport> ways;
    auto pattern = detail::pattern_by_receiver(*state, ways, receivers, words.call);
    return index_exchange(detail::index_planner(state, std::move(ways), std::move(pattern), words));
  });
}

}  // namespace partita
