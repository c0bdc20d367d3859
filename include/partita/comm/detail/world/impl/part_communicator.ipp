// Defines the functions that comm/detail/world/part_communicator.hpp declares.
#pragma once

#include <memory>
#include <partita/comm/detail/world/part_communicator.hpp>
#include <vector>

namespace partita::detail {

PARTITA_DEF MPI_Comm private_duplicate(MPI_Comm given) {
  MPI_Request request = MPI_REQUEST_NULL;
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  check(MPI_Comm_idup(given, made.get(), &request), "MPI_Comm_idup");
  finish_collective(request, made);
  return *made;
}

PARTITA_DEF text describe_part(const workers& chosen) {
  text all("partita::world::part(workers) of ");
  if (chosen.is_range()) return all << "workers(" << chosen[0] << ", " << chosen[0] + chosen.size() << ")";
  return all << chosen.size() << " workers from " << chosen[0] << " to " << chosen[chosen.size() - 1];
}

PARTITA_DEF std::uint64_t part_fingerprint(const workers& chosen) {
  hasher ids(0x70617274U);  // "part": a seed that differs from those of other calls
  for (std::size_t k = 0; k < chosen.size(); ++k) ids.mix(chosen[k]);
  return ids.value();
}

/// Whether all chosen workers make this call with the same choice. If not, MPI_Comm_create_group would hang.
PARTITA_DECL bool have_equal_choices(MPI_Comm everyone, std::size_t id, const workers& chosen,
                                     std::uint64_t fingerprint) {
  constexpr int tag = 31000;  // above the tags of kernels, below the least upper bound that MPI guarantees (32767)
  struct message_words {
    std::uint64_t sent, received = 0;  ///< the word that this worker sends, or receives
  };
  const auto send_or_receive_word = [&](bool receives, std::size_t partner, std::uint64_t sent_word) {
    auto words = std::make_unique<message_words>(message_words{sent_word});
    MPI_Request request = MPI_REQUEST_NULL;
    const auto other = static_cast<int>(partner);
    if (receives) check(MPI_Irecv(&words->received, 1, MPI_UINT64_T, other, tag, everyone, &request), "MPI_Irecv");
    else check(MPI_Isend(&words->sent, 1, MPI_UINT64_T, other, tag, everyone, &request), "MPI_Isend");
    finish_collective(request, words);
    return words->received;
  };
  constexpr std::uint64_t agreed = 1, no = 2;
  std::size_t lowest = chosen[0];  // the same on all chosen workers, even if they list the workers in different orders
  for (std::size_t k = 1; k < chosen.size(); ++k) lowest = chosen[k] < lowest ? chosen[k] : lowest;
  // The lowest worker compares the fingerprints of all chosen workers and sends them the result.
  if (id != lowest) {
    send_or_receive_word(false, lowest, fingerprint);
    return send_or_receive_word(true, lowest, 0) == agreed;
  }
  bool alike = true;
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (chosen[k] != id) alike = send_or_receive_word(true, chosen[k], 0) == fingerprint && alike;
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (chosen[k] != id) send_or_receive_word(false, chosen[k], alike ? agreed : no);
  return alike;
}

PARTITA_DEF MPI_Comm part_communicator(MPI_Comm everyone, std::size_t id, const workers& chosen) {
  constexpr int tag = 31001;
  if (!have_equal_choices(everyone, id, chosen, part_fingerprint(chosen)))
    throw disagreement_error(text("partita: workers make different calls: worker ")
                             << id << " makes " << describe_part(chosen)
                             << ", another makes a part of other workers; all workers of a part name the same, in "
                                "the same order");
  std::vector<int> ids(chosen.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<int>(chosen[k]);
  MPI_Group all = MPI_GROUP_NULL, part = MPI_GROUP_NULL;
  check(MPI_Comm_group(everyone, &all), "MPI_Comm_group");
  check(MPI_Group_incl(all, static_cast<int>(ids.size()), ids.data(), &part), "MPI_Group_incl");
  MPI_Comm made = MPI_COMM_NULL;
  const int result = MPI_Comm_create_group(everyone, part, tag, &made);
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  check(result, "MPI_Comm_create_group");
  return made;
}

}  // namespace partita::detail
