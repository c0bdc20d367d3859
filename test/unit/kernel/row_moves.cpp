// Rows that go from one block to another: kept as runs and lists, copied in both directions and in parts.
#include <partita/kernel/detail/row_block.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>
#include <vector>

using namespace partita::detail;

namespace {

struct move {
  std::size_t from, to;
  friend bool operator==(const move&, const move&) = default;
};

std::vector<move> moves_of(const row_run& run) {
  std::vector<move> all;
  for (std::size_t k = 0; k < run.rows; ++k) all.push_back({run.from + k, run.to + k});
  return all;
}

std::vector<move> listed(const row_moves& rows) {
  std::vector<move> all;
  rows.for_each([&](const row_run& run) {
    for (const move& one : moves_of(run)) all.push_back(one);
  });
  return all;
}

/// Rows that are consecutive on one side or on both, or on neither, for some rows at a time.
std::vector<move> random_moves(std::mt19937& random, bool packed) {
  std::vector<move> all;
  std::size_t from = 100 + random() % 100, to = packed ? 0 : 100 + random() % 100;
  while (random() % 12 != 0) {
    const auto kind = packed ? random() % 2 : random() % 4;
    const std::size_t rows = random() % 3 == 0 ? random() % 20 : random() % 4;
    for (std::size_t k = 0; k < rows; ++k) {
      all.push_back({from, to});
      from += kind == 0 || kind == 3 ? 1 : 2 + random() % 5;
      to += packed || kind < 2 ? 1 : 2 + random() % 5;
    }
    if (random() % 2 == 0) from += random() % 3;
    // anywhere on either side, also where a list has its numbers
    if (!packed && random() % 3 == 0) from = random() % 12;
    if (!packed && random() % 3 == 0) to = random() % 12;
  }
  return all;
}

row_block block_of(std::vector<std::uint8_t>& memory, std::size_t width, std::size_t step, std::size_t element) {
  row_block block;
  block.data = reinterpret_cast<std::byte*>(memory.data());
  block.row_stride = static_cast<std::ptrdiff_t>(step);
  block.element_bytes = element, block.elements = width;
  return block;
}

std::vector<std::uint8_t> numbered(std::size_t bytes) {
  std::vector<std::uint8_t> memory(bytes);
  for (std::size_t k = 0; k < bytes; ++k) memory[k] = static_cast<std::uint8_t>(k * 7 + k / 251);
  return memory;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rows_that_move)

BOOST_AUTO_TEST_CASE(rows_are_visited_in_the_order_in_which_they_were_added) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<move> wanted = random_moves(random, round % 2 == 0);
    row_moves rows;
    for (std::size_t k = 0; k < wanted.size();) {
      std::size_t end = k + 1;  // in pieces of one row, or in longer ones, which may be parts of a run
      while (round % 3 == 0 && random() % 4 != 0 && end < wanted.size() &&
             wanted[end].from == wanted[end - 1].from + 1 && wanted[end].to == wanted[end - 1].to + 1)
        ++end;
      rows.add({wanted[k].from, wanted[k].to, end - k});
      k = end;
    }
    BOOST_REQUIRE(listed(rows) == wanted);
    BOOST_TEST(rows.rows() == wanted.size());
    BOOST_TEST(rows.empty() == wanted.empty());
    if (!wanted.empty()) BOOST_TEST((rows.first().from == wanted[0].from && rows.first().to == wanted[0].to));
    if (round % 2 != 0) continue;
    const std::size_t first = wanted.empty() ? 0 : random() % wanted.size();
    const std::size_t count = wanted.empty() ? 0 : random() % (wanted.size() - first + 1);
    std::vector<move> part;
    rows.for_each_run_in_rows(first, count, [&](const row_run& run) {
      for (const move& one : moves_of(run)) part.push_back(one);
    });
    const auto at = wanted.begin() + static_cast<std::ptrdiff_t>(first);
    BOOST_REQUIRE(part == std::vector<move>(at, at + static_cast<std::ptrdiff_t>(count)));
  }
}

