// Agreement between the workers of a call on files: on the call, on its errors, and on data that one worker has read.
//
// The workers of a call on files agree at every level of checks, because the time of an agreement is small compared
// with that of a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/comm/facts.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/partition.hpp>
#include <partita/core/config.hpp>
#include <partita/core/hash.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <partita/kernel/broadcast.hpp>
#include <string>

namespace partita::detail {

/// The error of one worker in a call on files. If the text is empty, the worker has no error.
struct file_error {
  enum class kind : char { io, shape, partition };  ///< io_error, shape_error or partition_error
  kind error_kind = kind::io;                       ///< the class of the exception that raise() throws
  text sentence;                                    ///< the error message; empty if there is no error

  bool empty() const { return sentence.empty(); }  ///< whether there is no error
  PARTITA_DECL [[noreturn]] void raise() const;    ///< throws the error
};

/// A hash of the arguments of a call on files. In a correct program the hash is equal on all workers.
class argument_hash {
 public:
  PARTITA_DECL argument_hash& operator<<(std::uint64_t value);
  PARTITA_DECL argument_hash& operator<<(const char* characters);
  std::uint64_t value() const { return hasher_.value(); }  ///< the hash of all arguments so far

 private:
  hasher hasher_;  ///< mixes the arguments in order
};

/// One call on files by all workers of a world. Every worker calls the same members in the same order.
class file_call {
 public:
  /// `name` is the call as the user wrote it, `number` a hash of its arguments. If name or number differ, all workers
  /// throw a disagreement_error at the first agreement. `leader` is the worker that reads headers and renames files.
  file_call(const world& everyone, std::size_t leader, const text& name, const argument_hash& number)
      : world_(everyone),
        leader_(leader),
        name_(name),
        arguments_hash_((argument_hash(number) << name.c_str()).value()) {}

  const world& everyone() const { return world_; }           ///< the workers that make the call
  const text& name() const { return name_; }                 ///< the call as the user wrote it
  std::size_t leader() const { return leader_; }             ///< the id of the leader
  bool is_leader() const { return world_.id() == leader_; }  ///< whether this worker is the leader

  /// Returns the bitwise AND of `choices` over all workers. Requires the same call on all workers [disagreement_error].
  PARTITA_DECL std::uint64_t all_and(std::uint64_t choices) const;
  /// Whether `mine` is true on all workers. Collective.
  bool is_true_on_all(bool mine) const { return all_and(mine ? 1 : 0) == 1; }
  /// Broadcasts a few numbers of the leader to all workers. Cost: one agreement, at which a worker that has run out of
  /// memory reports this error, and one small broadcast.
  template <class... Number>
  number_array<sizeof...(Number)> broadcast_from_leader(Number... mine) const {
    return broadcast_from_leader(number_array<sizeof...(Number)>{static_cast<std::uint64_t>(mine)...});
  }
  /// Broadcasts the leader's numbers to all workers.
  template <std::size_t N>
  number_array<N> broadcast_from_leader(const number_array<N>& mine) const {
    all_and(0);
    return broadcast_numbers(*world_.state(), leader_, mine);
  }
  /// Broadcasts bytes of worker `sender` to all workers.
  template <class Byte = std::uint8_t>  // a template parameter, so that only callers compile the broadcast
  std::string broadcast_bytes(std::size_t sender, const std::string& mine) const {
    if (world_.size() == 1) return mine;
    const auto one = world_.partition<1>(workers{sender});
    const auto every = world_.partition(extents<dynamic>(world_.size()));
    auto block = zero_volume<Byte, 1>();
    if (world_.id() == sender) {
      block.resize({mine.size()});
      if (!mine.empty()) std::memcpy(block.data(), mine.data(), mine.size());
    }
    const auto got = broadcast(one, every)(block);
    return std::string(got.data(), got.data() + got.size());
  }

  /// Throws the error of the first worker that has an error, on all workers; returns if no worker has an error.
  PARTITA_DECL void throw_together(const file_error& mine) const;

  /// Makes an error such as "partita::save_npy("w.npy", …): worker 3 cannot open w.npy.tmp: No such file or directory
  /// (errno 2); " from an errno, and appends `error_advice`. If `error` is 0, the result is empty.
  PARTITA_DECL file_error errno_error(const char* action, const std::string& path, int error,
                                      const char* error_advice) const;
  /// Makes an error whose message is the name of the call, followed by `sentence`.
  PARTITA_DECL file_error make_error(file_error::kind error_kind, const text& sentence) const;

 private:
  world world_;                   ///< all workers that make the call
  std::size_t leader_;            ///< the id of the leader
  text name_;                     ///< the call as the user wrote it, for error messages
  std::uint64_t arguments_hash_;  ///< the hash of the name and the arguments, which all_and() compares
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/file_agreement.ipp>
#endif
