// Defines what the headers of comm/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/comm/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/comm/detail/collective/impl/collective_channel.ipp>
#include <partita/comm/detail/collective/impl/node_pages.ipp>
#include <partita/comm/detail/diagnostics/impl/call_log.ipp>
#include <partita/comm/detail/diagnostics/impl/disagreement.ipp>
#include <partita/comm/detail/diagnostics/impl/hang_report.ipp>
#include <partita/comm/detail/diagnostics/impl/json_text.ipp>
#include <partita/comm/detail/diagnostics/impl/trace.ipp>
#include <partita/comm/detail/diagnostics/impl/trace_file.ipp>
#include <partita/comm/detail/exchange/impl/box_list.ipp>
#include <partita/comm/detail/exchange/impl/joint_messages.ipp>
#include <partita/comm/detail/exchange/impl/joint_plan.ipp>
#include <partita/comm/detail/exchange/impl/lowered_plan.ipp>
#include <partita/comm/detail/message/impl/element_messages.ipp>
#include <partita/comm/detail/message/impl/pair_messages.ipp>
#include <partita/comm/detail/message/impl/persistent_messages.ipp>
#include <partita/comm/detail/message/impl/posted_messages.ipp>
#include <partita/comm/detail/node/impl/arena.ipp>
#include <partita/comm/detail/node/impl/channel.ipp>
#include <partita/comm/detail/node/impl/flag.ipp>
#include <partita/comm/detail/node/impl/heap_pool.ipp>
#include <partita/comm/detail/node/impl/measured_link.ipp>
#include <partita/comm/detail/node/impl/memory_way.ipp>
#include <partita/comm/detail/node/impl/node.ipp>
#include <partita/comm/detail/node/impl/node_group.ipp>
#include <partita/comm/detail/node/impl/node_sum.ipp>
#include <partita/comm/detail/node/impl/push.ipp>
#include <partita/comm/detail/node/impl/ring.ipp>
#include <partita/comm/detail/node/impl/shared_flags.ipp>
#include <partita/comm/detail/node/impl/shared_mapping.ipp>
#include <partita/comm/detail/node/impl/status_slot.ipp>
#include <partita/comm/detail/world/impl/and_allreduce.ipp>
#include <partita/comm/detail/world/impl/part_communicator.ipp>
#include <partita/comm/detail/world/impl/process.ipp>
#include <partita/comm/detail/world/impl/shared_world.ipp>
#include <partita/comm/detail/world/impl/world_state.ipp>
#include <partita/comm/impl/box_exchange.ipp>
#include <partita/comm/impl/collective_channels.ipp>
#include <partita/comm/impl/element_operation.ipp>
#include <partita/comm/impl/file_size_errors.ipp>
#include <partita/comm/impl/mesh_groups.ipp>
#include <partita/comm/impl/numbers_by_worker.ipp>
#include <partita/comm/impl/shared_view.ipp>
#include <partita/comm/impl/side_by_side.ipp>
#include <partita/comm/impl/stop_signal.ipp>
#include <partita/comm/impl/transport.ipp>
#include <partita/comm/impl/world.ipp>
