// What an operation along sharded dimensions receives is the smallest interval that holds what it reads: more would be
// moved for nothing, and less would give other results. Each interval is compared with a loop over all small ones.
#include <partita/sharded/detail/convolve_operations.hpp>
#include <partita/sharded/rearrange.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>

using namespace partita;

namespace {

/// Grows an interval until it holds an index.
void include(interval& all, std::size_t i) {
  if (all.size() == 0) all = {i, i + 1};
  else if (i < all.start) all.start = i;
  else if (i >= all.stop) all.stop = i + 1;
}
bool are_equal(interval a, interval b) { return a.size() == b.size() && (a.size() == 0 || a.start == b.start); }
/// Calls f for all intervals of at least one index among n.
template <class F>
void for_intervals(std::size_t n, F f) {
  for (std::size_t start = 0; start < n; ++start)
    for (std::size_t stop = start + 1; stop <= n; ++stop) f(interval{start, stop});
}

/// Compares what intervals of m results read of n elements with the elements from which these results come.
template <class Op>
void expect_what_is_read(const char* name, const Op& op, std::size_t n, std::size_t m) {
  for_intervals(m, [&](interval y) {
    interval wanted;
    for (std::size_t i = y.start; i < y.stop; ++i)
      if (const std::size_t from = op.source(0, i, n); from != detail::index_mapped_copy::no_source)
        include(wanted, from);
    BOOST_TEST(are_equal(op.read_interval(0, y, n), wanted), name << " of " << n << ": results " << y.start << " to "
                                                                  << y.stop << " read " << wanted.start << " to "
                                                                  << wanted.stop);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(windows_of_operations)

BOOST_AUTO_TEST_CASE(what_is_rearranged_is_read_from_the_smallest_interval) {
  for (std::size_t n = 1; n <= 7; ++n) {
    expect_what_is_read("flip", detail::flip_operation<0>{}, n, n);
    for (const std::ptrdiff_t by : {-9, -1, 0, 2, 8}) {
      expect_what_is_read("roll", detail::roll_operation<0>{{}, {by}}, n, n);
    }
    for (std::size_t times = 1; times <= 3; ++times)
      expect_what_is_read("tile", detail::tile_operation<0>{{}, {times}}, n, times * n);
    for (std::size_t start = 0; start <= n; ++start)
      for (std::size_t step = 1; step <= 3; ++step) {
        const index_progression of{start, n, step};
        expect_what_is_read("strided_slice", detail::strided_operation<0>{{}, {of}}, n, of.size());
        expect_what_is_read("spread", detail::insert_zeros_operation<0>{{}, {of}, {n}}, of.size(), n);
      }
  }
}

BOOST_AUTO_TEST_CASE(slices_and_pads_read_what_they_hold) {
  for (std::size_t n = 1; n <= 6; ++n)
    for (std::size_t a = 0; a <= 3; ++a)
      for (std::size_t b = 0; b <= 3; ++b) {
        for_intervals(a + n + b, [&](interval y) {
          interval wanted;
          for (std::size_t i = y.start; i < y.stop; ++i)
            if (i >= a && i < a + n) include(wanted, i - a);
          const detail::pad_operation<true, 0> pad{{margin{a, b}}, 0};
          BOOST_TEST(are_equal(pad.window({y}, {n})[0], wanted));
        });
        if (a + b > n) continue;
        for_intervals(n - a - b, [&](interval y) {
          const detail::slice_operation<0> slice{{interval{a, n - b}}};
          BOOST_TEST(are_equal(slice.window({y}, {n})[0], {y.start + a, y.stop + a}));
        });
      }
}

BOOST_AUTO_TEST_CASE(convolutions_read_the_cells_under_their_places_and_the_places_over_their_cells) {
  for (std::size_t n = 1; n <= 7; ++n)
    for (std::size_t kernel = 1; kernel <= 3; ++kernel)
      for (std::size_t stride = 1; stride <= 3; ++stride)
        for (std::size_t padding = 0; padding <= 2; ++padding)
          for (std::size_t dilation = 1; dilation <= 2; ++dilation) {
            const detail::convolution_of_blocks<1, 1> by{{.in_channels = 1,
                                                          .out_channels = 1,
                                                          .kernel = kernel,
                                                          .stride = stride,
                                                          .padding = padding,
                                                          .dilation = dilation},
                                                         {n}};
            const std::size_t reach = dilation * (kernel - 1) + 1;
            if (n + 2 * padding < reach) continue;
            const std::size_t places = (n + 2 * padding - reach) / stride + 1;
            const auto is_over = [&](std::size_t place, std::size_t cell) {
              return cell + padding >= place * stride && cell + padding < place * stride + reach;
            };
            BOOST_TEST(by.output_extent(0) == places);
            for_intervals(places, [&](interval y) {
              interval wanted;
              for (std::size_t cell = 0; cell < n; ++cell)
                if (cell + padding >= y.start * stride && cell + padding < (y.stop - 1) * stride + reach)
                  include(wanted, cell);
              BOOST_TEST(are_equal(by.input_interval(0, y), wanted));
            });
            for_intervals(n, [&](interval x) {
              interval wanted;
              for (std::size_t place = 0; place < places; ++place)
                for (std::size_t cell = x.start; cell < x.stop; ++cell)
                  if (is_over(place, cell)) include(wanted, place);
              BOOST_TEST(are_equal(by.output_interval(0, x), wanted));
            });
          }
}

BOOST_AUTO_TEST_SUITE_END()
