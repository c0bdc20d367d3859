// Defines what the headers of kernel/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/kernel/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/kernel/detail/impl/box_movement.ipp>
#include <partita/kernel/detail/impl/collective_call.ipp>
#include <partita/kernel/detail/impl/collective_movement.ipp>
#include <partita/kernel/detail/impl/collective_transfer.ipp>
#include <partita/kernel/detail/impl/described.ipp>
#include <partita/kernel/detail/impl/index_pattern.ipp>
#include <partita/kernel/detail/impl/index_planner.ipp>
#include <partita/kernel/detail/impl/make_collective_movement.ipp>
#include <partita/kernel/detail/impl/part_movement.ipp>
#include <partita/kernel/detail/impl/pencils.ipp>
#include <partita/kernel/detail/impl/pending.ipp>
#include <partita/kernel/detail/impl/receiver_pattern.ipp>
#include <partita/kernel/detail/impl/repartition_movement.ipp>
#include <partita/kernel/detail/impl/row_block.ipp>
#include <partita/kernel/detail/impl/row_moves.ipp>
#include <partita/kernel/detail/impl/sort_cuts.ipp>
#include <partita/kernel/detail/impl/untyped_block.ipp>
