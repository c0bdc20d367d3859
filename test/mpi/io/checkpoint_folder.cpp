// One folder of checkpoints that several jobs use and that users may edit: a checkpoint that is being saved is not
// removed, a listed checkpoint is complete, and a step is loaded only with its own number and extents.
// The agreements of workers on files, and which worker reads and writes which bytes.
#include "../support/file_calls.hpp"
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "printed.hpp"
#include "refused.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <partita/io/detail/new_file.hpp>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/kernel/block_from.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace {

using namespace partita;
using test::refused;
namespace fs = std::filesystem;

bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

constexpr checkpoint_options crowded{.slab_bytes = 64, .files = {.page_bytes = 128, .owner_bytes = 0, .sync = false}};

struct setting {
  world everyone{test::workers()};
  test::folder folder{test::workers()};
  partition<extents<dynamic, 1>> p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  partition<extents<1, dynamic>> q = everyone.partition(extents<1, dynamic>(everyone.size()));
  std::string run = folder / "run";
  static constexpr extents<12, 6> global{};

  template <class Partition>
  xt::xtensor<float, 2> block(const Partition& on, float scale) const {
    return block_from(on, global, [scale](auto i, auto j) { return scale * (1 + static_cast<float>(10 * i + j)); });
  }
  void save(std::uint64_t step) const {
    save_checkpoint(run, step, named("x", p, global, block(p, static_cast<float>(step % 1000))), crowded);
  }
  bool holds(std::uint64_t step) const {
    const checkpoint saved = load_checkpoint(run, everyone, step);
    const auto scale = static_cast<float>(step % 1000);
    return saved.step() == step && saved.load<float, 2>("x", q) == block(q, scale) &&
           saved.load<float, 2>("x", p, file_options{.run_bytes = 1}) == block(p, scale);
  }
  std::string path_of(std::uint64_t step) const { return run + "/" + detail::step_folder_name(step); }
  /// Calls f on one worker and waits until all workers can see its effects.
  template <class F>
  void alone(F f) const {
    everyone.communicator().barrier();
    if (everyone.id() == 0) f();
    everyone.communicator().barrier();
  }
  /// Changes the manifest of a step and writes it with a correct checksum.
  void edit(std::uint64_t step, const std::function<void(manifest&)>& change) const {
    alone([&] {
      const std::string file = path_of(step) + "/manifest.json";
      manifest m = parse_manifest(test::bytes_of(file)).manifest;
      change(m);
      test::write_bytes(file, to_json(m));
    });
  }
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_folders)

BOOST_AUTO_TEST_CASE(workers_of_one_call_agree_and_learn_what_others_know) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id(), n = everyone.size();
  for (std::size_t leader = 0; leader < n; ++leader) {
    const detail::file_call call(everyone, leader, text("a call"), detail::argument_hash() << 3);
    BOOST_TEST((call.leader() == leader && call.is_leader() == (me == leader)));
    BOOST_TEST(call.name() == "a call");
    BOOST_TEST((call.broadcast_from_leader(me + 1, 10 * me) == detail::number_array<2>{leader + 1, 10 * leader}));
    for (std::size_t worker = 0; worker < n; ++worker) {
      BOOST_TEST(call.all_and(me == worker ? 0b1101U : 0b0111U) == (n == 1 ? 0b1101U : 0b0101U));
      BOOST_TEST(!call.is_true_on_all(me != worker));
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 255 * worker + 1}) {
        const std::string mine(size + me, static_cast<char>('a' + me));
        BOOST_TEST(call.broadcast_bytes(worker, mine) == std::string(size + worker, static_cast<char>('a' + worker)));
      }
    }
    BOOST_TEST(call.is_true_on_all(true));
  }
  const detail::file_call call(everyone, 0, text("a call"), detail::argument_hash());
  const std::string who = "a call: worker " + std::to_string(me);
  BOOST_TEST(call.errno_error("open", "p/x", ENOENT, "try again").sentence.c_str() ==
             who + " cannot open p/x: No such file or directory (errno 2); try again");
  BOOST_TEST(call.errno_error("read", "x", detail::end_of_file, "copy it").sentence.c_str() ==
             who + " cannot read x: the file ends too early; copy it");
  BOOST_TEST(call.errno_error("read", "x", 0, "copy it").empty());
  const detail::file_error made = call.make_error(detail::file_error::kind::shape, "requires more");
  BOOST_TEST((made.sentence == "a call: requires more" && made.error_kind == detail::file_error::kind::shape));
}

/// A call of another name, of other arguments or of another leader.
BOOST_AUTO_TEST_CASE(workers_of_different_calls_get_an_error_at_the_first_agreement, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto agree = [&](const char* name, std::uint64_t number) {
    detail::file_call(everyone, 0, text(name), detail::argument_hash() << number).all_and(0);
  };
  for (const std::size_t worker : {std::size_t{0}, everyone.size() - 1}) {
    const bool is_odd = everyone.id() == worker;
    BOOST_CHECK_THROW(agree(is_odd ? "a cal" : "a call", 1), disagreement_error);
    BOOST_CHECK_THROW(agree("a call", is_odd ? 2 : 1), disagreement_error);
    BOOST_CHECK_NO_THROW(agree("a call", 1));
  }
}

BOOST_AUTO_TEST_CASE(each_argument_of_a_call_changes_its_hash) {
  const setting s;
  using request = detail::file_request<2>;
  std::vector<request> requests(7);
  requests[1].options.page_bytes = 4097;
  requests[2].options.owner_bytes = 65537;
  requests[3].options.run_bytes = 4097;
  requests[4].options.sync = false;
  requests[5].from = decomposition<2>::balanced({12, 6}, s.p.grid().shape());
  requests[6].to = decomposition<2>::balanced({12, 7}, s.p.grid().shape());
  std::set<std::uint64_t> hashes;
  for (const request& one : requests) hashes.insert(detail::hash_arguments<float>(s.p, one).value());
  hashes.insert(detail::hash_arguments<double>(s.p, requests[0]).value());
  hashes.insert(detail::hash_arguments<std::int32_t>(s.p, requests[0]).value());
  BOOST_TEST(hashes.size() == 9U);
  BOOST_TEST(hashes.count(detail::hash_arguments<float>(s.p, request()).value()) == 1U);
  hashes.insert(detail::hash_arguments<float>(s.q, requests[0]).value());
  BOOST_TEST(hashes.size() == (s.everyone.size() == 1 ? 9U : 10U));
  hashes.clear();
  for (const char* name : {"", "a", "b", "ab", "ba"}) hashes.insert((detail::argument_hash() << 7 << name).value());
  hashes.insert((detail::argument_hash() << 8 << "a").value());
  BOOST_TEST(hashes.size() == 6U);
}

