// Times the copies of blocks, as a ratio to a memcpy of the same bytes that alternates with them.
#include <partita/array/copy.hpp>

#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"

namespace {

using partita::stores;

/// Memory of zeros, in huge pages if the system has them; every page is touched before any timing.
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

struct result {
  std::vector<double> ours, copy;
};

bench::rows* out = nullptr;
int rounds = 0;

/// The medians of our copy and of memcpy, timed alternately. Small cases are repeated inside one sample.
template <class Ours>
result compare(std::size_t bytes, char* to, const char* from, Ours ours) {
  const std::size_t inner = std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes);
  const int samples = bytes > (std::size_t{32} << 20) ? (rounds + 1) / 2 : rounds;
  std::vector<double> a, b;
  for (int s = -2; s < samples; ++s) {
    const double t0 = bench::seconds();
    for (std::size_t k = 0; k < inner; ++k) std::memcpy(to, from, bytes);
    const double t1 = bench::seconds();
    for (std::size_t k = 0; k < inner; ++k) ours();
    const double t2 = bench::seconds();
    if (s < 0) continue;
    b.push_back((t1 - t0) / static_cast<double>(inner));
    a.push_back((t2 - t1) / static_cast<double>(inner));
  }
  return {a, b};
}

void report(const std::string& name, std::size_t bytes, const result& r) {
  out->add_peer(name, "partita", r.ours,
                {{"bytes", bytes}, {"ratio_to_memcpy", bench::median(r.ours) / bench::median(r.copy)}});
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
  const bench::command_line line("copy", "copies of blocks against a memcpy of the same bytes", {1, 1},
                                 {{"rounds", bench::argument::count, "samples of each copy", "31", "3"},
                                  {"most-bytes", bench::argument::count, "the largest block", "67108864", "65536"},
                                  {"order", bench::argument::count, "rows of the largest transpose", "4096", "256"}});
  return bench::run_alone(argc, argv, line, [](const bench::command_line& given, bench::rows& to) {
    out = &to;
    rounds = given.rounds();
    const std::size_t large = given.count("most-bytes"), small = std::min(std::size_t{512} << 10, (large + 1) / 2),
                      n = given.count("order");
    for (const bool gather : {false, true})
      for (const std::size_t bytes : {small, large})
        for (const std::size_t run : {4U, 16U, 64U, 128U, 256U, 512U, 1024U, 4096U, 16384U})
          if (run <= bytes) rows<float>(bytes == small ? "in cache," : "in memory,", bytes, run, gather);
    rows<float>("in memory,", large, large, false);
    transpose<std::uint8_t>("bytes", n);
    transpose<std::uint16_t>("16 bits", n);
    for (const std::size_t order : {std::size_t{256}, std::size_t{1024}})
      if (order < n) transpose<float>("float", order);
    transpose<float>("float", n);
    transpose<double>("double", n);
    sum(small);
    sum(large);
    return true;
  });
}
