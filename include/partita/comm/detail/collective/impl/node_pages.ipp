// Defines the functions that comm/detail/collective/node_pages.hpp declares.
#pragma once

#include <cstring>
#include <partita/comm/detail/collective/node_pages.hpp>
#include <partita/comm/detail/node/node_group.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF node_pages::node_pages(const own_node& members, arena& memory, const group_plan& plan)
    : members_(members), memory_(memory), pages_by_worker_(members.size()) {
  for (std::size_t k = 0; k < plan.groups.size(); ++k) pages_[k] = memory_.allocate_signals(sizeof(group_page));
  check(MPI_Barrier(members_.communicator()), "MPI_Barrier");  // no worker still reads the old content of this memory
  pages_of_worker mine;
  for (std::size_t k = 0; k < plan.groups.size(); ++k) {
    // set the page to zero except its slots, which are written before they are read, and which some programs never
    // touch
    std::memset(pages_[k], 0, sizeof(group_page) - sizeof(group_page::slot));
    mine.group[k] = plan.groups[k].number;
    if (memory_.is_in_own_part(pages_[k])) mine.page[k] = memory_.offset(pages_[k]);
    else mine.in_shared_memory = false;
  }
  // gather on the node only, because only workers of one node read each other's pages
  check(MPI_Allgather(&mine, static_cast<int>(sizeof(pages_of_worker)), MPI_BYTE, pages_by_worker_.data(),
                      static_cast<int>(sizeof(pages_of_worker)), MPI_BYTE, members_.communicator()),
        "MPI_Allgather");
}

node_pages::~node_pages() {
  for (void* own : pages_)
    if (own != nullptr) memory_.release_signals(own, sizeof(group_page));
}

bool node_pages::reaches(std::size_t worker) const {
  const std::size_t place = members_.place_of_worker(worker);
  return place != members_.size() && pages_by_worker_[place].in_shared_memory;
}

std::unique_ptr<group_transport> node_pages::prepare_group(const worker_group& group) {
  std::vector<std::size_t> places;
  std::vector<group_page*> pages;
  for (const std::size_t member : group.members) {
    places.push_back(members_.place_of_worker(member));
    const pages_of_worker& shown = pages_by_worker_[places.back()];
    const std::size_t which = shown.group[0] == group.number ? 0 : 1;
    pages.push_back(reinterpret_cast<group_page*>(memory_.at(places.back(), shown.page[which])));
  }
  return std::make_unique<node_group>(memory_, std::move(places), std::move(pages), group.position,
                                      members_.oversubscribed());
}

}  // namespace partita::detail