/// A tensor has fewer than 2^62 bytes. One of no elements may have any extents.
BOOST_AUTO_TEST_CASE(tensors_of_two_to_the_62nd_bytes_are_refused) {
  const setting s;
  const detail::file_call call(s.everyone, 0, text("a call"), detail::argument_hash());
  const auto refusal = [&](const std::vector<std::size_t>& extents, std::size_t item_bytes) {
    return refused<shape_error>(
        [&] { detail::check_save_arguments(call, s.p, extents.data(), extents.size(), item_bytes); });
  };
  const std::size_t one = 1;
  for (const auto& extents : {std::vector<std::size_t>{one << 59U},
                              {one << 30U, one << 29U},
                              {8, 1, one << 56U},
                              {one << 40U, one << 40U},
                              {3, one << 63U}})
    BOOST_TEST(refusal(extents, 8) == "a call: requires extents whose product is below 2^62 bytes");
  for (const auto& extents : {std::vector<std::size_t>{(one << 59U) - 1},
                              {one << 30U, (one << 29U) - 1},
                              {},
                              {0, one << 63U},
                              {one << 63U, 0},
                              {one << 40U, 0, one << 40U}})
    BOOST_TEST(refusal(extents, 8) == "");
  BOOST_TEST((refusal({one << 61U}, 1) == "" && !refusal({one << 62U}, 1).empty()));
}

/// The owners are the first workers of the partition, and as many as have enough bytes.
BOOST_AUTO_TEST_CASE(a_file_has_as_many_owners_as_are_worth_it) {
  const setting s;
  const std::size_t n = s.everyone.size();
  std::vector<std::size_t> ids(n);
  for (std::size_t k = 0; k < n; ++k) ids[k] = n - 1 - k;
  const auto line = s.everyone.partition(extents(n), workers(ids));
  const std::array<std::size_t, 2> shape{12, 6};
  for (const std::size_t least : {0U, 1U, 47U, 48U, 96U, 144U, 145U, 288U, 289U}) {  // of 288 bytes
    const auto where = detail::assign_slabs(line, shape, 4, 128, {.page_bytes = 16, .owner_bytes = least});
    const std::size_t wanted = least == 0 ? n : std::clamp<std::size_t>(288 / least, 1, n);
    BOOST_TEST(where.owners.size() == wanted);
    BOOST_TEST((where.owners.grid().shape() == std::array<std::size_t, 2>{wanted, 1}));
    for (std::size_t k = 0; k < wanted; ++k) {
      const interval rows = balanced_part(12, wanted, k);
      BOOST_TEST(where.owners.workers()[k] == n - 1 - k);
      BOOST_TEST(where.domains.slab_starts[k] == 128 + 24 * rows.start);
      BOOST_TEST(where.domains.write_starts[k] == (k == 0 ? 0 : (128 + 24 * rows.start + 15) / 16 * 16));
    }
    BOOST_TEST(where.domains.bytes() == 416U);
    const std::size_t place = n - 1 - s.everyone.id();
    BOOST_TEST((where.is_owner() == (place < wanted) && where.owner_position() == std::min(place, wanted)));
    const interval mine = place < wanted ? balanced_part(12, wanted, place) : interval{0, 0};
    BOOST_TEST((where.own_shape() == std::array<std::size_t, 2>{mine.size(), place < wanted ? 6U : 0U}));
  }
}

/// Each owner writes its slab, once, and waits for the disk; the leader also writes the header and the manifest.
BOOST_AUTO_TEST_CASE(owners_write_their_slabs_and_wait_for_the_disk_if_they_should) {
  const setting s;
  const std::size_t me = s.everyone.id(), n = s.everyone.size();
  const auto x = s.block(s.p, 1);
  std::uint64_t step = 0;
  for (const std::size_t least : {0U, 96U, 144U, 289U})
    for (const bool sync : {false, true}) {
      const checkpoint_options options{.files = {.page_bytes = 1, .owner_bytes = least, .sync = sync}};
      const test::file_calls mine = test::file_calls_of(
          [&] { save_checkpoint(s.run, ++step, named("x", s.p, s.global, x), named("y", s.p, s.global, x), options); });
      s.everyone.communicator().barrier();
      const std::size_t owners = least == 0 ? n : std::clamp<std::size_t>(288 / least, 1, n);
      const std::size_t slab = me < owners ? 24 * balanced_part(12, owners, me).size() + (me == 0 ? 128 : 0) : 0;
      const std::size_t manifest = me == 0 ? fs::file_size(s.path_of(step) + "/manifest.json") : 0;
      BOOST_TEST(mine.bytes_written == 2 * slab + manifest);
      BOOST_TEST(mine.synced_files == (sync && me < owners ? (me == 0 ? 3U : 2U) : 0U));
      BOOST_TEST(mine.synced_folders == (sync && me == 0 ? 2U : 0U));
      const test::file_calls of_file =
          test::file_calls_of([&] { save_npy(s.run + ".npy", s.p, s.global, x, options.files); });
      BOOST_TEST((of_file == test::file_calls{0, slab, sync && me < owners ? 1U : 0U, sync && me == 0 ? 1U : 0U}));
    }
  BOOST_TEST((load_checkpoint(s.run, s.everyone, 1).load<float, 2>("y", s.q) == s.block(s.q, 1)));
  BOOST_TEST((load_checkpoint(s.run, s.everyone, step).load<float, 2>("x", s.q) == s.block(s.q, 1)));
}

