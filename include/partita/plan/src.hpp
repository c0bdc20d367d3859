// Defines what the headers of plan/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/plan/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/plan/impl/box_overlaps.ipp>
#include <partita/plan/impl/complete.ipp>
#include <partita/plan/impl/cut.ipp>
#include <partita/plan/impl/elementwise_plan.ipp>
#include <partita/plan/impl/members_by_node.ipp>
#include <partita/plan/impl/mesh_boxes.ipp>
#include <partita/plan/impl/node_messages.ipp>
#include <partita/plan/impl/overlap.ipp>
#include <partita/plan/impl/pipeline_order.ipp>
#include <partita/plan/impl/placed_mesh.ipp>
#include <partita/plan/impl/plan_boxes.ipp>
#include <partita/plan/impl/search.ipp>
#include <partita/plan/impl/search_judge.ipp>
#include <partita/plan/impl/search_space.ipp>
#include <partita/plan/impl/step_order.ipp>
#include <partita/plan/impl/timetable.ipp>
#include <partita/plan/impl/worker_groups.ipp>
#include <partita/plan/impl/workers.ipp>
