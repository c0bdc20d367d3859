// Defines what the headers of explain/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/explain/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/explain/impl/broadcast_picture.ipp>
#include <partita/explain/impl/listing.ipp>
#include <partita/explain/impl/long_text.ipp>
#include <partita/explain/impl/pipeline_picture.ipp>
#include <partita/explain/impl/plan_svg.ipp>
#include <partita/explain/impl/plan_text.ipp>
#include <partita/explain/impl/propagation_picture.ipp>
#include <partita/explain/impl/propagation_text.ipp>
#include <partita/explain/impl/quantities.ipp>
#include <partita/explain/impl/svg.ipp>
#include <partita/explain/impl/timeline.ipp>
#include <partita/explain/impl/timetable_picture.ipp>
#include <partita/explain/impl/worker_broadcast_picture.ipp>
