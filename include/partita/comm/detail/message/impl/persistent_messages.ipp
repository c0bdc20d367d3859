// Defines the functions that comm/detail/message/persistent_messages.hpp declares.
#pragma once

#include <partita/comm/detail/message/persistent_messages.hpp>

namespace partita::detail {

PARTITA_DEF persistent_messages::persistent_messages(message_list pool, const element_kind& kind, bool is_outgoing)
    : boxes_(std::move(pool.boxes)),
      messages_(std::move(pool.all)),
      workers_(pool.workers),
      rank_(boxes_.rank()),
      kind_(kind),
      is_outgoing_(is_outgoing) {
  for (const message& p : messages_)
    longest_message_bytes_ = p.bytes > longest_message_bytes_ ? p.bytes : longest_message_bytes_;
}

persistent_messages::~persistent_messages() {
  free_requests();
  if (buffer_ != nullptr) heap_pool::instance().release(buffer_, buffer_bytes_);
}

PARTITA_DEF std::size_t persistent_messages::bytes() const {
  std::size_t sum = 0;
  for (const message& p : messages_) sum += p.bytes;
  return sum;
}

PARTITA_DEF bool persistent_messages::reuses_slots() const {
  for (const std::size_t earlier : previous_in_slot_)
    if (earlier != no_message) return true;
  return false;
}

PARTITA_DEF void persistent_messages::start(MPI_Comm comm, int tag, const block_memory& block) {
  make_requests(comm, tag, block);
  first_pending_ = next_message_ = 0;
  is_complete_.assign(messages_.size(), 0);
  advance();
}

PARTITA_DEF void persistent_messages::end_discarded_sends() {
  bool left = false;
  for (const double start = MPI_Wtime(); !left && MPI_Wtime() - start < 0.1;) left = advance();
  if (left) return;
  free_requests();
  is_prepared_ = false;
}

PARTITA_DEF bool persistent_messages::advance() {
  // Start messages in their order as long as the buffer slots that they need are free.
  for (; next_message_ < messages_.size() && has_room(next_message_); ++next_message_) {
    if (is_outgoing_ && data_paths_[next_message_] == data_path::through_slot) copy_through_slot(next_message_);
    check(MPI_Start(&mpi_requests_[next_message_]), "MPI_Start");
  }
  if (first_pending_ == next_message_) return first_pending_ == messages_.size();
  int n = 0;
  check(MPI_Testsome(static_cast<int>(next_message_ - first_pending_), mpi_requests_.data() + first_pending_, &n,
                     completed_indices_.data(), MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  for (int f = 0; f < n; ++f) {
    const std::size_t k = first_pending_ + static_cast<std::size_t>(completed_indices_[static_cast<std::size_t>(f)]);
    if (!is_outgoing_ && data_paths_[k] == data_path::through_slot) copy_through_slot(k);
    is_complete_[k] = 1;
  }
  // Move the start of the list past the messages that are complete.
  while (first_pending_ < next_message_ && is_complete_[first_pending_] != 0) ++first_pending_;
  return first_pending_ == messages_.size();
}

PARTITA_DEF void persistent_messages::copy_through_slot(std::size_t k) const {
  char* packed = slot_addresses_[k];
  for (std::size_t b = messages_[k].first; b < messages_[k].last; ++b)
    packed = pack_box(kind_, boxes_[b], rank_, block(), packed, is_outgoing_,
                      is_outgoing_ ? stores::cached : stores::by_size);
}

PARTITA_DEF bool persistent_messages::has_same_strides(const std::ptrdiff_t* strides) const {
  if (is_staged_ || strides == nullptr) return is_staged_ && strides == nullptr;
  for (std::size_t d = 0; d < rank_; ++d)
    if (strides_[d] != strides[d]) return false;
  return true;
}

PARTITA_DEF void persistent_messages::make_requests(MPI_Comm comm, int tag, const block_memory& block) {
  const bool same_way = is_prepared_ && comm == comm_ && tag == tag_ && has_same_strides(block.strides);
  if (same_way && block.data == block_) return;
  if (!same_way) {
    free_requests();
    comm_ = comm, tag_ = tag, is_staged_ = block.strides == nullptr;
    strides_.assign(rank_, 0);
    for (std::size_t d = 0; d < rank_ && !is_staged_; ++d) strides_[d] = block.strides[d];
    choose_data_paths();
    assign_slots();
    mpi_requests_.assign(messages_.size(), MPI_REQUEST_NULL);
    completed_indices_.assign(messages_.size(), 0);
    is_prepared_ = true;
  }
  block_ = block.data;
  for (std::size_t k = 0; k < messages_.size(); ++k)
    if (!same_way || data_paths_[k] != data_path::through_slot) make_request(k);
}

PARTITA_DEF void persistent_messages::choose_data_paths() {
  data_paths_.clear();
  message_types_.assign(messages_.size(), MPI_DATATYPE_NULL);
  for (std::size_t k = 0; k < messages_.size(); ++k) {
    const message& p = messages_[k];
    if (p.last - p.first == 1 && is_contiguous_box(p.first)) {
      data_paths_.push_back(data_path::in_place);
    } else if (p.how == message_form::typed && !is_staged_) {
      data_paths_.push_back(data_path::through_mpi_type);
      message_types_[k] = make_message_type(p);
    } else {
      data_paths_.push_back(data_path::through_slot);
    }
  }
}

PARTITA_DEF MPI_Datatype persistent_messages::make_message_type(const message& p) const {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (p.last - p.first == 1) {
    type = make_box_type(boxes_[p.first].shape, strides_.data(), rank_, kind_.bytes);
  } else {
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> places;
    for (std::size_t b = p.first; b < p.last; ++b) {
      types.push_back(make_box_type(boxes_[b].shape, strides_.data(), rank_, kind_.bytes));
      const std::ptrdiff_t from_first =
          box_offset(boxes_[b], strides_.data(), rank_) - box_offset(boxes_[p.first], strides_.data(), rank_);
      places.push_back(from_first * static_cast<std::ptrdiff_t>(kind_.bytes));
    }
    const std::vector<int> once(types.size(), 1);
    check(MPI_Type_create_struct(static_cast<int>(types.size()), once.data(), places.data(), types.data(), &type),
          "MPI_Type_create_struct");
    for (MPI_Datatype& part : types) MPI_Type_free(&part);
  }
  check(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

PARTITA_DEF void persistent_messages::assign_slots() {
  constexpr std::size_t least_in_flight = 8;
  std::size_t chunks = 0, chunk_bytes = 0, bytes = 0;
  const auto lines = [](std::size_t n) { return (n + cache_line - 1) / cache_line * cache_line; };
  for (std::size_t k = 0; k < messages_.size(); ++k) {
    if (data_paths_[k] != data_path::through_slot) continue;
    const std::size_t size = lines(messages_[k].bytes);
    if (messages_[k].how == message_form::chunked) ++chunks, chunk_bytes = size > chunk_bytes ? size : chunk_bytes;
    else bytes += size;
  }
  const std::size_t wish = 2 * workers_ > least_in_flight ? 2 * workers_ : least_in_flight;
  const std::size_t shared = chunks < wish ? chunks : wish, start = bytes;
  bytes += shared * chunk_bytes;
  if (bytes > buffer_bytes_) {
    if (buffer_ != nullptr) heap_pool::instance().release(buffer_, buffer_bytes_);
    buffer_ = static_cast<char*>(heap_pool::instance().allocate(bytes));
    buffer_bytes_ = bytes;
  }
  slot_addresses_.assign(messages_.size(), nullptr);
  previous_in_slot_.assign(messages_.size(), no_message);
  std::vector<std::size_t> user(shared, no_message);
  std::size_t own = 0, turn = 0;
  for (std::size_t k = 0; k < messages_.size(); ++k) {
    if (data_paths_[k] != data_path::through_slot) continue;
    if (messages_[k].how == message_form::chunked) {
      slot_addresses_[k] = buffer_ + start + turn * chunk_bytes;
      previous_in_slot_[k] = user[turn];
      user[turn] = k;
      turn = turn + 1 == shared ? 0 : turn + 1;
    } else {
      slot_addresses_[k] = buffer_ + own;
      own += lines(messages_[k].bytes);
    }
  }
}

PARTITA_DEF void persistent_messages::make_request(std::size_t k) {
  const message& p = messages_[k];
  if (mpi_requests_[k] != MPI_REQUEST_NULL) check(MPI_Request_free(&mpi_requests_[k]), "MPI_Request_free");
  char* const box = box_address(boxes_[p.first], block(), rank_, kind_.bytes);
  const bool typed = data_paths_[k] == data_path::through_mpi_type;
  char* const data = data_paths_[k] == data_path::through_slot ? slot_addresses_[k] : box;
  const int count = typed ? 1 : static_cast<int>(p.bytes), other = static_cast<int>(p.worker);
  const MPI_Datatype type = typed ? message_types_[k] : MPI_BYTE;
  if (is_outgoing_) check(MPI_Send_init(data, count, type, other, tag_, comm_, &mpi_requests_[k]), "MPI_Send_init");
  else check(MPI_Recv_init(data, count, type, other, tag_, comm_, &mpi_requests_[k]), "MPI_Recv_init");
}

PARTITA_DEF void persistent_messages::free_requests() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) {
    for (MPI_Request& request : mpi_requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    for (MPI_Datatype& type : message_types_)
      if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }
  mpi_requests_.clear();
  message_types_.clear();
}

}  // namespace partita::detail
