// Defines the functions that comm/detail/node/ring.hpp declares.
#pragma once

#include <partita/comm/detail/node/ring.hpp>

namespace partita::detail {

PARTITA_DEF void boxes_through_ring::start_exchange(const announced_memory& at) {
  announced_memory_ = at;
  next_piece_ = 0;
  if (at.is_receivers_block() || at.slot_bytes == slot_bytes_) return;
  slot_bytes_ = at.slot_bytes;
  pieces_.clear();
  for (std::size_t k = first_box_; k < end_box_; ++k) pieces_.add_cut((*boxes_)[k], kind_.bytes, at.slot_bytes);
}

PARTITA_DEF bool boxes_through_ring::send(node_channel& channel, const block_memory& block, bool streaming) {
  if (announced_memory_.is_by_message()) return send_messages(channel, block);
  for (; !done() && channel.has_empty_slot(place_); ++next_piece_) {
    pack_piece(block, channel.next_empty_slot(place_), true, streaming);
    channel.mark_slot_filled(place_);
  }
  return done();
}

PARTITA_DEF bool boxes_through_ring::receive(node_channel& channel, const block_memory& block, bool streaming) {
  if (announced_memory_.is_by_message()) return receive_messages(channel, block);
  for (; !done() && channel.filled_slot_count(place_) > 0; ++next_piece_) {
    pack_piece(block, channel.next_filled_slot(place_), false, streaming);
    channel.mark_slot_emptied(place_);
  }
  return done();
}

PARTITA_DEF void boxes_through_ring::pack_all_boxes(const block_memory& block, char* packed, bool out) const {
  for (std::size_t k = first_box_; k < end_box_; ++k)
    packed = pack_box(kind_, (*boxes_)[k], boxes_->rank(), block, packed, out, stores::cached);
}

PARTITA_DEF bool boxes_through_ring::send_messages(const node_channel& channel, const block_memory& block) {
  for (; !done(); ++next_piece_) {
    if (mpi_request_ == MPI_REQUEST_NULL) {
      packed_.resize(announced_memory_.slot_bytes);
      pack_box(kind_, pieces_[next_piece_], pieces_.rank(), block, packed_.data(), true, stores::cached);
      check(MPI_Isend(packed_.data(), piece_bytes(), MPI_BYTE, static_cast<int>(place_), channel.tag(),
                      channel.communicator(), &mpi_request_),
            "MPI_Isend");
    }
    if (!is_message_complete()) return false;
  }
  return true;
}

PARTITA_DEF bool boxes_through_ring::receive_messages(const node_channel& channel, const block_memory& block) {
  for (; !done(); ++next_piece_) {
    if (mpi_request_ == MPI_REQUEST_NULL) {
      packed_.resize(announced_memory_.slot_bytes);
      check(MPI_Irecv(packed_.data(), piece_bytes(), MPI_BYTE, static_cast<int>(place_), channel.tag(),
                      channel.communicator(), &mpi_request_),
            "MPI_Irecv");
    }
    if (!is_message_complete()) return false;
    pack_box(kind_, pieces_[next_piece_], pieces_.rank(), block, packed_.data(), false, stores::cached);
  }
  return true;
}

PARTITA_DEF bool boxes_through_ring::is_message_complete() {
  int moved = 0;
  check(MPI_Test(&mpi_request_, &moved, MPI_STATUS_IGNORE), "MPI_Test");
  return moved != 0;
}

PARTITA_DEF void boxes_through_ring::pack_piece(const block_memory& block, std::size_t slot, bool out, bool streaming) {
  pack_box(kind_, pieces_[next_piece_], pieces_.rank(), block,
           announced_memory_.address + slot * announced_memory_.slot_bytes, out,
           streaming ? stores::streaming : stores::cached);
}

}  // namespace partita::detail
