// Access to elements by global index, tensors on several meshes of one world, and printed tensors.
#include "check_operation.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <partita/sharded/printed.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "refused.hpp"

using namespace partita;

BOOST_AUTO_TEST_CASE(elements_are_read_and_set_by_global_index) {
  world everyone(test::workers());
  std::mt19937 random(29), mine(static_cast<unsigned>(everyone.id()));
  for (const mesh& m : test::meshes(everyone.size()))
    for (const sharding& s : test::layouts(m, 2)) {
      if (s.is_partial() || random() % 3 != 0) continue;
      const shape_list e{1 + random() % 5, 1 + random() % 5};
      auto x = test::placed(everyone, s, e, 1);
      const auto expected = [](const shape_list& i) { return test::numbered(i, 1) * 7 % 11 - 5; };
      std::vector<shape_list> asked;
      for (std::size_t k = mine() % 4; k > 0; --k) asked.push_back({mine() % e[0], mine() % e[1]});
      const auto got = x.get(asked);
      BOOST_REQUIRE(got.size() == asked.size());
      for (std::size_t k = 0; k < asked.size(); ++k)
        BOOST_TEST(got[k] == expected(asked[k]), (text() << "" << s << asked[k]));
      // each worker sets one row; of several values for one row the last remains
      const std::size_t row = everyone.id() % e[0];
      std::vector<shape_list> set;
      for (std::size_t j = 0; j < e[1]; ++j) set.push_back({row, j});
      std::vector<long long> values;
      for (std::size_t j = 0; j < e[1]; ++j) values.push_back(static_cast<long long>(100 + everyone.id() + 10 * j));
      x.put(set, values);
      const auto all = x.whole<2>();
      for (std::size_t i = 0; i < e[0] && everyone.id() < m.size(); ++i) {
        std::size_t last = everyone.size();
        for (std::size_t w = 0; w < everyone.size(); ++w) last = w % e[0] == i ? w : last;
        for (std::size_t j = 0; j < e[1]; ++j)
          BOOST_TEST(all(i, j) ==
                     (last == everyone.size() ? expected({i, j}) : static_cast<long long>(100 + last + 10 * j)));
      }
      BOOST_CHECK_THROW(x.get({shape_list{e[0], std::size_t{0}}}), shape_error);
      BOOST_CHECK_THROW(x.get({shape_list{0U, 0U, 0U}}), shape_error);
      for (const std::size_t n : {0U, 2U})
        BOOST_CHECK_THROW(x.put({shape_list{0U, 0U}}, std::vector<long long>(n)), shape_error);
    }
}

BOOST_AUTO_TEST_CASE(a_tensor_goes_to_another_mesh_and_its_cotangent_back) {
  world everyone(test::workers());
  std::mt19937 random(31);
  const std::size_t p = everyone.size();
  for (std::size_t k = 0; k < test::random_cases(60); ++k) {
    const auto all = test::meshes(p), fewer = test::meshes(1 + random() % p);
    const mesh m = all[random() % all.size()], to_mesh = fewer[random() % fewer.size()];
    std::vector<std::size_t> ids(p);
    for (std::size_t w = 0; w < p; ++w) ids[w] = w;
    std::shuffle(ids.begin(), ids.end(), random);
    ids.resize(to_mesh.size());
    const placed_mesh there(to_mesh, workers(ids));
    const auto from = test::layouts(m, 2), to = test::layouts(to_mesh, 2);
    const sharding s = from[random() % from.size()], t = to[random() % to.size()];
    const shape_list e = test::random_extents(random, 2);
    const auto x = detail::parameter_of(test::placed(everyone, s, e, 1));
    const std::size_t before = detail::run_state.movement_totals.bytes;
    const auto y = reshard(x, there, t);
    const std::size_t moved = detail::run_state.movement_totals.bytes - before;
    BOOST_TEST((y.layout() == t));
    BOOST_TEST(test::same(y, test::plain(e, 1)), (text() << "" << s << " to " << there << ' ' << t << ' ' << e));
    if (!s.is_partial() && !t.is_partial()) BOOST_TEST(moved <= y.size() * sizeof(long long));
    detail::run_backward(
        y, reshard(test::placed(everyone, s.without_partials(), e, 9), there, detail::cotangent_sharding(t)));
    const auto back = x.state()->node->cotangent;
    BOOST_TEST(back.layout().same_layout(cotangent(s)));
    BOOST_TEST(test::same(back, test::plain(e, 9)));
  }
  const mesh m{axis{"a", 1}}, other{axis{"b", 1}};
  const auto x = test::placed(everyone, m.layout("a"), {3}, 1);
  BOOST_CHECK_THROW(reshard(x, placed_mesh(other), m.layout("a")), partition_error);
  BOOST_CHECK_THROW(reshard(x, placed_mesh(other), other.layout("b", "")), shape_error);
  BOOST_CHECK_THROW(reshard(x, placed_mesh(other, workers{p}), other.layout("b")), partition_error);
  constexpr mesh typed{axis{"c", 1}};
  const auto X = reshard<typed.layout("c")>(x, placed_mesh(typed, workers{p - 1}));
  static_assert(X.layout() == typed.layout("c"));
  BOOST_TEST(X.size() == (everyone.id() == p - 1 ? 3U : 0U));
}

