// A replaced file keeps its mode and its symbolic links; a file that others replace meanwhile is read from one version;
// and a limit on the size of files is an error.
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"
#include "resource_limit.hpp"

#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>

#include <sys/stat.h>

namespace {

using namespace partita;
using test::refused;

bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

struct setting {
  world everyone{test::workers()};
  test::folder folder{test::workers()};
  partition<extents<dynamic, 1>> p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  extents<dynamic, dynamic> global{4 * everyone.size(), std::size_t{5}};
  file_options crowded{.page_bytes = 64, .owner_bytes = 0, .run_bytes = 8, .sync = false};

  xt::xtensor<double, 2> block(double value) const {
    return xt::xtensor<double, 2>(std::array<std::size_t, 2>{4, 5}, value);
  }
  void save(const std::string& path, double value) const { save_npy(path, p, global, block(value), crowded); }
  bool holds(const std::string& path, double value) const {
    return load_npy<double, 2>(path, p, crowded) == block(value);
  }
  /// Calls f on one worker and waits until all workers can see its effects.
  template <class F>
  void alone(F f) const {
    everyone.communicator().barrier();
    if (everyone.id() == 0) f();
    everyone.communicator().barrier();
  }
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replaced_files)

BOOST_AUTO_TEST_CASE(a_file_that_is_replaced_keeps_its_mode) {
  const setting s;
  const std::string path = s.folder / "w.npy";
  for (const mode_t mode : {0600U, 0640U, 0644U, 0666U, 0755U, 0400U, 0000U, 02644U}) {
    s.alone([&] {
      test::write_bytes(path, "old");
      BOOST_TEST(::chmod(path.c_str(), mode) == 0);
    });
    s.save(path, 1);
    s.alone([&] {
      BOOST_TEST(mode_of(path) == mode);
      BOOST_TEST(::chmod(path.c_str(), 0600) == 0);
    });
    BOOST_TEST(s.holds(path, 1));
  }
  s.alone([&] { std::filesystem::remove(path); });
  s.save(path, 2);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  BOOST_TEST(mode_of(path) == (0666 & ~mask));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_replaced_keeps_its_owner_where_this_process_may_give_it) {
  const setting s;
  const std::string path = s.folder / "w.npy";
  const bool may = ::geteuid() == 0;
  s.alone([&] {
    test::write_bytes(path, "old");
    BOOST_TEST(::chown(path.c_str(), may ? 12345 : ::getuid(), may ? 23456 : ::getgid()) == 0);
  });
  s.save(path, 1);
  struct stat status {};
  BOOST_TEST(::stat(path.c_str(), &status) == 0);
  BOOST_TEST(status.st_uid == (may ? 12345 : ::getuid()));
  BOOST_TEST(status.st_gid == (may ? 23456 : ::getgid()));
}

BOOST_AUTO_TEST_CASE(what_is_saved_under_a_link_goes_to_the_target) {
  const setting s;
  namespace fs = std::filesystem;
  s.alone([&] {
    fs::create_directory(s.folder / "far");
    test::write_bytes(s.folder / "far/w.npy", "old");
    fs::permissions(s.folder / "far/w.npy", fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("far/w.npy", s.folder / "relative");
    fs::create_symlink(s.folder / "relative", s.folder / "chain");
    fs::create_symlink("new.npy", s.folder / "far/dangling");
    fs::create_symlink("far/dangling", s.folder / "new");
    fs::create_symlink("far", s.folder / "to_folder");
    fs::create_symlink("loop", s.folder / "loop");
  });
  double value = 1;
  for (const char* name : {"relative", "chain"}) {
    s.save(s.folder / name, value);
    BOOST_TEST(s.holds(s.folder / "far/w.npy", value++));
    BOOST_TEST(fs::is_symlink(s.folder / name));
    BOOST_TEST(mode_of(s.folder / "far/w.npy") == 0600U);
  }
  s.save(s.folder / "new", 5);
  BOOST_TEST(s.holds(s.folder / "far/new.npy", 5));
  s.save(s.folder / "to_folder/w.npy", 6);
  BOOST_TEST(s.holds(s.folder / "far/w.npy", 6));
  for (const char* name : {"new", "far/dangling", "to_folder"}) BOOST_TEST(fs::is_symlink(s.folder / name));
  BOOST_TEST(says(refused<io_error>([&] { s.save(s.folder / "loop", 1); }), "cannot replace"));
  BOOST_TEST(says(refused<io_error>([&] { s.save(s.folder / "to_folder", 1); }), "cannot give its name to"));
  BOOST_TEST(s.folder.names() == 6U);  // there is no temporary file, neither there nor beside the target
  BOOST_TEST(std::distance(fs::directory_iterator(s.folder / "far"), fs::directory_iterator()) == 3);
}

BOOST_AUTO_TEST_CASE(a_pipe_or_a_device_is_not_replaced) {
  const setting s;
  s.alone([&] {
    BOOST_TEST(mkfifo((s.folder / "pipe").c_str(), 0600) == 0);
    std::filesystem::create_symlink("/dev/null", s.folder / "device");
  });
  for (const char* name : {"pipe", "device"})
    BOOST_TEST(says(refused<io_error>([&] { s.save(s.folder / name, 1); }), "cannot replace"));
  BOOST_TEST(std::filesystem::is_fifo(s.folder / "pipe"));
  BOOST_TEST(std::filesystem::is_character_file("/dev/null"));
}

BOOST_AUTO_TEST_CASE(workers_that_see_other_files_under_one_name_all_get_an_error, *test::at_least(2)) {
  const setting s;
  namespace fs = std::filesystem;
  const std::string mine = s.folder / std::to_string(s.everyone.id());
  for (std::size_t k = 0; k < s.everyone.size(); ++k) {
    s.alone([&] { fs::create_directory(s.folder / std::to_string(k)); });
    s.save(s.folder / (std::to_string(k) + "/w.npy"), static_cast<double>(k));
    save_checkpoint(s.folder / (std::to_string(k) + "/run"), 1, named("x", s.p, s.global, s.block(7)));
  }
  const fs::path before = fs::current_path();
  fs::current_path(mine);
  const std::string of_file = refused<io_error>([&] { load_npy<double, 2>("w.npy", s.p, s.crowded); });
  const std::string of_step =
      refused<io_error>([&] { load_checkpoint("run", s.everyone).load<double, 2>("x", s.p, s.crowded); });
  fs::current_path(before);
  BOOST_TEST(says(of_file, "not all workers see the same file under this name"));
  BOOST_TEST(says(of_step, "not all workers see the same file under this name"));
  BOOST_TEST(s.holds(s.folder / "1/w.npy", 1));
}

BOOST_AUTO_TEST_CASE(a_limit_on_the_size_of_files_is_an_error_and_no_signal) {
  const setting s;
  const std::string path = s.folder / "w.npy", run = s.folder / "run";
  s.save(path, 1);
  std::string of_file, of_step, of_saver, of_manifest;
  const auto step = [&](double value) { return s.block(value); };
  const auto one = step(1), two = step(2);
  {
    const test::file_size_limit limit(140);  // less than a header and a few elements
    of_file = refused<io_error>([&] { s.save(path, 2); });
    of_step = refused<io_error>([&] { save_checkpoint(run, 1, named("x", s.p, s.global, one)); });
    of_saver = refused<io_error>([&] {
      checkpoint_saver saver(run);
      saver.save(2, named("x", s.p, s.global, two));
      saver.finish();
    });
    const xt::xtensor<char, 1> little({1}, 'a');  // this file is within the limit, but its manifest is not
    const auto first = s.everyone.partition<1>(workers{0});
    of_manifest = refused<io_error>([&] {
      save_checkpoint(run, 3, named("x", first, extents<1>{}, s.everyone.id() == 0 ? little : zero_volume<char, 1>()));
    });
    struct sigaction now {};
    sigset_t blocked, pending;
    sigaction(SIGXFSZ, nullptr, &now);
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    sigpending(&pending);
    BOOST_TEST((now.sa_handler == SIG_DFL));
    BOOST_TEST(sigismember(&blocked, SIGXFSZ) == 0);
    BOOST_TEST(sigismember(&pending, SIGXFSZ) == 0);
  }
  for (const std::string& message : {of_file, of_step, of_saver, of_manifest})
    BOOST_TEST(says(message, "File too large (errno 27)"), message);
  BOOST_TEST(checkpoint_steps(run, s.everyone).empty());
  BOOST_TEST(s.holds(path, 1));
}

BOOST_AUTO_TEST_SUITE_END()
