// Sparse matrices in Matrix Market files, which SciPy, PETSc's converters, MATLAB and Julia also read and write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/comm/facts.hpp>
#include <partita/core/config.hpp>
#include <partita/io/detail/file_in_common.hpp>
#include <partita/io/detail/new_file.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace partita {
namespace detail {

/// What the first lines of a Matrix Market file say, or what is wrong with them.
struct market_header {
  enum class symmetry : unsigned char { general, symmetric, skew };
  std::size_t rows = 0, columns = 0, entries = 0;  // entries: lines of the file
  std::size_t data_at = 0;                         // where the first line of an entry begins
  bool is_pattern = false;
  symmetry kind = symmetry::general;
  text problem;
};
/// Reads the first lines; `is_whole` says that the file has no more bytes than these. Without a problem and with
/// data_at 0 the lines have not ended.
PARTITA_DECL market_header parse_market_header(const std::string& bytes, bool is_whole);
/// Appends the entries of whole lines, with the mirrored ones of a symmetric matrix, and adds to the number of lines.
/// Returns what is wrong with a line.
PARTITA_DECL text parse_market_entries(const market_header& header, const std::string& lines,
                                       std::vector<triplet<double>>& entries, std::size_t& count);

/// A part of a file: the entries whose lines begin in the range of bytes of this worker.
struct market_part {
  market_header header;
  std::vector<triplet<double>> entries;
};
/// Collective.
PARTITA_DECL market_part read_market(const file_call& call, const std::string& path);
/// Writes entries, those of worker 0 first. Collective.
PARTITA_DECL void write_market(const file_call& call, const std::string& path, std::size_t rows, std::size_t columns,
                               const std::vector<triplet<double>>& entries);

}  // namespace detail

/// Reads a Matrix Market file as a sparse matrix: `auto a = load_matrix_market<double>("mesh.mtx", everyone);`. Rows
/// and columns are cut in balance over the workers. Collective.
/// Shapes:   the extents that the file says. A symmetric or skew-symmetric matrix gets both of its triangles, a pattern
///           the values 1; entries of one place are added up.
/// Requires: a complete, readable file of the same name on all workers, in coordinate format, real, integer or pattern,
///           general, symmetric or skew-symmetric [io_error, on all workers].
/// Cost:     each worker reads and parses an equal share of the bytes; then that of the constructor of csr_matrix.
/// Adjoint:  none; save_matrix_market is the inverse.
template <class T>
csr_matrix<T> load_matrix_market(const std::string& path, const world& everyone) {
  static_assert(std::is_floating_point_v<T>,
                "partita::load_matrix_market<T>(path, everyone): requires float or double, as the files have decimal "
                "numbers");
  return detail::one_call(*everyone.state(), [&] {
    const detail::file_call call(everyone, 0, text("partita::load_matrix_market(\"") << path.c_str() << "\", everyone)",
                                 detail::call_number() << detail::type_number<T>());
    const detail::market_part part = detail::read_market(call, path);
    std::vector<triplet<T>> entries;
    for (const auto& entry : part.entries) entries.push_back({entry.row, entry.column, static_cast<T>(entry.value)});
    const std::size_t workers = everyone.size(), id = everyone.id();
    return csr_matrix<T>(everyone, balanced_part(part.header.rows, workers, id),
                         balanced_part(part.header.columns, workers, id), entries);
  });
}

/// Writes a sparse matrix as one Matrix Market file, coordinate real general, in ascending order of rows and columns,
/// in numbers that are read back as the same bits: `save_matrix_market("a.mtx", everyone, a);`. Collective.
/// Requires: the world of the matrix; finite values; a place to write [io_error]. Errors are thrown on all workers, and
///           then the old file, if there was one, is intact.
/// Cost:     each worker writes the lines of its rows at the same time. Memory for these lines.
/// Adjoint:  none; load_matrix_market is the inverse.
template <class T>
void save_matrix_market(const std::string& path, const world& everyone, const csr_matrix<T>& a) {
  static_assert(std::is_floating_point_v<T>,
                "partita::save_matrix_market(path, everyone, a): requires a matrix of float or double, as the files "
                "have decimal numbers");
  detail::one_call(*everyone.state(), [&] {
    const detail::file_call call(everyone, 0,
                                 text("partita::save_matrix_market(\"") << path.c_str() << "\", everyone, a)",
                                 detail::call_number() << detail::type_number<T>());
    std::vector<triplet<double>> entries;
    for (const auto& entry : a.triplets()) entries.push_back({entry.row, entry.column, entry.value});
    detail::unwound([&] { detail::write_market(call, path, a.rows().stop, a.columns().stop, entries); });
  });
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/matrix_market.ipp>
#endif
