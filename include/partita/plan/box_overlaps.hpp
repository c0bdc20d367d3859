// The boxes of one tensor that workers hold, the boxes that they want, and the transfers between workers. The boxes
// need not be the blocks of one grid; for example, they may be the blocks of two meshes.
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

/// A worker's box of a tensor. A partial tensor is the sum of several summands; each of its boxes belongs to one
/// summand, and is filled only from boxes of this summand.
struct worker_box {
  short_list<interval> box{};     ///< the global indices along each dimension
  std::size_t summand_index = 0;  ///< the number of the summand to which the box belongs
  bool has_box = false;           ///< false for a worker that holds, or wants, no box
  /// Selects one of several copies: the sender of a wanted box is the worker with copy number `replica` modulo the
  /// number of copies. The default is the id of the worker that wants the box. Copies are numbered in the order of
  /// their own `replica`, and then of worker ids.
  std::size_t replica = by_worker;
  static constexpr std::size_t by_worker = ~std::size_t{0};  ///< the id of the worker that wants the box

  /// Whether two boxes have the same indices and belong to the same summand.
  friend bool operator==(const worker_box& a, const worker_box& b) {
    return a.has_box == b.has_box && a.summand_index == b.summand_index && a.box == b.box;
  }
};

/// A transfer from or to worker `worker`: the intersection of a box that the sender holds and a box that the receiver
/// wants.
struct box_overlap {
  std::size_t worker = 0;        ///< the other worker
  short_list<interval> where{};  ///< the global indices that are transferred
  bool is_forwarded = false;     ///< whether the sender itself received these elements from another node
};

/// The boxes that all workers hold and want, indexed by worker id; workers with equal boxes hold copies.
/// Requires: two lists of equal length.
class box_overlaps {
 public:
  PARTITA_DECL box_overlaps(std::vector<worker_box> held, std::vector<worker_box> wanted);  ///< both by worker id

  /// Makes workers receive from copies on their own node, if the node has copies. If the node has no copy, and several
  /// of its workers want the same part of a box, one of them receives the part and passes it on to the others.
  void prefer_same_node(members_by_node nodes) { nodes_ = static_cast<members_by_node&&>(nodes); }

  const std::vector<worker_box>& held_boxes() const { return held_; }      ///< Indexed by worker id.
  const std::vector<worker_box>& wanted_boxes() const { return wanted_; }  ///< Indexed by worker id.
  /// The transfers that a worker receives, including from itself, in ascending order of the senders. Cost: O(workers).
  PARTITA_DECL std::vector<box_overlap> receives(std::size_t worker) const;
  /// The transfers that a worker sends, including to itself, in ascending order of the receivers.
  PARTITA_DECL std::vector<box_overlap> sends(std::size_t worker) const;
  /// The largest number of elements that any worker receives from others, or 0 if no element moves. Requires held boxes
  /// that are equal or disjoint, and that cover the wanted boxes. Cost: O(workers).
  PARTITA_DECL std::size_t max_received_elements() const;

 private:
  /// The workers holders_[first], …, holders_[end - 1], which hold equal boxes.
  struct range {
    std::size_t first = 0, end = 0;  ///< positions in holders_; `end` is one past the last
  };
  /// Returns whether two boxes intersect, and writes the intersection to `where`.
  PARTITA_DECL static bool intersect(const worker_box& a, const worker_box& b, short_list<interval>& where);
  /// The transfer of the box of worker `holder` to a receiver. The sender is the receiver itself if it holds an equal
  /// box; otherwise a worker with a copy, chosen by the receiver's `replica`; or, after prefer_same_node, a worker of
  /// the receiver's node that has a copy, or that wants the same part and passes it on.
  PARTITA_DECL box_overlap find_transfer(std::size_t holder, std::size_t receiver,
                                         const short_list<interval>& where) const;

  std::vector<worker_box> held_, wanted_;  ///< indexed by worker id
  members_by_node nodes_{{}};              ///< no nodes unless workers prefer copies on their node
  std::vector<range> copy_ranges_;         // for each worker, the workers that hold a copy of its box
  std::vector<std::size_t> holders_;       // workers that hold equal boxes are adjacent
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/box_overlaps.ipp>
#endif
