// A write above the limit of the size of files is an error of the call, and the signals of the thread stay as they
// were.
#include <partita/comm/file_size_errors.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "child_process.hpp"

namespace {

bool is_blocked(int number) {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, number) == 1;
}
bool is_pending(int number) {
  sigset_t now;
  ::sigpending(&now);
  return ::sigismember(&now, number) == 1;
}
void block(int number, int how) {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  ::pthread_sigmask(how, &one, nullptr);
}
/// A file without a name in a process whose files have at most ten bytes.
int small_file() {
  std::string path = "/tmp/partita_file_size_XXXXXX";
  const int file = ::mkstemp(path.data());
  ::unlink(path.c_str());
  const rlimit ten{10, 10};
  ::setrlimit(RLIMIT_FSIZE, &ten);
  return file;
}
/// Whether a file is full, and writing to it is an error of the call.
bool is_full(int file) {
  const char bytes[20] = {};
  if (::pwrite(file, bytes, sizeof bytes, 0) != 10) return false;
  errno = 0;
  return ::pwrite(file, bytes, sizeof bytes, 10) == -1 && errno == EFBIG;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(errors_of_the_size_of_files)

BOOST_AUTO_TEST_CASE(a_write_above_the_limit_fails_and_its_signal_is_discarded) {
  BOOST_TEST(test::status_of_child([] {
               const int file = small_file();
               {
                 const partita::detail::file_size_errors no_signal;
                 if (!is_blocked(SIGXFSZ) || is_blocked(SIGTERM)) return 1;
                 if (!is_full(file)) return 2;
                 if (!is_pending(SIGXFSZ)) return 3;
                 errno = 77;
               }
               if (errno != 77) return 4;  // the error of the call is not lost
               {
                 const partita::detail::file_size_errors no_signal;
                 errno = 78;
               }
               if (errno != 78) return 7;  // also where no signal has come
               if (is_blocked(SIGXFSZ)) return 5;
               return is_pending(SIGXFSZ) ? 6 : 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(without_the_object_the_signal_ends_the_program) {
  BOOST_TEST(test::status_of_child([] {
               const int file = small_file();
               { const partita::detail::file_size_errors ended; }
               return is_full(file) ? 1 : 2;
             }) == 1000 + SIGXFSZ);
}

BOOST_AUTO_TEST_CASE(a_program_that_blocks_the_signal_itself_keeps_it) {
  BOOST_TEST(test::status_of_child([] {
               block(SIGXFSZ, SIG_BLOCK);
               const int file = small_file();
               {
                 const partita::detail::file_size_errors no_signal;
                 if (!is_full(file)) return 1;
               }
               if (!is_blocked(SIGXFSZ)) return 2;
               if (!is_pending(SIGXFSZ)) return 3;  // the program can still take it
               {
                 const partita::detail::file_size_errors again;
                 if (!is_blocked(SIGXFSZ)) return 4;
               }
               return is_blocked(SIGXFSZ) && is_pending(SIGXFSZ) ? 0 : 5;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(objects_may_be_nested) {
  BOOST_TEST(test::status_of_child([] {
               const int file = small_file();
               {
                 const partita::detail::file_size_errors outer;
                 { const partita::detail::file_size_errors inner; }
                 if (!is_blocked(SIGXFSZ) || !is_full(file)) return 1;
               }
               return is_blocked(SIGXFSZ) || is_pending(SIGXFSZ) ? 2 : 0;
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
