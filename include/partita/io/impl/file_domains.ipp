// Defines the functions that io/file_domains.hpp declares.
#pragma once

#include <partita/io/file_domains.hpp>

namespace partita {

PARTITA_DEF file_domains plan_file_domains(std::size_t data_at, const std::vector<std::size_t>& slab_bytes,
                                           std::size_t page) {
  if (page == 0) page = 1;
  file_domains plan;
  plan.slab_starts.push_back(data_at);
  for (const std::size_t bytes : slab_bytes) plan.slab_starts.push_back(plan.slab_starts.back() + bytes);
  plan.write_starts.push_back(0);
  for (std::size_t k = 1; k < slab_bytes.size(); ++k) {
    const std::size_t next_page = (plan.slab_starts[k] + page - 1) / page * page;
    plan.write_starts.push_back(next_page < plan.bytes() ? next_page : plan.bytes());
  }
  plan.write_starts.push_back(plan.bytes());
  return plan;
}

}  // namespace partita