/// Blocks that are in the file in long runs are read by the workers that need them, others by the owners of slabs.
BOOST_AUTO_TEST_CASE(workers_read_their_own_blocks_if_these_have_long_runs) {
  const setting s;
  s.save(1);
  const checkpoint saved = load_checkpoint(s.run, s.everyone, 1);
  const std::size_t n = s.everyone.size(), run = 288 / n, header = s.everyone.id() == 0 ? 128 : 0;
  for (const std::size_t least : {std::size_t{0}, std::size_t{1}, run, run + 4, std::size_t{1} << 20U}) {
    const test::file_calls mine = test::file_calls_of(
        [&] { BOOST_TEST((saved.load<float, 2>("x", s.p, file_options{.run_bytes = least}) == s.block(s.p, 1))); });
    BOOST_TEST(mine.bytes_read == header + (least <= run ? run : header == 0 ? 0 : 288), least);
  }
}

/// Cuts of a tensor of other extents, or into other numbers of parts, are refused in whichever way blocks are read.
BOOST_AUTO_TEST_CASE(cuts_that_do_not_fit_the_file_are_refused_however_blocks_are_read) {
  const setting s;
  s.save(1);
  s.alone([&] { fs::copy_file(s.path_of(1) + "/x.npy", s.run + ".npy"); });
  const checkpoint saved = load_checkpoint(s.run, s.everyone, 1);
  const auto parts = s.p.grid().shape();
  const std::array<decomposition<2>, 5> others{
      decomposition<2>::balanced({11, 6}, parts), decomposition<2>::balanced({13, 6}, parts),
      decomposition<2>::balanced({12, 5}, parts), decomposition<2>::balanced({6, 12}, parts),
      decomposition<2>::balanced({12, 6}, {parts[0] + 1, 1})};
  for (const std::size_t least : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20U})
    for (std::size_t k = 0; k < others.size(); ++k) {
      const file_options options{.run_bytes = least};
      std::size_t refusals = 0;
      for (const bool of_checkpoint : {false, true}) try {
          const auto found = of_checkpoint ? saved.load<float, 2>("x", s.p, result_cuts(others[k]), options)
                                           : load_npy<float, 2>(s.run + ".npy", s.p, result_cuts(others[k]), options);
        } catch (const shape_error&) {
          refusals += k < 4 ? 1 : 0;
        } catch (const partition_error&) {
          refusals += k < 4 ? 0 : 1;
        }
      BOOST_TEST(refusals == 2U, "cuts " << k << ", runs of " << least);
    }
}

/// Elements are read in pieces, and a block may have several.
BOOST_AUTO_TEST_CASE(blocks_of_more_than_a_mebibyte_come_back) {
  const setting s;
  const extents<dynamic, dynamic> large(std::size_t{12}, std::size_t{60001});
  const auto block = [&](const auto& on) {
    return block_from(on, large, [](auto i, auto j) { return static_cast<float>((60001 * i + j) % 10007); });
  };
  const xt::xtensor<float, 2> x = block(s.p);
  save_checkpoint(s.run, 1, named("x", s.p, large, x),
                  checkpoint_options{.slab_bytes = 100000, .files = {.owner_bytes = 0, .sync = false}});
  const checkpoint saved = load_checkpoint(s.run, s.everyone, 1);
  BOOST_TEST((saved.load<float, 2>("x", s.p, file_options{.run_bytes = 1}) == x));
  BOOST_TEST((saved.load<float, 2>("x", s.q) == block(s.q)));
}

/// A part of a larger array, and blocks of the shapes of slabs that hold other rows.
BOOST_AUTO_TEST_CASE(blocks_that_only_look_like_slabs_are_moved_to_them) {
  const setting s;
  const std::size_t n = s.everyone.size();
  const xt::xtensor<float, 2> x = s.block(s.p, 1);
  xt::xtensor<float, 2> wide({x.shape(0), std::size_t{9}}, -1.0F);
  const auto inner = xt::view(wide, xt::all(), xt::range(2, 8));
  xt::view(wide, xt::all(), xt::range(2, 8)) = x;
  save_checkpoint(s.run, 1, named("x", s.p, s.global, inner), crowded);
  BOOST_TEST(s.holds(1));

  const decomposition<2> dealt{{cut::block_cyclic(12, n, 1), cut::balanced(6, 1)}};
  xt::xtensor<float, 2> rows({12 / n, std::size_t{6}});
  for (std::size_t i = 0; i < rows.shape(0); ++i)
    for (std::size_t j = 0; j < 6; ++j) rows(i, j) = static_cast<float>(1 + 10 * (s.everyone.id() + n * i) + j);
  const auto save = [&](std::uint64_t step, const decomposition<2>& cuts, const xt::xtensor<float, 2>& given) {
    save_checkpoint(s.run, step, named("x", s.p, s.global, given, source_cuts(cuts)), crowded);
  };
  save(2, dealt, rows);
  const checkpoint saved = load_checkpoint(s.run, s.everyone, 2);
  BOOST_TEST((saved.load<float, 2>("x", s.q) == s.block(s.q, 1)));

  const decomposition<2> more{{cut::balanced(12, n + 1), cut::balanced(6, 1)}};
  const std::string start = "partita::save_checkpoint(\"" + s.run + "\", 3, 1 tensor): requires ";
  const auto list = [](std::size_t a, std::size_t b) {
    return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
  };
  BOOST_TEST(refused<partition_error>([&] { save(3, more, rows); }) ==
             start + "cuts of as many parts along each dimension as p has workers; source_cuts has " + list(n + 1, 1) +
                 " parts, p = " + list(n, 1) + "; cut into as many");
  const bool is_last = s.everyone.id() + 1 == n;
  const xt::xtensor<float, 2> longer({12 / n + (is_last ? 1 : 0), std::size_t{6}}, 1.0F);
  BOOST_TEST(refused<shape_error>([&] { save(3, dealt, longer); }) ==
             start + "blocks that are cut as source_cuts(...) says, which gives worker " + std::to_string(n - 1) + " " +
                 list(12 / n, 6) + ", got a block of " + list(12 / n + 1, 6) + "; give that block, or other cuts");
  BOOST_TEST((checkpoint_steps(s.run, s.everyone) == std::vector<std::uint64_t>{1, 2}));
}

