// Defines the functions that comm/detail/node/status_slot.hpp declares.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <mutex>
#include <new>
#include <partita/comm/detail/node/status_slot.hpp>
#include <string_view>

namespace partita::detail {

PARTITA_DEF void status_slot::store_description(std::uint64_t fingerprint, const text& sentence) {
  static spin_lock naming;  // between the threads of this process; other processes only read the names
  const std::lock_guard one_at_a_time(naming);
  auto& names = fingerprints[fingerprint % description_set_count];
  std::size_t k = 0;
  while (k < descriptions_per_set && names[k] != fingerprint && names[k] != 0) ++k;
  if (k == descriptions_per_set) k = call_count.load() % descriptions_per_set;
  names[k] = 0;
  char* const to = descriptions[fingerprint % description_set_count][k];
  const std::size_t n = sentence.size() < max_description_length - 1 ? sentence.size() : max_description_length - 1;
  std::memcpy(to, sentence.c_str(), n);
  to[n] = '\0';
  names[k] = fingerprint;
}

PARTITA_DEF void status_slot::note_departure(std::uint64_t world, std::uint64_t calls_of_world) {
  departure& here = departures[departure_count++ % max_departures];
  here.call_count.store(calls_of_world, std::memory_order_relaxed);
  here.world.store(world, std::memory_order_release);
}

PARTITA_DEF bool status_slot::has_left_before_call(std::uint64_t world, std::uint64_t calls_of_world) const {
  for (const departure& one : departures)
    if (one.world.load(std::memory_order_acquire) == world && one.call_count.load() < calls_of_world) return true;
  return false;
}

PARTITA_DEF text status_slot::find_description(std::uint64_t fingerprint) const {
  for (std::size_t k = 0; k < descriptions_per_set; ++k)
    if (fingerprints[fingerprint % description_set_count][k] == fingerprint) {
      char copy[max_description_length];
      std::memcpy(copy, descriptions[fingerprint % description_set_count][k], max_description_length);
      copy[max_description_length - 1] = '\0';
      return text(copy);
    }
  return {};
}

PARTITA_DEF void status_slot::set_process_state(standing how) {
  state_begin_nanoseconds.store(nanoseconds(), std::memory_order_relaxed);
  state.store(how, std::memory_order_release);
}

PARTITA_DEF std::uint64_t status_slot::nanoseconds() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

PARTITA_DEF status_slots& status_slots::instance() {
  static status_slots& it = *new status_slots;
  return it;
}

PARTITA_DEF const status_slot* status_slots::find(const slot_address& where) {
  if (where.machine != own_address_.machine || where.file == 0) return nullptr;
  const std::lock_guard<spin_lock> only(lock_);
  for (const mapped_slot* slot = newest(); slot != nullptr; slot = slot->older_slot)
    if (slot->slot_secret == where.slot_secret) return slot->status;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%llu/fd/%llu", static_cast<unsigned long long>(where.process),
                static_cast<unsigned long long>(where.file));
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat state {};
  const bool whole = ::fstat(file, &state) == 0 && state.st_size == static_cast<off_t>(sizeof(status_slot));
  void* const mapped = whole ? ::mmap(nullptr, sizeof(status_slot), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (mapped == MAP_FAILED) return nullptr;
  const auto* const found = static_cast<const status_slot*>(mapped);
  if (found->slot_secret != where.slot_secret) {  // in another container the process id means another process
    ::munmap(mapped, sizeof(status_slot));
    return nullptr;
  }
  newest_slot_.store(new mapped_slot{where.slot_secret, found, newest()}, std::memory_order_release);
  return found;
}

PARTITA_DEF bool status_slots::has_waiting_worker() const {
  for (const mapped_slot* slot = newest(); slot != nullptr; slot = slot->older_slot)
    if (slot->status->state == status_slot::standing::is_waiting) return true;
  return false;
}

PARTITA_DEF bool status_slots::has_ended(std::uint64_t process) {
  char path[64], line[512] = {};
  std::snprintf(path, sizeof path, "/proc/%llu/stat", static_cast<unsigned long long>(process));
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  const auto n = ::read(file, line, sizeof line - 1);
  ::close(file);
  if (n <= 0) return true;
  const char* const name_ends = std::strrchr(line, ')');  // "pid (name) state …"
  return name_ends != nullptr && (name_ends[2] == 'Z' || name_ends[2] == 'X');
}

PARTITA_DEF status_slots::status_slots() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  own_address_.machine = std::hash<std::string_view>{}(host);
  own_address_.process = static_cast<std::uint64_t>(::getpid());
  own_address_.slot_secret = (own_address_.process << 40U) ^ status_slot::nanoseconds();
  const file_size_errors no_signal;
  const int file = ::memfd_create("partita worker", MFD_CLOEXEC);
  void* mapped = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, sizeof(status_slot)) == 0)
    mapped = ::mmap(nullptr, sizeof(status_slot), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) {
    own_address_.file = static_cast<std::uint64_t>(file);  // stays open: other processes open it by this number
    own_slot_ = static_cast<status_slot*>(mapped);
  } else {
    if (file >= 0) ::close(file);
    own_slot_ = static_cast<status_slot*>(std::calloc(1, sizeof(status_slot)));  // for this process only
    if (own_slot_ == nullptr) throw std::bad_alloc();
  }
  own_slot_->slot_secret = own_address_.slot_secret;
  own_slot_->process = own_address_.process;
  process::finalize_callback() = [] { instance().own_slot().has_called_finalize = true; };
  std::atexit([] {
    if (!process::is_forked()) instance().own_slot().set_process_state(status_slot::standing::has_ended);
  });
}

}  // namespace partita::detail
