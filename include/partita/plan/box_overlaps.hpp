// The boxes of one tensor that workers hold, the boxes that they want, and the transfers between workers. The boxes are
// arbitrary, and may belong to two meshes.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/hash.hpp>
#include <partita/core/short_list.hpp>
#include <partita/plan/cut.hpp>
#include <partita/plan/members_by_node.hpp>
#include <partita/plan/stable_sort.hpp>
#include <vector>

namespace partita {

/// A worker's box of a tensor. In a partial tensor it belongs to one of several summands, and is filled from boxes of
/// the same summand only.
struct worker_box {
  short_list<interval> box{};
  std::size_t summand = 0;
  bool there = false;  ///< false for a worker that holds, or wants, no box
  /// Selects one of several copies: a wanted box comes from copy number `replica`, modulo their number. By default this
  /// is the worker's id, and the copies are numbered by the ids of their workers.
  std::size_t replica = by_worker;
  static constexpr std::size_t by_worker = ~std::size_t{0};

  /// Whether both are copies of one box.
  friend bool operator==(const worker_box& a, const worker_box& b) {
    return a.there == b.there && a.summand == b.summand && a.box == b.box;
  }
};

/// A transfer from or to another worker: the intersection of two boxes.
struct box_overlap {
  std::size_t worker = 0;
  short_list<interval> where{};
  bool passed_on = false;  ///< the sender has received it from another node, and wanted it, too
};

/// The boxes that all workers hold and want, indexed by worker id; workers with equal boxes hold copies.
/// Requires: two lists of equal length.
class box_overlaps {
 public:
  PARTITA_DECL box_overlaps(std::vector<worker_box> had, std::vector<worker_box> wanted);

  /// From now on a worker receives from copies on its own node, if there are any. If not, and several workers of a node
  /// want the same intersection with a box, it is sent to one of them, which passes it on to the others.
  void share_nodes(members_by_node nodes) { nodes_ = static_cast<members_by_node&&>(nodes); }

  const std::vector<worker_box>& had() const { return had_; }
  const std::vector<worker_box>& wanted() const { return wanted_; }
  /// What a worker receives, including from itself, in the order of the senders. Cost: O(workers).
  PARTITA_DECL std::vector<box_overlap> taken(std::size_t worker) const;
  /// What a worker sends, including to itself, in the order of the receivers.
  PARTITA_DECL std::vector<box_overlap> given(std::size_t worker) const;
  /// The largest number of elements that any worker receives from others; 0 if nothing moves. Requires that held boxes
  /// are either equal or disjoint, and that they cover the wanted boxes. Cost: O(workers).
  PARTITA_DECL std::size_t most_taken() const;

 private:
  struct range {
    std::size_t first = 0, end = 0;
  };
  /// Whether two boxes have elements in common, and which.
  PARTITA_DECL static bool meet(const worker_box& a, const worker_box& b, short_list<interval>& where);
  /// What the receiver gets of the box of `holder`. The sender is chosen among the workers with the same box: the
  /// receiver itself if it is one of them, else in turn so that all copies send, unless another receiver passes it on.
  PARTITA_DECL box_overlap transfer_of(std::size_t holder, std::size_t receiver,
                                       const short_list<interval>& where) const;

  std::vector<worker_box> had_, wanted_;
  members_by_node nodes_{{}};
  std::vector<range> copies_;
  std::vector<std::size_t> order_;
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/box_overlaps.ipp>
#endif