/// An expression is saved as its values are, with all policies of the call: cuts that the shapes of the blocks do not
/// show, the order of the dimensions and the options of the file.
BOOST_AUTO_TEST_CASE(an_expression_is_saved_with_the_policies_of_its_values) {
  const setting s;
  const std::size_t n = s.everyone.size();
  const decomposition<2> dealt{{cut::block_cyclic(12, n, 1), cut::balanced(6, 1)}};  // row i on worker i % n
  const xt::xtensor<float, 2> values =
      block_from(s.p, dealt, [](std::size_t i, std::size_t j) { return static_cast<float>(6 * i + j); });
  std::string in_c_order, in_fortran_order;
  for (std::size_t k = 0; k < 72; ++k) {
    const auto add = [](std::string& to, float x) { to.append(reinterpret_cast<const char*>(&x), sizeof x); };
    add(in_c_order, static_cast<float>(k));
    add(in_fortran_order, static_cast<float>(6 * (k % 12) + k / 12));
  }
  const file_options quick = crowded.files, synced{.page_bytes = 1, .owner_bytes = 0, .sync = true};
  const auto saves = [&](const std::string& elements, auto save) {
    const std::string path = s.run + ".npy";
    const test::file_calls calls = test::file_calls_of([&] { save(path); });
    s.everyone.communicator().barrier();
    const std::string found = test::bytes_of(path);
    BOOST_TEST((found.size() == 128 + elements.size() && found.substr(128) == elements));
    s.everyone.communicator().barrier();
    return calls.synced_files;
  };
  const auto cuts = source_cuts(dealt);
  BOOST_TEST(saves(in_c_order,
                   [&](const std::string& path) { save_npy(path, s.p, s.global, values + 0.0F, cuts, quick); }) == 0U);
  BOOST_TEST(saves(in_c_order,
                   [&](const std::string& path) { save_npy(path, s.p, s.global, values + 0.0F, cuts, synced); }) == 1U);
  BOOST_TEST(saves(in_fortran_order, [&](const std::string& path) {
               save_npy(path, s.p, s.global, values + 0.0F, cuts, quick, fortran_order);
             }) == 0U);
  // What is in Fortran order is loaded with the cuts that are asked for, and with balanced ones.
  BOOST_TEST((load_npy<float, 2>(s.run + ".npy", s.p, result_cuts(dealt)) == values));
  save_checkpoint(s.run, 1, named("x", s.p, s.global, values + 0.0F, cuts), crowded);
  BOOST_TEST((load_checkpoint(s.run, s.everyone, 1).load<float, 2>("x", s.p, result_cuts(dealt)) == values));
  // A worker that names another order is refused on all.
  if (n > 1)
    BOOST_TEST(says(refused<disagreement_error>([&] {
                      if (s.everyone.id() == 0) save_npy(s.run + ".npy", s.p, s.global, values, cuts, quick);
                      else save_npy(s.run + ".npy", s.p, s.global, values, cuts, quick, fortran_order);
                    }),
                    "partita::save_npy"));
}

/// All workers agree on each option and on each tensor of a checkpoint, at whichever worker it differs.
BOOST_AUTO_TEST_CASE(options_and_tensors_of_a_checkpoint_that_differ_on_one_worker_are_refused, *test::at_least(2)) {
  const setting s;
  const std::array<checkpoint_options, 4> others = [] {
    std::array<checkpoint_options, 4> all{crowded, crowded, crowded, crowded};
    all[0].keep_last = 1, all[1].slab_bytes = 65, all[2].files.page_bytes = 129, all[3].files.owner_bytes = 1;
    return all;
  }();
  const xt::xtensor<float, 2> x = s.block(s.p, 1);
  for (std::size_t k = 0; k < others.size(); ++k)
    for (const std::size_t odd : {std::size_t{0}, s.everyone.size() - 1}) {
      const checkpoint_options& options = s.everyone.id() == odd ? others[k] : crowded;
      const auto save = [&] { save_checkpoint(s.run, 1, named("x", s.p, s.global, x), options); };
      BOOST_TEST(says(refused<disagreement_error>(save), "partita::save_checkpoint"), "option " << k);
    }
  // each tensor has one name, one element type, one partition and the same extents on all workers
  for (std::size_t k = 0; k < 5; ++k)
    for (const std::size_t odd : {std::size_t{0}, s.everyone.size() - 1}) {
      const auto save = [&](const auto& tensor) { save_checkpoint(s.run, 1, named("y", s.p, s.global, x), tensor); };
      const std::string told = refused<disagreement_error>([&] {
        if (s.everyone.id() != odd) save(named("x", s.p, s.global, x));
        else if (k == 0) save(named("z", s.p, s.global, x));
        else if (k == 1) save(named("x", s.p, s.global, xt::xtensor<std::int32_t, 2>(x)));
        else if (k == 2) save(named("x", s.q, s.global, s.block(s.q, 1)));
        else save(named("x", s.p, k == 3 ? extents(12, 7) : extents(24, 3), x));
      });
      BOOST_TEST(says(told, "partita::save_checkpoint"), "tensor " << k);
    }
  BOOST_TEST(checkpoint_steps(s.run, s.everyone).empty());
}

