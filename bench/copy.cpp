// How long the copies of blocks take, as a ratio to a memcpy of the same bytes that is timed in turn with them.
#include <partita/array/copy.hpp>

#include <sys/mman.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using partita::stores;

/// Pages of zeros, large ones where the system gives them, touched before any timing.
class buffer {
 public:
  explicit buffer(std::size_t bytes)
      : bytes_(((bytes >> 21) + 2) << 21),
        data_(static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (data_ == MAP_FAILED) std::abort();
    if (std::getenv("SMALL_PAGES") == nullptr) madvise(data_, bytes_, MADV_HUGEPAGE);
    std::memset(data_, 1, bytes_);
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { munmap(data_, bytes_); }
  char* data() const { return data_; }

 private:
  std::size_t bytes_;
  char* data_;
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct result {
  double ours, copy, least;
};

/// Medians of both, timed alternately; small cases are repeated inside one sample.
template <class Ours>
result compare(std::size_t bytes, char* to, const char* from, Ours ours) {
  const std::size_t inner = std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes);
  const int samples = bytes > (std::size_t{32} << 20) ? 15 : 31;
  std::vector<double> a, b;
  for (int s = -2; s < samples; ++s) {
    const double t0 = seconds();
    for (std::size_t k = 0; k < inner; ++k) std::memcpy(to, from, bytes);
    const double t1 = seconds();
    for (std::size_t k = 0; k < inner; ++k) ours();
    const double t2 = seconds();
    if (s < 0) continue;
    b.push_back((t1 - t0) / static_cast<double>(inner));
    a.push_back((t2 - t1) / static_cast<double>(inner));
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return {a[a.size() / 2], b[b.size() / 2], a[0]};
}

bool json = false;

void report(const std::string& name, std::size_t bytes, const result& r) {
  if (json)
    std::printf(
        "{\"bench\": \"copy\", \"case\": \"%s\", \"workers\": 1, \"bytes\": %zu, \"peer\": \"partita\", "
        "\"seconds_median\": %.9f, \"seconds_min\": %.9f, \"ratio_to_memcpy\": %.3f}\n",
        name.c_str(), bytes, r.ours, r.least, r.ours / r.copy);
  else std::printf("%-46s %11zu bytes %10.1f us  %5.2f x memcpy\n", name.c_str(), bytes, r.ours * 1e6, r.ours / r.copy);
  std::fflush(stdout);
}

template <class T>
void rows(const char* name, std::size_t bytes, std::size_t run, bool gather) {
  const std::size_t n = run / sizeof(T), shape[] = {bytes / run, n};
  buffer wide(2 * bytes), narrow(bytes), copy(bytes);
  const std::ptrdiff_t far[] = {static_cast<std::ptrdiff_t>(2 * n), 1}, near[] = {static_cast<std::ptrdiff_t>(n), 1};
  T* const a = reinterpret_cast<T*>(gather ? narrow.data() : wide.data());
  const T* const b = reinterpret_cast<const T*>(gather ? wide.data() : narrow.data());
  report(std::string(name) + (gather ? " gather, runs of " : " scatter, runs of ") + std::to_string(run), bytes,
         compare(bytes, copy.data(), narrow.data(),
                 [&] { partita::copy_block(a, gather ? near : far, b, gather ? far : near, shape, 2); }));
}

template <class T>
void transpose(const char* name, std::size_t n) {
  const std::size_t bytes = n * n * sizeof(T), shape[] = {n, n};
  buffer from(bytes), to(bytes);
  const std::ptrdiff_t a[] = {1, static_cast<std::ptrdiff_t>(n)}, b[] = {static_cast<std::ptrdiff_t>(n), 1};
  report(
      std::string("transpose ") + std::to_string(n) + "^2 " + name, bytes, compare(bytes, to.data(), from.data(), [&] {
        partita::copy_block(reinterpret_cast<T*>(to.data()), a, reinterpret_cast<const T*>(from.data()), b, shape, 2);
      }));
}

void sum(std::size_t bytes) {
  const std::size_t shape[] = {bytes / sizeof(float)};
  const std::ptrdiff_t one[] = {1};
  buffer from(bytes), to(bytes);
  report("add, contiguous", bytes, compare(bytes, to.data(), from.data(), [&] {
           partita::add_block(reinterpret_cast<float*>(to.data()), one, reinterpret_cast<const float*>(from.data()),
                              one, shape, 1);
         }));
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) json = json || std::strcmp(argv[i], "--json") == 0;
  const std::size_t small = std::size_t{512} << 10, large = std::size_t{64} << 20;
  for (const bool gather : {false, true})
    for (const std::size_t bytes : {small, large})
      for (const std::size_t run : {4U, 16U, 64U, 128U, 256U, 512U, 1024U, 4096U, 16384U})
        rows<float>(bytes == small ? "in cache," : "in memory,", bytes, run, gather);
  rows<float>("in memory,", large, large, false);
  transpose<std::uint8_t>("bytes", 4096);
  transpose<std::uint16_t>("16 bits", 4096);
  transpose<float>("float", 256);
  transpose<float>("float", 1024);
  transpose<float>("float", 4096);
  transpose<double>("double", 4096);
  sum(small);
  sum(large);
}
