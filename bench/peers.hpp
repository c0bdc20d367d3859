// The peers of the kernel repartition: schemes in plain MPI, and libraries that Debian packages. Each peer is set up
// once for a case and then called repeatedly.
#pragma once

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#if defined(BENCH_FFTW)
#include <fftw3-mpi.h>
#endif

namespace bench {

using shape = std::vector<std::size_t>;

inline std::size_t volume(const shape& s) {
  std::size_t v = 1;
  for (std::size_t n : s) v *= n;
  return v;
}

/// A repartition of one tensor of floats from the balanced blocks of one grid of workers to those of another grid.
struct problem {
  shape extents, from, to;
  bool transposed = false;  ///< whether dimensions 0 and 1 are swapped; `to` is the grid of the result
};

/// A box of indices, [start, stop) along each dimension.
struct span {
  shape start, stop;
  shape size() const {
    shape s(start.size());
    for (std::size_t d = 0; d < s.size(); ++d) s[d] = stop[d] > start[d] ? stop[d] - start[d] : 0;
    return s;
  }
};

inline span block_of(const shape& extents, const shape& grid, std::size_t worker) {
  span b{shape(grid.size()), shape(grid.size())};
  if (worker >= volume(grid)) return b;
  for (std::size_t d = grid.size(); d-- > 0;) {
    const std::size_t k = worker % grid[d], n = extents[d], p = grid[d], q = n / p, r = n % p;
    worker /= grid[d];
    b.start[d] = k * q + std::min(k, r);
    b.stop[d] = b.start[d] + q + (k < r ? 1 : 0);
  }
  return b;
}

inline span common(const span& a, const span& b) {
  span c = a;
  for (std::size_t d = 0; d < a.start.size(); ++d) {
    c.start[d] = std::max(a.start[d], b.start[d]);
    c.stop[d] = std::max(c.start[d], std::min(a.stop[d], b.stop[d]));
  }
  return c;
}

/// The data that moves between this worker and worker k: the box, and the MPI datatypes that select it on both sides.
struct transfer {
  int worker;
  std::size_t elements;
  MPI_Datatype type;
};

inline std::vector<transfer> transfers(const problem& p, const shape& own_grid, const shape& other_grid, int me,
                                       int n) {
  std::vector<transfer> all_transfers;
  const span own = block_of(p.extents, own_grid, static_cast<std::size_t>(me));
  for (int k = 0; k < n; ++k) {
    const span box = common(own, block_of(p.extents, other_grid, static_cast<std::size_t>(k)));
    const std::size_t elements = volume(box.size());
    if (elements == 0) continue;
    std::vector<int> sizes, part, start;
    for (std::size_t d = 0; d < p.extents.size(); ++d) {
      sizes.push_back(static_cast<int>(own.size()[d]));
      part.push_back(static_cast<int>(box.size()[d]));
      start.push_back(static_cast<int>(box.start[d] - own.start[d]));
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), part.data(), start.data(), MPI_ORDER_C,
                             MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    all_transfers.push_back({k, elements, type});
  }
  return all_transfers;
}

using call = std::function<void(const float* x, float* y)>;

/// Sends the same bytes between the same workers, but from and to contiguous memory: the cost of MPI alone. No block is
/// repartitioned.
inline call raw_contiguous(const problem& p, int me, int n) {
  auto sends = transfers(p, p.from, p.to, me, n), receives = transfers(p, p.to, p.from, me, n);
  return [=](const float* x, float* y) {
    std::vector<MPI_Request> requests;
    std::size_t at = 0;
    for (const auto& m : receives) {
      if (m.worker != me)
        MPI_Irecv(y + at, static_cast<int>(m.elements), MPI_FLOAT, m.worker, 1, MPI_COMM_WORLD,
                  &requests.emplace_back());
      at += m.elements;
    }
    at = 0;
    const float* kept = nullptr;
    std::size_t size = 0, to = 0;
    for (const auto& m : sends) {
      if (m.worker != me)
        MPI_Isend(x + at, static_cast<int>(m.elements), MPI_FLOAT, m.worker, 1, MPI_COMM_WORLD,
                  &requests.emplace_back());
      else kept = x + at, size = m.elements;
      at += m.elements;
    }
    at = 0;
    for (const auto& m : receives) {
      if (m.worker == me) to = at;
      at += m.elements;
    }
    if (kept != nullptr) std::memcpy(y + to, kept, size * sizeof(float));
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  };
}

/// Point-to-point messages with derived datatypes, directly from and to the blocks.
inline call raw_types(const problem& p, int me, int n) {
  auto sends = transfers(p, p.from, p.to, me, n), receives = transfers(p, p.to, p.from, me, n);
  return [=](const float* x, float* y) {
    std::vector<MPI_Request> requests;
    for (const auto& m : receives) MPI_Irecv(y, 1, m.type, m.worker, 2, MPI_COMM_WORLD, &requests.emplace_back());
    for (const auto& m : sends) MPI_Isend(x, 1, m.type, m.worker, 2, MPI_COMM_WORLD, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  };
}

/// COSTA's scheme in plain MPI: pack, send, receive, unpack, with one message for each pair of workers.
inline call raw_packed(const problem& p, int me, int n) {
  auto sends = transfers(p, p.from, p.to, me, n), receives = transfers(p, p.to, p.from, me, n);
  std::size_t out = 0, in = 0;
  for (const auto& m : sends) out += m.elements;
  for (const auto& m : receives) in += m.elements;
  auto packed = std::make_shared<std::vector<float>>(out + in);
  return [=](const float* x, float* y) {
    std::vector<MPI_Request> requests;
    float* const arrived = packed->data() + out;
    std::size_t at = 0;
    for (const auto& m : receives) {
      if (m.worker != me)
        MPI_Irecv(arrived + at, static_cast<int>(m.elements), MPI_FLOAT, m.worker, 3, MPI_COMM_WORLD,
                  &requests.emplace_back());
      at += m.elements;
    }
    at = 0;
    MPI_Datatype own_send_type = MPI_DATATYPE_NULL, own_receive_type = MPI_DATATYPE_NULL;
    for (const auto& m : sends) {
      if (m.worker == me) {
        own_send_type = m.type;
      } else {
        int position = 0;
        const int bytes = static_cast<int>(m.elements * sizeof(float));
        MPI_Pack(x, 1, m.type, packed->data() + at, bytes, &position, MPI_COMM_WORLD);
        MPI_Isend(packed->data() + at, static_cast<int>(m.elements), MPI_FLOAT, m.worker, 3, MPI_COMM_WORLD,
                  &requests.emplace_back());
      }
      at += m.elements;
    }
    for (const auto& m : receives)
      if (m.worker == me) own_receive_type = m.type;
    if (own_send_type != MPI_DATATYPE_NULL)
      MPI_Sendrecv(x, 1, own_send_type, 0, 4, y, 1, own_receive_type, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    at = 0;
    for (const auto& m : receives) {
      int position = 0;
      const int bytes = static_cast<int>(m.elements * sizeof(float));
      if (m.worker != me) MPI_Unpack(arrived + at, bytes, &position, y, 1, m.type, MPI_COMM_WORLD);
      at += m.elements;
    }
  };
}

/// mpi4py-fft's scheme: one MPI_Alltoallw with subarray types.
inline call raw_alltoallw(const problem& p, int me, int n) {
  auto sends = transfers(p, p.from, p.to, me, n), receives = transfers(p, p.to, p.from, me, n);
  const auto size = static_cast<std::size_t>(n);
  std::vector<int> send_counts(size, 0), receive_counts(size, 0), zero(size, 0);
  std::vector<MPI_Datatype> send_types(size, MPI_FLOAT), receive_types(size, MPI_FLOAT);
  for (const auto& m : sends)
    send_counts[static_cast<std::size_t>(m.worker)] = 1, send_types[static_cast<std::size_t>(m.worker)] = m.type;
  for (const auto& m : receives)
    receive_counts[static_cast<std::size_t>(m.worker)] = 1, receive_types[static_cast<std::size_t>(m.worker)] = m.type;
  return [=](const float* x, float* y) {
    MPI_Alltoallw(x, send_counts.data(), zero.data(), send_types.data(), y, receive_counts.data(), zero.data(),
                  receive_types.data(), MPI_COMM_WORLD);
  };
}

#if defined(BENCH_SCALAPACK)
extern "C" {
void Cblacs_get(int, int, int*);
void Cblacs_gridmap(int*, int*, int, int, int);
void Cpsgemr2d(int, int, float*, int, int, int*, float*, int, int, int*, int);
}

/// Whether ScaLAPACK supports the problem: matrices in complete blocks of one size, on all workers.
inline bool scalapack_supports(const problem& p, int n) {
  if (p.transposed || p.extents.size() != 2) return false;
  for (const shape& grid : {p.from, p.to})
    if (volume(grid) != static_cast<std::size_t>(n) || p.extents[0] % grid[0] != 0 || p.extents[1] % grid[1] != 0)
      return false;
  return true;
}

/// ScaLAPACK's psgemr2d. A row-major block is a column-major block of the transpose, on the transposed grid.
inline call scalapack(const problem& p, int me, int n) {
  const auto descriptor = [&](const shape& grid) {
    int context = 0;
    Cblacs_get(0, 0, &context);
    std::vector<int> map(volume(grid));
    for (std::size_t i = 0; i < grid[0]; ++i)  // the worker at (j, i) of the transposed grid, column-major
      for (std::size_t j = 0; j < grid[1]; ++j) map[i * grid[1] + j] = static_cast<int>(i * grid[1] + j);
    Cblacs_gridmap(&context, map.data(), static_cast<int>(grid[1]), static_cast<int>(grid[1]),
                   static_cast<int>(grid[0]));
    const auto up = [](std::size_t a, std::size_t b) { return static_cast<int>((a + b - 1) / b); };
    const span own = block_of(p.extents, grid, static_cast<std::size_t>(me));
    return std::vector<int>{1,
                            context,
                            static_cast<int>(p.extents[1]),
                            static_cast<int>(p.extents[0]),
                            up(p.extents[1], grid[1]),
                            up(p.extents[0], grid[0]),
                            0,
                            0,
                            std::max(1, static_cast<int>(own.size()[1]))};
  };
  std::vector<int> from = descriptor(p.from), to = descriptor(p.to), all = descriptor({1, static_cast<std::size_t>(n)});
  return [=](const float* x, float* y) mutable {
    Cpsgemr2d(from[2], from[3], const_cast<float*>(x), 1, 1, from.data(), y, 1, 1, to.data(), all[1]);
  };
}
#endif

#if defined(BENCH_FFTW)
/// FFTW's transpose of row slabs, with a plan made by FFTW_MEASURE, which overwrites both blocks.
inline call fftw(const problem& p, float* x, float* y) {
  fftwf_mpi_init();
  const fftwf_plan plan = fftwf_mpi_plan_transpose(
      static_cast<ptrdiff_t>(p.extents[0]), static_cast<ptrdiff_t>(p.extents[1]), x, y, MPI_COMM_WORLD, FFTW_MEASURE);
  return [plan](const float*, float*) { fftwf_execute(plan); };
}
#endif

}  // namespace bench
