// Which plan of a cache fits a call, by the shapes of its block and of the view to fill; and how a call is described
// and told apart from other calls.
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/chained_calls.hpp>
#include <partita/kernel/detail/collective_call.hpp>
#include <partita/kernel/detail/plan_cache.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

using namespace partita::detail;
using partita::exchange_plan;
using partita::strided;
using partita::text;

namespace {

block_shape shape_of(std::initializer_list<std::size_t> extents) {
  block_shape all{};
  std::copy(extents.begin(), extents.end(), all.begin());
  return all;
}
std::string written(const text& all) { return all.c_str(); }

/// A collective call with a block of doubles of this shape, which has no elements in memory.
struct some_call : collective_call {
  untyped_block target{};

  explicit some_call(const std::array<std::size_t, 2>& extents) {
    kind = &element_kind_v<double>, element_type = &element_type_id_v<double>;
    x = untyped_block(strided<const double, 2>{nullptr, extents, {}});
  }
};
/// The block of this shape as a view to fill.
untyped_block view_of(const std::array<std::size_t, 2>& extents) { return strided<double, 2>{nullptr, extents, {}}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(calls_and_their_plans)

BOOST_AUTO_TEST_CASE(a_shape_of_a_key_equals_extents_of_its_rank_and_none_equals_no_shape) {
  const plan_key::shape none, pair{2, shape_of({2, 3})}, scalar{0, shape_of({7})};
  const block_shape same = shape_of({2, 3}), longer = shape_of({2, 3, 5}), other = shape_of({2, 4}),
                    first_other = shape_of({1, 3});
  BOOST_TEST(none.equals(nullptr, 2));
  BOOST_TEST(!none.equals(&same, 2));
  BOOST_TEST(!pair.equals(nullptr, 2));
  BOOST_TEST(pair.equals(&same, 2));
  BOOST_TEST(pair.equals(&longer, 2));  // what is beyond the rank does not count
  BOOST_TEST(!pair.equals(&other, 2));
  BOOST_TEST(!pair.equals(&first_other, 2));
  BOOST_TEST(!pair.equals(&same, 1));
  BOOST_TEST(!pair.equals(&longer, 3));
  BOOST_TEST(scalar.equals(&same, 0));
}

BOOST_AUTO_TEST_CASE(a_plan_of_boxes_fits_the_block_of_a_giver_and_a_view_of_the_shape_of_the_result) {
  using shape = std::array<std::size_t, 2>;
  const shape source{2, 3}, destination{4, 5}, other{2, 5}, empty{0, 5};
  struct {
    const char* what;
    bool gives, takes;
    shape result, block;
    bool has_view;
    shape view;
    bool fits;
  } const table[]{
      {"the block of a giver", true, true, destination, source, false, {}, true},
      {"another block of a giver", true, true, destination, other, false, {}, false},
      {"another block of a giver that takes nothing", true, false, destination, other, false, {}, false},
      {"any block of a worker that only takes", false, true, destination, other, false, {}, true},
      {"any block of an idle worker", false, false, destination, other, false, {}, true},
      {"a view of the result", true, true, destination, source, true, destination, true},
      {"a view of another shape", true, true, destination, source, true, other, false},
      {"a view of the block", true, true, destination, source, true, source, false},
      {"another block and a view of the result", true, true, destination, other, true, destination, false},
      {"any view if this worker only gives", true, false, destination, source, true, other, true},
      {"a view of a worker that only takes", false, true, destination, other, true, destination, true},
      {"another view of a worker that only takes", false, true, destination, other, true, other, false},
      {"any view if the result has no elements", true, true, empty, source, true, other, true},
      {"a view of the block of an idle worker", false, false, destination, other, true, other, true},
      {"another view of an idle worker", false, false, destination, other, true, source, false},
      {"any view of an idle worker without elements", false, false, destination, empty, true, other, true},
  };
  for (const auto& row : table)
    for (const bool forward : {true, false}) {
      planned_boxes<2> plans;
      exchange_plan<2>&plan = forward ? plans.there : plans.back, &opposite = forward ? plans.back : plans.there;
      plan.gives = row.gives, plan.takes = row.takes, plan.source_shape = source, plan.destination_shape = row.result;
      opposite.gives = opposite.takes = true, opposite.source_shape = {9, 9}, opposite.destination_shape = {8, 8};
      box_call<2> call;
      call.forward = forward, call.shape = row.block, call.fills_view = row.has_view, call.view_shape = row.view;
      BOOST_TEST(plans.matches_call(call) == row.fits, row.what << (forward ? "" : ", backward"));
    }
}

BOOST_AUTO_TEST_CASE(a_collective_call_has_the_keys_of_calls_with_its_shapes) {
  std::vector<some_call> calls;
  const untyped_block views[] = {view_of({2, 3}), view_of({3, 2})};
  for (const auto& extents : {std::array<std::size_t, 2>{2, 3}, {3, 2}, {2, 4}})
    for (const untyped_block* view : {static_cast<const untyped_block*>(nullptr), &views[0], &views[1]}) {
      calls.emplace_back(extents);
      calls.back().view = view;
    }
  for (const some_call& a : calls)
    for (const some_call& b : calls)
      for (const bool includes_block : {true, false}) {
        const bool wanted = (!includes_block || a.x.shape == b.x.shape) && a.view == b.view;
        BOOST_TEST(a.matches_key(b.key(includes_block), includes_block) == wanted);
      }
  BOOST_TEST(!calls[0].matches_key(calls[0].key(true), false));
  BOOST_TEST(!calls[0].matches_key(calls[0].key(false), true));
}

BOOST_AUTO_TEST_CASE(collective_calls_that_send_different_messages_have_different_fingerprints) {
  std::set<std::uint64_t> numbers;
  std::size_t different = 0;
  for (const auto direction : {group_direction::spread, group_direction::to_root, group_direction::to_all})
    for (unsigned flags = 0; flags < 8; ++flags)
      for (const std::size_t rank : {0U, 1U, 2U, 16U})
        for (const std::uint64_t kernel : {5U, 6U})
          for (const std::uint64_t channels : {0U, 1U, 2U})
            for (const element_type_id* type : {&element_type_id_v<double>, &element_type_id_v<std::int64_t>}) {
              some_call call({2, 3});
              call.direction = direction, call.x.rank = rank, call.element_type = type;
              call.shares = (flags & 1U) != 0, call.is_non_blocking = (flags & 2U) != 0;
              call.operation = (flags & 4U) != 0 ? &element_operation_v<partita::sum_t, double, true>
                                                 : &element_operation_v<partita::sum_t, double>;
              numbers.insert(call.fingerprint(kernel, channels));
              ++different;
              call.x.shape[0] = 9;  // a shape may differ between workers
              if (flags < 4) call.operation = nullptr;
              numbers.insert(call.fingerprint(kernel, channels));
            }
  BOOST_TEST(numbers.size() == different);
}

BOOST_AUTO_TEST_CASE(a_collective_call_is_described_by_its_block_and_its_way) {
  some_call call({2, 3});
  const std::string block = "k(p) with a block of shape [2, 3] and elements of type double (8 bytes)";
  BOOST_TEST(written(call.describe("k(p)")) == block);
  call.operation = &element_operation_v<partita::sum_t, double>;
  BOOST_TEST(written(call.describe("k(p)")) == block);
  call.operation = &element_operation_v<partita::sum_t, double, true>;
  BOOST_TEST(written(call.describe("k(p)")) == block + ", reproducible");
  call.shares = true;
  BOOST_TEST(written(call.describe("k(p)")) == block + ", reproducible, as a shared view");
  call.is_non_blocking = true;
  BOOST_TEST(written(call.describe("k(p)")) == block + ", reproducible, as a shared view, by start");
  call.operation = nullptr, call.shares = false;
  BOOST_TEST(written(call.describe("k(p)")) == block + ", by start");
  BOOST_TEST(written(shape_text(shape_of({4, 5, 6}), 3)) == "[4, 5, 6]");
  BOOST_TEST(written(shape_text(shape_of({4, 5, 6}), 0)) == "[]");
}

BOOST_AUTO_TEST_CASE(a_collective_call_finds_its_own_errors) {
  some_call call({2, 3});
  const text none, reason("a reason");
  BOOST_TEST(!call.has_error());
  call.error_message = &none;
  BOOST_TEST(!call.has_error());
  call.error_message = &reason;
  BOOST_TEST(call.has_error());
  BOOST_TEST(written(call.own_error("partita::k", 3).sentence) == "a reason");
  call.error_message = &none;
  BOOST_TEST(written(call.own_error("partita::k", 3).sentence) ==
             "partita::k.into(x, view): requires a view that has no memory in common with x, got two that overlap on "
             "worker 3; copy x first, or take the result as a new tensor");
  // a view of the memory that is read
  std::vector<double> memory(12);
  const auto part = [&](std::size_t first) {
    return untyped_block(strided<double, 2>{memory.data() + first, {2, 3}, {3, 1}});
  };
  const untyped_block near = part(5), beside = part(6);
  call.x = part(0);
  BOOST_TEST(!call.writes_what_it_reads());
  call.view = &near;
  BOOST_TEST(call.writes_what_it_reads());
  call.in_place = true;
  BOOST_TEST(!call.writes_what_it_reads());
  call.in_place = false, call.view = &beside;
  BOOST_TEST(!call.writes_what_it_reads());
  // a view of another shape than the result
  const auto said = [&](const block_shape& result, const char* before = "") {
    local_error found{text(before)};
    call.expect_view_shape("partita::k", result, found);
    BOOST_TEST((found.kind == (found.sentence.empty() ? failure::none : failure::shape)));
    return written(found.sentence);
  };
  BOOST_TEST(said(shape_of({2, 3})) == "");
  BOOST_TEST(said(shape_of({2, 4})) ==
             "partita::k.into(x, view): requires a view of the shape of the result [2, 4], got [2, 3]; take a view of "
             "that shape");
  BOOST_TEST(said(shape_of({0, 4})) == "");  // a result without elements fills nothing
  BOOST_TEST(said(shape_of({2, 4}), "before") == "before");
  call.view = nullptr;
  BOOST_TEST(said(shape_of({2, 4})) == "");
}

BOOST_AUTO_TEST_CASE(a_chain_of_kernels_is_described_and_found_by_the_shapes_of_its_block_and_view) {
  const auto chain = [](std::size_t rank, const block_shape& shape) {
    return chained_call{"compose(a, b, ...)(x)", 3, {}, 1, &type_name<float>, rank, shape};
  };
  BOOST_TEST(written(chain(2, shape_of({2, 3})).describe()) ==
             "partita::compose(a, b, ...)(x) of 3 operators with a block of shape [2, 3] and elements of type float");
  std::vector<chained_call> calls;
  for (const std::size_t rank : {1U, 2U})
    for (const block_shape& shape : {shape_of({2, 3}), shape_of({3, 3}), shape_of({2, 4})})
      for (const int view : {0, 1, 2}) {
        calls.push_back(chain(rank, shape));
        calls.back().fills_view = view != 0;
        calls.back().view_shape = view == 1 ? shape_of({5, 6}) : shape_of({5, 7});
      }
  const auto same = [](const block_shape& a, const block_shape& b, std::size_t rank) {
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(rank), b.begin());
  };
  for (const chained_call& a : calls)
    for (const chained_call& b : calls) {
      const bool views = a.fills_view == b.fills_view && (!a.fills_view || same(a.view_shape, b.view_shape, a.rank));
      BOOST_TEST(a.matches_key(b.key()) == (a.rank == b.rank && same(a.shape, b.shape, a.rank) && views));
    }
}

BOOST_AUTO_TEST_SUITE_END()
