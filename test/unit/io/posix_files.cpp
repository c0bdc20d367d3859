// Files by POSIX: a save goes where the symbolic links of its name lead and keeps owner and mode, a lock is waited for,
// and space is reserved or refused.
#include <fcntl.h>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <partita/io/detail/posix_file.hpp>
#include <partita/io/detail/replaced_file.hpp>
#include <resource_limit.hpp>
#include <string>
#include <temporary_folder.hpp>
#include <thread>
#include <vector>

using namespace partita;
using detail::posix_file;
using detail::replaced_file;

namespace {

class folder : public test::temporary_folder {
 public:
  /// A file of this mode.
  std::string file(const std::string& name, mode_t mode = 0644) const {
    const std::string all = *this / name;
    posix_file made;
    BOOST_TEST(made.open(all, O_RDWR | O_CREAT) == 0);
    BOOST_TEST(::chmod(all.c_str(), mode) == 0);
    return all;
  }
  std::string link(const std::string& name, const std::string& to) const {
    const std::string all = *this / name;
    BOOST_TEST(::symlink(to.c_str(), all.c_str()) == 0);
    return all;
  }
};

struct stat status_of(const std::string& path) {
  struct stat status {};
  BOOST_TEST(::stat(path.c_str(), &status) == 0);
  return status;
}
mode_t mode_of(const std::string& path) { return status_of(path).st_mode & 07777; }
std::size_t size_of(const posix_file& file) {
  std::size_t bytes = 0;
  BOOST_TEST(file.size(bytes) == 0);
  return bytes;
}
/// The descriptors of this process that are open on a file.
std::vector<int> descriptors_of(const std::string& path) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;  // that of the folder itself
    if (std::filesystem::read_symlink(entry.path(), closed) == path)
      found.push_back(std::stoi(entry.path().filename().string()));
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(posix_files)

BOOST_AUTO_TEST_CASE(a_name_leads_through_links_to_the_file_that_is_replaced) {
  const folder here;
  const std::string a = here.file("a"), near = here.link("near", "a"), far = here.link("far", near);
  for (const std::string& name : {a, near, far}) {
    const replaced_file found = replaced_file::of(name);
    BOOST_TEST(found.path == a);
    BOOST_TEST(found.is_symlink == (name != a));
    BOOST_TEST(found.exists);
    BOOST_TEST(found.error == 0);
    BOOST_TEST(found.creation_mode() == mode_t{0600});
  }
  for (const auto& [name, leads_to] :
       {std::pair(here / "new", here / "new"), {here.link("next", "none"), here / "none"}}) {
    const replaced_file found = replaced_file::of(name);
    BOOST_TEST(found.path == leads_to);
    BOOST_TEST(found.is_symlink == (name != leads_to));
    BOOST_TEST(!found.exists);
    BOOST_TEST(found.error == 0);
    BOOST_TEST(found.creation_mode() == mode_t{0666});
  }
  const std::string pipe = here / "pipe";
  BOOST_TEST(::mkfifo(pipe.c_str(), 0600) == 0);
  BOOST_TEST(replaced_file::of(pipe).error == EINVAL);
  BOOST_TEST(replaced_file::of("/dev/null").error == EINVAL);
  BOOST_TEST(replaced_file::of(here.path()).error == 0);
  // 40 links are followed, as Linux does
  std::string last = a;
  for (int k = 1; k <= 41; ++k) {
    last = here.link("link" + std::to_string(k), last);
    BOOST_TEST(replaced_file::of(last).error == (k <= 40 ? 0 : ELOOP));
    BOOST_TEST((replaced_file::of(last).path == a) == (k <= 40));
  }
  BOOST_TEST(replaced_file::of(here.link("itself", "itself")).error == ELOOP);
}

BOOST_AUTO_TEST_CASE(the_new_file_gets_mode_and_owner_of_the_old_one) {
  const folder here;
  const std::string fresh = here.file("fresh", 0600);
  for (const mode_t mode : {0640U, 0444U, 04755U}) {
    const std::string old = here.file("old", mode);
    if (::geteuid() == 0) {
      BOOST_TEST(::chown(old.c_str(), 1, 2) == 0);
      BOOST_TEST(::chmod(old.c_str(), mode) == 0);
    }
    BOOST_TEST(replaced_file::of(old).copy_owner_and_mode(fresh) == 0);
    BOOST_TEST(mode_of(fresh) == mode);
    BOOST_TEST(status_of(fresh).st_uid == status_of(old).st_uid);
    BOOST_TEST(status_of(fresh).st_gid == status_of(old).st_gid);
    BOOST_TEST(replaced_file::of(old).copy_owner_and_mode(here / "none") == ENOENT);
    ::unlink(old.c_str());
  }
  BOOST_TEST(::chmod(fresh.c_str(), 0604) == 0);
  BOOST_TEST(replaced_file::of(here / "none").copy_owner_and_mode(fresh) == 0);  // nothing to hand on
  BOOST_TEST(mode_of(fresh) == mode_t{0604});
}

BOOST_AUTO_TEST_CASE(locks_are_shared_or_for_one_and_are_waited_for) {
  const folder here;
  const std::string name = here.file("locked");
  posix_file one, other, third;
  for (posix_file* file : {&one, &other, &third}) BOOST_TEST(file->open(name, O_RDWR) == 0);
  BOOST_TEST(one.lock() == 0);
  BOOST_TEST(other.lock() == EWOULDBLOCK);
  BOOST_TEST(other.lock(true) == EWOULDBLOCK);
  BOOST_TEST(one.lock(true) == 0);
  BOOST_TEST(other.wait_for_lock(true) == 0);
  BOOST_TEST(third.lock() == EWOULDBLOCK);
  other.close();
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    one.close();
  });
  BOOST_TEST(third.wait_for_lock(false) == 0);
  holder.join();
  BOOST_TEST(!one.is_open());
  BOOST_TEST(one.open(name, O_RDWR) == 0);
  BOOST_TEST(one.lock(true) == EWOULDBLOCK);
  posix_file closed;
  BOOST_TEST(closed.wait_for_lock(false) == 0);  // as on a file system without locks
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL, EBADF})
    BOOST_TEST(posix_file::is_lock_unsupported(error));
  for (const int error : {0, EWOULDBLOCK, EIO}) BOOST_TEST(!posix_file::is_lock_unsupported(error));
}

