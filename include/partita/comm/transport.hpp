// What one kernel needs to move boxes: who shares memory, the memory, the signals, the board, and the exchanges that
// were set up before, found again by what all workers say about their blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <partita/comm/board.hpp>
#include <partita/comm/box_exchange.hpp>
#include <vector>

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
    const char* const shared = std::getenv("PARTITA_SHARED");
    policy.shared = shared == nullptr || std::atoi(shared) != 0;
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
        channel_(members_, memory_),
        board_(everyone, members_, memory_) {}

  const node& members() const { return members_; }
  arena& memory() { return memory_; }
  /// The words of all workers: equal words, equal decisions.
  const std::vector<std::uint64_t>& gather(std::uint64_t word) { return board_.gather(word); }

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
  board board_;
};

/// A number that describes a block to the other workers: its shape, its element and what shall be done with it.
template <std::size_t Rank>
constexpr std::uint64_t word_of(const std::array<std::size_t, Rank>& shape, std::uint64_t purpose) {
  std::uint64_t hash = 1469598103934665603ULL ^ purpose;
  for (std::size_t n : shape) {
    hash = (hash ^ (n + 0x9e3779b97f4a7c15ULL)) * 1099511628211ULL;
    hash ^= hash >> 29U;
  }
  return hash;
}

/// Exchanges by the words that all workers had when they were set up. All workers see the same words, so they find or
/// miss the same entry; the one that was used longest ago makes room.
template <class Exchange>
class exchange_cache {
 public:
  explicit exchange_cache(std::size_t most = 16) : most_(most) {}

  /// The exchange for these words, or nullptr: then all workers set one up and `add` it.
  Exchange* find(const std::vector<std::uint64_t>& words) {
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (entries_[k].words == words) {
        entries_[k].used = ++clock_;
        return entries_[k].exchange.get();
      }
    return nullptr;
  }
  Exchange& add(std::vector<std::uint64_t> words, std::unique_ptr<Exchange> exchange) {
    ++plans_;
    std::size_t k = entries_.size();
    if (k < most_) {
      entries_.emplace_back();
    } else {
      k = 0;
      for (std::size_t other = 1; other < entries_.size(); ++other)
        if (entries_[other].used < entries_[k].used) k = other;
    }
    entries_[k] = {static_cast<std::vector<std::uint64_t>&&>(words), static_cast<std::unique_ptr<Exchange>&&>(exchange),
                   ++clock_};
    return *entries_[k].exchange;
  }
  /// How often something had to be set up.
  std::size_t plans() const { return plans_; }

 private:
  struct entry {
    std::vector<std::uint64_t> words;
    std::unique_ptr<Exchange> exchange;
    std::uint64_t used = 0;
  };
  std::size_t most_, plans_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<entry> entries_;
};

}  // namespace partita
