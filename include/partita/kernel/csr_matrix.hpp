// Sparse matrices in compressed-row storage (CSR), whose rows are distributed over the workers. A product with a vector
// makes one index exchange.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/core/version.hpp>
#include <partita/kernel/detail/compressed_rows.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/kernel/send_to.hpp>
#include <utility>
#include <vector>

namespace partita {

/// An entry of a sparse matrix: row, column and value.
template <class T>
struct triplet {
  std::size_t row = 0, column = 0;  ///< the global indices of the entry
  T value{};                        ///< values with equal indices are added up
};

}  // namespace partita

template <class T>
inline constexpr bool partita::moves_as_bytes<partita::triplet<T>> = true;

namespace partita {

/// A sparse matrix, as in `csr_matrix<double> a(everyone, rows, columns, entries); auto y = a(x);`. Each worker owns a
/// range of rows, and a range of columns (elements of x). Entries may be given on any worker; entries with equal row
/// and column are added up.
/// Shapes:   x is a block of rank 1 with an element for each column of this worker, or of rank 2 with a row for each
///           column of this worker, to multiply several vectors at once; y has the rank of x, and an element or a row
///           for each matrix row of this worker.
/// Requires: ranges of rows and of columns that begin at 0 and follow each other in the order of the workers; entries
///           inside the matrix; at most 2^32 columns on a worker, and at most 2^32 columns of other workers in its
///           rows; blocks of T of these extents [shape_error]; equally many vectors on all workers
///           [disagreement_error]; each error is thrown on all workers.
/// Cost:     a product makes one index exchange, in which a worker receives each needed element of x of other workers
///           once, while it multiplies its own elements of x. The constructor sends the entries to the owners of their
///           rows, and makes an index_exchange.
/// Adjoint:  the product with the transposed matrix (not conjugated); values_adjoint is the adjoint with respect to the
///           values of the entries.
template <class T>
class csr_matrix {
  static_assert(element_in_place<T> && summable_element<T>,
                "partita::csr_matrix<T>: requires numbers that can be summed, as double or std::complex<double>");

 public:
  /// Collective. `rows` and `columns` are the ranges of rows and columns that belong to this worker.
  csr_matrix(const world& everyone, const interval& rows, const interval& columns,
             const std::vector<triplet<T>>& entries)
      : rows_(rows),
        columns_(columns),
        index_exchange_(detail::one_call(*everyone.state(), [&] { return make_index_exchange(everyone, entries); })) {}
  PARTITA_FALLBACK_CONSTRUCTOR(csr_matrix) {
    static_assert(detail::dependent_false<T, Given...>,
                  "partita::csr_matrix<T>(everyone, rows, columns, entries): requires the world, the rows and columns "
                  "of this worker as {first, last}, and a list of {row, column, value}, in this order");
  }

  template <class X>
  auto operator()(const X& x) const {
    if constexpr (accepts_block<X>()) return product_and_ghosts(x).first;
    else return detail::rejected_call();
  }
  /// Returns the product, and the received elements of x of other workers: `auto [y, ghosts] =
  /// a.product_and_ghosts(x);`.
  template <class X>
  auto product_and_ghosts(const X& x) const {
    if constexpr (accepts_block<X>()) {
      const auto& own = copy_row_major(x);
      auto y = zeros<rank_of<X>>(rows_.size(), own.shape());
      auto later = index_exchange_.start(own);
      const std::size_t width = detail::row_elements(own.shape());
      if (own.shape(0) == columns_.size()) own_entries_.multiply(own.data(), y.data(), width);
      auto ghosts = later.finish();
      ghost_entries_.multiply(ghosts.data(), y.data(), width);
      return std::pair(std::move(y), std::move(ghosts));
    } else {
      return detail::rejected_call();
    }
  }
  template <class X>
  PARTITA_FORMER_NAME("use product_and_ghosts")
  auto with_ghosts(const X& x) const {  ///< the former name of product_and_ghosts
    return product_and_ghosts(x);
  }

  template <class Y>
  auto adjoint(const Y& dy) const {  ///< the product with the transposed matrix, not conjugated
    if constexpr (accepts_block<Y>()) {
      const xt::xtensor<T, rank_of<Y>> given = dy;
      const std::size_t width = detail::row_elements(given.shape());
      text error_message;
      if (given.shape(0) != rows_.size())
        error_message << call_texts.call
                      << ".adjoint(dy): requires a block with a row for each row that its worker owns, " << rows_.size()
                      << ", got a block of " << given.shape() << "; dimension 0 numbers the rows";
      auto others = zeros<rank_of<Y>>(ghost_count(), given.shape()),
           x = zeros<rank_of<Y>>(columns_.size(), given.shape());
      if (error_message.empty()) ghost_entries_.multiply_transposed(given.data(), others.data(), width);
      auto later =
          detail::kernel_access::start_adjoint(index_exchange_, others, error_message, detail::nothing_to_fill());
      own_entries_.multiply_transposed(given.data(), x.data(), width);
      x += later.finish();
      return x;
    } else {
      return detail::rejected_call();
    }
  }

