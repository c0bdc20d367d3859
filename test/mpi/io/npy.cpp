// One .npy file of a tensor on any partition: xtensor can read what the library writes, the library can read files of
// other programs, and invalid calls throw the same error on all workers and leave the old file unchanged.
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"
#include "resource_limit.hpp"

#include <partita/io/npy.hpp>

#include <sys/stat.h>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

namespace {

using namespace partita;
using test::refused;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;

template <class T>
T number(std::size_t n) {
  if constexpr (std::is_same_v<T, bool>) return n % 3 == 0;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return {static_cast<float>(n % 1009), -static_cast<float>(n % 7)};
  else return static_cast<T>(n % 101);
}

/// The block at a place of the tensor whose elements are their positions in C order.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> block_of_cuts(const decomposition<Rank>& cuts, const shape<Rank>& place) {
  std::array<std::vector<std::size_t>, Rank> held;
  for (std::size_t d = 0; d < Rank; ++d)
    cuts.cuts[d].for_pieces(place[d], [&](interval piece, std::size_t) {
      for (std::size_t i = piece.start; i < piece.stop; ++i) held[d].push_back(i);
    });
  const auto extent = cuts.shape(place);
  auto block = uninitialised<T, Rank>(extent);
  for (std::size_t k = 0; k < volume_of(extent); ++k) {
    shape<Rank> i = index_of(k, extent);
    for (std::size_t d = 0; d < Rank; ++d) i[d] = held[d][i[d]];
    block.data()[k] = number<T>(flat_index(i, cuts.extents()));
  }
  return block;
}
/// This worker's block on p.
template <class T, std::size_t Rank, class Extents>
xt::xtensor<T, Rank> mine(const partition<Extents>& p, const decomposition<Rank>& cuts) {
  return p.active() ? block_of_cuts<T>(cuts, p.index()) : zero_volume<T, Rank>();
}
template <class T, class Extents>
xt::xtensor<T, Extents::rank()> balanced(const partition<Extents>& p, const shape<Extents::rank()>& extents) {
  return mine<T>(p, decomposition<Extents::rank()>::balanced(extents, p.grid().shape()));
}

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()) &&
         std::equal(a.data(), a.data() + a.size(), b.data());
}

