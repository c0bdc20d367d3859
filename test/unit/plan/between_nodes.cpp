// Routes of blocks between nodes: pieces of a block are complete again, and the fastest route that sends no byte twice
// is chosen.
#include <partita/plan/between_nodes.hpp>

#include <algorithm>
#include <array>
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
        BOOST_TEST(r.seconds_of_broadcast(r.broadcast_route()) <= r.seconds_of_broadcast(block_route::along_tree));
        BOOST_TEST(r.seconds_of_sum(r.sum_route()) <= r.seconds_of_sum(block_route::along_tree));
        BOOST_TEST(r.seconds_of_sum_to_all(r.sum_to_all_route()) <= r.seconds_of_sum_to_all(block_route::along_tree));
      }
}

BOOST_AUTO_TEST_CASE(small_blocks_take_one_latency_among_few_nodes_and_long_ones_little_more_than_their_bytes) {
  constexpr link_cost slow{1e-3, 2e-6, 8e-9};
  for (std::size_t members = 2; members <= 16; ++members) {
    const block_routes small{members, 64, slow}, large{members, std::size_t{1} << 26, slow};
    BOOST_TEST(small.seconds_of_broadcast(small.broadcast_route()) < 1.1 * slow.latency);
    BOOST_TEST(small.seconds_of_sum(small.sum_route()) < 1.1 * slow.latency);
    BOOST_TEST(small.seconds_of_sum_to_all(small.sum_to_all_route()) < 1.1 * slow.latency);
    const double bytes = static_cast<double>(large.bytes) * slow.seconds_per_byte;
    BOOST_TEST(large.seconds_of_broadcast(large.broadcast_route()) < 1.1 * bytes);
    BOOST_TEST(large.seconds_of_sum_to_all(large.sum_to_all_route()) < 2.05 * bytes);
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
      if (bytes > 256) BOOST_TEST((block_routes{members, bytes}.sum_to_all_route() != block_route::direct));
  BOOST_TEST((block_routes{2, std::size_t{1} << 26}.sum_to_all_route() == block_route::direct));
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

/// The tree sends whole blocks in rounds; the root sends whole blocks directly, or pieces, of which the last one is
/// passed on when all pieces have left the root.
BOOST_AUTO_TEST_CASE(a_route_takes_the_time_of_its_latencies_messages_and_bytes) {
  constexpr link_cost link{64, 8, 0.5};
  for (std::size_t members = 3; members <= 9; ++members)
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{72}, std::size_t{1} << 20U, std::size_t{5} << 22U}) {
      const block_routes r{members, bytes, link};
      std::size_t rounds = 0;
      for (std::size_t reached = 1; reached < members; reached *= 2) ++rounds;
      BOOST_TEST(r.rounds() == rounds);
      const double block = 0.5 * static_cast<double>(bytes), others = static_cast<double>(members - 1),
                   pieces = static_cast<double>(r.piece_count()), part = 0.5 * static_cast<double>(bytes / members),
                   tree = static_cast<double>(rounds) * (64 + 8 + block), direct = 64 + others * (8 + block),
                   split = 2 * 64 + 2 * pieces * 8 + block * (1 + (others - 1) / pieces);
      BOOST_TEST(r.seconds_of_broadcast(block_route::along_tree) == tree);
      BOOST_TEST(r.seconds_of_broadcast(block_route::direct) == direct);
      BOOST_TEST(r.seconds_of_broadcast(block_route::split) == split);
      BOOST_TEST(r.seconds_of_sum(block_route::along_tree) == tree);
      BOOST_TEST(r.seconds_of_sum(block_route::direct) == direct);
      BOOST_TEST(r.seconds_of_sum_to_all(block_route::along_tree) == 2 * tree);
      BOOST_TEST(r.seconds_of_sum_to_all(block_route::direct) == direct);
      BOOST_TEST(r.seconds_of_sum_to_all(block_route::split) == 2 * (64 + others * (8 + part)));
    }
  constexpr block_routes three{3, std::size_t{1} << 20U, link};  // eight pieces
  BOOST_TEST(three.seconds_of_broadcast(block_route::split) == 128 + 128 + 589824);
  BOOST_TEST(three.seconds_of_sum_to_all(block_route::split) == 699210);
  // measured: 10 us, 1 us for a message, 80 Gbit/s
  constexpr link_cost usual{};
  BOOST_TEST((usual.latency == 10e-6 && usual.seconds_per_message == 1e-6 && usual.seconds_per_byte == 1e-10));
}

BOOST_AUTO_TEST_CASE(a_member_passes_on_at_most_16_pieces_of_at_least_128_KiB) {
  for (std::size_t members = 2; members <= 6; ++members)
    for (std::size_t k = 1; k <= 20; ++k) {
      const std::size_t bytes = k * (members - 1) * 131072, each = k < 16 ? k : 16;
      BOOST_TEST((block_routes{members, bytes}.piece_count()) == (members - 1) * each);
      const std::size_t less = k == 1 ? 1 : k - 1 < 16 ? k - 1 : 16;
      BOOST_TEST((block_routes{members, bytes - 1}.piece_count()) == (members - 1) * less);
    }
}

