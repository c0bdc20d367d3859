// Replaces operator new of the standard library by one that counts its calls and uses malloc.
#include "allocation_count.hpp"

#include <malloc.h>
#include <cstdlib>
#include <new>

namespace {
std::size_t count = 0, most = 0, used = 0, most_used = 0, used_before = 0;

void* noted(std::size_t n, void* p) {
  ++count;
  most = n > most ? n : most;
  used += malloc_usable_size(p);
  most_used = used > most_used ? used : most_used;
  return p;
}
void release(void* p) {
  used -= malloc_usable_size(p);
  std::free(p);
}
}  // namespace

namespace test {
std::size_t allocations() { return count; }
std::size_t largest_allocation() {
  const std::size_t n = most;
  most = 0;
  return n;
}
std::size_t most_in_use() {
  const std::size_t above = most_used - used_before;
  most_used = used_before = used;
  return above;
}
}  // namespace test

// std::stable_sort uses this one
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return noted(n, std::malloc(n == 0 ? 1 : n));
}
[[gnu::noinline]] void* operator new(std::size_t n) {
  if (void* p = ::operator new(n, std::nothrow)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  const auto unit = static_cast<std::size_t>(a);
  // a multiple of the alignment, as the standard requires
  if (void* p = std::aligned_alloc(unit, (n + unit - 1) / unit * unit)) return noted(n, p);
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { release(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { release(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { release(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