  /// The gradient with respect to the values: for each entry (i, j) of this worker's rows the product of dy(i) and
  /// x(j), summed over the vectors if there are several; in the order of values(). Collective. Cost: one index
  /// exchange, or none if the ghosts of x are passed, too.
  template <class X, class Y>
  auto values_adjoint(const X& x, const Y& dy) const {
    if constexpr (accepts_block<X>() && accepts_block<Y>()) {
      const xt::xtensor<T, rank_of<X>> own = x;
      const xt::xtensor<T, rank_of<Y>> given = dy;
      const auto ghosts =
          detail::kernel_access::call(index_exchange_, own, block_error(own.shape(), ghost_count(), given.shape()));
      return values_adjoint_of_blocks(own, ghosts, given);
    } else {
      return detail::rejected_call();
    }
  }
  /// The gradient with respect to the values, without an index exchange: product_and_ghosts(x) has returned `ghosts`.
  template <class X, class Ghosts, class Y>
  auto values_adjoint(const X& x, const Ghosts& ghosts, const Y& dy) const {
    if constexpr (accepts_block<X>() && accepts_block<Ghosts>() && accepts_block<Y>()) {
      const xt::xtensor<T, rank_of<X>> own = x;
      const xt::xtensor<T, rank_of<Ghosts>> others = ghosts;
      const xt::xtensor<T, rank_of<Y>> given = dy;
      const bool fits = detail::row_elements(others.shape()) == detail::row_elements(own.shape());
      detail::kernel_access::throw_together(
          index_exchange_, block_error(own.shape(), fits ? others.shape(0) : ghost_count() + 1, given.shape()));
      return values_adjoint_of_blocks(own, others, given);
    } else {
      return detail::rejected_call();
    }
  }

  /// The values of the entries of this worker's rows, in ascending order of rows and then of columns.
  xt::xtensor<T, 1> values() const {
    auto all = zeros<1>(entries(), std::array<std::size_t, 1>());
    auto to = all.begin();
    for_each_entry(*this, [&](std::size_t, const auto& part, std::size_t k) { *to++ = part.values[k]; });
    return all;
  }
  /// Replaces the values of the entries of this worker's rows, in the order of values(). Collective. Requires: a number
  /// for each of these entries [shape_error, on all workers].
  template <class V>
  void set_values(const V& values) {
    if constexpr (accepts_block<V>()) {
      const xt::xtensor<T, rank_of<V>> given = values;
      text error_message;
      if (given.size() != entries())
        error_message << call_texts.call
                      << ".set_values(v): requires a number for each entry of the rows of its worker, " << entries()
                      << ", got a block of " << given.shape() << "; values() has them in the same order";
      detail::kernel_access::throw_together(index_exchange_, error_message);
      auto from = given.begin();
      for_each_entry(*this, [&](std::size_t, auto& part, std::size_t k) { part.values[k] = *from++; });
    }
  }
  /// The entries of this worker's rows, in the order of values().
  std::vector<triplet<T>> triplets() const {
    std::vector<triplet<T>> all;
    for_each_entry(*this, [&](std::size_t row, const auto& part, std::size_t k) {
      const std::size_t column = part.columns[k];
      all.push_back({rows_.start + row, &part == &own_entries_ ? columns_.start + column : ghost_columns_[column],
                     part.values[k]});
    });
    return all;
  }

  const interval& rows() const { return rows_; }        ///< The rows of this worker.
  const interval& columns() const { return columns_; }  ///< The columns of this worker.
  /// The number of entries in the rows of this worker.
  std::size_t entries() const { return own_entries_.values.size() + ghost_entries_.values.size(); }
  /// The index exchange by which products receive the needed elements of x from the workers that own them.
  const index_exchange& exchange() const { return index_exchange_; }

 private:
  friend struct detail::kernel_access;
  void throw_together_(const text& error_message) const {  ///< throws a worker's error on all; at checks::local its own
    detail::kernel_access::throw_together(index_exchange_, error_message);
  }

  /// Texts for the error messages of the index exchange.
  static constexpr detail::index_call_texts call_texts{"partita::csr_matrix(everyone, rows, columns, entries)",
                                                       "column that its worker owns",
                                                       "column of other workers that its rows have"};

