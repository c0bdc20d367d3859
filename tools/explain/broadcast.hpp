// broadcast and sum_reduce: prints whether the call is legal and why, which workers pair, and what it costs.
#pragma once

#include <partita/explain/refused_broadcast_picture.hpp>
#include <partita/explain/sum_reduce_picture.hpp>
#include <partita/explain/worker_broadcast_picture.hpp>
#include <partita/plan/binomial_tree.hpp>

#include "arguments.hpp"
#include "table.hpp"

namespace tool {

/// Prints both shapes as the rule compares them, and its result for each dimension.
inline void print_comparison(const place& small, const place& large, bool small_turned, bool large_turned,
                             const char* small_name, const char* large_name) {
  const std::size_t rank = large.shape.size();
  table all({"dimension", std::string(small_name) + (small_turned ? ", reversed" : ""),
             std::string(large_name) + (large_turned ? ", reversed" : ""), ""});
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t there = large.shape[large_turned ? rank - 1 - d : d];
    const bool added = d < rank - small.shape.size();
    const std::size_t own = d - (rank - small.shape.size());
    const std::size_t here = added ? 1 : small.shape[small_turned ? small.shape.size() - 1 - own : own];
    all.add({std::to_string(d), std::to_string(here) + (added ? " (added)" : ""), std::to_string(there),
             here == there ? "equal: workers pair one to one"
             : here == 1   ? "1: every worker pairs with " + std::to_string(there)
                           : "neither 1 nor equal: not allowed"});
  }
  all.print();
}

/// The number of steps of a tree broadcast in a group of this size.
inline std::size_t rounds(std::size_t members) {
  std::size_t below = 0;
  partita::binomial_tree{members}.for_each_child(0, [&](std::size_t) { ++below; });
  return below;
}

/// The picture of the call from p_x to p_y with its policies.
template <template <class, class> class Picture, class P, class Q>
void draw(const arguments& given, const P& p_x, const Q& p_y) {
  using partita::transpose_dest, partita::transpose_src;
  using picture = Picture<partita::detail::grid_shape<P>, partita::detail::grid_shape<Q>>;
  if (!given.has("--svg")) return;
  if (p_x.size() > 100 || p_y.size() > 100) throw request_error("--svg draws up to 100 workers");
  const bool src = given.has("--transpose-src"), dest = given.has("--transpose-dest");
  given.save(src && dest ? to_svg(picture(p_x, p_y, transpose_src, transpose_dest))
             : src       ? to_svg(picture(p_x, p_y, transpose_src))
             : dest      ? to_svg(picture(p_x, p_y, transpose_dest))
                         : to_svg(picture(p_x, p_y)));
}

template <std::size_t Small, std::size_t Large>
void explain_pairs(const arguments& given, const place& small, const place& large, bool small_turned, bool large_turned,
                   bool reduction) {
  using namespace partita;
  const auto p = small.grid<Small>();
  const auto q = large.grid<Large>();
  const worker_pairing<Large> pairing(p.shape(), q.shape(), small_turned, large_turned);
  const std::size_t fan = pairing.large_workers_per_small();
  std::cout << "\n";
  table pairs(reduction ? std::vector<std::string>{"worker", "gets the sum of the blocks of"}
                        : std::vector<std::string>{"block of", "is copied to"});
  for (std::size_t k = 0; k < p.size() && k < most_rows; ++k) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < fan; ++i) others.push_back(q.workers()[pairing.large_partner(k, i)]);
    const std::string who = partita::detail::list_of_workers(others.data(), others.size());
    pairs.add({(reduction ? "" : "worker ") + std::to_string(p.workers()[k]), who});
  }
  pairs.print();
  print_rest(p.size());
  std::cout << "  adjoint: the blocks of the same workers are "
            << (reduction ? "copied back, by broadcast\n" : "summed, by sum_reduce\n");

  const shape_list block = extents(given.value("--tensor", "1000x1000"));
  double volume = static_cast<double>(given.count("--element", 4));
  for (const std::size_t extent : block) volume *= static_cast<double>(extent);
  std::cout << "\ncost for blocks of " << written(block) << " (" << bytes(volume) << ")\n";
  table cost({"workers", "from", "to", "steps", "bytes by the busiest", "seconds"});
  for_scales(large.shape, [&](std::size_t factor) {
    const place from = small.times(factor), to = large.times(factor);
    const std::size_t members = to.size() / from.size(), steps = rounds(members);
    cost.add({std::to_string(to.size()), written((reduction ? to : from).shape), written((reduction ? from : to).shape),
              std::to_string(steps), bytes(static_cast<double>(steps) * volume),
              seconds(static_cast<double>(steps) * (network.seconds_per_message + volume / network.bytes_per_second))});
  });
  cost.print();
  print_model();
  if (reduction) draw<sum_reduce_picture>(given, q, p);
  else draw<worker_broadcast_picture>(given, p, q);
}

inline int explain_broadcast(int argc, char** argv, bool reduction) {
  using namespace partita;
  const arguments given(argc, argv, {"--tensor", "--element", "--svg"}, {"--transpose-src", "--transpose-dest"});
  given.require_words(2, "give two partitions: P_X P_Y");
  const place from(given.words()[0]), to(given.words()[1]);
  const place &small = reduction ? to : from, &large = reduction ? from : to;
  const bool turned_src = given.has("--transpose-src"), turned_dest = given.has("--transpose-dest");
  const bool small_turned = reduction ? turned_dest : turned_src, large_turned = reduction ? turned_src : turned_dest;
  std::cout << (reduction ? "sum_reduce" : "broadcast") << " from " << written(from.shape) << " to "
            << written(to.shape) << (turned_src ? ", transpose_src" : "") << (turned_dest ? ", transpose_dest" : "")
            << "\n";
  return with_rank(small.shape.size(), [&](auto s) {
    return with_rank(large.shape.size(), [&](auto l) {
      constexpr std::size_t S = decltype(s)::value, L = decltype(l)::value;
      small.grid<S>(), large.grid<L>();                       // throw an error for invalid partitions
      if (std::max(small.size(), large.size()) > 10'000'000)  // chosen: lists of that many workers fit in memory
        throw request_error("partitions of up to 10 000 000 workers can be explained");
      const auto a = small.array<S>();
      const auto b = large.array<L>();
      const auto verdict = judge_worker_broadcast(a, b, small_turned, large_turned, reduction);
      if (!verdict) std::cout << "not legal: " << explain_verdict(verdict, a, b, small_turned, large_turned) << "\n";
      else std::cout << "legal: every extent of the smaller partition is 1 or that of the larger\n";
      if constexpr (S <= L) {
        print_comparison(small, large, small_turned, large_turned, reduction ? "p_y" : "p_x",
                         reduction ? "p_x" : "p_y");
        if (verdict) explain_pairs<S, L>(given, small, large, small_turned, large_turned, reduction);
      }
      if (!verdict && reduction) draw<refused_sum_reduce_picture>(given, large.grid<L>(), small.grid<S>());
      if (!verdict && !reduction) draw<refused_broadcast_picture>(given, small.grid<S>(), large.grid<L>());
      return verdict ? 0 : 1;
    });
  });
}

}  // namespace tool
