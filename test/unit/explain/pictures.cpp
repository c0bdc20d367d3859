// Pictures of movements: every block and every box is drawn inside the view, and the output is valid XML.
#include <partita/explain/linear_picture.hpp>
#include <partita/explain/pipeline_picture.hpp>
#include <partita/explain/propagation_picture.hpp>
#include <partita/explain/refused_broadcast_picture.hpp>
#include <partita/explain/repartition_picture.hpp>
#include <partita/explain/sum_reduce_picture.hpp>
#include <partita/explain/worker_broadcast_picture.hpp>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "occurrences.hpp"

namespace {

using namespace partita;
using boost::property_tree::ptree;
using test::occurrences;

struct parsed {
  std::size_t rectangles = 0, words = 0, paths = 0;
  bool inside = true;
  std::string all_words, places;
};

/// Throws if it is not XML.
parsed parse(const std::string& svg) {
  ptree tree;
  std::istringstream in(svg);
  read_xml(in, tree);
  const ptree& root = tree.get_child("svg");
  std::istringstream view(root.get<std::string>("<xmlattr>.viewBox"));
  long left = 0, top = 0, width = 0, height = 0;
  view >> left >> top >> width >> height;
  parsed found;
  for (const auto& entry : root) {
    const auto& [name, element] = entry;
    const auto number = [&entry](const char* attribute) {
      return std::stol(entry.second.get<std::string>(std::string("<xmlattr>.") + attribute));
    };
    if (name == "rect") {
      ++found.rectangles;
      const long x = number("x"), y = number("y"), w = number("width"), h = number("height");
      for (const long one : {x, y, w, h}) found.places += std::to_string(one) + " ";
      found.places += "\n";
      found.inside =
          found.inside && w > 0 && h > 0 && x >= left && y >= top && x + w <= left + width && y + h <= top + height;
    } else if (name == "text") {
      ++found.words;
      // below the baseline is room for descenders, and then the margin, which the paper begins with
      const long x = number("x"), y = number("y"), below = y + number("font-size") / 4;
      found.inside = found.inside && x >= left && y > top && x <= left + width && below <= height + 2 * top;
      found.all_words += element.data() + "\n";
    } else if (name == "path") {
      ++found.paths;
    }
  }
  return found;
}

bool says(const parsed& picture, const std::string& words) {
  return picture.all_words.find(words) != std::string::npos;
}

/// The lines that name workers, whose numbers are counted from `first`: all numbers after "workers", the one after
/// "worker", and that of a line which is "4", "to 4" or "from 4".
std::string workers_named(const std::string& lines, std::size_t first) {
  const char* const digits = "0123456789";
  std::string all, line;
  for (std::istringstream in(lines); std::getline(in, line);) {
    const bool several = line.find("workers ") != std::string::npos;
    const bool is_label = line.starts_with("to ") || line.starts_with("from ") || line.find_first_of(digits) == 0;
    std::size_t at = is_label ? 0 : line.find(several ? "workers " : "worker ");
    if (at == std::string::npos) continue;
    for (at = line.find_first_of(digits, at); at != std::string::npos;) {
      const std::size_t end = std::min(line.find_first_not_of(digits, at), line.size());
      const std::string number = std::to_string(std::stoul(line.substr(at, end - at)) - first);
      line.replace(at, end - at, number);
      at = several ? line.find_first_of(digits, at + number.size()) : std::string::npos;
    }
    all += line.substr(line.find(several ? "workers " : is_label ? "" : "worker ")) + "\n";
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pictures)

BOOST_AUTO_TEST_CASE(a_broadcast_shows_every_worker_and_both_directions) {
  const auto found = parse(to_svg(worker_broadcast_picture(grid(extents<1, 3>{}), grid(extents<2, 3>{}))));
  BOOST_TEST(found.inside);
  BOOST_TEST(found.rectangles == 1U + 3U + 6U);  // the paper, p_x, p_y
  BOOST_TEST(found.paths == 4U);                 // two arrows, each a line and a head
  BOOST_TEST(says(found, "x₁ goes to workers 1, 4"));
  BOOST_TEST(says(found, "dx₁ = dy₁ + dy₄"));
}

BOOST_AUTO_TEST_CASE(a_sum_reduce_goes_from_the_larger_partition_to_the_smaller_one) {
  const auto found = parse(to_svg(sum_reduce_picture(grid(extents<2, 3>{}), grid(extents<1, 3>{}, workers(6, 9)))));
  BOOST_TEST(found.inside);
  BOOST_TEST(found.rectangles == 1U + 6U + 3U);
  BOOST_TEST(found.paths == 4U);
  for (const char* line : {"p_x, 2 × 3", "p_y, 1 × 3", "sum_reduce sums", "its adjoint copies", "y₁ = x₁ + x₄",
                           "dy₁ goes to workers 1, 4", "worker 8"})
    BOOST_TEST(says(found, line), line);
  BOOST_TEST(!says(found, "broadcast"));
}

/// A worker of the larger partition, on the left, has the colour of the sum to which its block is added.
BOOST_AUTO_TEST_CASE(the_larger_partition_of_a_sum_reduce_is_on_the_left_in_the_colours_of_the_sums) {
  const std::string svg = to_svg(sum_reduce_picture(grid(extents<2, 3>{}), grid(extents<1, 3>{}, workers(6, 9))));
  std::string tiles;
  for (long place = 0; place < 6; ++place)
    tiles += std::to_string(place % 3 * 92) + " " + std::to_string(28 + place / 3 * 62) + " 84 54 \n";
  // the arrows between the partitions are 134 long, with 20 on both sides; the row is as high as the middle of the rows
  for (long place = 0; place < 3; ++place) tiles += std::to_string(268 + 174 + place * 92) + " 59 84 54 \n";
  const std::string places = parse(svg).places;
  BOOST_TEST(places.substr(places.find('\n') + 1) == tiles);
  for (std::size_t sum = 0; sum < 3; ++sum)
    BOOST_TEST(occurrences(svg, std::string(" fill=\"") + colour_of(sum).fill + "\" stroke") == 3U, sum);
  BOOST_TEST(occurrences(svg, std::string(" fill=\"") + colour_of(3).fill) == 0U);
}

/// Of the members of a sum four are written, and 12 blocks at most have lines.
BOOST_AUTO_TEST_CASE(long_sums_and_many_blocks_are_cut) {
  for (std::size_t members = 1; members <= 6; ++members) {
    std::string sum;
    for (std::size_t k = 0; k < members && k < 4; ++k)
      sum += (k == 0 ? "" : " + ") + std::string(detail::symbol("dy", k));
    const auto found = parse(to_svg(worker_broadcast_picture(grid(extents(std::size_t{1})), grid(extents(members)))));
    BOOST_TEST(says(found, "dx₀ = " + sum + (members > 4 ? " + …\n" : "\n")), found.all_words);
  }
  const auto many = parse(to_svg(worker_broadcast_picture(grid(extents<14>{}), grid(extents<2, 14>{}))));
  for (std::size_t block = 0; block < 14; ++block) {
    const std::string line = std::string(detail::symbol("x", block)) + " goes to workers " + std::to_string(block) +
                             ", " + std::to_string(block + 14);
    BOOST_TEST(says(many, line) == (block < 12), line);
  }
  BOOST_TEST(std::string(detail::symbol("x", 1203)) == "x₁₂₀₃");
}

BOOST_AUTO_TEST_CASE(a_transposed_sum_reduce_pairs_by_number) {
  const auto found = parse(to_svg(sum_reduce_picture(grid(extents<3, 2>{}), grid(extents<2, 3>{}), transpose_src)));
  BOOST_TEST(says(found, "p_x, 3 × 2, transposed"));
  for (const char* line : {"y₀ = x₀", "y₁ = x₁", "y₅ = x₅"}) BOOST_TEST(says(found, line), line);
}

BOOST_AUTO_TEST_CASE(a_sum_reduce_that_is_not_legal_has_a_picture_of_its_own) {
  const grid large(extents<4, 3>{});
  BOOST_CHECK_THROW(sum_reduce_picture(grid(extents<3>{}), large), partition_error);
  BOOST_CHECK_THROW(refused_sum_reduce_picture(large, grid(extents<3>{})), partition_error);
  const auto found = parse(to_svg(refused_sum_reduce_picture(large, grid(extents<2>{}))));
  BOOST_TEST(found.inside);
  for (const char* line : {"p_x, 4 × 3", "p_y, 2", "sum_reduce", "dimension 0: 4 against 1 (added), summed",
                           "dimension 1: 3 against 2, neither 1 nor equal"})
    BOOST_TEST(says(found, line), line);
  BOOST_TEST(says(parse(to_svg(refused_sum_reduce_picture(grid(extents<3>{}), large))),
                  "rank 1 does not go to rank 2: use broadcast"));
}

BOOST_AUTO_TEST_CASE(a_propagated_operation_shows_the_layouts_and_the_moves_that_were_decided) {
  const mesh m{axis{"data", 2}, axis{"model", 4}};
  const rule product("bmk,kn->bmn");
  const std::vector<spec> operands{spec(m.layout("", "", "model"), {8, 128, 64}),
                                   spec(m.layout("model", ""), {64, 256})};
  const std::vector<spec> results{spec(m.layout("", "", ""), {8, 128, 256})};
  const propagation decided = propagate(m, product, spec_list(operands), spec_list(results), direction::mixed);
  const propagation_picture picture(product, operands, results, decided);
  BOOST_TEST(picture.moves.size() == 1U);
  BOOST_TEST(!picture.is_before(picture.moves[0]));
  const auto found = parse(to_svg(picture));
  BOOST_TEST(found.inside);
  for (const char* line : {"mesh data 2 x model 4", "operand 1 [64, 256]", "(, , ) partial sum over model",
                           "then slice data, all_reduce model, all_gather data of result 0"})
    BOOST_TEST(says(found, line), line);
  const std::string words = to_text(picture);
  BOOST_TEST(words.starts_with("after, result 0 moves by\n"
                               "(1310720 bytes to a worker, where the estimate was 1572864)\n"
                               "slice data to 2, 0 bytes"),
             words);
}

/// Only a layout that was given is bold; the others are those that propagation found.
BOOST_AUTO_TEST_CASE(an_operand_without_a_layout_is_drawn_with_the_one_that_was_found) {
  const mesh m{axis{"data", 2}, axis{"model", 4}};
  const rule product("mk,kn->mn");
  const spec x(m.layout("", "model"), {16, 32}), w(shape_list{32, 8});
  for (const bool first : {true, false}) {
    const std::vector<spec> operands{first ? x : spec(shape_list{16, 32}),
                                     first ? w : spec(m.layout("model", ""), {32, 8})};
    const propagation decided = propagate(m, product, spec_list(operands));
    const propagation_picture picture(product, operands, {}, decided);
    BOOST_TEST(picture.moves.empty());
    BOOST_TEST((picture.name(0) == "operand 0" && picture.name(1) == "operand 1" && picture.name(2) == "result 0"));
    const std::string svg = to_svg(picture);
    const auto found = parse(svg);
    for (const char* words : {"mesh data 2 x model 4\n", "operand 0 [16, 32]\n(, model)\n",
                              "operand 1 [32, 8]\n(model, )\n", "result 0 of mk,kn->mn\n(, ) partial sum over model\n"})
      BOOST_TEST(says(found, words), words);
    BOOST_TEST(occurrences(svg, "font-weight=\"bold\"") == 3U);
    BOOST_TEST(occurrences(svg, "#9b2226") == 0U);  // nothing moves
  }
}

/// The bytes of a move are those of its tensor's elements, which may differ from tensor to tensor.
BOOST_AUTO_TEST_CASE(a_propagated_operation_moves_the_bytes_of_the_elements_of_each_tensor) {
  const mesh m{axis{"data", 2}, axis{"model", 4}};
  const rule product("mk,kn->mn");
  for (const std::size_t x_bytes : {1U, 4U, 16U})
    for (const std::size_t y_bytes : {2U, 8U}) {
      const std::vector<spec> operands{spec(m.layout("model", ""), {16, 32}).with_element_bytes(x_bytes),
                                       spec(m.layout("", ""), {32, 8}).with_element_bytes(4)};
      const std::vector<spec> results{spec(m.layout("", "data"), {16, 8}).with_element_bytes(y_bytes)};
      const propagation decided = propagate(m, product, spec_list(operands), spec_list(results), direction::forward);
      propagation_picture picture(product, operands, results, decided);
      BOOST_TEST_REQUIRE(picture.moves.size() == 1U);  // the result: 16 x 8 by rows becomes columns
      BOOST_TEST(picture.moves[0].plan.bytes() == (16 * 4 - 4 * 4) * y_bytes);
      const propagation whole = propagate(m, product, spec_list(operands), spec_list(results), direction::backward);
      picture = propagation_picture(product, operands, results, whole);
      BOOST_TEST_REQUIRE(!picture.moves.empty());  // x by rows becomes whole
      BOOST_TEST(picture.moves[0].tensor == 0U);
      BOOST_TEST(picture.moves[0].plan.bytes() == (16 - 4) * 32 * x_bytes);
      const std::string line = ", " + std::to_string((16 - 4) * 32 * x_bytes) + " bytes -> ", words = to_text(picture);
      BOOST_TEST(words.find(line) != std::string::npos, words);
    }
}

BOOST_AUTO_TEST_CASE(a_transposed_broadcast_pairs_by_number) {
  const auto found =
      parse(to_svg(worker_broadcast_picture(grid(extents<2, 3>{}), grid(extents<3, 2>{}), transpose_src)));
  BOOST_TEST(says(found, "p_x, 2 × 3, transposed"));
  for (const char* line : {"x₀ goes to worker 0", "x₁ goes to worker 1", "x₅ goes to worker 5"})
    BOOST_TEST(says(found, line));
}

BOOST_AUTO_TEST_CASE(a_broadcast_that_is_not_legal_has_no_picture) {
  BOOST_CHECK_THROW(worker_broadcast_picture(grid(extents<2>{}), grid(extents<3>{})), partition_error);
  BOOST_CHECK_THROW(worker_broadcast_picture(grid(extents<1, 1>{}), grid(extents<3>{})), partition_error);
}

BOOST_AUTO_TEST_CASE(a_repartition_shows_every_box_on_both_sides_and_a_plan) {
  const repartition_picture picture(grid(extents<2, 2>{}), grid(extents<1, 3>{}), extents<7, 9>{});
  const auto found = parse(to_svg(picture, 1));
  BOOST_TEST(found.inside);
  // the paper; 8 overlaps on each side; 4 blocks before and 3 after
  BOOST_TEST(found.rectangles == 1U + 2U * 8U + 4U + 3U);
  BOOST_TEST(says(found, "x, 7 × 9, on 2 × 2"));
  BOOST_TEST(says(found, "to worker 2    [0, 4) x [6, 9)  12 elements in 4 runs of 3"));
}

/// Who holds a block is its worker, not its place in the partition: both partitions of later workers are drawn as those
/// of the first ones, with other numbers.
BOOST_AUTO_TEST_CASE(workers_are_drawn_by_their_numbers_and_not_by_their_places) {
  const auto drawn = [](const auto& draw) {
    const auto words = [&](std::size_t first) { return parse(draw(first)).all_words; };
    BOOST_TEST(!workers_named(words(0), 0).empty());
    BOOST_TEST(workers_named(words(3), 3) == workers_named(words(0), 0));
  };
  const auto on = [](const auto& shape, std::size_t first) {
    return grid(shape, workers(first, first + volume_of(shape.array())));
  };
  const extents<1, 3> row;
  const extents<2, 3> rows;
  drawn([&](std::size_t w) { return to_svg(worker_broadcast_picture(on(row, w), on(rows, w))); });
  drawn([&](std::size_t w) { return to_svg(sum_reduce_picture(on(rows, w), on(row, w))); });
  drawn([&](std::size_t w) {
    return to_svg(refused_broadcast_picture(on(row, w), on(extents<4, 3>{}, w), transpose_dest));
  });
  drawn([&](std::size_t w) {
    return to_svg(linear_picture(on(extents<1, 4>{}, w), on(row, w), on(extents<3, 4>{}, w)));
  });
  drawn([&](std::size_t w) {
    return to_svg(repartition_picture(on(extents<2, 2>{}, w), on(row, w), extents<7, 9>{}), w + 1);
  });
}

/// A part is drawn in the block after where it arrives, whether it is received or stays.
BOOST_AUTO_TEST_CASE(parts_that_stay_are_drawn_where_received_parts_would_be) {
  const grid columns(extents<1, 3>{});
  const auto blocks_after = [&](const workers& before) {
    const std::string all =
        parse(to_svg(repartition_picture(grid(extents<2, 2>{}, before), columns, extents<7, 9>{}), 9)).places;
    std::vector<std::string> places;
    std::istringstream lines(all);
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line);) places.push_back(line);  // without the paper
    std::sort(places.begin(), places.end());
    return places;
  };
  // in the first case three parts stay, in the other ones a different part or none
  BOOST_TEST(blocks_after({0, 1, 2, 3}) == blocks_after({6, 7, 8, 9}), boost::test_tools::per_element());
  BOOST_TEST(blocks_after({2, 0, 3, 1}) == blocks_after({6, 7, 8, 9}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_plan_shows_what_one_worker_gives_and_takes) {
  const repartition_picture picture(grid(extents<2, 2>{}), grid(extents<1, 3>{}), extents<7, 9>{});
  BOOST_TEST(parse(to_svg(picture.plan(1))).rectangles == 1U + 2U + 4U + 2U);
  BOOST_TEST(says(parse(to_svg(picture.plan(3))), "worker 3 gives 3 × 4") == true);
  BOOST_TEST(parse(to_svg(picture.plan(9))).rectangles == 1U);
}

/// The scales of a block are equal, 30 pixels for an index and 240 for the longest side, unless a side gets too thin.
BOOST_AUTO_TEST_CASE(blocks_are_drawn_to_scale_unless_they_are_too_thin) {
  struct row {
    std::size_t rows, columns, high, wide;
    bool has_cells;
  };
  for (const auto& [rows, columns, high, wide, has_cells] : {row{1, 1, 30, 30, true},
                                                             {7, 7, 210, 210, true},
                                                             {7, 9, 187, 240, true},
                                                             {8, 4, 240, 120, true},
                                                             {3, 4, 90, 120, true},
                                                             {24, 24, 240, 240, true},
                                                             {25, 24, 240, 230, false},
                                                             {24, 25, 230, 240, false},
                                                             {100, 2, 240, 60, false},
                                                             {100, 10, 240, 108, false},
                                                             {2, 100, 60, 240, false},
                                                             {0, 5, 30, 150, true},
                                                             {5, 0, 150, 30, true},
                                                             {0, 0, 30, 30, true}}) {
    const detail::block_scales scales(rows, columns);
    BOOST_TEST((scales.y_axis.pixels == high && scales.x_axis.pixels == wide), rows << " x " << columns);
    BOOST_TEST(scales.can_show_cells() == has_cells, rows << " x " << columns);
  }
  for (std::size_t extent = 1; extent <= 30; ++extent)
    for (const std::size_t pixels : {30U, 108U, 187U, 240U})
      for (std::size_t n = 0; n <= extent; ++n) {  // the nearest pixel; of two, the higher one
        const long twice = 2 * detail::axis_scale{extent, pixels}(n) * static_cast<long>(extent),
                   exact = static_cast<long>(2 * n * pixels), half = static_cast<long>(extent);
        BOOST_TEST((exact - half < twice && twice <= exact + half), n << " of " << extent << " on " << pixels);
      }
  BOOST_TEST((detail::drawn_rows<4>({2, 3, 4, 5}) == 24 && detail::drawn_columns<4>({2, 3, 4, 5}) == 5));
  BOOST_TEST((detail::drawn_rows<1>({7}) == 1 && detail::drawn_columns<1>({7}) == 7));
  BOOST_TEST((detail::drawn_rows<0>({}) == 1 && detail::drawn_columns<0>({}) == 1));
}

BOOST_AUTO_TEST_CASE(a_legend_tells_which_dimensions_are_drawn_down) {
  const auto legend = []<std::size_t Rank>(std::integral_constant<std::size_t, Rank>) {
    drawing on;
    detail::write_legend_of_parts<Rank>(on);
    return parse(on.svg()).all_words;
  };
  const std::string colours =
      "a part has the colour of the worker that held it; its label names the worker where it goes, or comes from\n";
  const auto down = [&](const std::string& dimensions, const char* across) {
    return colours + "down: dimensions " + dimensions +
           " (each index of dimension 0 begins a new group of rows); across: dimension " + across + "\n";
  };
  BOOST_TEST(legend(std::integral_constant<std::size_t, 1>()) == colours);
  BOOST_TEST(legend(std::integral_constant<std::size_t, 2>()) == colours);
  BOOST_TEST(legend(std::integral_constant<std::size_t, 3>()) == down("0 and 1", "2"));
  BOOST_TEST(legend(std::integral_constant<std::size_t, 4>()) == down("0, 1 and 2", "3"));
  BOOST_TEST(legend(std::integral_constant<std::size_t, 5>()) == down("0, 1, 2 and 3", "4"));
}

/// A label that is wider than its part becomes a number, and is left out of a part that is too small for a number.
BOOST_AUTO_TEST_CASE(labels_of_parts_fit_into_them) {
  const auto label_of = [](std::size_t wide, std::size_t high) {
    detail::block_scales length(1, 1);
    length.x_axis.pixels = wide, length.y_axis.pixels = high;
    drawing on;
    detail::draw_block<1>(on, 0, 0, {1}, length, {{{0}, {1}, colour_of(0), "to 12", "12"}});
    return parse(on.svg()).all_words;
  };
  const auto width = [](const char* words) {
    return static_cast<std::size_t>(drawing::width_of(words, {.size = 12, .bold = true})) + 2;
  };
  for (const std::size_t wide : {width("to 12"), width("to 12") + 50}) BOOST_TEST(label_of(wide, 14) == "to 12\n");
  for (const std::size_t wide : {width("to 12") - 1, width("12")}) BOOST_TEST(label_of(wide, 14) == "12\n");
  BOOST_TEST(label_of(width("12") - 1, 14) == "");
  BOOST_TEST(label_of(100, 13) == "");
}

/// A block without elements is a dashed box that can be seen.
BOOST_AUTO_TEST_CASE(blocks_without_elements_are_dashed_boxes) {
  const auto drawn = [](const std::array<std::size_t, 2>& shape) {
    drawing on;
    detail::draw_block<2>(on, 0, 0, shape, detail::block_scales(4, 4), {{{0, 0}, shape, colour_of(0), "a", "b"}});
    return std::string(on.svg());
  };
  for (const auto& [shape, box] :
       {std::pair(std::array<std::size_t, 2>{0, 3}, "x=\"0\" y=\"0\" width=\"90\" height=\"8\" fill=\"#f4f6f8\""),
        {{3, 0}, "x=\"0\" y=\"0\" width=\"8\" height=\"90\" fill=\"#f4f6f8\""},
        {{0, 0}, "x=\"0\" y=\"0\" width=\"8\" height=\"8\" fill=\"#f4f6f8\""}}) {
    const std::string svg = drawn(shape);
    BOOST_TEST(occurrences(svg, box) == 1U, svg);
    BOOST_TEST((occurrences(svg, "stroke-dasharray") == 1 && occurrences(svg, "<rect") == 2));
  }
  const std::string some = drawn({3, 2});
  BOOST_TEST((occurrences(some, "stroke-dasharray") == 0 && occurrences(some, "<rect") == 3));
}

BOOST_AUTO_TEST_CASE(the_plan_of_a_worker_that_only_takes_says_so) {
  const repartition_picture picture(grid(extents<1, 3>{}), grid(extents<2, 2>{}), extents<7, 9>{});
  const auto title = [&](std::size_t worker) { return parse(to_svg(picture.plan(worker))).all_words; };
  BOOST_TEST(title(3).starts_with("worker 3 takes 3 × 4\n"), title(3));
  BOOST_TEST(title(3).find("and takes") == std::string::npos);
  BOOST_TEST(title(1).starts_with("worker 1 gives 7 × 3\n"), title(1));
  BOOST_TEST(title(1).find("and takes 4 × 4\n") != std::string::npos, title(1));
}

/// In a sum a root that has no block of its own is dashed. The worker whose plan it is has its colour and a bold name.
BOOST_AUTO_TEST_CASE(members_of_a_group_that_have_no_block_are_dashed) {
  const grid one(extents<1>{}, workers{6});
  const grid six(extents<6>{});
  using kind = group_plan::kind;
  for (const bool is_inside : {false, true})
    for (const kind movement : {kind::broadcast, kind::sum_reduce})
      for (std::size_t worker = 0; worker < 6; ++worker) {
        const grid root = is_inside ? grid(extents<1>{}, workers{0}) : one;
        const worker_pairing<1> pairing(root.shape(), six.shape(), false, false);
        const std::string svg = to_svg(plan_groups(root, six, pairing, worker, movement));
        const bool has_dashed_root = !is_inside && movement == kind::sum_reduce;
        BOOST_TEST(occurrences(svg, "stroke-dasharray") == (has_dashed_root ? 1U : 0U), svg);
        BOOST_TEST(occurrences(svg, std::string("fill=\"") + colour_of(worker).fill) == 1U);
        BOOST_TEST(occurrences(svg, "stroke-width=\"2\"") == 1U);
        BOOST_TEST(occurrences(svg, "font-weight=\"bold\">worker " + std::to_string(worker) + "<") == 1U, svg);
        BOOST_TEST(occurrences(svg, "font-weight") == 1U);
      }
}

BOOST_AUTO_TEST_CASE(the_groups_of_a_worker_are_drawn_below_each_other) {
  const grid shifted(extents<1, 3>{}, workers(1, 4));
  const grid rows(extents<2, 3>{});
  const worker_pairing<2> pairing(shifted.shape(), rows.shape(), false, false);
  const std::string places = parse(to_svg(plan_groups(shifted, rows, pairing, 1))).places;
  BOOST_TEST(places.substr(places.find('\n') + 1) ==
             "0 0 84 30 \n94 62 84 30 \n188 62 84 30 \n"
             "0 126 84 30 \n94 188 84 30 \n188 188 84 30 \n");
}

BOOST_AUTO_TEST_CASE(the_tree_of_a_group_has_an_edge_to_every_member_but_the_root) {
  const grid one(extents<1>{}, workers{6});
  const grid six(extents<6>{});
  const worker_pairing<1> pairing(one.shape(), six.shape(), false, false);
  for (const auto kind : {group_plan::kind::broadcast, group_plan::kind::sum_reduce}) {
    const auto found = parse(to_svg(plan_groups(one, six, pairing, 3, kind)));
    BOOST_TEST(found.inside);
    BOOST_TEST(found.rectangles == 1U + 7U);
    BOOST_TEST(found.paths == 6U);
  }
  const auto many = parse(to_svg(plan_sum_groups(grid(extents<1000>{}), {false}, 999)));
  BOOST_TEST(many.rectangles == 1U + 16U);
  BOOST_TEST(says(many, "workers 0 to 999"));
}

BOOST_AUTO_TEST_CASE(every_rank_shape_and_cut_stays_inside_the_view) {
  const auto inside = [](const long_text& svg) { return parse(svg).inside; };
  BOOST_TEST(inside(to_svg(repartition_picture(grid(extents<>{}), grid(extents<>{}, workers{1}), extents<>{}), 0)));
  BOOST_TEST(inside(to_svg(repartition_picture(grid(extents<1>{}), grid(extents<4>{}), extents<1000003>{}), 0)));
  BOOST_TEST(inside(to_svg(repartition_picture(grid(extents<4>{}), grid(extents<3>{}), extents<2>{}), 0)));
  BOOST_TEST(inside(to_svg(repartition_picture(grid(extents<2, 1>{}), grid(extents<1, 2>{}), extents<0, 5>{}), 0)));
  BOOST_TEST(inside(to_svg(repartition_picture(grid(extents<2, 1>{}), grid(extents<1, 2>{}), extents<8192, 2>{}), 0)));
  BOOST_TEST(inside(
      to_svg(repartition_picture(grid(extents<2, 1, 2>{}), grid(extents<1, 2, 2>{}), extents<64, 64, 64>{}), 3)));
  BOOST_TEST(inside(to_svg(repartition_picture(grid(extents<2, 2>{}), grid(extents<1, 3>{}),
                                               decomposition<2>::block_cyclic({8, 8}, {2, 2}, {2, 2}),
                                               decomposition<2>::balanced({8, 8}, {1, 3})),
                           1)));
  BOOST_TEST(inside(to_svg(worker_broadcast_picture(grid(extents<>{}), grid(extents<2, 2, 2, 2>{})))));
}

BOOST_AUTO_TEST_CASE(boxes_cut_in_leading_dimensions_are_drawn_where_they_are) {
  // 4 x 4 x 6 from 2 x 1 x 1 to 1 x 2 x 1: each overlap is two stripes of the block before, one after
  const repartition_picture picture(grid(extents<2, 1, 1>{}), grid(extents<1, 2, 1>{}), extents<4, 4, 6>{});
  BOOST_TEST(parse(to_svg(picture, 0)).rectangles == 1U + 2U * 2U * 2U + 2U * 2U + 2U + 2U);
}

BOOST_AUTO_TEST_CASE(a_linear_layer_shows_weights_inputs_and_outputs) {
  const auto found =
      parse(to_svg(linear_picture(grid(extents<1, 4>{}), grid(extents<1, 3>{}, workers(4, 7)), grid(extents<3, 4>{}))));
  BOOST_TEST(found.inside);
  BOOST_TEST(found.rectangles == 1U + 4U + 3U + 12U);
  BOOST_TEST(found.paths == 2U * (4U + 3U));
  BOOST_TEST(says(found, "b₂"));
  BOOST_CHECK_THROW(linear_picture(grid(extents<1, 2>{}), grid(extents<1, 3>{}), grid(extents<3, 4>{})),
                    partition_error);
}

BOOST_AUTO_TEST_CASE(a_refused_broadcast_says_which_dimension_breaks_the_rule) {
  const grid p_x(extents<1, 3>{});
  const grid p_y(extents<2, 3>{});
  const grid reversed(extents<4, 3>{});
  const auto found = parse(to_svg(refused_broadcast_picture(p_x, reversed, transpose_dest)));
  BOOST_TEST(found.inside);
  BOOST_TEST(found.rectangles == 1U + 3U + 12U);
  BOOST_TEST(says(found, "dimension 0: 1 against 3, copied"));
  BOOST_TEST(says(found, "dimension 1: 3 against 4, neither 1 nor equal"));
  BOOST_TEST(says(parse(to_svg(refused_broadcast_picture(reversed, grid(extents<3>{})))),
                  "rank 2 does not go to rank 1: use sum_reduce"));
  BOOST_TEST(parse(to_svg(refused_broadcast_picture(grid(extents<2>{}), grid(extents<2, 2, 3>{})))).inside);
  BOOST_CHECK_THROW(refused_broadcast_picture(p_x, p_y), partition_error);
}

BOOST_AUTO_TEST_CASE(characters_that_mean_something_to_xml_are_escaped) {
  drawing on;
  on.words(0, 10, "a < b && c > d", {});
  const std::string svg = on.svg();  // Boost's parser reads a lone & as it stands
  BOOST_TEST(svg.find("a &lt; b &amp;&amp; c &gt; d") != std::string::npos);
  BOOST_TEST(says(parse(on.svg()), "a < b && c > d"));
}

/// The shortest task of a pipeline is 24 wide, and the others as much wider as they take longer.
BOOST_AUTO_TEST_CASE(tasks_of_a_pipeline_are_as_wide_as_they_are_long) {
  const pipeline_shape shape{{0, 1}, 2};
  for (const double shortest : {1e-6, 0.25, 3.0}) {
    const pipeline_times times{{2 * shortest, shortest}, {3 * shortest, 5 * shortest}, {}};
    const std::string svg = to_svg(simulate(shape, tasks_of(pipeline_order::gpipe, shape, times), times));
    for (const int width : {24, 48, 72, 120}) {
      const std::string said = " width=\"" + std::to_string(width) + "\" height=\"26\"";
      std::size_t tasks = 0;
      for (std::size_t at = svg.find(said); at != std::string::npos; at = svg.find(said, at + 1)) ++tasks;
      BOOST_TEST(tasks == 2U, width);
    }
  }
}

/// A pipeline of any number of groups has a row for each of them, and the time axis below the last row.
BOOST_AUTO_TEST_CASE(a_pipeline_has_a_row_for_each_group) {
  for (std::uint32_t groups = 1; groups <= 5; ++groups) {
    pipeline_shape shape{{}, 2};
    pipeline_times times{};
    for (std::uint32_t g = 0; g < groups; ++g) shape.group_of.push_back(g);
    times.forward.assign(groups, 1), times.backward.assign(groups, 1);
    const parsed svg = parse(to_svg(simulate(shape, tasks_of(pipeline_order::gpipe, shape, times), times)));
    for (std::uint32_t g = 0; g < 6; ++g)
      BOOST_TEST(says(svg, "group " + std::to_string(g)) == (g < groups), g << " of " << groups);
  }
  BOOST_TEST(!says(parse(to_svg(pipeline_run{})), "group 0"));
}

BOOST_AUTO_TEST_SUITE_END()