  template <class S, std::size_t N, class Tag>
  using row_major_tensor = xt::xtensor_container<S, N, xt::layout_type::row_major, Tag>;  ///< used without a copy

  template <class X>
  static consteval bool accepts_block() {  ///< whether X is a block of rank 1 or 2 with elements T
    static_assert(
        detail::has_rank<X, 1>() || detail::has_rank<X, 2>(),
        "partita::csr_matrix<T>(...)(x), .adjoint(dy): requires an xtensor expression of rank 1, or of rank 2 "
        "for several vectors; as_rank<1>(v) gives it to a std::vector");
    if constexpr (detail::has_rank<X, 1>() || detail::has_rank<X, 2>()) {
      static_assert(std::is_same_v<element_of<X>, T>,
                    "partita::csr_matrix<T>(...)(x), .adjoint(dy): requires elements of type T; xt::cast<T>(x) makes "
                    "them");
      return std::is_same_v<element_of<X>, T>;
    } else {
      return false;
    }
  }
  /// Makes a row-major tensor of an expression; a row-major tensor is used in place.
  template <class X>
  static decltype(auto) copy_row_major(const X& x) {
    if constexpr (requires { []<class S, std::size_t N, class Tag>(const row_major_tensor<S, N, Tag>*) {}(&x); })
      return (x);
    else return xt::xtensor<T, rank_of<X>>(x);
  }
  /// A block of zeros with `rows` rows; dimensions 1 and higher have the extents in `shape`.
  template <std::size_t Rank, class Shape>
  static xt::xtensor<T, Rank> zeros(std::size_t rows, Shape shape) {
    shape[0] = rows;
    return xt::zeros<T>(shape);
  }
  std::size_t ghost_count() const { return ghost_columns_.size(); }  ///< the number of columns in ghost_columns_

  /// Calls f(row, part, k) for all entries in ascending order; part is own_entries_ or ghost_entries_, k is the number
  /// of the entry in that part, and row is counted from this worker's first row.
  template <class Matrix, class F>
  static void for_each_entry(Matrix& a, F f) {
    std::size_t own = 0, other = 0;
    for (std::size_t i = 0; i < a.rows_.size(); ++i) {
      for (; other < a.ghost_entries_.row_starts[i + 1] &&
             a.ghost_columns_[a.ghost_entries_.columns[other]] < a.columns_.start;
           ++other)
        f(i, a.ghost_entries_, other);
      for (; own < a.own_entries_.row_starts[i + 1]; ++own) f(i, a.own_entries_, own);
      for (; other < a.ghost_entries_.row_starts[i + 1]; ++other) f(i, a.ghost_entries_, other);
    }
  }
  /// The error message for blocks that do not fit this matrix, or that do not fit each other.
  template <class X, class Y>
  text block_error(const X& x, std::size_t ghosts, const Y& dy) const {
    text error_message;
    if (x[0] != columns_.size() || ghosts != ghost_count() || dy[0] != rows_.size() ||
        detail::row_elements(x) != detail::row_elements(dy))
      error_message << call_texts.call
                    << ".values_adjoint(x, dy): requires blocks with a row for each column and for each row that "
                    << "their worker owns, " << columns_.size() << " and " << rows_.size()
                    << ", and as many vectors, got " << x << " and " << dy
                    << "; ghosts are those that product_and_ghosts(x) returns";
    return error_message;
  }
  /// Computes values_adjoint from x and its ghosts on this worker, without messages.
  template <class X, class Ghosts, class Y>
  xt::xtensor<T, 1> values_adjoint_of_blocks(const X& x, const Ghosts& ghosts, const Y& dy) const {
    auto all = zeros<1>(entries(), std::array<std::size_t, 1>());
    auto to = all.begin();
    const std::size_t width = detail::row_elements(dy.shape());
    for_each_entry(*this, [&](std::size_t row, const auto& part, std::size_t k) {
      const T* const of_x = (&part == &own_entries_ ? x.data() : ghosts.data()) + part.columns[k] * width;
      for (std::size_t c = 0; c < width; ++c) *to += dy.data()[row * width + c] * of_x[c];
      ++to;
    });
    return all;
  }

  /// An error if `columns`, the columns of one worker, are more than most_columns, otherwise none; `verb` is what the
  /// worker does with them in the message: "owns".
  static detail::local_error column_count_error(const char* verb, std::size_t columns) {
    if (columns <= detail::compressed_rows<T>::most_columns) return {};
    return detail::local_error(text(call_texts.call)
                               << ": requires at most " << detail::compressed_rows<T>::most_columns
                               << " columns on a worker, one " << verb << " " << columns
                               << "; cut the matrix over more workers");
  }