template <std::size_t Rank>
partition<dynamic_extents<Rank>> random_partition(const world& everyone, std::mt19937& random) {
  std::size_t most = 1 + random() % everyone.size();
  shape<Rank> extents{};
  for (std::size_t& n : extents) most /= n = 1 + random() % most;
  std::shuffle(extents.begin(), extents.end(), random);
  std::vector<std::size_t> ids(everyone.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(volume_of(extents));
  return everyone.partition(dynamic_extents<Rank>(extents), workers(ids));
}
template <std::size_t Rank>
decomposition<Rank> random_cuts(const shape<Rank>& extents, const shape<Rank>& grid, std::mt19937& random) {
  return decomposition<Rank>::make([&](std::size_t d) {
    if (random() % 2 == 0) return cut::block_cyclic(extents[d], grid[d], 1 + random() % 3);
    std::vector<std::size_t> sizes(grid[d], 0);
    for (std::size_t k = 0; k < extents[d]; ++k) ++sizes[random() % grid[d]];
    return cut::at(sizes);
  });
}
/// Small pages and many owners, so that as many pages as possible are shared. Files are read by the workers that need
/// the data, or by owners.
file_options crowded(std::mt19937& random) {
  return {.page_bytes = random() % 2 == 0 ? 64U : 512U,
          .owner_bytes = random() % 2 == 0 ? 0U : 32U,
          .run_bytes = random() % 2 == 0 ? 8U : 1U << 20U,
          .sync = false};
}

/// Checks that the file has the same elements as a file that xtensor writes.
template <class T, std::size_t Rank>
bool xtensor_reads_the_same(const std::string& path, const shape<Rank>& extents) {
  const xt::xarray<T> all = xt::load_npy<T>(path);
  bool right = std::equal(all.shape().begin(), all.shape().end(), extents.begin(), extents.end());
  for (std::size_t k = 0; right && k < volume_of(extents); ++k) right = all.data()[k] == number<T>(k);
  return right;
}

/// Saves and loads one tensor of these extents on random partitions.
template <class T, std::size_t Rank>
void goes_round(const world& everyone, const std::string& path, const shape<Rank>& extents, std::mt19937& random) {
  const auto p = random_partition<Rank>(everyone, random), q = random_partition<Rank>(everyone, random);
  const file_options options = crowded(random);
  save_npy(path, p, dynamic_extents<Rank>(extents), balanced<T>(p, extents), options);
  if (everyone.id() == 0) BOOST_TEST((xtensor_reads_the_same<T>(path, extents)));
  BOOST_TEST(same(load_npy<T, Rank>(path, q, options), balanced<T>(q, extents)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npy_files)

BOOST_AUTO_TEST_CASE(any_tensor_on_any_partition_is_what_xtensor_reads_and_comes_back_on_any_other) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  std::mt19937 random(11);
  for (int trial = 0; trial < 12; ++trial) {
    shape<2> extents{random() % 12, random() % 40};
    goes_round<double>(everyone, folder / "double.npy", extents, random);
    goes_round<std::int16_t>(everyone, folder / "int16.npy", shape<3>{random() % 4, random() % 9, random() % 30},
                             random);
    goes_round<std::complex<float>>(everyone, folder / "complex.npy", shape<1>{random() % 300}, random);
  }
  BOOST_TEST(folder.names() == 3U);
}

BOOST_AUTO_TEST_CASE(a_number_alone_bool_and_long_double_go_round) {
  const world everyone(test::workers(), checks::local);
  const test::folder folder(test::workers());
  std::mt19937 random(5);
  goes_round<float>(everyone, folder / "scalar.npy", shape<0>{}, random);
  goes_round<bool>(everyone, folder / "bool.npy", shape<2>{5, 31}, random);
  const auto p = random_partition<1>(everyone, random);
  save_npy(folder / "a.npy", p, extents(50), balanced<long double>(p, shape<1>{50}), file_options{.sync = false});
  save_npy(folder / "b.npy", p, extents(50), balanced<long double>(p, shape<1>{50}), file_options{.sync = false});
  if (everyone.id() == 0) BOOST_TEST((test::bytes_of(folder / "a.npy") == test::bytes_of(folder / "b.npy")));
  BOOST_TEST(same(load_npy<long double, 1>(folder / "a.npy", p), balanced<long double>(p, shape<1>{50})));
  // the bytes of a number that hold no value are 0 in the file, whatever they are in a block that is a slab already
  const auto line = everyone.partition(extents(everyone.size()));
  const shape<1> n{4 * everyone.size()};
  const file_options each{.owner_bytes = 0, .sync = false};
  for (const int filler : {0x00, 0xff}) {
    auto x = balanced<long double>(line, n);
    std::memset(x.data(), filler, x.size() * sizeof(long double));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const long double value = static_cast<long double>(line.index()[0] * 4 + k);
      std::memcpy(x.data() + k, &value, detail::value_bytes<long double>);
    }
    save_npy(folder / (filler == 0 ? "a.npy" : "b.npy"), line, extents<dynamic>(n[0]), x, each);
  }
  if (everyone.id() == 0) BOOST_TEST((test::bytes_of(folder / "a.npy") == test::bytes_of(folder / "b.npy")));
}

BOOST_AUTO_TEST_CASE(blocks_cut_at_any_place_are_written_and_read_in_any_order_of_dimensions) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  std::mt19937 random(12);
  for (int trial = 0; trial < 10; ++trial) {
    const shape<2> n{random() % 10, random() % 25};
    const auto p = random_partition<2>(everyone, random), q = random_partition<2>(everyone, random);
    const auto cuts = random_cuts(n, p.grid().shape(), random), wanted = random_cuts(n, q.grid().shape(), random);
    const auto x = mine<double>(p, cuts);
    save_npy(folder / "c.npy", p, extents(n[0], n[1]), x, source_cuts(cuts), crowded(random));
    save_npy(folder / "f.npy", p, extents(n[0], n[1]), x, source_cuts(cuts), fortran_order, crowded(random));
    for (const char* name : {"c.npy", "f.npy"}) {
      if (everyone.id() == 0) BOOST_TEST((xtensor_reads_the_same<double>(folder / "c.npy", n)));
      BOOST_TEST(
          same(load_npy<double, 2>(folder / name, q, result_cuts(wanted), crowded(random)), mine<double>(q, wanted)));
      BOOST_TEST(same(load_npy<double, 2>(folder / name, q, crowded(random)), balanced<double>(q, n)));
    }
    if (everyone.id() == 0) {  // the same elements in the order of the header
      const std::string c = test::bytes_of(folder / "c.npy"), f = test::bytes_of(folder / "f.npy");
      BOOST_TEST(f.find("'fortran_order': True") != std::string::npos);
      bool right = c.size() == f.size();
      for (std::size_t i = 0; right && i < n[0]; ++i)
        for (std::size_t j = 0; j < n[1]; ++j)
          right = right && c.compare(128 + 8 * (i * n[1] + j), 8, f, 128 + 8 * (j * n[0] + i), 8) == 0;
      BOOST_TEST(right);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_block_that_is_not_what_the_cuts_say_is_refused_on_all_workers_at_every_level_of_checks) {
  for (const checks level : {checks::local, checks::agree}) {
    const world everyone(test::workers(), level);
    const test::folder folder(test::workers());
    const auto p = everyone.partition(extents(everyone.size(), std::size_t{1}));
    const std::size_t n = 2 * everyone.size();
    const decomposition<2> cuts{{cut::block_cyclic(n, everyone.size(), 1), cut::balanced(5, 1)}};
    const std::size_t last = everyone.size() - 1;
    xt::xtensor<float, 2> x({everyone.id() == last ? std::size_t{3} : std::size_t{2}, std::size_t{5}}, 1.0F);
    const std::string sentence =
        refused<shape_error>([&] { save_npy(folder / "w.npy", p, extents(n, 5), x, source_cuts(cuts)); });
    BOOST_TEST(sentence.find("which gives worker " + std::to_string(last) + " [2, 5], got a block of [3, 5]") !=
               std::string::npos);
    const decomposition<2> other{{cut::balanced(n, everyone.size() + 1), cut::balanced(5, 1)}};
    BOOST_TEST(!refused<partition_error>([&] {
                  save_npy(folder / "w.npy", p, extents(n, 5), x, source_cuts(other));
                }).empty());
    BOOST_TEST(folder.names() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(another_option_on_one_worker_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const std::size_t n = 3 * everyone.size();
  const std::string path = folder / "x.npy";
  const auto x = balanced<double>(p, shape<1>{n});
  const bool odd = everyone.id() + 1 == everyone.size();
  std::vector<std::size_t> sizes(everyone.size(), 3);
  const decomposition<1> even{{cut::at(sizes)}};
  sizes.front() += sizes.back(), sizes.back() = 0;
  const decomposition<1> cuts = odd ? decomposition<1>{{cut::at(sizes)}} : even;
  const auto differs = [&](auto f) { BOOST_CHECK_THROW(f(), disagreement_error); };
  differs([&] { save_npy(path, p, extents<dynamic>(n), x, source_cuts(cuts)); });
  save_npy(path, p, extents<dynamic>(n), x, source_cuts(even));
  differs([&] { load_npy<double, 1>(path, p, result_cuts(cuts)); });
  const std::size_t bytes = odd ? 128 : 64;
  differs([&] { load_npy<double, 1>(path, p, file_options{.page_bytes = bytes}); });
  differs([&] { load_npy<double, 1>(path, p, file_options{.owner_bytes = bytes}); });
  differs([&] { load_npy<double, 1>(path, p, file_options{.run_bytes = bytes}); });
  differs([&] { load_npy<double, 1>(path, p, file_options{.sync = odd}); });
  BOOST_TEST(same(load_npy<double, 1>(path, p), x));
}

BOOST_AUTO_TEST_CASE(uneven_blocks_and_lazy_expressions_need_no_more_words) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), std::size_t{1}));
  std::vector<std::size_t> rows(everyone.size(), 1);
  rows.back() = 7;
  const std::size_t n = everyone.size() + 6;
  const decomposition<2> cuts{{cut::at(rows), cut::balanced(5, 1)}};
  const auto x = mine<float>(p, cuts);
  save_npy(folder / "w.npy", p, extents(n, 5), 0.5F * x, file_options{.owner_bytes = 0});
  BOOST_TEST(same(load_npy<float, 2>(folder / "w.npy", p, result_cuts(cuts)), xt::xtensor<float, 2>(0.5F * x)));
}

BOOST_AUTO_TEST_CASE(files_of_other_machines_and_other_writers_are_read) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::array<std::size_t, 2> n{5, 9};
  if (everyone.id() == 0) {
    const auto number_bytes = [](std::size_t value) {
      const double v = number<double>(value);
      char bytes[8];
      std::memcpy(bytes, &v, 8);
      std::reverse(bytes, bytes + 8);
      return std::string(bytes, 8);
    };
    // version 3, big-endian, the first dimension fastest, a header of odd length, extra bytes after the elements
    const std::string words = "{'shape': (5, 9), 'fortran_order': True, 'descr': '>f8'}   \n";
    std::string file("\x93NUMPY\x03\x00", 8);
    file += std::string{static_cast<char>(words.size()), '\0', '\0', '\0'} + words;
    for (std::size_t j = 0; j < n[1]; ++j)
      for (std::size_t i = 0; i < n[0]; ++i) file += number_bytes(i * n[1] + j);
    test::write_bytes(folder / "big.npy", file + "another array");
    std::string bits = make_npy_header("|b1", false, std::array<std::size_t, 1>{6}.data(), 1);
    test::write_bytes(folder / "bool.npy", bits + std::string("\x00\x01\x02\xff\x00\x80", 6));
  }
  if (everyone.id() == 0) {  // no elements, and extents that are too large for any memory
    const std::size_t huge[] = {0, std::size_t{1} << 62U};
    test::write_bytes(folder / "huge.npy", make_npy_header("<f8", false, huge, 2));
  }
  everyone.communicator().barrier();
  std::mt19937 random(2);
  const auto q = random_partition<2>(everyone, random);
  BOOST_TEST(same(load_npy<double, 2>(folder / "big.npy", q, file_options{.owner_bytes = 0}), balanced<double>(q, n)));
  BOOST_TEST((load_npy<double, 2>(folder / "huge.npy", q).size() == 0U));
  const auto one = everyone.partition<1>(workers{everyone.size() - 1});
  const auto truth = load_npy<bool, 1>(folder / "bool.npy", one);
  if (one.active()) BOOST_TEST((truth == xt::xtensor<bool, 1>{false, true, true, true, false, true}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_the_same_sentence_on_all_workers) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const auto p = everyone.partition(extents(std::size_t{1}, everyone.size()));
  save_npy(folder / "w.npy", p, extents(3, 40), balanced<double>(p, {3, 40}), file_options{.sync = false});
  if (everyone.id() == 0) {
    const std::string whole = test::bytes_of(folder / "w.npy");
    test::write_bytes(folder / "short.npy", whole.substr(0, whole.size() - 1));
    test::write_bytes(folder / "head.npy", whole.substr(0, 100));
    test::write_bytes(folder / "none.npy", "no array");
    test::write_bytes(folder / "empty.npy", "");
  }
  everyone.communicator().barrier();
  const auto sentence = [&](const std::string& name) {
    return refused<io_error>([&] { load_npy<double, 2>(folder / name, p); });
  };
  const auto says = [](const std::string& sentence_of, const char* part) {
    return sentence_of.find(part) != std::string::npos;
  };
  BOOST_TEST(says(sentence("missing.npy"), "worker 0 cannot read"));
  BOOST_TEST(says(sentence("missing.npy"), "No such file or directory (errno 2)"));
  BOOST_TEST(says(sentence("short.npy"), "promises 1088 bytes, and there are 1087"));
  BOOST_TEST(says(sentence("head.npy"), "its header is cut off"));
  BOOST_TEST(says(sentence("none.npy"), "it is too short for a .npy file"));
  BOOST_TEST(says(sentence("empty.npy"), "it is too short for a .npy file"));
  BOOST_TEST(says(sentence("."), "Is a directory"));
  if (everyone.id() == 0) BOOST_TEST(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  BOOST_TEST(says(sentence("pipe"), "Illegal seek"));
  BOOST_TEST(says(refused<io_error>([&] { load_npy<float, 2>(folder / "w.npy", p); }),
                  "requires elements of the type asked for (<f4), and"));
  const auto line = everyone.partition<1>();
  BOOST_TEST(says(refused<shape_error>([&] { load_npy<double, 1>(folder / "w.npy", line); }),
                  "of the rank asked for (1), and"));
  BOOST_TEST(says(refused<shape_error>([&] {
                    const auto cuts = decomposition<2>::balanced({3, 41}, p.grid().shape());
                    load_npy<double, 2>(folder / "w.npy", p, result_cuts(cuts));
                  }),
                  "partita::load_npy(\""));
  BOOST_TEST(same(load_npy<double, 2>(folder / "w.npy", p), balanced<double>(p, {3, 40})));
}

// A sanitizer ends the program that asks for 8 TiB.
#if defined(__has_feature)
#define HAS_SANITIZER __has_feature(address_sanitizer)
#else
#define HAS_SANITIZER 0
#endif
#if !HAS_SANITIZER && !defined(__SANITIZE_ADDRESS__)
BOOST_AUTO_TEST_CASE(no_memory_for_its_block_on_one_worker_is_an_error_on_all) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::size_t most = std::size_t{1} << 40U;
  const auto last = everyone.partition<1>(workers{everyone.size() - 1});
  if (everyone.id() == 0) {  // a sparse file with a hole after the header
    const std::string header = make_npy_header("<f8", false, &most, 1);
    test::write_bytes(folder / "hole.npy", header);
    std::filesystem::resize_file(folder / "hole.npy", header.size() + most * sizeof(double));
  }
  everyone.communicator().barrier();
  const std::string sentence = refused<io_error>([&] { load_npy<double, 1>(folder / "hole.npy", last); });
  BOOST_TEST(sentence.find("worker " + std::to_string(everyone.size() - 1) +
                           " has no memory for its block of [1099511627776]") != std::string::npos,
             sentence);
  const auto p = everyone.partition(extents(everyone.size(), std::size_t{1}));
  save_npy(folder / "w.npy", p, extents(7, 5), balanced<double>(p, {7, 5}), file_options{.sync = false});
  BOOST_TEST(same(load_npy<double, 2>(folder / "w.npy", p), balanced<double>(p, {7, 5})));
}
#endif

BOOST_AUTO_TEST_CASE(what_cannot_be_written_leaves_the_old_file_and_no_other) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const auto p = everyone.partition(extents(std::size_t{1}, everyone.size()));
  const auto x = balanced<double>(p, {3, 40});
  const std::string path = folder / "w.npy";
  const file_options options{.owner_bytes = 0};
  save_npy(path, p, extents(3, 40), x, options);
  const std::string old = test::bytes_of(path);
  const auto says = [](const std::string& sentence, const char* part) {
    return sentence.find(part) != std::string::npos;
  };

  // a full disk, simulated by a limit on the size of files: the worker that creates the file gets the error
  std::optional<test::file_size_limit> limit(std::in_place, 200, SIG_IGN);
  const std::string full = refused<io_error>([&] { save_npy(path, p, extents(3, 40), 2 * x, options); });
  // and the worker that writes gets it: the limit is set only on the last worker
  if (everyone.id() + 1 != everyone.size() || everyone.size() == 1) limit.reset();
  std::string late;
  if (everyone.size() > 1) {
    const auto tall = balanced<double>(p, {40, 40 * everyone.size()});
    const extents<dynamic, dynamic> tall_extents(std::size_t{40}, 40 * everyone.size());
    late = refused<io_error>([&] { save_npy(path, p, tall_extents, tall, options); });
  }
  limit.reset();
  BOOST_TEST(says(full, "worker 0 cannot make"));
  BOOST_TEST(says(full, "File too large"));
  if (everyone.size() > 1) {
    BOOST_TEST(says(late, ("worker " + std::to_string(everyone.size() - 1) + " cannot write").c_str()));
    BOOST_TEST(says(late, "what had this name before is untouched"));
  }

  BOOST_TEST(says(refused<io_error>([&] { save_npy(folder / "no/where.npy", p, extents(3, 40), x); }),
                  "No such file or directory"));
  BOOST_TEST(says(refused<io_error>([&] { save_npy(path + "/below", p, extents(3, 40), x); }), "Not a directory"));
  BOOST_TEST(says(refused<io_error>([&] { save_npy("/proc/w.npy", p, extents(3, 40), x); }), "cannot make"));
  if (everyone.id() == 0) std::filesystem::create_directory(folder / "folder.npy");
  BOOST_TEST(says(refused<io_error>([&] { save_npy(folder / "folder.npy", p, extents(3, 40), x); }),
                  "cannot give its name to"));
  const std::string too_wide = refused<shape_error>([&] { save_npy(path, p, extents(3, 41), x); });
  BOOST_TEST(says(too_wide, "partita::save_npy(\""));
  BOOST_TEST(says(too_wide, "extents [3, 41], x): requires blocks x that add up to the extents given; "), too_wide);
  BOOST_TEST(
      says(refused<shape_error>([&] { save_npy(path, p, extents(std::size_t{1} << 40U, std::size_t{1} << 40U), x); }),
           "below 2^62 bytes"));
  if (everyone.size() > 1) {
    const std::size_t other = everyone.id() == 1 ? 39 : 40;
    const std::string quarrel =
        refused<disagreement_error>([&] { save_npy(path, p, extents(std::size_t{3}, other), x); });
    BOOST_TEST(says(quarrel, "extents [3, 40]"));
    BOOST_TEST(says(quarrel, "extents [3, 39]"));
  }
  BOOST_TEST(folder.names() == 2U);
  BOOST_TEST((test::bytes_of(path) == old));
  save_npy(path, p, extents(3, 40), 2 * x, options);
  BOOST_TEST(same(load_npy<double, 2>(path, p, options), xt::xtensor<double, 2>(2 * x)));
}

BOOST_AUTO_TEST_SUITE_END()