BOOST_AUTO_TEST_CASE(blocks_are_gathered_up_to_16_KiB_and_exchanged_whole_up_to_256_bytes) {
  constexpr link_cost latencies{1, 0, 0};  // the fewest messages one after the other are fastest
  for (std::size_t members = 3; members < 12; ++members)
    for (const std::size_t bytes : {1U, 255U, 256U, 257U, 16383U, 16384U, 16385U, 1U << 20U}) {
      const block_routes r{members, bytes, latencies};
      BOOST_TEST((r.sum_route() == (bytes <= 16384 ? block_route::direct : block_route::along_tree)));
      BOOST_TEST((r.sum_to_all_route() == (bytes <= 256 ? block_route::direct : block_route::split)));
      BOOST_TEST((r.broadcast_route() == block_route::direct));
      BOOST_TEST((block_routes{members, 0, latencies}.sum_to_all_route() == block_route::direct));
    }
  for (const std::size_t bytes : {1U, 256U, 1U << 20U}) {
    const block_routes pair{2, bytes, latencies};
    BOOST_TEST((pair.sum_route() == block_route::along_tree && pair.broadcast_route() == block_route::along_tree));
    BOOST_TEST((pair.sum_to_all_route() == block_route::direct));
  }
}

BOOST_AUTO_TEST_CASE(each_member_but_the_root_receives_a_block_of_a_broadcast_and_sends_one_to_a_sum) {
  for (const link_cost& link : {link_cost{}, link_cost{1, 0, 0}, link_cost{0, 0, 1}})
    for (std::size_t members = 2; members <= 9; ++members)
      for (const std::size_t n : {60U, 1000U, 3000000U}) {
        const block_routes r{members, 8 * n, link};
        for (std::size_t k = 0; k < members; ++k) {
          const block_traffic spread = r.traffic_of_broadcast(k, n), sum = r.traffic_of_sum(k, n);
          BOOST_TEST(spread.received_elements == (k == 0 ? 0 : n));
          BOOST_TEST(sum.sent_elements == (k == 0 ? 0 : n));
          BOOST_TEST((spread.messages > 0 && sum.messages > 0));
          if (r.broadcast_route() == block_route::direct)
            BOOST_TEST(spread.sent_elements == (k == 0 ? (members - 1) * n : 0));
          if (r.broadcast_route() != block_route::split) continue;
          std::size_t passed_on = 0;
          for (std::size_t piece = 0; piece < r.piece_count(); ++piece)
            if (k != 0 && r.forwarding_member(piece) == k)
              passed_on += (members - 2) * r.part(n, r.piece_count(), piece).size();
          BOOST_TEST(spread.sent_elements == (k == 0 ? n : passed_on));
        }
      }
}

/// Each worker of a joint message waits 0.25 us, and each byte is copied in 0.5 ns.
BOOST_AUTO_TEST_CASE(messages_are_joined_up_to_the_bytes_whose_copy_takes_what_is_saved) {
  for (const auto& [senders, receivers, pairs] :
       {std::array<std::size_t, 3>{2, 2, 4}, {4, 2, 8}, {2, 4, 8}, {4, 4, 16}, {8, 8, 20}}) {
    const auto saved = static_cast<double>(pairs - 1) - 0.25 * static_cast<double>(senders + receivers);
    const auto limit = static_cast<std::size_t>(saved * 2000);  // in bytes: 1 us for 2000 of them
    BOOST_TEST((node_traffic{senders, receivers, pairs, limit - 10}.joint_message_count()) == 1U);
    BOOST_TEST((node_traffic{senders, receivers, pairs, limit + 10}.joint_message_count()) == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_joint_message_has_at_most_256_KiB_if_there_are_workers_to_post_another) {
  const link_cost slow{0, 1, 0};
  for (const std::size_t bytes : {0U, 1U, 262144U, 262145U, 524288U, 524289U, 10U << 20U})
    for (const std::size_t fewest : {1U, 2U, 3U}) {
      const std::size_t lanes = bytes <= 262144 ? 1 : bytes <= 524288 ? 2 : 3, expected = std::min(lanes, fewest);
      BOOST_TEST((node_traffic{64, fewest, 64, bytes, slow}.joint_message_count()) == expected);
      BOOST_TEST((node_traffic{fewest, 64, 64, bytes, slow}.joint_message_count()) == expected);
    }
}

BOOST_AUTO_TEST_CASE(joint_messages_of_a_node_are_posted_by_different_workers) {
  BOOST_TEST(node_traffic::owner(5, 3, 4) == 2U);
  for (std::size_t workers = 1; workers < 7; ++workers)
    for (std::size_t other_node = 0; other_node < 9; ++other_node) {
      std::vector<std::size_t> posted(workers, 0);
      for (std::size_t lane = 0; lane < workers; ++lane) {
        ++posted[node_traffic::owner(workers, other_node, lane)];
        BOOST_TEST(node_traffic::owner(workers, other_node + 1, lane) ==
                   node_traffic::owner(workers, other_node, lane + 1));
      }
      for (const std::size_t messages : posted) BOOST_TEST(messages == 1U);
    }
}

BOOST_AUTO_TEST_SUITE_END()