BOOST_AUTO_TEST_CASE(many_rows_are_a_run_and_scattered_ones_take_four_bytes) {
  row_moves run, scattered, apart;
  for (std::size_t k = 0; k < 1000; ++k) {
    run.add(50 + k, 7 + k);
    scattered.add(3 * k + k % 2, k);
    apart.add((std::size_t{1} << 33U) + 2 * k, k);
  }
  BOOST_TEST(run.has_one_run());
  BOOST_TEST(scattered.groups().size() == 2U);  // the last row is a run
  BOOST_TEST(!scattered.has_one_run());
  BOOST_TEST(apart.groups().size() == 1000U);  // numbers of more than four bytes
  BOOST_TEST(listed(apart)[999].from == (std::size_t{1} << 33U) + 1998);
  // long runs take no list, although each begins where the one before ends on one side
  for (const bool turn : {false, true}) {
    row_moves long_runs;
    for (std::size_t k = 0; k < 5; ++k)
      long_runs.add(turn ? row_run{100 * k, 300 * k, 100} : row_run{300 * k, 100 * k, 100});
    BOOST_TEST(long_runs.groups().size() == 5U);
    for (const row_moves::group& one : long_runs.groups()) BOOST_TEST((one.side == row_moves::listed_side::none));
    BOOST_TEST(long_runs.rows() == 500U);
  }
  // across the last number of four bytes, on either side
  for (const bool turn : {false, true}) {
    row_moves across;
    std::vector<move> wanted;
    for (std::size_t k = 0; k < 40; ++k) {
      const std::size_t far = (std::size_t{1} << 32U) - 30 + k + k / 3;
      wanted.push_back(turn ? move{k, far} : move{far, k});
      across.add(wanted[k].from, wanted[k].to);
    }
    BOOST_TEST((listed(across) == wanted));
  }
}

BOOST_AUTO_TEST_CASE(rows_are_copied_there_back_and_in_part) {
  std::mt19937 random(2);
  constexpr std::size_t block_rows = 2000;
  for (const std::size_t width : {1U, 4U, 8U, 12U, 16U, 24U, 32U, 64U, 130U})
    for (int round = 0; round < 60; ++round) {
      const std::vector<move> wanted = random_moves(random, round % 2 == 0);
      row_moves rows;
      for (const move& one : wanted) rows.add(one.from, one.to);
      // dense rows, rows with gaps between them, or rows of two elements that are apart
      const std::size_t gap = round % 3 == 0 ? 0 : 8;
      const std::size_t step = width + (round % 4 == 1 ? gap : 0);  // also of equal gaps on both sides
      std::vector<std::uint8_t> a = numbered(block_rows * (width + gap)), b(block_rows * step, 0), c = b, d = a;
      row_block from = block_of(a, width, width + gap, 1), to = block_of(b, width, step, 1);
      if (round % 5 == 0 && width % 2 == 0) {
        from.is_dense = false;
        from.elements = 2, from.element_bytes = width / 2, to.elements = 2, to.element_bytes = width / 2;
        from.extents.push_back(2), from.strides.push_back(static_cast<std::ptrdiff_t>(width / 2 + gap / 2));
      }
      const auto from_at = [&](std::size_t row, std::size_t byte) {
        const std::size_t half = width / 2;
        return row * (width + gap) + (from.is_dense ? byte : byte / half * (half + gap / 2) + byte % half);
      };
      copy_rows(to, from, rows);
      for (const move& one : wanted)
        for (std::size_t k = 0; k < width; ++k) c[one.to * step + k] = a[from_at(one.from, k)];
      BOOST_REQUIRE(b == c);
      if (round % 2 == 0 && !wanted.empty()) {
        const std::size_t first = random() % wanted.size(), count = random() % (wanted.size() - first) + 1;
        std::vector<std::uint8_t> part(count * width, 0);
        row_block start = to;
        start.data = reinterpret_cast<std::byte*>(part.data());
        copy_rows_to_range(start, from, rows, first, count);
        BOOST_REQUIRE(std::equal(part.begin(), part.end(), c.begin() + static_cast<std::ptrdiff_t>(first * width)));
      }
      for (std::uint8_t& byte : b) byte = static_cast<std::uint8_t>(byte + 1);
      copy_rows(from, to, rows, true);
      for (const move& one : wanted)
        for (std::size_t k = 0; k < width; ++k) d[from_at(one.from, k)] = b[one.to * step + k];
      BOOST_REQUIRE(a == d);
    }
}