BOOST_AUTO_TEST_CASE(a_number_is_that_of_a_tensor_of_one_element_and_of_no_other) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  for (const shape_list& extents :
       {shape_list{}, {1}, {0}, {2}, {1, 1}, {1, 0}, {0, 3}, {2, 1}, {1, 1, 1}, {3, 0, 1}}) {
    const auto x = shard<double>(everyone, sharding(m, extents.size()), extents, [](const auto&) { return 7; });
    if (detail::shape_size(extents) == 1) {
      BOOST_TEST(x.number() == 7, (text() << "" << extents));
    } else {
      test::expect_refused<shape_error>([&] { (void)x.number(); }, "requires a tensor of one element, not of extents");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_parameter_that_the_loss_does_not_use_has_a_gradient_of_zeros_that_lies_as_its_cotangent) {
  const world everyone(test::workers());
  const xt::xtensor<double, 2> zeros = xt::zeros<double>({3, 5});
  for (const mesh& m : test::meshes(everyone.size()))
    for (const sharding& s : test::layouts(m, 2)) {
      const auto x =
          shard<double>(everyone, s, {3, 5}, [](const auto& i) { return static_cast<double>(i[0] + 2 * i[1]); });
      const auto second = [](const auto&, const auto& b) { return sum(b); };
      const auto gradient = std::get<0>(value_and_gradient(second, x, x).gradients);
      BOOST_TEST(gradient.layout().same_layout(cotangent(s)), (text() << "" << s));
      const auto all = gradient.whole<2>();
      BOOST_TEST((!gradient.state()->active() || all == zeros), (text() << "" << s));
    }
}

BOOST_AUTO_TEST_CASE(a_printed_tensor_says_how_it_lies_and_what_is_here) {
  world everyone(test::workers());
  constexpr mesh m{axis{"a", 1}};
  const auto x = shard<int>(everyone, m.layout("a", ""), {2, 3}, [](const auto& i) { return 10 * i[0] + i[1]; });
  std::ostringstream one, typed, pending;
  one << x;
  typed << reshard<m.layout("", "")>(x);
  pending << reshard(x, m.layout("", "").partial("a"));
  const bool here = everyone.id() == 0;
  BOOST_TEST(one.str() == (here ? "[2, 3] (a, ) on a 1 on [0]; here [0, 2) x [0, 3): 0 1 2 10 11 12"
                                : "[2, 3] (a, ) on a 1 on [0]; nothing here"));
  BOOST_TEST(typed.str().substr(0, 10) == "[2, 3] (, ");
  BOOST_TEST(pending.str().find(here ? "a summand" : "nothing here") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_printed_tensor_shows_no_more_than_64_elements) {
  world everyone(test::workers());
  constexpr mesh m{axis{"a", 1}};
  for (const std::size_t n : {0U, 1U, 63U, 64U, 65U, 100U}) {
    const auto x = shard<int>(everyone, m.layout("a"), {n}, [](const auto& i) { return i[0]; });
    std::ostringstream given, wanted;
    given << x;
    wanted << "[" << n << "] (a) on a 1 on [0]; ";
    if (everyone.id() == 0) wanted << "here [0, " << n << "):";
    else wanted << "nothing here";
    for (std::size_t k = 0; k < std::min(n, std::size_t{64}) && everyone.id() == 0; ++k) wanted << ' ' << k;
    if (n > 64 && everyone.id() == 0) wanted << " ...";
    BOOST_TEST(given.str() == wanted.str());
  }
}

BOOST_AUTO_TEST_CASE(a_worker_sees_each_element_of_its_block_once_and_none_outside_of_the_mesh) {
  world everyone(test::workers());
  for (const mesh& m : test::meshes(everyone.size()))
    for (std::size_t rank = 0; rank <= 2; ++rank)
      for (const sharding& s : test::layouts(m, rank)) {
        if (s.is_partial()) continue;
        auto x = test::placed(everyone, s, rank == 0 ? shape_list{} : shape_list::filled(rank, 3), 1);
        const std::size_t held = everyone.id() < m.size() ? detail::shape_size(detail::shape_of_box(x.box())) : 0;
        std::size_t seen = 0, changed = 0;
        std::as_const(x).for_each_local(
            [&](const auto& i, long long v) { seen += v == test::small_number<long long>(i, 1) ? 1U : 0U; });
        x.for_each_local([&](const auto&, long long& v) { v = 0, ++changed; });
        BOOST_TEST(seen == held, s);
        BOOST_TEST(changed == held, s);
      }
}

/// A value that is changed leaves the values that share its block, or its tape, as they are.
BOOST_AUTO_TEST_CASE(copies_keep_their_elements_when_one_of_them_is_changed) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding s = m.layout("a", "");
  const shape_list e{5, 3};
  const auto before = test::plain(e, 1);
  const auto check = [&](const char* name, const auto& change) {
    auto x = test::placed(everyone, s, e, 1);
    const auto copy = x;                    // shares the state
    const auto lies_alike = reshard(x, s);  // may share the block
    change(x);
    BOOST_TEST(test::same(copy, before), name);
    BOOST_TEST(test::same(lies_alike, before), name);
    auto parameter = detail::parameter_of(test::placed(everyone, s, e, 1));
    const auto recorded = parameter;
    change(parameter);
    BOOST_TEST((parameter.state()->node == nullptr), name);
    BOOST_TEST((recorded.state()->node != nullptr), name);
    BOOST_TEST(test::same(recorded, before), name);
    if (everyone.id() == 0) BOOST_TEST(std::as_const(x).data()[0] == 99, name);
  };
  check("put", [](auto& x) { x.put({{0, 0}}, {99}); });
  check("local", [](auto& x) {
    auto block = x.template local<2>();
    if (block.size() > 0) block(0, 0) = 99;
  });
  check("data", [](auto& x) {
    if (x.size() > 0) x.data()[0] = 99;
    else (void)x.data();
  });
  check("for_each_local", [](auto& x) { x.for_each_local([](const auto&, long long& v) { v = 99; }); });
}

BOOST_AUTO_TEST_CASE(an_element_is_asked_of_the_own_block_or_of_a_worker_that_has_it) {
  world everyone(test::workers());
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto on = detail::bound_mesh::of(everyone, placed_mesh(m));
    for (const sharding& s : test::layouts(m, 2)) {
      if (s.is_partial()) continue;
      const shape_list e{5, 3};
      const detail::element_locator places(*on, s, e);
      const auto boxes = on->boxes_of(s, e);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < e[0]; ++i)
        for (std::size_t j = 0; j < e[1]; ++j) {
          const auto offset_in = [&](std::size_t w) {
            const auto& box = boxes[w].box;
            const bool is_held =
                boxes[w].has_box && i >= box[0].start && i < box[0].stop && j >= box[1].start && j < box[1].stop;
            return is_held ? (i - box[0].start) * box[1].size() + j - box[1].start : ~std::size_t{0};
          };
          std::size_t worker = ~std::size_t{0}, offset = 0, holders = 0;
          places.find_holder({i, j}, worker, offset);
          BOOST_REQUIRE(worker < everyone.size());
          wrong += offset_in(worker) != offset;
          wrong += offset_in(everyone.id()) != ~std::size_t{0} && worker != everyone.id();
          places.for_each_holder({i, j},
                                 [&](std::size_t w, std::size_t at) { ++holders, wrong += offset_in(w) != at; });
          for (std::size_t w = 0; w < everyone.size(); ++w) holders -= offset_in(w) != ~std::size_t{0};
          wrong += holders;
        }
      BOOST_TEST(wrong == 0U, s);
    }
  }
}

BOOST_AUTO_TEST_CASE(lists_have_the_length_of_the_longest_one_and_its_number) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto on = detail::bound_mesh::of(everyone, placed_mesh(m));
  for (const std::size_t longest : {0U, 1U, 2U, 3U, 4U, 7U, 8U}) {
    std::vector<std::vector<std::uint64_t>> lists(everyone.size());
    if (everyone.id() + 1 == everyone.size()) lists[0].assign(longest, 5);  // the last worker's first list
    BOOST_TEST(detail::common_list_length(*on, lists) == std::bit_ceil(longest + 1), longest);
  }
}
