// The messages between pairs of workers in every form: what arrives is what the boxes had, whatever the memory and the
// strides of the blocks are, and as many bytes are sent as the boxes have.
#include "../support/message_count.hpp"
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <partita/comm/detail/message/pair_messages.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace partita;
using detail::block_memory, detail::box_list, detail::message_policy, detail::pair_messages;

/// A matrix whose columns [k · columns, (k + 1) · columns) go to worker k, or come from it, in two boxes of rows.
template <class T>
class matrix_of_columns {
 public:
  matrix_of_columns(std::size_t workers, std::size_t me, std::size_t rows, std::size_t columns)
      : workers_(workers), me_(me), rows_(rows), columns_(columns) {}

  /// The boxes for the other workers; each has a place of its own in a staging area.
  box_list boxes() const {
    box_list all(2);
    std::size_t stage = 64;
    for (std::size_t k = 0; k < workers_; ++k)
      for (const bool lower : {false, true}) {
        if (k == me_) continue;
        const std::size_t shape[] = {lower ? rows_ - upper() : upper(), columns_},
                          at[] = {lower ? upper() : 0, k * columns_};
        all.add(k, shape, at, stage);
        stage += shape[0] * shape[1] * sizeof(T) + 16;
      }
    return all;
  }
  std::size_t bytes() const { return (workers_ - 1) * rows_ * columns_ * sizeof(T); }

  /// Places the matrix in memory with gaps of `gap` elements between rows, or, with none, in a staging area.
  void place(std::optional<std::size_t> gap, std::size_t offset) {
    staged_ = !gap, offset_ = offset;
    const std::size_t row = workers_ * columns_ + gap.value_or(0);
    strides_ = {static_cast<std::ptrdiff_t>(row), 1};
    memory_.assign(offset + rows_ * row + 64 * workers_ + 64, T(-1));
  }
  block_memory block() {
    return {reinterpret_cast<char*>(memory_.data() + offset_), staged_ ? nullptr : strides_.data()};
  }
  /// Calls f(element, other worker, row, column) for the elements of all boxes.
  template <class F>
  void for_each(F f) {
    const box_list all = boxes();
    for (std::size_t b = 0; b < all.size(); ++b)
      for (std::size_t i = 0; i < all[b].shape[0]; ++i)
        for (std::size_t j = 0; j < columns_; ++j) {
          const std::size_t row = all[b].at[0] + i, column = all[b].at[1] + j;
          const std::size_t place = staged_ ? all[b].staging_offset / sizeof(T) + i * columns_ + j
                                            : row * static_cast<std::size_t>(strides_[0]) + column;
          f(memory_.at(offset_ + place), all[b].worker, row, j);
        }
  }
  void fill(std::size_t round) {
    for_each([&](T& x, std::size_t to, std::size_t i, std::size_t j) { x = value(me_, to, i, j, round); });
  }
  bool has_arrived(std::size_t round) {
    bool right = true;
    for_each([&](const T& y, std::size_t from, std::size_t i, std::size_t j) {
      right = right && y == value(from, me_, i, j, round);
    });
    return right;
  }
  /// Whether the elements beside the boxes are as they were.
  bool is_untouched_beside() {
    std::vector<T> before(memory_);
    for_each([](T& y, std::size_t, std::size_t, std::size_t) { y = T(-1); });
    bool untouched = true;
    for (const T& y : memory_) untouched = untouched && y == T(-1);
    memory_ = before;
    return untouched;
  }

 private:
  static T value(std::size_t from, std::size_t to, std::size_t i, std::size_t j, std::size_t round) {
    return T(static_cast<float>((from * 7919 + to * 104729 + i * 1009 + j * 13 + round * 31) % 65521));
  }
  std::size_t upper() const { return rows_ / 3; }

  std::size_t workers_, me_, rows_, columns_, offset_ = 0;
  bool staged_ = false;
  std::array<std::ptrdiff_t, 2> strides_{};
  std::vector<T> memory_;
};

struct size_and_id {
  std::size_t size, id;
  explicit size_and_id(const boost::mpi::communicator& all)
      : size(static_cast<std::size_t>(all.size())), id(static_cast<std::size_t>(all.rank())) {}
};

void complete(pair_messages& messages) {
  for (detail::backoff p(true); !messages.advance();) p.pause();
  messages.finish();
}

