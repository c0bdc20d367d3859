// How boxes are grouped into messages: their lengths, their order and their form.
#include <partita/comm/detail/message/message_list.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

namespace {

using namespace partita;
using detail::box_list, detail::message_policy, detail::pair_volume;

constexpr std::size_t few = std::size_t{128} << 10U;  // the bytes from which on a measurement pays

/// Boxes of one dimension with these numbers of elements, for one worker after the other.
box_list lengths(std::initializer_list<std::array<std::size_t, 2>> worker_and_length) {
  box_list boxes(1);
  std::size_t at = 0;
  for (const auto& [worker, length] : worker_and_length) {
    boxes.add(worker, &length, &at);
    at += length;
  }
  return boxes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lists_of_messages)

BOOST_AUTO_TEST_CASE(a_pair_of_workers_has_the_bytes_and_boxes_of_all_boxes_between_them) {
  const auto all = detail::pair_volumes(lengths({{2, 3}, {2, 4}, {5, 1}, {9, 0}, {9, 6}, {9, 1}}), 8);
  BOOST_TEST_REQUIRE(all.size() == 3U);
  BOOST_TEST((all[0].worker == 2 && all[0].bytes == 56 && all[0].boxes == 2));
  BOOST_TEST((all[1].worker == 5 && all[1].bytes == 8 && all[1].boxes == 1));
  BOOST_TEST((all[2].worker == 9 && all[2].bytes == 56 && all[2].boxes == 3));
  BOOST_TEST(detail::pair_volumes(box_list(2), 8).empty());
}

BOOST_AUTO_TEST_CASE(a_small_pair_of_one_box_is_typed_all_others_are_packed_and_large_ones_are_measured) {
  for (const std::size_t bytes : {std::size_t{0}, few - 1, few, few + 1, 2 * few})
    for (std::size_t boxes = 1; boxes < 4; ++boxes) {
      const pair_volume volume{3, bytes, boxes};
      const bool typed = bytes <= few && boxes == 1;
      BOOST_TEST((volume.default_message_form() == (typed ? message_form::typed : message_form::packed)), bytes);
      BOOST_TEST(volume.is_worth_a_trial() == (bytes > few), bytes);
    }
}

BOOST_AUTO_TEST_CASE(boxes_share_a_message_until_it_is_as_long_as_allowed) {
  const auto bytes_of = [](std::initializer_list<std::size_t> boxes, message_form how) {  // of two bytes an element
    box_list list(1);
    std::size_t at = 0;
    for (const std::size_t length : boxes) list.add(1, &length, &at), at += length;
    const detail::message_list messages(list, 2, {how, 20, 100}, [how](std::size_t) { return how; });
    std::vector<std::size_t> all;
    for (const detail::message& m : messages.all) all.push_back(m.bytes);
    return all;
  };
  using sizes = std::vector<std::size_t>;
  BOOST_TEST((bytes_of({20, 30}, message_form::packed) == sizes{100}));
  BOOST_TEST((bytes_of({20, 31}, message_form::packed) == sizes{40, 62}));
  BOOST_TEST((bytes_of({20, 51}, message_form::typed) == sizes{40, 100, 2}));
  BOOST_TEST((bytes_of({4, 6, 1}, message_form::chunked) == sizes{20, 2}));
  BOOST_TEST((bytes_of({25, 3}, message_form::chunked) == sizes{20, 20, 16}));
  BOOST_TEST((bytes_of({0}, message_form::packed).empty()));
}

/// The first message of each worker is posted before the second of any, and so on.
BOOST_AUTO_TEST_CASE(messages_have_the_boxes_of_one_worker_in_order_and_the_workers_take_turns) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 200; ++turn) {
    const std::size_t element = 1 + random() % 4;
    const message_policy policy{message_form::by_size, 1 + random() % 40, 1 + random() % 90};
    const auto form = [](std::size_t worker) {
      return worker % 3 == 0 ? message_form::chunked : worker % 3 == 1 ? message_form::packed : message_form::typed;
    };
    box_list whole(2);
    for (std::size_t worker = random() % 3; worker < 9; worker += 1 + random() % 3)
      for (std::size_t n = random() % 4; n > 0; --n) {
        const std::size_t shape[] = {1 + random() % 5, 1 + random() % 5}, at[] = {random() % 50, random() % 50};
        whole.add(worker, shape, at);
      }
    // the messages of each worker: pieces of boxes until the next piece would make a message too long
    box_list pieces(2);
    std::vector<std::vector<detail::message>> of_worker;
    for (std::size_t k = 0; k < whole.size(); ++k) {
      const std::size_t worker = whole[k].worker;
      const message_form how = form(worker);
      const std::size_t longest = how == message_form::chunked ? policy.chunk : policy.longest;
      std::size_t next = pieces.size();
      if (k == 0 || whole[k - 1].worker != worker) of_worker.emplace_back();
      for (pieces.add_cut(whole[k], element, longest); next < pieces.size(); ++next) {
        auto& messages = of_worker.back();
        const std::size_t bytes = pieces.volume(next) * element;
        if (messages.empty() || messages.back().bytes + bytes > longest)
          messages.push_back({worker, next, next, 0, how});
        messages.back().last = next + 1, messages.back().bytes += bytes;
      }
    }
    std::vector<detail::message> expected;
    for (std::size_t round = 0, more = 1; more != 0; ++round) {
      more = 0;
      for (const auto& messages : of_worker)
        if (round < messages.size()) expected.push_back(messages[round]), more = 1;
    }
    const detail::message_list list(whole, element, policy, form);
    BOOST_TEST(list.workers == of_worker.size());
    BOOST_TEST(list.boxes.size() == pieces.size());
    BOOST_TEST_REQUIRE(list.all.size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const detail::message &m = list.all[k], &e = expected[k];
      BOOST_TEST(
          (m.worker == e.worker && m.first == e.first && m.last == e.last && m.bytes == e.bytes && m.how == e.how));
    }
  }
}

BOOST_AUTO_TEST_CASE(policies_are_equal_if_all_their_parts_are) {
  const message_policy one;
  BOOST_TEST((one == message_policy{message_form::by_size, std::size_t{256} << 10U, std::size_t{1} << 30U}));
  BOOST_TEST((one != message_policy{message_form::packed, one.chunk, one.longest}));
  BOOST_TEST((one != message_policy{one.how, one.chunk + 1, one.longest}));
  BOOST_TEST((one != message_policy{one.how, one.chunk, one.longest - 1}));
}

BOOST_AUTO_TEST_SUITE_END()
