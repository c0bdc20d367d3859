// All shardings of a tensor on a mesh, and the meshes that fit on the workers of a test.
#pragma once

#include <mpi_test.hpp>
#include <partita/rule/sharding/sharding.hpp>
#include <random>
#include <vector>

namespace test {

/// Meshes with one and two axes and at most as many places as there are workers, and one with three axes on even
/// numbers of workers from 4 on.
inline std::vector<partita::mesh> meshes(std::size_t workers) {
  using partita::axis, partita::mesh;
  std::vector<mesh> all{mesh{axis{"a", workers}}};
  for (std::size_t a = 1; a <= workers; ++a)
    for (std::size_t b = 1; a * b <= workers; ++b)
      if (a * b + 1 >= workers) all.push_back(mesh{axis{"a", a}, axis{"b", b}});
  if (const bool by_four = workers % 4 == 0; workers >= 4 && workers % 2 == 0)
    all.push_back(mesh{axis{"a", 2}, axis{"b", by_four ? workers / 4 : std::size_t{1}},
                       axis{"c", by_four ? std::size_t{2} : std::size_t{3}}});
  return all;
}

/// Every sharding of this rank: each axis shards a dimension (in any order of its axes), replicates, or has a pending
/// reduction.
inline std::vector<partita::sharding> layouts(const partita::mesh& m, std::size_t rank,
                                              partita::pending_reduction kind = partita::pending_reduction::sum) {
  std::vector<partita::sharding> all{partita::sharding(m, rank)};
  for (std::size_t a = 0; a < m.rank(); ++a) {
    const auto before = all;
    for (const partita::sharding& s : before) {
      all.push_back(s.partial(a, kind));
      for (std::size_t d = 0; d < rank; ++d) {
        for (std::size_t at = 0; at <= s[d].size(); ++at) {
          partita::axis_list order;
          for (std::size_t k = 0; k < s[d].size(); ++k) {
            if (k == at) order.push_back(a);
            order.push_back(s[d][k]);
          }
          if (at == s[d].size()) order.push_back(a);
          all.push_back(s.cut(d, order));
        }
      }
    }
  }
  return all;
}

inline partita::shape_list random_extents(std::mt19937& random, std::size_t rank, std::size_t most = 7) {
  partita::shape_list e;
  for (std::size_t d = 0; d < rank; ++d) e.push_back(random() % 6 == 0 ? 1 : random() % (most + 1));
  return e;
}

/// A number for every index; neighbouring indices have different numbers.
inline long long numbered(const partita::short_list<std::size_t>& index, long long salt = 0) {
  long long n = salt;
  for (const std::size_t i : index) n = 10 * n + static_cast<long long>(i) + 1;
  return n;
}

}  // namespace test