template <class T>
void expect_exchange(const message_policy& policy, std::size_t rows, std::size_t columns, const char* name) {
  const boost::mpi::communicator all = test::workers();
  const size_and_id me(all);
  matrix_of_columns<T> x(me.size, me.id, rows, columns), y(me.size, me.id, rows, columns);
  constexpr auto kind = detail::element_kind::moved<T>();
  pair_messages messages(all, 5, x.boxes(), y.boxes(), kind, policy, true);
  BOOST_TEST(messages.counts().bytes_by_message == x.bytes(), name);
  BOOST_TEST(messages.counts().bytes_shared == 0U);
  std::optional<std::size_t> gaps[][2] = {{3, 0}, {3, 0}, {0, 5}, {{}, 5}, {{}, {}}, {2, {}}, {2, 1}};
  for (std::size_t round = 0; round < std::size(gaps); ++round) {
    x.place(gaps[round][0], round % 2), y.place(gaps[round][1], round % 3);
    x.fill(round);
    messages.post_receive(y.block());
    messages.post_send(x.block());
    complete(messages);
    BOOST_TEST(y.has_arrived(round), name << ", round " << round);
    BOOST_TEST(y.is_untouched_beside(), name << ", round " << round);
  }
}
template <class T>
void expect_exchanges() {
  expect_exchange<T>({}, 12, 10, "by size");
  expect_exchange<T>({message_form::packed}, 12, 10, "packed");
  expect_exchange<T>({message_form::typed}, 12, 10, "typed");
  expect_exchange<T>({message_form::chunked, 100}, 32, 10, "chunked");
  expect_exchange<T>({message_form::chunked, 16}, 32, 3, "in chunks of an element or a few");
  expect_exchange<T>({message_form::packed, 100, 150}, 12, 10, "short and packed");
  expect_exchange<T>({message_form::typed, 100, 200}, 12, 10, "short and typed");
  expect_exchange<T>({message_form::measured, 4096}, 12, 10, "too small to measure");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(messages_of_pairs)

BOOST_AUTO_TEST_CASE(boxes_arrive_in_every_form_and_from_and_to_any_memory) {
  expect_exchanges<float>();
  expect_exchanges<std::complex<double>>();
}

BOOST_AUTO_TEST_CASE(boxes_arrive_in_the_form_that_was_measured) {
  expect_exchange<double>({message_form::measured, 4096}, 100, 200, "measured");
}

BOOST_AUTO_TEST_CASE(a_pair_has_one_message_or_one_for_each_piece_that_is_as_long_as_allowed) {
  const boost::mpi::communicator all = test::workers();
  const size_and_id me(all);
  constexpr auto kind = detail::element_kind::moved<float>();
  const auto messages_of = [&](const message_policy& policy) {  // of 64 rows of 32 bytes: boxes of 21 and 43 rows
    const matrix_of_columns<float> x(me.size, me.id, 64, 8);
    return pair_messages(all, 5, x.boxes(), x.boxes(), kind, policy, true).counts().messages;
  };
  const std::size_t others = me.size - 1;
  BOOST_TEST(messages_of({}) == others);
  BOOST_TEST(messages_of({message_form::packed}) == others);
  BOOST_TEST(messages_of({message_form::packed, 64}) == others);  // only messages that are chunked have chunks
  BOOST_TEST(messages_of({message_form::typed, 1, 2048}) == others);
  BOOST_TEST(messages_of({message_form::typed, 1, 2047}) == 2 * others);
  BOOST_TEST(messages_of({message_form::chunked, 64}) == (11 + 22) * others);
  BOOST_TEST(messages_of({message_form::chunked, 63}) == 64 * others);
  BOOST_TEST(messages_of({message_form::chunked, 32 * 21, 64}) == (1 + 3) * others);
}

/// Chunks use a few slots in turn, so that both workers of a pair have to act until the last one has arrived.
BOOST_AUTO_TEST_CASE(a_worker_is_needed_if_its_chunks_take_turns_in_their_slots, *test::at_least(2)) {
  const boost::mpi::communicator all = test::workers();
  const size_and_id me(all);
  constexpr auto kind = detail::element_kind::moved<float>();
  const auto is_needed = [&](const message_policy& policy, std::size_t rows) {
    matrix_of_columns<float> x(me.size, me.id, rows, 8), y(me.size, me.id, rows, 8);
    x.place(3, 0), y.place(1, 0), x.fill(1);
    pair_messages messages(all, 5, x.boxes(), y.boxes(), kind, policy, true);
    messages.post_receive(y.block()), messages.post_send(x.block());
    complete(messages);
    BOOST_TEST(y.has_arrived(1));
    return messages.is_needed();
  };
  BOOST_TEST(is_needed({message_form::chunked, 64}, 64));  // 33 chunks for each other worker
  BOOST_TEST(!is_needed({message_form::packed, 64}, 64));
  BOOST_TEST(!is_needed({message_form::packed, 64, 64}, 64));
  if (me.size == 2) {                                         // eight slots of chunks
    BOOST_TEST(!is_needed({message_form::chunked, 64}, 16));  // boxes of 5 and 11 rows: nine chunks, two of one row
    BOOST_TEST(is_needed({message_form::chunked, 64}, 24));   // boxes of 8 and 16 rows: twelve chunks
  }
}

BOOST_AUTO_TEST_CASE(what_was_sent_ahead_is_not_sent_again_and_what_was_discarded_is_not_received, *test::at_least(2)) {
  // not freed: messages that no worker takes are left in it
  static const auto* const kept = new boost::mpi::communicator(test::workers(), boost::mpi::comm_duplicate);
  const boost::mpi::communicator& all = *kept;
  const size_and_id me(all);
  detail::own_node& node = detail::own_node::of(all);
  matrix_of_columns<float> x(me.size, me.id, 6, 4), y(me.size, me.id, 6, 4);
  constexpr auto kind = detail::element_kind::moved<float>();
  pair_messages messages(all, 5, x.boxes(), y.boxes(), kind, {}, true, &node);
  const std::string sends(me.size - 1, 's'), receives(me.size - 1, 'r');
  x.place(3, 0), y.place(1, 0);
  for (std::size_t round = 0; round < 3; ++round) {
    static_cast<void>(test::order_of_starts());
    x.fill(round);
    messages.send_speculatively(x.block());
    BOOST_TEST(test::order_of_starts() == sends);
    messages.post_receive(y.block());
    messages.post_send(x.block());
    BOOST_TEST(test::order_of_starts() == receives);
    complete(messages);
    BOOST_TEST(y.has_arrived(round));
    // discarded, and sent again after all workers have gone on to the next tags
    x.fill(100);
    messages.send_speculatively(x.block());
    messages.roll_back();
    node.next_round();
    x.fill(round + 10);
    messages.post_receive(y.block());
    messages.post_send(x.block());
    complete(messages);
    BOOST_TEST(y.has_arrived(round + 10));
    messages.roll_back();  // nothing is left to discard
  }
  pair_messages without_node(all, 6, x.boxes(), y.boxes(), kind, {}, true);
  static_cast<void>(test::order_of_starts());
  without_node.send_speculatively(x.block());
  BOOST_TEST(test::order_of_starts().empty());
}

/// A long message between nodes is announced before its receiver asks for others, and is not sent ahead.
BOOST_AUTO_TEST_CASE(long_messages_to_other_nodes_start_before_the_receives, *test::at_least(2)) {
  for (const char* const nodes : {"1", "2"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const boost::mpi::communicator all(test::workers(), boost::mpi::comm_duplicate);
    const size_and_id me(all);
    const detail::own_node& node = detail::own_node::of(all);
    const std::string sends(me.size - 1, 's'), receives(me.size - 1, 'r');
    for (const std::size_t rows : {64U, 65U}) {  // messages of 2048 bytes and of more
      matrix_of_columns<float> x(me.size, me.id, rows, 8), y(me.size, me.id, rows, 8);
      constexpr auto kind = detail::element_kind::moved<float>();
      x.place(3, 0), y.place(1, 0), x.fill(rows);
      pair_messages messages(all, 5, x.boxes(), y.boxes(), kind, {}, true, &node);
      const bool is_long = rows > 64, several = *nodes == '2';
      static_cast<void>(test::order_of_starts());
      messages.send_speculatively(x.block());
      BOOST_TEST(test::order_of_starts() == (is_long ? "" : sends));
      messages.post_receive(y.block());
      messages.post_send(x.block());
      BOOST_TEST(test::order_of_starts() == (!is_long ? receives : several ? sends + receives : receives + sends));
      complete(messages);
      BOOST_TEST(y.has_arrived(rows));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
