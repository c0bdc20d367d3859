// Reads and writes sparse matrices as Matrix Market files, which SciPy, PETSc's converters, MATLAB and Julia also use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/comm/facts.hpp>
#include <partita/core/config.hpp>
#include <partita/io/detail/common_file.hpp>
#include <partita/io/detail/new_file.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace partita {
namespace detail {

/// The header in the first lines of a Matrix Market file. The text `error_message` describes an error in these lines.
struct market_header {
  enum class symmetry : unsigned char { general, symmetric, skew };  ///< skew: a(j, i) is -a(i, j)
  std::size_t rows = 0, columns = 0, entries = 0;  ///< entries: how many lines of entries the file has
  std::size_t data_at = 0;                         ///< the offset in the file of the first line of entries
  bool has_no_values = false;                      ///< whether the file is a pattern: all values are 1
  symmetry kind = symmetry::general;  ///< if it is not `general`, the file has only one triangle of the matrix
  text error_message;                 ///< what is wrong with the header, or empty
};
/// Parses the header in the first bytes of a file; `is_whole` says that the file has no more bytes. If `error_message`
/// is empty and `data_at` is 0, the header has more bytes than `bytes`.
PARTITA_DECL market_header parse_market_header(const std::string& bytes, bool is_whole);
/// Parses whole lines: appends their entries, and for a symmetric matrix the mirrored entries, to `entries`, and adds
/// the number of lines that are not blank to `count`. Returns an error message if a line is wrong, else an empty text.
PARTITA_DECL text parse_market_entries(const market_header& header, const std::string& lines,
                                       std::vector<triplet<double>>& entries, std::size_t& count);

/// The header of a file, and the entries whose lines begin in this worker's range of bytes.
struct market_entries {
  market_header header;                  ///< the header of the file
  std::vector<triplet<double>> entries;  ///< the entries of this worker's lines, with the mirrored entries
};
/// Reads the entries whose lines begin in this worker's balanced range of the bytes of a file. Collective.
PARTITA_DECL market_entries read_market(const file_call& call, const std::string& path);
/// Writes the entries of all workers to a file, in the order of the workers. Collective.
PARTITA_DECL void write_market_together(const file_call& call, const std::string& path, std::size_t rows,
                                        std::size_t columns, const std::vector<triplet<double>>& entries);

}  // namespace detail

/// Reads a Matrix Market file as a sparse matrix, as in `auto a = load_matrix_market<double>("mesh.mtx", everyone);`.
/// Rows and columns are split over the workers in balanced parts. Collective.
/// Shapes:   the result has the extents in the file. The result has both triangles of a symmetric or skew-symmetric
///           matrix, and the values 1 for a pattern; entries of the same row and column are added.
/// Requires: a complete, readable file of the same name on all workers, in coordinate format, real, integer or pattern,
///           general, symmetric or skew-symmetric [io_error, on all workers].
/// Cost:     each worker reads and parses an equal share of the bytes; then the constructor of csr_matrix makes two
///           exchanges.
/// Adjoint:  none; save_matrix_market is the inverse.
template <class T>
csr_matrix<T> load_matrix_market(const std::string& path, const world& everyone) {
  static_assert(std::is_floating_point_v<T>,
                "partita::load_matrix_market<T>(path, everyone): requires float or double, as the files have decimal "
                "numbers");
  return detail::one_call(*everyone.state(), [&] {
    const detail::file_call call(everyone, 0, text("partita::load_matrix_market(\"") << path.c_str() << "\", everyone)",
                                 detail::argument_hash() << detail::type_number<T>());
    const detail::market_entries part = detail::read_market(call, path);
    std::vector<triplet<T>> entries;
    for (const auto& entry : part.entries) entries.push_back({entry.row, entry.column, static_cast<T>(entry.value)});
    const std::size_t workers = everyone.size(), id = everyone.id();
    return csr_matrix<T>(everyone, balanced_part(part.header.rows, workers, id),
                         balanced_part(part.header.columns, workers, id), entries);
  });
}

/// Writes a sparse matrix as one Matrix Market file (coordinate real general), in ascending order of rows and columns,
/// with enough digits that load_matrix_market returns the same values: `save_matrix_market("a.mtx", everyone, a);`.
/// Collective.
/// Requires: the world of the matrix; finite values; a place to write [io_error]. Errors are thrown on all workers, and
///           then the old file, if there was one, is intact, unless the error says that the new file is written.
/// Cost:     all workers write the lines of their rows at the same time. Each worker needs memory for its text.
/// Adjoint:  none; load_matrix_market is the inverse.
template <class T>
void save_matrix_market(const std::string& path, const world& everyone, const csr_matrix<T>& a) {
  static_assert(std::is_floating_point_v<T>,
                "partita::save_matrix_market(path, everyone, a): requires a matrix of float or double, as the files "
                "have decimal numbers");
  detail::one_call(*everyone.state(), [&] {
    const detail::file_call call(everyone, 0,
                                 text("partita::save_matrix_market(\"") << path.c_str() << "\", everyone, a)",
                                 detail::argument_hash() << detail::type_number<T>());
    std::vector<triplet<double>> entries;
    for (const auto& entry : a.triplets()) entries.push_back({entry.row, entry.column, entry.value});
    detail::call_with_unwinding(
        [&] { detail::write_market_together(call, path, a.rows().stop, a.columns().stop, entries); });
  });
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/matrix_market.ipp>
#endif