  /// Sends entries to the owners of their rows, fills own_entries_ and ghost_entries_ of this worker's rows, and makes
  /// the index exchange.
  index_exchange make_index_exchange(const world& everyone, const std::vector<triplet<T>>& given) {
    detail::world_state& world = *everyone.state();
    const std::size_t me = world.id();
    const std::uint64_t number = detail::mixed(0x6373725f6d6174ULL, detail::type_number<T>());
    const auto describe = [&] { return text(call_texts.call) << " with " << given.size() << " entries"; };
    detail::agree_if_checked(world, number, {}, describe);
    const auto ranges = detail::gather_numbers<4>(world, {rows_.start, rows_.stop, columns_.start, columns_.stop});
    detail::local_error found_error;
    std::size_t n = 0, m = 0;
    for (const auto& worker_ranges : ranges) {
      if (worker_ranges[0] != n || worker_ranges[1] < n || worker_ranges[2] != m || worker_ranges[3] < m)
        found_error = detail::local_error(
            text(call_texts.call)
            << ": requires ranges of rows and of columns that follow each other, a worker has rows ["
            << worker_ranges[0] << ", " << worker_ranges[1] << ") and columns [" << worker_ranges[2] << ", "
            << worker_ranges[3] << ") after " << n << " rows and " << m
            << " columns; balanced_part(n, workers, id) makes such ranges");
      if (!found_error.any()) found_error = column_count_error("owns", worker_ranges[3] - worker_ranges[2]);
      n = worker_ranges[1], m = worker_ranges[3];
    }
    for (const triplet<T>& entry : given)
      if (!found_error.any() && (entry.row >= n || entry.column >= m))
        found_error = detail::local_error(text(call_texts.call)
                                          << ": requires entries of a matrix of " << n << " x " << m << ", worker "
                                          << me << " has one at (" << detail::to_signed_index(entry.row) << ", "
                                          << detail::to_signed_index(entry.column) << ")");
    detail::agree_on_call(world, number, found_error, describe);
    std::vector<std::size_t> receivers;
    for (const triplet<T>& entry : given) {
      const auto after = std::upper_bound(ranges.begin(), ranges.end(), entry.row,
                                          [](std::size_t row, const auto& range) { return row < range[1]; });
      receivers.push_back(static_cast<std::size_t>(after - ranges.begin()));
    }
    xt::xtensor<triplet<T>, 1> leaving(std::array<std::size_t, 1>{given.size()});
    std::copy(given.begin(), given.end(), leaving.data());
    auto entries = send_to(everyone, receivers)(leaving);
    triplet<T>*const first = entries.data(), *const last = first + entries.size();
    std::stable_sort(first, last, [](const triplet<T>& a, const triplet<T>& b) {
      return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    const auto is_own = [&](std::size_t column) { return column >= columns_.start && column < columns_.stop; };
    for (const triplet<T>* entry = first; entry != last; ++entry)
      if (!is_own(entry->column)) ghost_columns_.push_back(entry->column);
    std::sort(ghost_columns_.begin(), ghost_columns_.end());
    ghost_columns_.erase(std::unique(ghost_columns_.begin(), ghost_columns_.end()), ghost_columns_.end());
    if (m > detail::compressed_rows<T>::most_columns)
      detail::agree_on_call(world, 0x6373725f6d6175ULL, column_count_error("wants from others", ghost_columns_.size()),
                            [&] { return text(call_texts.call) << " of " << m << " columns"; });
    const triplet<T>* entry = first;
    for (std::size_t row = rows_.start; row < rows_.stop; ++row) {
      while (entry != last && entry->row == row) {
        const std::size_t column = entry->column;
        T sum{};
        for (; entry != last && entry->row == row && entry->column == column; ++entry) sum += entry->value;
        if (is_own(column)) own_entries_.add(column - columns_.start, sum);
        else
          ghost_entries_.add(
              static_cast<std::size_t>(std::lower_bound(ghost_columns_.begin(), ghost_columns_.end(), column) -
                                       ghost_columns_.begin()),
              sum);
      }
      own_entries_.end_row(), ghost_entries_.end_row();
    }
    return index_exchange(detail::index_planner(everyone, columns_, ghost_columns_, call_texts));
  }

  interval rows_, columns_;                 ///< the ranges of rows and of columns of this worker
  std::vector<std::size_t> ghost_columns_;  ///< the columns of other workers in this worker's rows, in ascending order
  detail::compressed_rows<T> own_entries_, ghost_entries_;  ///< entries of rows_ in columns_; others, in ghost_columns_
  index_exchange index_exchange_;  ///< by which a product receives the elements of x in ghost_columns_
};

}  // namespace partita