BOOST_AUTO_TEST_CASE(gathered_rows_are_written_whole_in_part_and_cut_and_nothing_beside_them) {
  std::mt19937 random(3);
  constexpr std::size_t block_rows = 1500;
  for (std::size_t round = 0; round < 200; ++round) {
    row_moves packed;
    const std::vector<move> wanted = random_moves(random, true);
    for (const move& one : wanted) packed.add(one.from, one.to);
    const std::size_t fields = round % 4;  // none: rows of no element
    rows_to_gather rows(std::make_shared<const row_moves>(packed));
    std::vector<std::vector<std::uint8_t>> memory(fields + 1);
    std::vector<row_block> blocks;
    std::vector<std::size_t> offsets;
    std::size_t pitch = round % 4;
    for (std::size_t f = 0; f < fields; ++f) {
      const std::size_t element = std::size_t{1} << random() % 5, elements = 1 + random() % 9, apart = random() % 2;
      const std::size_t step = element * (1 + apart) * elements + random() % 3;
      memory[f] = numbered(block_rows * step);
      row_block block = block_of(memory[f], elements, step, element);
      if (apart == 1) {
        block.is_dense = false;
        block.extents.push_back(elements), block.strides.push_back(static_cast<std::ptrdiff_t>(2 * element));
      }
      blocks.push_back(block), offsets.push_back(pitch);
      pitch += block.row_bytes() + random() % 4;
    }
    for (const bool again : {false, true}) {  // the second call forgets the blocks of the first
      if (again && fields > 1) std::swap(blocks[0], blocks[1]), offsets[1] = offsets[0] + blocks[0].row_bytes();
      if (again) pitch += 40;
      rows.clear(pitch);
      for (std::size_t f = 0; f < fields; ++f) rows.add(blocks[f], offsets[f]);
      std::vector<std::uint8_t> expected(wanted.size() * pitch, 0xEE);
      for (const move& one : wanted)
        for (std::size_t f = 0; f < fields; ++f)
          for (std::size_t k = 0; k < blocks[f].row_bytes(); ++k)
            expected[one.to * pitch + offsets[f] + k] = static_cast<std::uint8_t>(
                blocks[f].skip_rows(one.from).data[blocks[f].offset(k / blocks[f].element_bytes) +
                                                   static_cast<std::ptrdiff_t>(k % blocks[f].element_bytes)]);
      const auto written = [&](std::size_t first, std::size_t count, std::size_t column, std::size_t columns) {
        const std::size_t shape[] = {count, columns}, at[] = {first, column};
        std::vector<std::uint8_t> all(count * columns + 16, 0xEE);  // and nothing behind
        rows.write(shape, at, reinterpret_cast<char*>(all.data()));
        return all;
      };
      for (int part = 0; part < 5 && !wanted.empty(); ++part) {
        const std::size_t first = part == 0 ? 0 : random() % wanted.size();
        const std::size_t count = part == 0 ? wanted.size() : random() % (wanted.size() - first + 1);
        const std::size_t column = part < 2 || pitch == 0 ? 0 : random() % pitch;
        const std::size_t columns = part < 2 ? pitch : random() % (pitch - column + 1);
        std::vector<std::uint8_t> right(count * columns + 16, 0xEE);
        for (std::size_t r = 0; r < count; ++r)
          for (std::size_t c = 0; c < columns; ++c) right[r * columns + c] = expected[(first + r) * pitch + column + c];
        BOOST_TEST((written(first, count, column, columns) == right), "round " << round << ", part " << part);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
