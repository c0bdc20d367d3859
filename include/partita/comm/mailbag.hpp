// How one worker's boxes become messages: gathered into parcels, one message each, no longer than MPI can count.
#pragma once

#include <cstddef>
#include <partita/comm/mailed_box.hpp>
#include <partita/rule/policy.hpp>
#include <vector>

namespace partita {

/// How boxes travel as messages. What is contiguous in a block is never copied for it. Equal on all workers.
struct mail_policy {
  messages how = messages::by_size;
  std::size_t chunk = std::size_t{256} << 10;  ///< bytes of a message where they are chunked
  std::size_t longest = std::size_t{1} << 30;  ///< bytes of any message

  friend bool operator==(const mail_policy&, const mail_policy&) = default;
};

namespace detail {

/// Up to here a pair's boxes are latency: MPI's types save a pass, and trials would cost more than they win.
inline constexpr std::size_t small_mail = std::size_t{128} << 10;

/// What a worker sends to, or gets from, another one.
struct correspondent {
  std::size_t worker = 0, bytes = 0, boxes = 0;

  bool worth_a_trial() const { return bytes > small_mail; }
  /// How its messages are made, where nothing was measured. Many boxes make a type that MPI walks slowly.
  messages by_size() const { return bytes <= small_mail && boxes == 1 ? messages::typed : messages::packed; }
};

/// All others that boxes, which ascend by worker, go to or come from.
template <class T, std::size_t Rank>
std::vector<correspondent> correspondents_of(const std::vector<mailed_box<Rank>>& boxes) {
  std::vector<correspondent> all;
  for (const mailed_box<Rank>& b : boxes) {
    if (all.empty() || all.back().worker != b.worker) all.push_back({b.worker, 0, 0});
    all.back().bytes += volume_of(b.shape) * sizeof(T);
    ++all.back().boxes;
  }
  return all;
}

/// One message: some boxes in a row.
struct parcel {
  std::size_t worker = 0, first = 0, last = 0;  ///< boxes [first, last)
  std::size_t bytes = 0;
  messages how{};
};

/// One direction of one worker's mail, in the order in which it is posted.
template <class T, std::size_t Rank>
struct mailbag {
  std::vector<mailed_box<Rank>> boxes;
  std::vector<parcel> parcels;
  std::size_t workers = 0;

  /// `form(worker)` is packed, chunked or typed, and must be the same on both sides but for packed and typed, which look
  /// alike on the wire.
  template <class Form>
  mailbag(const std::vector<mailed_box<Rank>>& whole, const mail_policy& policy, Form form) {
    for (const mailed_box<Rank>& box : whole) {
      const messages how = form(box.worker);
      const std::size_t longest = how == messages::chunked ? policy.chunk : policy.longest;
      cut_box(box, sizeof(T), longest, [&](const mailed_box<Rank>& b) {
        const std::size_t bytes = volume_of(b.shape) * sizeof(T);
        const bool known = !parcels.empty() && parcels.back().worker == b.worker;
        if (!known) ++workers;
        if (!known || parcels.back().bytes + bytes > longest)
          parcels.push_back({b.worker, boxes.size(), boxes.size(), 0, how});
        boxes.push_back(b);
        parcels.back().last = boxes.size();
        parcels.back().bytes += bytes;
      });
    }
    interleave();
  }

 private:
  /// First of each worker, second of each worker, …: no pair waits for another.
  void interleave() {
    std::vector<parcel> mixed;
    mixed.reserve(parcels.size());
    std::vector<std::size_t> heads;
    for (std::size_t k = 0; k < parcels.size(); ++k)
      if (k == 0 || parcels[k].worker != parcels[k - 1].worker) heads.push_back(k);
    for (std::size_t turn = 0; mixed.size() < parcels.size(); ++turn)
      for (std::size_t h = 0; h < heads.size(); ++h) {
        const std::size_t k = heads[h] + turn;
        if (k < (h + 1 < heads.size() ? heads[h + 1] : parcels.size())) mixed.push_back(parcels[k]);
      }
    parcels.swap(mixed);
  }
};

}  // namespace detail

}  // namespace partita
