// One folder of checkpoints that several jobs use and that users may edit: a checkpoint that is being saved is not
// removed, a listed checkpoint is complete, and a step is loaded only with its own number and extents.
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/io/load_checkpoint.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/kernel/block_from.hpp>

#include <functional>
#include <limits>
#include <optional>

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

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_folders)

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