BOOST_AUTO_TEST_CASE(space_is_reserved_or_refused_and_the_size_is_as_before) {
  const folder here;
  const std::string name = here / "sized";
  posix_file file, closed;
  BOOST_TEST(file.open(name, O_RDWR | O_CREAT) == 0);
  BOOST_TEST(file.reserve(0) == 0);
  BOOST_TEST(size_of(file) == 0U);
  BOOST_TEST(file.reserve(5000) == 0);
  BOOST_TEST(size_of(file) == 5000U);
  BOOST_TEST(file.try_to_reserve(10, 9000) == 0);
  BOOST_TEST(size_of(file) == 10U);
  BOOST_TEST(closed.reserve(1) == EBADF);
  BOOST_TEST(closed.try_to_reserve(0, 0) != 0);
  {
    const test::file_size_limit limit(6000);
    BOOST_TEST(posix_file::file_size_error(6000) == 0);
    BOOST_TEST(posix_file::file_size_error(6001) == EFBIG);
    BOOST_TEST(file.try_to_reserve(10, 6001) == EFBIG);
    BOOST_TEST(size_of(file) == 10U);
    BOOST_TEST(file.write("x", 1, 6000) == EFBIG);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
    BOOST_TEST(posix_file::file_size_error(~std::size_t{0} / 2) == 0);
  BOOST_TEST(file.sync() == 0);
  BOOST_TEST(closed.sync() == EBADF);
  BOOST_TEST(detail::sync_folder(here.path()) == 0);
  BOOST_TEST(detail::sync_folder(here / "none") == ENOENT);
}

BOOST_AUTO_TEST_CASE(a_file_is_known_by_its_content_and_its_name) {
  const folder here;
  const std::string name = here.file("first"), elsewhere = here / "second";
  posix_file file, again, closed, of_folder;
  BOOST_TEST(file.open(here / "none", O_RDWR) == ENOENT);
  BOOST_TEST(file.open(name, O_RDWR) == 0);
  BOOST_TEST(again.open(name, O_RDONLY) == 0);
  BOOST_TEST(closed.fingerprint() == 0U);
  const std::uint64_t version = file.fingerprint();
  BOOST_TEST(version != 0U);
  BOOST_TEST(again.fingerprint() == version);
  BOOST_TEST(file.write("abc", 3, 0) == 0);
  BOOST_TEST(file.fingerprint() != version);
  BOOST_TEST(again.fingerprint() == file.fingerprint());
  BOOST_TEST(file.has_name(name));
  BOOST_TEST(!file.has_name(elsewhere));
  BOOST_TEST(!closed.has_name(name));
  {
    detail::temporary_file moved(name), stays(here.file("third"));
    BOOST_TEST(moved.rename_to(here / "none/x") == ENOENT);
    BOOST_TEST(moved.rename_to(elsewhere) == 0);
  }
  BOOST_TEST(std::filesystem::exists(elsewhere));
  BOOST_TEST(!std::filesystem::exists(here / "third"));
  BOOST_TEST(file.has_name(elsewhere));
  BOOST_TEST(!file.has_name(name));
  const std::string fourth = here.file("fourth");
  BOOST_TEST(!file.has_name(fourth));
  std::size_t bytes = 7;
  BOOST_TEST(of_folder.open(here.path(), O_RDONLY) == 0);
  BOOST_TEST(of_folder.size(bytes) == EISDIR);
  BOOST_TEST(closed.size(bytes) == EBADF);
  BOOST_TEST(bytes == 7U);
  BOOST_TEST(std::string(detail::error_text(ENOENT).c_str()) == "No such file or directory (errno 2)");
  BOOST_TEST(std::string(detail::error_text(detail::end_of_file).c_str()) == "the file ends too early");
}

/// The number of a file, its size and both parts of the time of its last change tell versions of a file apart.
BOOST_AUTO_TEST_CASE(another_number_size_or_time_is_another_version) {
  const folder here;
  const auto version_of = [&](const std::string& name, off_t bytes, std::time_t seconds, long nanoseconds) {
    posix_file file;
    BOOST_TEST(file.open(here / name, O_RDWR | O_CREAT) == 0);
    BOOST_TEST(::truncate((here / name).c_str(), bytes) == 0);
    const timespec then[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    BOOST_TEST(::utimensat(AT_FDCWD, (here / name).c_str(), then, 0) == 0);
    return file.fingerprint();
  };
  const std::uint64_t first = version_of("a", 10, 1000, 5000000);
  BOOST_TEST(version_of("b", 10, 1000, 5000000) != first);
  BOOST_TEST(version_of("a", 11, 1000, 5000000) != first);
  BOOST_TEST(version_of("a", 10, 1001, 5000000) != first);
  BOOST_TEST(version_of("a", 10, 1000, 6000000) != first);
  BOOST_TEST(version_of("a", 10, 1000, 5000000) == first);
}

/// A descriptor is closed by the next open, by close and by the destructor, and programs that this one starts do not
/// get it. Opening a pipe to read it does not wait.
BOOST_AUTO_TEST_CASE(a_file_is_open_once_until_it_is_closed) {
  const folder here;
  const std::string a = here.file("a"), b = here.file("b"), pipe = here / "pipe";
  posix_file file;
  BOOST_TEST(file.close() == 0);
  for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY}) {
    BOOST_TEST(file.open(a, flags) == 0);
    const std::vector<int> found = descriptors_of(a);
    BOOST_TEST_REQUIRE(found.size() == 1U);
    BOOST_TEST((::fcntl(found[0], F_GETFD) & FD_CLOEXEC) != 0);
    BOOST_TEST(((::fcntl(found[0], F_GETFL) & O_NONBLOCK) != 0) == (flags == O_RDONLY));
  }
  BOOST_TEST(file.open(b, O_RDWR) == 0);
  BOOST_TEST((descriptors_of(a).empty() && descriptors_of(b).size() == 1));
  BOOST_TEST(file.open(here / "none", O_RDWR) == ENOENT);
  BOOST_TEST((descriptors_of(b).empty() && !file.is_open()));
  BOOST_TEST((file.open(b, O_RDWR) == 0 && file.is_open() && file.close() == 0 && !file.is_open()));
  BOOST_TEST((descriptors_of(b).empty() && file.close() == 0));
  {
    posix_file inner;
    BOOST_TEST(inner.open(a, O_RDWR) == 0);
  }
  BOOST_TEST(descriptors_of(a).empty());
  std::size_t bytes = 7;
  BOOST_TEST(::mkfifo(pipe.c_str(), 0600) == 0);
  BOOST_TEST((file.open(pipe, O_RDWR) == 0 && file.size(bytes) == ESPIPE && bytes == 7));
}

