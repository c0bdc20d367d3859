// A folder of checkpoints on one worker: names of steps, the lock of a step that is being saved, and what is removed.
// Files on a system without locks, reserved space or random numbers.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <partita/io/detail/checkpoint_folder.hpp>
#include <set>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "temporary_folder.hpp"

namespace {

/// What the system calls below do in a case: they fail with an error, or are counted.
struct system_calls {
  int flock_error = 0, fallocate_error = 0, getentropy_error = 0;
  bool counts_pauses = false;
  std::size_t pauses = 0, paused_microseconds = 0, syncs = 0;
};
system_calls of_system;  // NOLINT: the system calls take no other arguments

int failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

// These replace the system calls of the same names.
extern "C" int flock(int file, int operation) noexcept {
  return of_system.flock_error != 0 ? failed(of_system.flock_error)
                                    : static_cast<int>(::syscall(SYS_flock, file, operation));
}
extern "C" int fallocate(int file, int mode, off_t at, off_t bytes) {
  return of_system.fallocate_error != 0 ? failed(of_system.fallocate_error)
                                        : static_cast<int>(::syscall(SYS_fallocate, file, mode, at, bytes));
}
extern "C" int getentropy(void* to, std::size_t bytes) {
  if (of_system.getentropy_error != 0) return failed(of_system.getentropy_error);
  return ::syscall(SYS_getrandom, to, bytes, 0) == static_cast<long>(bytes) ? 0 : -1;
}
extern "C" int usleep(useconds_t microseconds) {
  ++of_system.pauses, of_system.paused_microseconds += microseconds;
  const timespec pause{0, 1000 * static_cast<long>(microseconds % 1000000)};
  return of_system.counts_pauses ? 0 : ::nanosleep(&pause, nullptr);
}
extern "C" int fdatasync(int file) {
  ++of_system.syncs;
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

namespace {

using namespace partita;
using detail::posix_file;
namespace fs = std::filesystem;

/// An empty folder, in which the system calls are those of the system again at its end.
class folder : public test::temporary_folder {
 public:
  ~folder() { of_system = {}; }
  std::string file(const std::string& name, const std::string& bytes = "some") const {
    std::ofstream(*this / name) << bytes;
    return *this / name;
  }
  std::string made(const std::string& name) const {
    fs::create_directory(*this / name);
    return *this / name;
  }
};

/// Makes a file or a folder look as if it had been changed so many seconds ago.
void set_age(const std::string& path, std::time_t seconds) {
  const timespec then[2] = {{std::time(nullptr) - seconds, 0}, {std::time(nullptr) - seconds, 0}};
  BOOST_TEST(::utimensat(AT_FDCWD, path.c_str(), then, 0) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_folders)

BOOST_AUTO_TEST_CASE(a_step_is_named_by_12_digits_or_more) {
  BOOST_TEST(detail::step_folder_name(0) == "step-000000000000");
  BOOST_TEST(detail::step_folder_name(12) == "step-000000000012");
  BOOST_TEST(detail::step_folder_name(999999999999) == "step-999999999999");
  BOOST_TEST(detail::step_folder_name(1000000000000) == "step-1000000000000");
  BOOST_TEST(detail::step_folder_name(std::numeric_limits<std::uint64_t>::max()) == "step-18446744073709551615");
}

BOOST_AUTO_TEST_CASE(steps_are_listed_in_their_order_and_leftovers_by_their_names) {
  const folder here;
  const std::vector<std::uint64_t> steps{0, 7, 30, 999999999999, 1000000000000, 9999999999999};
  for (const std::size_t k : {3U, 0U, 5U, 1U, 4U, 2U}) here.made(detail::step_folder_name(steps[k]));
  const std::vector<std::string> leftovers{"step-000000000007.tmp.0123456789abcdef",
                                           "step-1000000000000.tmp.0123456789abcdef"};
  for (const std::string& name : leftovers) here.made(name);
  for (const char* other : {"step-7", "step-0000000000007", "step-00000000000x", "step-18446744073709551616", "notes",
                            "step-000000000007.tmp.0123456789abcde", "step-000000000007.tmp.0123456789abcdef0",
                            "step-7.tmp.0123456789abcdef", "run.tmp.0123456789abcdef"})
    here.made(other);
  detail::checkpoint_list found = detail::list_checkpoints(here.path());
  std::sort(found.leftover_names.begin(), found.leftover_names.end());
  BOOST_TEST((found.steps == steps));
  BOOST_TEST((found.leftover_names == leftovers));
  BOOST_TEST(found.error == 0);
  BOOST_TEST(detail::list_checkpoints(here / "none").error == ENOENT);
  BOOST_TEST(detail::list_checkpoints(here.file("file")).error == ENOTDIR);
}

BOOST_AUTO_TEST_CASE(a_folder_is_removed_with_its_files_and_not_with_what_its_links_name) {
  const folder here;
  here.made("other"), here.file("other/kept");
  const std::string gone = here.made("gone");
  here.file("gone/x"), here.made("gone/in"), here.file("gone/in/y");
  fs::create_symlink(here / "other", here / "gone/link");
  BOOST_TEST(detail::remove_folder(gone) == 0);
  BOOST_TEST(!fs::exists(gone));
  BOOST_TEST(fs::exists(here / "other/kept"));
  BOOST_TEST(detail::remove_folder(gone) == 0);  // as if another job had removed it
}

BOOST_AUTO_TEST_CASE(the_folder_of_a_step_belongs_to_the_job_that_saves_it) {
  const folder here;
  std::optional<detail::folder_lock> saving(std::in_place), second(std::in_place);
  BOOST_TEST(saving->make(here / "step") == 0);
  BOOST_TEST(fs::exists(here / "step/manifest.json"));
  BOOST_TEST(second->make(here / "step") == EEXIST);
  BOOST_TEST(second->make(here / "none/step") == ENOENT);
  BOOST_TEST(!second->lock_if_unused(here / "step"));
  BOOST_TEST(detail::remove_leftover(here / "step") == 0);
  BOOST_TEST(fs::exists(here / "step/manifest.json"));
  saving.reset();
  BOOST_TEST(second->lock_if_unused(here / "step"));
  BOOST_TEST(!detail::folder_lock().lock_if_unused(here / "step"));  // nor may a third job remove it
  second.reset();
  BOOST_TEST(detail::remove_leftover(here / "step") == 0);
  BOOST_TEST(!fs::exists(here / "step"));
  BOOST_TEST(!detail::folder_lock().lock_if_unused(here / "step"));  // another job has removed it
  BOOST_TEST(!fs::exists(here / "step"));
  BOOST_TEST(detail::remove_leftover(here / "step") == 0);
}

BOOST_AUTO_TEST_CASE(what_no_job_can_save_into_is_unused) {
  const folder here;
  const auto is_unused = [](const std::string& path) { return detail::folder_lock().lock_if_unused(path); };
  BOOST_TEST(is_unused(here.file("file")));
  fs::create_symlink(here.made("other"), here / "link");
  BOOST_TEST(is_unused(here / "link"));
  BOOST_TEST(fs::is_empty(here / "other"));
  BOOST_TEST(is_unused(here.made("without_manifest")));
  here.made("of_link"), fs::create_symlink(here / "made_by_link", here / "of_link/manifest.json");
  BOOST_TEST(is_unused(here / "of_link"));
  BOOST_TEST(!fs::exists(here / "made_by_link"));
  here.made("of_folder"), here.made("of_folder/manifest.json");
  BOOST_TEST(is_unused(here / "of_folder"));
}

/// Without locks a folder is unused if nothing was written to it for a day. Other errors of a lock say nothing.
BOOST_AUTO_TEST_CASE(without_locks_a_folder_is_unused_after_a_day) {
  const folder here;
  constexpr std::time_t day = 24 * 60 * 60;
  int number = 0;
  const auto is_unused = [&](std::time_t age) {
    const std::string path = here.made("step" + std::to_string(++number));
    set_age(path, age);
    return detail::folder_lock().lock_if_unused(path);
  };
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    of_system.flock_error = error;
    BOOST_TEST(detail::folder_lock().make(here / ("new" + std::to_string(error))) == 0);
    for (const std::time_t age : {std::time_t{0}, day / 2, day - 60}) BOOST_TEST(!is_unused(age), age);
    for (const std::time_t age : {day + 60, 2 * day, 400 * day}) BOOST_TEST(is_unused(age), age);
  }
  of_system.flock_error = EIO;
  BOOST_TEST(detail::folder_lock().make(here / "failed") == EIO);
  BOOST_TEST(!is_unused(2 * day));
  of_system.flock_error = EWOULDBLOCK;  // another job locked the new folder, to remove it
  BOOST_TEST(detail::folder_lock().make(here / "taken") == EAGAIN);
  BOOST_TEST(!is_unused(2 * day));
}

BOOST_AUTO_TEST_CASE(a_temporary_folder_is_removed_unless_it_was_renamed_or_belongs_to_another_job) {
  const folder here;
  {
    detail::temporary_folder removed, renamed, stuck;
    BOOST_TEST((removed.make(here / "removed") == 0 && renamed.make(here / "renamed") == 0));
    BOOST_TEST(stuck.make(here / "stuck") == 0);
    here.made("full"), here.file("full/x");
    BOOST_TEST(renamed.rename_to(here / "step") == 0);
    BOOST_TEST(stuck.rename_to(here / "full") == ENOTEMPTY);
    detail::temporary_folder other;
    BOOST_TEST(other.make(here / "full") == EEXIST);
    of_system.flock_error = EWOULDBLOCK;
    BOOST_TEST(other.make(here / "taken") == EAGAIN);
    of_system.flock_error = EIO;
    BOOST_TEST(other.make(here / "failed") == EIO);
    BOOST_TEST(!fs::exists(here / "failed"));
  }
  BOOST_TEST((!fs::exists(here / "removed") && !fs::exists(here / "renamed") && !fs::exists(here / "stuck")));
  BOOST_TEST((fs::exists(here / "step/manifest.json") && fs::exists(here / "full/x") && fs::exists(here / "taken")));
}

BOOST_AUTO_TEST_CASE(a_step_is_removed_whole_and_no_other) {
  const folder here;
  for (const std::uint64_t step : {1U, 2U}) {
    here.made(detail::step_folder_name(step));
    here.file(detail::step_folder_name(step) + "/x");
  }
  BOOST_TEST(detail::remove_step(here.path(), 1) == 0);
  BOOST_TEST(detail::remove_step(here.path(), 3) == 0);  // another job removed it
  BOOST_TEST((detail::list_checkpoints(here.path()).steps == std::vector<std::uint64_t>{2}));
  BOOST_TEST(std::distance(fs::directory_iterator(here.path()), fs::directory_iterator()) == 1);
  BOOST_TEST(fs::exists(here / "step-000000000002/x"));
  BOOST_TEST(detail::remove_step(here.file("file"), 1) == ENOTDIR);
}

BOOST_AUTO_TEST_CASE(a_small_file_is_replaced_read_and_known_by_its_size) {
  const folder here;
  const std::string name = here / "x";
  std::string read = "old";
  for (const std::string& bytes : {std::string("four and more"), std::string("four"), std::string()}) {
    const std::size_t n = bytes.size(), before = of_system.syncs;
    BOOST_TEST(detail::write_small_file(name, bytes, n == 4) == 0);
    BOOST_TEST(of_system.syncs == before + (n == 4 ? 1 : 0));
    BOOST_TEST(test::bytes_of(name) == bytes);
    for (const std::size_t most : {n, n + 1, 1000 * n + 1}) BOOST_TEST(detail::read_small_file(name, read, most) == 0);
    BOOST_TEST(read == bytes);
    if (n > 0) BOOST_TEST(detail::read_small_file(name, read, n - 1) == EFBIG);
    for (const std::size_t size : {n, n + 1, n + 2}) BOOST_TEST(detail::is_whole_file(name, size) == (size == n));
    if (n > 0) BOOST_TEST(!detail::is_whole_file(name, n - 1));
  }
  BOOST_TEST(detail::read_small_file(here / "none", read, 100) == ENOENT);
  BOOST_TEST(detail::write_small_file(here / "none/x", "a", false) == ENOENT);
  BOOST_TEST(detail::write_small_file(here.path(), "a", false) == EISDIR);
  BOOST_TEST(!detail::is_whole_file(here / "none", 0));
  BOOST_TEST(!detail::is_whole_file(here.path(), fs::file_size(name)));
}

/// The numbers of names of temporary files differ from call to call, also on a system without random numbers: after a
/// name is taken another one is tried.
BOOST_AUTO_TEST_CASE(random_numbers_differ_on_a_system_that_has_none) {
  const folder here;
  std::set<std::uint64_t> words;
  for (int k = 0; k < 1000; ++k) {
    of_system.getentropy_error = k % 2 == 0 ? ENOSYS : EIO;
    words.insert(detail::random_word());
  }
  BOOST_TEST(words.size() == 1000U);
}

BOOST_AUTO_TEST_CASE(a_file_has_its_size_where_space_cannot_be_reserved) {
  const folder here;
  posix_file file;
  std::size_t bytes = 0;
  BOOST_TEST(file.open(here / "x", O_RDWR | O_CREAT) == 0);
  for (const int error : {EOPNOTSUPP, ENOSYS, EINTR}) {
    of_system.fallocate_error = error;
    BOOST_TEST(file.reserve(4000U + static_cast<unsigned>(error)) == 0);
    BOOST_TEST((file.size(bytes) == 0 && bytes == 4000U + static_cast<unsigned>(error)), error);
  }
  const std::size_t before = bytes;
  for (const int error : {ENOSPC, EIO, EFBIG, EDQUOT}) {
    of_system.fallocate_error = error;
    BOOST_TEST(file.reserve(9000) == error);
    BOOST_TEST((file.size(bytes) == 0 && bytes == before), error);
    BOOST_TEST(file.try_to_reserve(before, 9000) == error);
  }
}

BOOST_AUTO_TEST_CASE(a_lock_of_another_one_is_waited_for_5_seconds) {
  const folder here;
  posix_file holder, waits;
  BOOST_TEST((holder.open(here / "x", O_RDWR | O_CREAT) == 0 && waits.open(here / "x", O_RDWR) == 0));
  BOOST_TEST(holder.lock(true) == 0);
  of_system.counts_pauses = true;
  BOOST_TEST(waits.wait_for_lock(true) == 0);  // shared, so that there is nothing to wait for
  BOOST_TEST(of_system.pauses == 0U);
  posix_file alone;
  BOOST_TEST(alone.open(here / "x", O_RDWR) == 0);
  BOOST_TEST(alone.wait_for_lock(false) == EWOULDBLOCK);
  BOOST_TEST(of_system.pauses == 499U);
  BOOST_TEST(of_system.paused_microseconds == 4990000U);
}

BOOST_AUTO_TEST_SUITE_END()
