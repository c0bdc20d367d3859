// Routes of blocks between nodes: pieces of a block are complete again, and the fastest route that sends no byte twice
// is chosen.
#include <partita/plan/between_nodes.hpp>

#include <boost/test/unit_test.hpp>
#include <vector>

#include "block_messages.hpp"

using namespace partita;

namespace {

const std::vector<std::size_t> sizes{1, 64, 4096, 65536, std::size_t{1} << 20, std::size_t{1} << 26};

}  // namespace

BOOST_AUTO_TEST_SUITE(routes_between_nodes)

BOOST_AUTO_TEST_CASE(pieces_make_up_the_block_and_every_member_but_the_root_passes_on_as_many) {
  for (std::size_t members = 2; members < 40; ++members)
    for (const std::size_t bytes : sizes) {
      const block_routes routes{members, bytes};
      std::vector<std::size_t> passed(members, 0);
      std::size_t next = 0;
      for (std::size_t k = 0; k < routes.piece_count(); ++k) {
        const interval part = routes.part(bytes, routes.piece_count(), k);
        BOOST_TEST(part.start == next);
        next += part.size();
        ++passed[routes.forwarding_member(k)];
      }
      BOOST_TEST(next == bytes);
      BOOST_TEST(passed[0] == 0U);
      for (std::size_t k = 1; k < members; ++k) BOOST_TEST(passed[k] == passed[1]);
    }
}

BOOST_AUTO_TEST_CASE(what_is_taken_is_never_slower_than_the_tree) {
  for (const link_cost& link : {link_cost{}, link_cost{1e-3, 2e-6, 8e-9}, link_cost{1e-6, 1e-7, 1e-11}})
    for (std::size_t members = 2; members < 3000; members = members * 3 / 2 + 1)
      for (const std::size_t bytes : sizes) {
        const block_routes r{members, bytes, link};
        BOOST_TEST(r.seconds_of_broadcast(r.spread()) <= r.seconds_of_broadcast(block_route::along_tree));
        BOOST_TEST(r.seconds_of_sum(r.sum()) <= r.seconds_of_sum(block_route::along_tree));
        BOOST_TEST(r.seconds_of_sum_to_all(r.sum_to_all()) <= r.seconds_of_sum_to_all(block_route::along_tree));
      }
}

BOOST_AUTO_TEST_CASE(small_blocks_take_one_latency_among_few_nodes_and_long_ones_little_more_than_their_bytes) {
  constexpr link_cost slow{1e-3, 2e-6, 8e-9};
  for (std::size_t members = 2; members <= 16; ++members) {
    const block_routes small{members, 64, slow}, large{members, std::size_t{1} << 26, slow};
    BOOST_TEST(small.seconds_of_broadcast(small.spread()) < 1.1 * slow.latency);
    BOOST_TEST(small.seconds_of_sum(small.sum()) < 1.1 * slow.latency);
    BOOST_TEST(small.seconds_of_sum_to_all(small.sum_to_all()) < 1.1 * slow.latency);
    const double bytes = static_cast<double>(large.bytes) * slow.seconds_per_byte;
    BOOST_TEST(large.seconds_of_broadcast(large.spread()) < 1.1 * bytes);
    BOOST_TEST(large.seconds_of_sum_to_all(large.sum_to_all()) < 2.05 * bytes);
  }
}

BOOST_AUTO_TEST_CASE(a_member_sends_no_more_messages_than_there_are_pieces_and_members) {
  for (std::size_t members = 2; members < 50; ++members)
    for (const std::size_t bytes : sizes) {
      const block_routes r{members, bytes};
      const std::size_t long_ones = members == 2 ? 1 + bytes / block_routes::exchanged_piece : 2;
      BOOST_TEST(test::messages_of_spread(r) <= (members - 1) * (1 + r.piece_count()));
      BOOST_TEST(test::messages_of_sum_to_all(r) <= long_ones * members * (members - 1));
    }
}

BOOST_AUTO_TEST_CASE(blocks_are_exchanged_whole_only_by_two_or_where_headers_are_longer) {
  for (std::size_t members = 3; members < 50; ++members)
    for (const std::size_t bytes : sizes)
      if (bytes > 256) BOOST_TEST((block_routes{members, bytes}.sum_to_all() != block_route::direct));
  BOOST_TEST((block_routes{2, std::size_t{1} << 26}.sum_to_all() == block_route::direct));
}

BOOST_AUTO_TEST_CASE(two_nodes_join_what_is_small_for_each_pair_of_workers) {
  BOOST_TEST((node_traffic{1, 1, 1, 8}.joint_message_count()) == 0U);  // there is but one message
  BOOST_TEST((node_traffic{2, 2, 4, 64}.joint_message_count()) == 1U);
  BOOST_TEST((node_traffic{2, 2, 4, 1 << 20}.joint_message_count()) == 0U);
  BOOST_TEST((node_traffic{64, 64, 4096, 4096 * 62}.joint_message_count()) == 1U);
  BOOST_TEST((node_traffic{64, 64, 4096, 4096 * 1000}.joint_message_count()) == 16U);
  BOOST_TEST((node_traffic{64, 64, 4096, 4096 * 4000}.joint_message_count()) == 0U);
  for (std::size_t workers = 1; workers < 40; ++workers)
    for (const std::size_t bytes : sizes) {
      const node_traffic all{workers, workers, workers * workers, bytes};
      BOOST_TEST(all.joint_message_count() <= workers);
      if (all.joint_message_count() != 0) BOOST_TEST(bytes <= 2000 * all.worker_pairs);
      if (all.joint_message_count() == 0)
        BOOST_TEST((node_traffic{workers, workers, all.worker_pairs, bytes + 100000}.joint_message_count()) == 0U);
      BOOST_TEST(node_traffic::owner(workers, bytes, 3) < workers);
    }
}

BOOST_AUTO_TEST_CASE(what_is_sent_is_received) {
  for (std::size_t members = 1; members <= 9; ++members)
    for (const std::size_t n : {1U, 60U, 1000U, 20000U, 3000000U}) {
      const block_routes routes{members, 8 * n};
      block_traffic spread, sum;
      const auto add = [](block_traffic& all, const block_traffic& one) {
        all = {all.sent_elements + one.sent_elements, all.received_elements + one.received_elements,
               all.messages + one.messages};
      };
      for (std::size_t k = 0; k < members; ++k) add(spread, routes.traffic_of_broadcast(k, n));
      for (std::size_t k = 0; k < members; ++k) add(sum, routes.traffic_of_sum(k, n));
      BOOST_TEST(spread.sent_elements == (members - 1) * n);
      BOOST_TEST(spread.received_elements == spread.sent_elements);
      BOOST_TEST(spread.messages == 2 * test::messages_of_spread(routes));
      BOOST_TEST(sum.sent_elements == (members - 1) * n);
      BOOST_TEST(sum.received_elements == sum.sent_elements);
      BOOST_TEST(sum.messages == 2 * (members - 1));
    }
}

BOOST_AUTO_TEST_SUITE_END()