/// Bytes are read and written where they are said to be, and reading beyond the end is an error.
BOOST_AUTO_TEST_CASE(bytes_have_their_places_in_a_file) {
  const folder here;
  posix_file file;
  BOOST_TEST(file.open(here / "x", O_RDWR | O_CREAT | O_EXCL, 0640) == 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  BOOST_TEST(mode_of(here / "x") == (0640 & ~mask));
  BOOST_TEST((file.write("cd", 2, 2) == 0 && file.write("ab", 2, 0) == 0 && file.write("", 0, 9) == 0));
  BOOST_TEST(size_of(file) == 4U);
  for (std::size_t at = 0; at <= 5; ++at)
    for (std::size_t n = 0; n <= 5; ++n) {
      std::string read(n, '?');
      const bool is_inside = n == 0 || at + n <= 4;
      BOOST_TEST(file.read(read.data(), n, at) == (is_inside ? 0 : detail::end_of_file));
      if (is_inside && n > 0) BOOST_TEST(read == std::string("abcd").substr(at, n));
    }
  posix_file reader, closed;
  BOOST_TEST(reader.open(here / "x", O_RDONLY) == 0);
  char byte = 0;
  BOOST_TEST((reader.write("x", 1, 0) == EBADF && closed.read(&byte, 1, 0) == EBADF));
}

BOOST_AUTO_TEST_SUITE_END()
