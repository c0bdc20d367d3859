// Defines what the headers of sharded/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/sharded/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/sharded/detail/impl/apply.ipp>
#include <partita/sharded/detail/impl/block_product.ipp>
#include <partita/sharded/detail/impl/bound_mesh.ipp>
#include <partita/sharded/detail/impl/bound_steps.ipp>
#include <partita/sharded/detail/impl/element_access.ipp>
#include <partita/sharded/detail/impl/joined_exchange.ipp>
#include <partita/sharded/detail/impl/joined_movements.ipp>
#include <partita/sharded/detail/impl/outside_tensors.ipp>
#include <partita/sharded/detail/impl/pipeline_events.ipp>
#include <partita/sharded/detail/impl/pipeline_stages.ipp>
#include <partita/sharded/detail/impl/planned_exchange.ipp>
#include <partita/sharded/detail/impl/program_order.ipp>
#include <partita/sharded/detail/impl/step_storage.ipp>
#include <partita/sharded/detail/impl/tape_blocks.ipp>
#include <partita/sharded/detail/impl/tensor_block.ipp>
#include <partita/sharded/detail/impl/wider_windows.ipp>
#include <partita/sharded/impl/gradient_norm.ipp>
#include <partita/sharded/impl/pipeline_search.ipp>
#include <partita/sharded/impl/scan_schedule.ipp>
#include <partita/sharded/impl/sharded_partition.ipp>
#include <partita/sharded/impl/sharded_tensor.ipp>
#include <partita/sharded/impl/step_schedule.ipp>
#include <partita/sharded/impl/traced.ipp>
#include <partita/sharded/impl/traced_function.ipp>
#include <partita/sharded/impl/usual_elements.ipp>
