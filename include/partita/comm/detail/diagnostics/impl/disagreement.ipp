// Defines the functions that comm/detail/diagnostics/disagreement.hpp declares.
#pragma once

#include <partita/comm/detail/diagnostics/disagreement.hpp>

namespace partita::detail {

PARTITA_DEF first_difference::first_difference(const std::vector<call_report>& reports) {
  bool same = true;
  for (const call_report& l : reports) same = same && l.operations_hash == reports[0].operations_hash;
  if (same) return;
  for (operation = 0; operation < local_operations::max_operations; ++operation)
    for (const call_report& l : reports)
      if (l.operations[operation] != reports[0].operations[operation]) return;
}

PARTITA_DEF text describe_difference(const std::vector<call_report>& reports) {
  text all("partita: workers make different calls: ");
  std::vector<std::size_t> first;  // the first worker of each group of workers that make the same call
  for (std::size_t k = 0; k < reports.size(); ++k) {
    bool known = false;
    for (std::size_t other : first) known = known || reports[other].fingerprint == reports[k].fingerprint;
    if (!known) first.push_back(k);
  }
  constexpr std::size_t most_told = 3;  // as many as fit in one message; further calls usually differ in the same way
  bool alike = false;
  for (std::size_t n = 0; n < first.size() && n < most_told; ++n) {
    const call_report& told = reports[first[n]];
    std::size_t as_well = 0;
    for (const call_report& l : reports) as_well += l.fingerprint == told.fingerprint ? 1 : 0;
    all << (n == 0 ? "worker " : ", worker ") << first[n];
    if (as_well > 1) all << " and " << as_well - 1 << (as_well > 2 ? " others make " : " other make ");
    else all << " makes ";
    all << told.sentence;
    for (std::size_t before = 0; before < n; ++before)
      alike = alike || reports[first[before]].sentence == told.sentence;
  }
  if (first.size() > most_told)
    all << ", and " << first.size() - most_told
        << (first.size() == most_told + 1 ? " other call is made" : " other calls are made");
  if (alike)
    all << "; where they read alike, the layouts, the order of the workers, the element types, the parameters or the "
           "operands differ, or they are calls of two kernels that were constructed identically (numbers "
        << reports[first[0]].fingerprint << " and " << reports[first[1]].fingerprint << ")";
  return all << "; every worker of a world makes every call with the same arguments";
}

PARTITA_DEF void throw_first_error(const std::vector<call_report>& reports) {
  for (const call_report& l : reports)
    if (l.kind != static_cast<std::uint64_t>(failure::none)) raise(static_cast<failure>(l.kind), l.sentence);
  throw communication_error("partita: an agreement failed for a reason that no worker gave");
}

PARTITA_DEF text describe_unequal_checks(std::uint64_t first, std::size_t worker, std::uint64_t other) {
  const auto name = [](std::uint64_t level) {
    return static_cast<checks>(level) == checks::local ? "checks::local" : "checks::agree";
  };
  return text("partita::world: requires one level of checks on all workers, got ")
         << name(first) << " on worker 0 and " << name(other) << " on worker " << worker
         << "; give every worker of a world the same";
}

PARTITA_DEF text describe_unequal_settings(const compiled_setting& one, const compiled_setting& other) {
  return text("partita::world: requires programs that were compiled in one way on all workers, got ")
         << one.value << " on worker " << one.worker << " and " << other.value << " on worker " << other.worker
         << "; compile the programs of all workers with the same headers and the same options";
}

}  // namespace partita::detail
