// What one kernel needs to move boxes: who shares memory, the memory, the signals, and how mail travels.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/arena.hpp>
#include <partita/comm/box_exchange.hpp>

namespace partita {

/// How the workers of a kernel reach each other; given alike by all of them, but for `pretended_node`.
struct transport_policy {
  bool shared = true;                         ///< use shared memory where there is some
  int pretended_node = -1;                    ///< workers that give different numbers act as if on different machines
  std::size_t arena_bytes = ~std::size_t{0};  ///< at most this much shared memory for each worker
  mail_policy mail{};

  /// The default, but that PARTITA_SHARED=0 in the environment turns shared memory off.
  static transport_policy from_environment() {
    transport_policy policy;
    policy.shared = arena::shared_by_environment();
    return policy;
  }
};

/// The ways between the workers of one kernel. Collective to make.
class transport {
 public:
  explicit transport(MPI_Comm everyone, const transport_policy& policy = transport_policy::from_environment())
      : everyone_(everyone),
        policy_(policy),
        pretended_(policy.pretended_node < 0 ? nullptr : std::make_unique<node>(everyone, policy.pretended_node)),
        members_(pretended_ ? *pretended_ : node::of(everyone)),
        tag_(node::of(everyone).next_tag()),
        memory_(arena::of(members_, policy.shared ? policy.arena_bytes : 0)),
        channel_(members_, memory_) {}

  const node& members() const { return members_; }
  arena& memory() { return memory_; }

  template <class T, std::size_t Rank>
  std::unique_ptr<box_exchange<T, Rank>> exchange(exchange_schedule<Rank> schedule) {
    return std::make_unique<box_exchange<T, Rank>>(everyone_, tag_, members_, &channel_, std::move(schedule),
                                                   policy_.mail);
  }

 private:
  MPI_Comm everyone_;
  transport_policy policy_;
  std::unique_ptr<node> pretended_;
  const node& members_;
  int tag_;
  arena& memory_;
  node_channel channel_;
};

}  // namespace partita