/// Every byte but 0 of a file of bools is true, also where a worker reads its own block or a part of a row.
BOOST_AUTO_TEST_CASE(every_byte_but_zero_is_true) {
  const setting s;
  const std::string path = s.run + ".npy", bytes("\0\1\2\x7f\x80\xff\0\3", 8);
  const std::size_t length[] = {8};
  s.alone([&] { test::write_bytes(path, make_npy_header("|b1", false, length, 1) + bytes); });
  const auto line = s.everyone.partition(extents(s.everyone.size()));
  const interval own = balanced_part(8, s.everyone.size(), s.everyone.id());
  const xt::xtensor<bool, 1> found = load_npy<bool, 1>(path, line);
  BOOST_TEST(found.size() == own.size());
  for (std::size_t k = 0; k < found.size(); ++k)  // C++ stores true as the byte 1
    BOOST_TEST(reinterpret_cast<const unsigned char*>(found.data())[k] == (bytes[own.start + k] != 0 ? 1 : 0));
}

/// What all can read has the modes that the user's mask leaves.
BOOST_AUTO_TEST_CASE(what_is_saved_has_the_modes_that_the_user_wants) {
  const setting s;
  for (const mode_t mask : {0U, 027U}) {
    const mode_t before = ::umask(mask);
    s.save(mask + 1);
    ::umask(before);
    s.everyone.communicator().barrier();
    BOOST_TEST(mode_of(s.path_of(mask + 1)) == (0777 & ~mask));
    for (const char* name : {"/x.npy", "/manifest.json"})
      BOOST_TEST(mode_of(s.path_of(mask + 1) + name) == (0666 & ~mask), name);
    if (mask == 0) BOOST_TEST(mode_of(s.run) == mode_t{0777});
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_folder_of_checkpoints_is_told_why) {
  const setting s;
  const std::string file = s.folder / "file", empty = s.folder / "empty", step = empty + "/step-000000000005";
  s.alone([&] {
    test::write_bytes(file, "some");
    fs::create_directory(empty);
  });
  const auto told = [&](auto call) { return refused<io_error>(call); };
  const auto load = [&](const std::string& folder) { return told([&] { load_checkpoint(folder, s.everyone); }); };
  const std::string no_folder =
      ": worker 0 cannot read " + file + ": Not a directory (errno 20); check the name of the folder";
  BOOST_TEST(told([&] { checkpoint_steps(file, s.everyone); }) ==
             "partita::checkpoint_steps(\"" + file + "\", world)" + no_folder);
  BOOST_TEST(load(file) == "partita::load_checkpoint(\"" + file + "\", world)" + no_folder);
  for (const std::string& none : {empty, s.folder / "none"}) {
    BOOST_TEST(checkpoint_steps(none, s.everyone).empty());
    BOOST_TEST(load(none) == "partita::load_checkpoint(\"" + none +
                                 "\", world): requires a folder with a checkpoint that was saved whole, and there is "
                                 "none; ask checkpoint_steps first");
  }
  // a step without a manifest, which another job does not remove, and a manifest that is too large to be one
  s.alone([&] { fs::create_directory(step); });
  BOOST_TEST(load(empty) == "partita::load_checkpoint(\"" + empty + "\", world): worker 0 cannot read " + step +
                                "/manifest.json: No such file or directory (errno 2); load a step that is there");
  BOOST_TEST(told([&] { load_checkpoint(empty, s.everyone, 7); }) ==
             "partita::load_checkpoint(\"" + empty + "\", world, 7): worker 0 cannot read " + empty +
                 "/step-000000000007/manifest.json: No such file or directory (errno 2); load a step that is there");
  s.alone([&] {
    test::write_bytes(step + "/manifest.json", "");
    fs::resize_file(step + "/manifest.json", (std::size_t{1} << 28U) + 1);
  });
  BOOST_TEST(says(load(empty), "manifest.json: File too large (errno 27); load a step that is there"));
}

/// Where the elements begin follows from the bytes of a file and its extents: behind a header of 64 bytes to 64 KiB.
BOOST_AUTO_TEST_CASE(a_manifest_says_where_elements_begin) {
  const setting s;
  const auto p = s.everyone.partition<1>(workers{s.everyone.size() - 1});
  const auto told = [&](std::size_t extent, std::size_t bytes) {
    const checkpoint saved(s.everyone, "none", {7, bytes + 1, {{"t", "<f4", {extent}, bytes, {0}}}});
    return refused<error>([&] { saved.load<float, 1>("t", p); });
  };
  const std::string start = "partita::load_checkpoint(\"none\").load(\"t\", p): ",
                    wrong = start +
                            "requires a manifest whose extents and bytes agree; this one was not written by "
                            "save_checkpoint";
  for (const std::size_t extent : {0U, 1U, 1000U}) {
    for (const std::size_t header : {std::size_t{64}, std::size_t{128}, npy_header_limit})
      BOOST_TEST(told(extent, 4 * extent + header) ==
                 start + "worker " + std::to_string(s.everyone.size() - 1) +
                     " cannot read none/t.npy: No such file or directory (errno 2); load a step that is there");
    for (const std::size_t header : {std::size_t{0}, std::size_t{63}, npy_header_limit + 1})
      BOOST_TEST(told(extent, 4 * extent + header) == wrong);
  }
  BOOST_TEST(told(100, 399) == wrong);
  BOOST_TEST(told((std::size_t{1} << 60U) - 1, 500) == wrong);
  BOOST_TEST(told(std::size_t{1} << 60U, 500) == start + "requires extents whose product is below 2^62 bytes");
  // names in any order
  manifest contents{7, 64, {}};
  for (const char* name : {"c", "a", "bb", "b", "B", "a.b"})
    contents.tensors.push_back({name, "<f4", {1}, 132, {0, 0, 0}});
  const checkpoint saved(s.everyone, "none", contents);
  for (const manifest_tensor& one : contents.tensors) {
    BOOST_TEST_REQUIRE(saved.find(one.name) != nullptr);
    BOOST_TEST((*saved.find(one.name) == one && saved.contains(one.name)));
  }
  for (const char* name : {"", "A", "a.", "a.c", "ba", "d", "cc"})
    BOOST_TEST((saved.find(name) == nullptr && !saved.contains(name)));
}

BOOST_AUTO_TEST_CASE(a_header_that_ends_elsewhere_or_has_another_rank_is_refused) {
  const setting s;
  s.save(1);
  const std::string file = s.path_of(1) + "/x.npy";
  const auto told = [&](std::size_t at, const std::string& bytes) {
    s.alone([&] {
      std::string all = test::bytes_of(file);
      test::write_bytes(file, all.replace(at, bytes.size(), bytes));
    });
    s.edit(1, [&](manifest& m) {
      const std::string all = test::bytes_of(file);
      for (std::size_t k = 0; k < m.tensors[0].checksums.size(); ++k)
        m.tensors[0].checksums[k] = crc32c(all.data() + 64 * k, std::min<std::size_t>(64, all.size() - 64 * k));
    });
    return refused<io_error>([&] { load_checkpoint(s.run, s.everyone, 1).load<float, 2>("x", s.q); });
  };
  const std::size_t shape = test::bytes_of(file).find("(12, 6)");
  const std::string sentence = "the header of " + file + " is not that of a tensor of this type and these extents";
  BOOST_TEST(says(told(8, "\x75"), sentence));  // 117 bytes instead of 118
  BOOST_TEST(told(8, "\x76") == "");
  for (const char* other : {"(12,)  ", "(12, 7)", "(6, 12)", "()     "})
    BOOST_TEST(says(told(shape, other), sentence), other);
  BOOST_TEST(told(shape, "(12, 6)") == "");
  BOOST_TEST(s.holds(1));
}

BOOST_AUTO_TEST_CASE(tensors_of_another_world_are_refused_before_anything_is_saved) {
  const setting s;
  const world other(s.everyone.communicator());
  const auto p = other.partition(extents<dynamic, 1>(other.size()));
  const auto x = s.block(s.p, 1);
  BOOST_TEST(refused<partition_error>([&] {
               save_checkpoint(s.run, 1, named("x", s.p, s.global, x), named("y", p, s.global, x), crowded);
             }) == "partita::save_checkpoint(\"" + s.run +
                       "\", 1, 2 tensors): requires partitions of one world; make all from the same world");
  BOOST_TEST(!fs::exists(s.run));
}

/// The last save of a saver is completed by its destructor, which prints an error and does not throw it.
BOOST_AUTO_TEST_CASE(an_error_of_the_last_save_is_printed) {
  const setting s;
  BOOST_TEST(test::printed([&] {
               checkpoint_saver saver(s.run, crowded);
               saver.save(2, named("x", s.p, s.global, s.block(s.p, 2)));
               s.save(2);
             }) == "partita: ~checkpoint_saver: partita::checkpoint_saver::save(\"" + s.run +
                       "\", 2, 1 tensor): requires a step that is not there yet; there is " + s.path_of(2) +
                       "; remove it first, or save another step\n");
  BOOST_TEST(test::printed([&] {
               checkpoint_saver saver(s.run, crowded), unused(s.run, crowded);
               saver.save(3, named("x", s.p, s.global, s.block(s.p, 3)));
             }) == "");
  BOOST_TEST((s.holds(2) && s.holds(3)));
}

/// The leader keeps the file open that it opened first. The others read again if theirs is another one, or if somebody
/// has written to it.
BOOST_AUTO_TEST_CASE(all_workers_read_one_version_of_a_file_or_read_again) {
  const setting s;
  const std::string path = s.folder / "x";
  const std::size_t leader = s.everyone.size() - 1;
  const detail::file_call call(s.everyone, leader, text("a call"), detail::argument_hash());
  const detail::file_error none, some = call.make_error(detail::file_error::kind::shape, "requires more");
  s.alone([&] { test::write_bytes(path, "old"); });
  {
    detail::common_file source(call, path);
    if (call.is_leader()) BOOST_TEST(source.open() == 0);
    source.agree_on_version();
    BOOST_TEST(source.is_same_on_all(none));
    BOOST_TEST((source.open() == 0 && source.path() == path));
    BOOST_TEST(source.is_same_on_all(none));
    for (std::size_t worker = 0; worker < s.everyone.size(); ++worker)
      BOOST_TEST(refused<shape_error>([&] { source.is_same_on_all(s.everyone.id() == worker ? some : none); }) ==
                 "a call: requires more");
    s.alone([&] { test::write_bytes(path, "longer"); });
    BOOST_TEST(!source.is_same_on_all(none));
    BOOST_TEST(!source.is_same_on_all(some));
  }
  {
    detail::common_file source(call, path);
    if (call.is_leader()) BOOST_TEST(source.open() == 0);
    source.agree_on_version();
    s.alone([&] {
      test::write_bytes(path + "2", "longer");
      fs::rename(path + "2", path);
    });
    BOOST_TEST(source.open() == 0);
    BOOST_TEST(source.file().has_name(path) == !call.is_leader());
    BOOST_TEST(source.is_same_on_all(none) == (s.everyone.size() == 1));
  }
  const std::string other = s.folder / "none";
  detail::common_file missing(call, other);
  BOOST_TEST(missing.open() == ENOENT);
  missing.agree_on_version();
  BOOST_TEST(missing.is_same_on_all(none));
}

BOOST_AUTO_TEST_CASE(a_file_is_read_again_up_to_a_hundred_times) {
  const setting s;
  const detail::file_call call(s.everyone, 0, text("a call"), detail::argument_hash());
  const std::string path = s.folder / "x";
  std::size_t reads = 0;
  const auto read = [&](std::size_t succeeds) {
    reads = 0;
    return detail::read_unchanged_file(call, path, [&](detail::common_file& source, bool is_retry) {
      BOOST_TEST((source.path() == path && !source.file().is_open() && is_retry == (reads > 0)));
      return ++reads == succeeds ? std::optional<std::size_t>(7) : std::nullopt;
    });
  };
  for (const std::size_t succeeds : {1U, 2U, 100U}) {
    BOOST_TEST(read(succeeds) == 7U);
    BOOST_TEST(reads == succeeds);
  }
  BOOST_TEST(refused<io_error>([&] { read(101); }) ==
             "a call: requires a file that stays as it is while the workers read it; each of 100 times somebody had "
             "replaced " +
                 path +
                 " or written to it, or not all workers see the same file under this name; wait for the job that "
                 "writes it, and name a file that all see");
  BOOST_TEST(reads == 100U);
}

/// A file is written beside the old one, which stays as it is until the new one is complete, with the name of a link's
/// target and the mode of the old file.
BOOST_AUTO_TEST_CASE(a_file_is_replaced_when_all_have_written) {
  const setting s;
  const std::size_t me = s.everyone.id(), n = s.everyone.size(), leader = n - 1;
  const detail::file_call call(s.everyone, leader, text("a call"), detail::argument_hash());
  const std::string path = s.folder / "x", link = s.folder / "link", fresh = s.folder / "fresh";
  s.alone([&] {
    test::write_bytes(path, "old");
    fs::create_symlink("x", link);
    BOOST_TEST(::chmod(path.c_str(), 0640) == 0);
  });
  const mode_t mask = ::umask(0);
  ::umask(mask);
  std::string all;
  for (std::size_t k = 0; k < n; ++k) all += static_cast<char>('a' + k);
  const auto replace = [&](const std::string& name, const std::string& target, bool sync, std::size_t fails) {
    detail::replace_file(call, name, n, sync, [&](detail::posix_file& file, const std::string& temporary) {
      BOOST_TEST(temporary.substr(0, temporary.size() - 16) == target + ".tmp.");
      BOOST_TEST((file.is_open() == call.is_leader() && fs::file_size(temporary) == n));
      BOOST_TEST(mode_of(temporary) == (target == path ? 0600 : 0666 & ~mask));
      BOOST_TEST((target == path ? test::bytes_of(path) == "old" : !fs::exists(target)));
      int error = call.is_leader() ? 0 : file.open(temporary, O_WRONLY);
      if (error == 0) error = file.write(&all[me], 1, me);
      s.everyone.communicator().barrier();
      return call.errno_error("write", temporary, me == fails ? EIO : error, detail::write_error_advice);
    });
    s.everyone.communicator().barrier();
  };
  for (std::size_t fails = 0; fails < n; ++fails)
    for (const std::string& name : {path, link}) {
      const std::string told = refused<io_error>([&] { replace(name, path, true, fails); });
      BOOST_TEST(says(told, "a call: worker " + std::to_string(fails) + " cannot write " + path + ".tmp."), told);
      BOOST_TEST(
          told.ends_with(": Input/output error (errno 5); free some space, or write where this worker may; what "
                         "had this name before is untouched"));
      BOOST_TEST((s.folder.names() == 2 && test::bytes_of(path) == "old"));
    }
  for (const bool sync : {false, true})
    for (const std::string& name : {link, path, fresh}) {
      s.alone([&] {
        test::write_bytes(path, "old");
        fs::remove(fresh);
      });
      const test::file_calls mine = test::file_calls_of([&] { replace(name, name == fresh ? fresh : path, sync, n); });
      BOOST_TEST(mine.synced_folders == (sync && call.is_leader() ? 1U : 0U));
      BOOST_TEST(test::bytes_of(name) == all);
      BOOST_TEST(mode_of(name) == (name == fresh ? 0666 & ~mask : 0640));
      BOOST_TEST(fs::is_symlink(link));
      BOOST_TEST(s.folder.names() == (name == fresh ? 3U : 2U));
    }
  const std::string who = "a call: worker " + std::to_string(leader);
  s.alone([&] { BOOST_TEST(::mkfifo((s.folder / "pipe").c_str(), 0600) == 0); });
  BOOST_TEST(refused<io_error>([&] { replace(s.folder / "pipe", "", false, n); }) ==
             who + " cannot replace " + (s.folder / "pipe") +
                 ": Invalid argument (errno 22); give the name of a file, or one that is not taken yet");
  const std::string told = refused<io_error>([&] { replace(s.folder / "none/x", "", false, n); });
  BOOST_TEST(told.starts_with(who + " cannot make " + (s.folder / "none/x.tmp.")));
  BOOST_TEST(
      told.ends_with(": No such file or directory (errno 2); free some space, or write where this worker may; "
                     "what had this name before is untouched"));
}

BOOST_AUTO_TEST_CASE(of_the_errors_of_several_workers_all_throw_that_of_the_lowest) {
  const world everyone(test::workers());
  const auto settled = [&](std::size_t first, detail::file_error::kind what) {
    detail::one_call(*everyone.state(), [&] {
      const detail::file_call call(everyone, 0, text("a call"), detail::argument_hash());
      const auto mine = call.make_error(what, text("requires less, got worker ") << everyone.id());
      call.throw_together(everyone.id() < first ? detail::file_error() : mine);
      return 0;
    });
  };
  using kind = detail::file_error::kind;
  for (std::size_t first = 0; first < everyone.size(); ++first) {
    const std::string said = "a call: requires less, got worker " + std::to_string(first);
    BOOST_TEST(says(refused<io_error>([&] { settled(first, kind::io); }), said));
    BOOST_TEST(says(refused<shape_error>([&] { settled(first, kind::shape); }), said));
    BOOST_TEST(says(refused<partition_error>([&] { settled(first, kind::partition); }), said));
  }
  settled(everyone.size(), kind::io);
}

BOOST_AUTO_TEST_CASE(a_step_of_any_number_is_listed_and_loaded) {
  const setting s;
  const std::vector<std::uint64_t> steps{0,
                                         999999999999,
                                         1000000000000,
                                         std::uint64_t{1} << 62U,
                                         (std::uint64_t{1} << 63U) - 1,
                                         std::uint64_t{1} << 63U,
                                         9999999999999999999U,
                                         10000000000000000000U,
                                         std::numeric_limits<std::uint64_t>::max()};
  for (const std::uint64_t step : steps) {
    s.save(step);
    BOOST_TEST(s.holds(step));
  }
  BOOST_TEST((checkpoint_steps(s.run, s.everyone) == steps));
  BOOST_TEST(load_checkpoint(s.run, s.everyone).step() == steps.back());
}

BOOST_AUTO_TEST_CASE(a_step_in_the_folder_of_another_one_is_refused) {
  const setting s;
  for (const std::uint64_t step : {5U, 7U}) s.save(step);
  const auto of = [&](std::uint64_t step) {
    return refused<io_error>([&] { load_checkpoint(s.run, s.everyone, step); });
  };
  s.alone([&] { fs::rename(s.path_of(7), s.path_of(42)); });
  BOOST_TEST(says(of(42), "its manifest is that of step 7"));
  BOOST_TEST(says(refused<io_error>([&] { load_checkpoint(s.run, s.everyone); }), "its manifest is that of step 7"));
  s.alone([&] {
    fs::rename(s.path_of(5), s.path_of(7));
    fs::rename(s.path_of(42), s.path_of(5));
  });
  BOOST_TEST(says(of(5), "its manifest is that of step 7"));
  BOOST_TEST(says(of(7), "its manifest is that of step 5"));
  s.alone([&] {
    fs::rename(s.path_of(5), s.path_of(42));
    fs::rename(s.path_of(7), s.path_of(5));
    fs::rename(s.path_of(42), s.path_of(7));
  });
  BOOST_TEST((s.holds(5) && s.holds(7)));
}

BOOST_AUTO_TEST_CASE(a_manifest_of_other_extents_than_its_files_is_refused) {
  const setting s;
  s.save(1);
  const auto reads = [&] {
    return refused<error>([&] { load_checkpoint(s.run, s.everyone, 1).load<float, 2>("x", s.q); });
  };
  for (const shape_list& n :
       {shape_list{6, 12}, shape_list{12, 5}, shape_list{11, 6}, shape_list{72, 1}, shape_list{8, 9}, shape_list{12, 7},
        shape_list{13, 6}, shape_list{0, 6}, shape_list{1, 1}, shape_list{88, 1}, shape_list{1, 70}}) {
    s.edit(1, [&](manifest& m) { m.tensors[0].extents.assign(n.begin(), n.end()); });
    const std::string message = reads();
    BOOST_TEST((says(message, "requires a manifest that agrees with its files") ||
                says(message, "requires a manifest whose extents and bytes agree")),
               message << " for " << n[0] << ", " << n[1]);
  }
  s.edit(1, [&](manifest& m) { m.tensors[0].extents = {12, 6}; });
  BOOST_TEST(s.holds(1));
  s.edit(1, [&](manifest& m) { m.tensors[0].type = "<i4"; });
  BOOST_TEST(says(refused<io_error>([&] { load_checkpoint(s.run, s.everyone, 1).load<std::int32_t, 2>("x", s.q); }),
                  "requires a manifest that agrees with its files"));
}

BOOST_AUTO_TEST_CASE(two_savers_of_one_program_keep_what_the_other_one_saves) {
  const setting s;
  checkpoint_saver even(s.run, crowded), odd(s.run, crowded);
  for (std::uint64_t step = 0; step < 10; step += 2) {
    even.save(step, named("x", s.p, s.global, s.block(s.p, static_cast<float>(step))));
    odd.save(step + 1, named("x", s.p, s.global, s.block(s.p, static_cast<float>(step + 1))));
  }
  even.finish();
  odd.finish();
  BOOST_TEST((checkpoint_steps(s.run, s.everyone) == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  for (std::uint64_t step = 0; step < 10; ++step) BOOST_TEST(s.holds(step));
}

BOOST_AUTO_TEST_CASE(one_of_two_savers_of_a_step_gets_it_and_the_other_an_error) {
  const setting s;
  checkpoint_saver first(s.run, crowded), second(s.run, crowded);
  first.save(3, named("x", s.p, s.global, s.block(s.p, 3)));
  second.save(3, named("x", s.p, s.global, s.block(s.p, 4)));
  first.finish();
  BOOST_TEST(says(refused<io_error>([&] { second.finish(); }), "requires a step that is not there yet"));
  BOOST_TEST(s.holds(3));
}

BOOST_AUTO_TEST_CASE(what_a_job_saves_stays_and_what_a_killed_one_left_goes) {
  const setting s;
  s.save(1);
  const std::string alive = s.path_of(2) + ".tmp.0123456789abcdef", dead = s.path_of(3) + ".tmp.0123456789abcdef",
                    link = s.path_of(4) + ".tmp.0123456789abcdef";
  std::optional<detail::folder_lock> lock(std::in_place);
  s.alone([&] {
    BOOST_TEST(lock->make(alive) == 0);
    test::write_bytes(alive + "/x.npy", "some");
    fs::create_directory(dead);
    test::write_bytes(dead + "/x.npy", "some");
    fs::create_directory(s.folder / "other");
    fs::create_symlink(s.folder / "other", link);
  });
  s.save(5);
  BOOST_TEST(fs::exists(alive + "/x.npy"));
  BOOST_TEST(!fs::exists(dead));
  BOOST_TEST(!fs::is_symlink(link));
  BOOST_TEST(fs::is_empty(s.folder / "other"));
  s.alone([&] { lock.reset(); });
  s.save(6);
  BOOST_TEST(!fs::exists(alive));
  BOOST_TEST((checkpoint_steps(s.run, s.everyone) == std::vector<std::uint64_t>{1, 5, 6}));
}

BOOST_AUTO_TEST_CASE(a_step_that_lost_a_file_while_it_was_saved_is_not_listed) {
  const setting s;
  const auto x = s.block(s.p, 1), y = s.block(s.p, 2);
  const auto saving = detail::begin_checkpoint("save", s.run, 1, crowded, false, named("x", s.p, s.global, x),
                                               named("y", s.p, s.global, y));
  saving->write();
  s.alone([&] {
    for (const auto& entry : fs::directory_iterator(s.run)) fs::remove(entry.path() / "x.npy");
  });
  BOOST_TEST(says(refused<io_error>([&] { saving->end(); }), "cannot complete"));
  BOOST_TEST(checkpoint_steps(s.run, s.everyone).empty());
}

BOOST_AUTO_TEST_SUITE_END()
