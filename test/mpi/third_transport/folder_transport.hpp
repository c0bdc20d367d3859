// A third transport, beside the memory of a node and messages: a folder that all workers share. A message is a file in
// it, which its sender renames once it is complete and its receiver deletes. It carries boxes and blocks of groups.
#pragma once

#include <partita/comm/detail/exchange/way.hpp>
#include <partita/comm/mpi.hpp>

#include <unistd.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace test {

/// One worker's end of the folder. Files between two workers are read in the order in which they were written.
class shared_folder {
 public:
  /// Collective: worker 0 makes the folder.
  explicit shared_folder(MPI_Comm everyone, std::uint64_t number) {
    int me = 0;
    MPI_Comm_rank(everyone, &me);
    me_ = static_cast<std::size_t>(me);
    long process = static_cast<long>(getpid());
    MPI_Bcast(&process, 1, MPI_LONG, 0, everyone);
    static std::size_t made = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("partita-" + std::to_string(process) + "-" + std::to_string(number) + "-" + std::to_string(made++));
    if (me == 0) std::filesystem::create_directory(folder_);
    MPI_Barrier(everyone);
  }
  ~shared_folder() {
    std::error_code not_empty_yet;  // the last worker deletes it
    std::filesystem::remove(folder_, not_empty_yet);
  }

  std::size_t me() const { return me_; }
  void send(std::size_t to, const char* data, std::size_t bytes) {
    const std::string name = name_of(me_, to, written_[to]++);
    std::ofstream(folder_ / ("new-" + name), std::ios::binary).write(data, static_cast<std::streamsize>(bytes));
    std::filesystem::rename(folder_ / ("new-" + name), folder_ / name);
    ++files();
  }
  /// Reads the next file of a worker; false if there is none yet.
  bool take(std::size_t from, char* data, std::size_t bytes) {
    const auto path = folder_ / name_of(from, me_, read_[from]);
    std::ifstream file(path, std::ios::binary);
    if (!file) return false;
    file.read(data, static_cast<std::streamsize>(bytes));
    std::filesystem::remove(path);
    ++read_[from];
    return true;
  }
  void wait_for(std::size_t from, char* data, std::size_t bytes) {
    while (!take(from, data, bytes)) std::this_thread::yield();
  }
  /// How many files this worker has written.
  static std::size_t& files() {
    static std::size_t count = 0;
    return count;
  }

 private:
  static std::string name_of(std::size_t from, std::size_t to, std::size_t k) {
    return std::to_string(from) + "-" + std::to_string(to) + "-" + std::to_string(k);
  }

  std::size_t me_ = 0;
  std::filesystem::path folder_;
  std::map<std::size_t, std::size_t> written_, read_;
};

// [boxes]
/// The boxes of one exchange: a file for each.
class boxes_in_folder : public partita::detail::box_transport {
 public:
  boxes_in_folder(std::shared_ptr<shared_folder> folder, partita::detail::lowered_plan boxes,
                  const partita::detail::element_kind& kind)
      : folder_(std::move(folder)), plan_(std::move(boxes)), kind_(kind) {}
  void post_receive(const partita::detail::block_memory& y) override { y_ = y, next_ = 0; }
  void post_send(const partita::detail::block_memory& x) override {
    for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
      packed_.resize(plan_.sends.volume(k) * kind_.bytes);
      pack_box(kind_, plan_.sends[k], plan_.rank, x, packed_.data(), true, partita::stores::cached);
      folder_->send(plan_.sends[k].worker, packed_.data(), packed_.size());
    }
  }
  bool advance() override {
    for (; next_ < plan_.receives.size(); ++next_) {
      packed_.resize(plan_.receives.volume(next_) * kind_.bytes);
      if (!folder_->take(plan_.receives[next_].worker, packed_.data(), packed_.size())) return false;
      pack_box(kind_, plan_.receives[next_], plan_.rank, y_, packed_.data(), false, partita::stores::cached);
    }
    return true;
  }
  void finish() override {}
  partita::detail::exchange_traffic counts() const override {
    return {plan_.sends.size(), plan_.sends.volume() * kind_.bytes, 0};
  }

 private:
  std::shared_ptr<shared_folder> folder_;
  partita::detail::lowered_plan plan_;
  partita::detail::element_kind kind_;
  partita::detail::block_memory y_;
  std::vector<char> packed_;
  std::size_t next_ = 0;
};
// [/boxes]

// [group]
/// The members of one group: the root writes a file for each of them, or reads one from each and combines them.
class group_in_folder : public partita::detail::group_transport {
 public:
  group_in_folder(std::shared_ptr<shared_folder> folder, partita::worker_group group)
      : folder_(std::move(folder)), group_(std::move(group)) {}
  bool spread(const char* x, char* y, std::size_t bytes) override {
    if (group_.position == 0) start_spread(x, y, bytes);
    else folder_->wait_for(group_.members[0], y, bytes);
    return true;
  }
  void start_spread(const char* x, char* y, std::size_t bytes) override {
    for (std::size_t k = 1; k < group_.members.size(); ++k) folder_->send(group_.members[k], x, bytes);
    if (y != nullptr && y != x) std::memcpy(y, x, bytes);
  }
  bool finish_spread(std::size_t) override { return true; }
  void start(const partita::detail::block_sum& s) override {
    if (group_.position != 0) folder_->send(group_.members[0], s.x, s.bytes());
  }
  bool finish(const partita::detail::block_sum& s) override {
    if (group_.position == 0) combine(s);
    if (s.to_all) spread(s.y, s.y, s.bytes_of_result());
    return true;
  }

 private:
  void combine(const partita::detail::block_sum& s) const {
    std::vector<std::vector<char>> blocks;
    if (s.root_gives) blocks.emplace_back(s.x, s.x + s.bytes());
    for (std::size_t k = 1; k < group_.members.size(); ++k) {
      blocks.emplace_back(s.bytes());
      folder_->wait_for(group_.members[k], blocks.back().data(), s.bytes());
    }
    if (s.op->combine_exactly != nullptr) {
      std::vector<const char*> all;
      for (const auto& block : blocks) all.push_back(block.data());
      return s.op->combine_exactly(all.data(), all.size(), s.n, s.y);
    }
    for (std::size_t k = 1; k < blocks.size(); ++k)
      s.op->combine(blocks[0].data(), blocks[0].data(), blocks[k].data(), s.n);
    std::memcpy(s.y, blocks[0].data(), s.bytes());
  }

  std::shared_ptr<shared_folder> folder_;
  partita::worker_group group_;
};
// [/group]

// [channel]
/// The channel of one worker: it reaches all others, with boxes and in groups.
class folder_channel : public partita::detail::way {
 public:
  folder_channel(MPI_Comm everyone, std::uint64_t number)
      : folder_(std::make_shared<shared_folder>(everyone, number)) {}
  bool reaches(std::size_t worker) const override { return worker != folder_->me(); }
  std::unique_ptr<partita::detail::box_transport> prepare(partita::detail::lowered_plan boxes,
                                                          const partita::detail::element_kind& kind) override {
    return std::make_unique<boxes_in_folder>(folder_, std::move(boxes), kind);
  }
  std::unique_ptr<partita::detail::group_transport> prepare_group(const partita::worker_group& group) override {
    return std::make_unique<group_in_folder>(folder_, group);
  }

 private:
  std::shared_ptr<shared_folder> folder_;
};
// [/channel]

}  // namespace test
