// The records of layers: halo exchange, convolution, pooling, norms, upsampling, losses, and what must be refused.
// Their tensors are global, told by a formula, in full or by moments; here they are cut over workers and compared.
//
// A kind has a source file of its own and one function here. It gets every record of its kind, also those that must be
// refused; it runs what one process can compute for all workers, and the kernels if the run has enough workers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <partita/array/strided.hpp>
#include <partita/comm/world.hpp>
#include <partita/core/box.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/grid.hpp>
#include <string>
#include <vector>

#include "records.hpp"

namespace conformance {

using nlohmann::json;

/// One record of a kind. Adds to `wrong`, or throws: `departure` skips the record, another exception fails it.
using run_record = void (*)(const json& c, const partita::world& everyone, mismatches& wrong);
void run_embedding(const json& c, const partita::world& everyone, mismatches& wrong);
void run_linear(const json& c, const partita::world& everyone, mismatches& wrong);
void run_loss(const json& c, const partita::world& everyone, mismatches& wrong);
void run_norm(const json& c, const partita::world& everyone, mismatches& wrong);
void run_pool(const json& c, const partita::world& everyone, mismatches& wrong);
void run_upsample(const json& c, const partita::world& everyone, mismatches& wrong);

void run_conv(const json& c, const partita::world& everyone, mismatches& wrong);
void run_halo(const json& c, const partita::world& everyone, mismatches& wrong);

/// Whether the run has as many workers as the record.
inline bool runs_here(const json& c, const partita::world& everyone) {
  return c.at("world").get<std::size_t>() <= everyone.size();
}
inline bool must_be_refused(const json& c) { return c.contains("refuse"); }

/// Calls f with the rank of a record as a constant. A record of another rank that must be refused does not compile.
template <std::size_t Low, std::size_t High, class F>
void with_rank_of(const json& c, std::size_t rank, F f) {
  if (must_be_refused(c) && (rank < Low || rank > High)) throw departure("a tensor of this rank does not compile");
  with_constant<Low, High>(rank, "the rank", f);
}

/// Adds to `wrong` unless the call throws an error of the library on this worker.
template <class Call>
void expect_refused(const json& c, mismatches& wrong, Call call) {
  bool refused = false;
  try {
    call();
  } catch (const partita::error&) {
    refused = true;
  }
  wrong.expect(refused, "accepts what must be refused: ", c.at("refuse").at("why").get<std::string>());
}

template <std::size_t Rank>
std::array<std::size_t, Rank> shape_of_json(const json& list) {
  if (list.size() != Rank) throw std::runtime_error("a shape has another rank than the tensor");
  std::array<std::size_t, Rank> shape{};
  for (std::size_t d = 0; d < Rank; ++d) shape[d] = list[d].get<std::size_t>();
  return shape;
}

/// Whether every element of a tensor is recorded; else there are moments only.
inline bool is_told_in_full(const json& t) { return t.contains("f") || t.contains("v"); }

/// Element k (in C order) of a tensor that is given by formula or in full.
inline double element_of_json(const json& t, std::size_t k) {
  if (t.contains("v")) return t.at("v")[k].get<double>();
  const auto f = t.at("f").get<std::array<std::int64_t, 4>>();
  const auto n = (f[0] * static_cast<std::int64_t>(k) + f[1]) % f[2] - f[3];
  return static_cast<double>(n * t.value("mul", std::int64_t{1})) /
         static_cast<double>(t.value("div", std::int64_t{1}));
}

/// The sizes along each dimension, as cuts.
template <std::size_t Rank>
partita::decomposition<Rank> cuts_of_json(const json& sizes) {
  if (sizes.size() != Rank) throw std::runtime_error("cuts of another rank than the tensor");
  return partita::decomposition<Rank>::make([&](std::size_t d) { return partita::cut::at(numbers(sizes[d])); });
}

/// A tensor that is cut over a partition.
template <std::size_t Rank>
class cut_tensor {
 public:
  using block_type = xt::xtensor<double, Rank>;

  cut_tensor(const json& tensor, const json& sizes, const json& partition)
      : tensor_(tensor),
        extents_(shape_of_json<Rank>(tensor.at("s"))),
        cuts_(cuts_of_json<Rank>(sizes)),
        places_(grid_of_json<Rank>(partition)) {}

  /// The block of a worker; zero volume of one that holds nothing.
  block_type block(std::size_t worker) const {
    if (!places_.contains(worker)) return partita::zero_volume<double, Rank>();
    const auto where = box_of(worker);
    auto block = partita::uninitialised<double, Rank>(where.shape());
    for (std::size_t k = 0; k < block.size(); ++k) block.data()[k] = element_of_json(tensor_, number(where, k));
    return block;
  }
  std::vector<block_type> blocks(std::size_t workers) const {
    std::vector<block_type> all;
    for (std::size_t worker = 0; worker < workers; ++worker) all.push_back(block(worker));
    return all;
  }

  /// Compares the blocks of all workers, exactly or within `tolerance` of the largest element.
  template <class Block>
  void compare_all(mismatches& wrong, const std::vector<Block>& got, const std::string& what,
                   double tolerance = 0) const {
    std::array<std::int64_t, 3> sums{};
    for (std::size_t worker = 0; worker < got.size(); ++worker) add(wrong, got[worker], worker, what, tolerance, sums);
    compare_sums(wrong, sums, what);
  }
  /// Compares the blocks that the workers hold; where only moments are recorded, they add them up together.
  template <class Block>
  void compare_mine(mismatches& wrong, const partita::world& everyone, const Block& got, const std::string& what,
                    double tolerance = 0) const {
    std::array<std::int64_t, 3> mine{}, sums{};
    add(wrong, got, everyone.id(), what, tolerance, mine);
    MPI_Allreduce(mine.data(), sums.data(), 3, MPI_INT64_T, MPI_SUM, everyone.communicator());
    compare_sums(wrong, sums, what);
  }

 private:
  partita::box<Rank> box_of(std::size_t worker) const { return cuts_.block(places_.index(places_.place(worker))); }
  /// The number in the whole tensor of element k of a box.
  std::size_t number(const partita::box<Rank>& where, std::size_t k) const {
    auto i = partita::index_of(k, where.shape());
    for (std::size_t d = 0; d < Rank; ++d) i[d] += where.start[d];
    return partita::flat_index(i, extents_);
  }

  template <class Block>
  void add(mismatches& wrong, const Block& got, std::size_t worker, const std::string& what, double tolerance,
           std::array<std::int64_t, 3>& sums) const {
    const std::vector<std::size_t> own(got.shape().begin(), got.shape().end());
    if (!places_.contains(worker)) return wrong.expect(got.size() == 0, what, " of worker ", worker, " is not empty");
    const auto where = box_of(worker);
    const auto wanted = where.shape();
    if (where.empty()) return wrong.expect(got.size() == 0, what, " of worker ", worker, " is not empty");
    if (!std::equal(own.begin(), own.end(), wanted.begin(), wanted.end()))
      return wrong.expect(false, what, " of worker ", worker, " has the shape ", json(own).dump(), ", not ",
                          json(wanted).dump());
    const std::size_t size = partita::volume_of(extents_);
    double largest = 1;
    if (tolerance > 0 && tensor_.contains("v"))
      for (const json& v : tensor_.at("v")) largest = std::max(largest, std::abs(v.get<double>()));
    for (std::size_t k = 0; k < got.size(); ++k) {
      const std::size_t n = number(where, k);
      const double value = got.data()[k];
      const auto is = [&](double told) {
        wrong.expect(std::abs(value - told) <= tolerance * largest, what, " of worker ", worker, " is ", value,
                     " in element ", n, ", not ", told);
      };
      if (is_told_in_full(tensor_)) {
        is(element_of_json(tensor_, n));
        continue;
      }
      const double whole = std::nearbyint(value);
      wrong.expect(std::abs(whole - value) <= 1e-6, what, " is no integer in element ", n);
      const auto v = static_cast<std::int64_t>(whole);
      sums[0] += v;
      sums[1] += v * static_cast<std::int64_t>(n % 1009 + 1);
      sums[2] += v * static_cast<std::int64_t>(n % 997 + 1);
      if (n < 8) wrong.expect(whole == tensor_.at("first")[n].get<double>(), what, " differs in element ", n);
      if (n + 8 >= size)
        wrong.expect(whole == tensor_.at("last")[n + 8 - size].get<double>(), what, " differs in element ", n);
    }
  }
  void compare_sums(mismatches& wrong, const std::array<std::int64_t, 3>& sums, const std::string& what) const {
    if (is_told_in_full(tensor_)) return;
    constexpr const char* names[] = {"sum", "sum1", "sum2"};
    for (std::size_t k = 0; k < 3; ++k)
      wrong.expect(sums[k] == tensor_.at(names[k]).get<std::int64_t>(), what, " has another ", names[k]);
  }

  json tensor_;
  std::array<std::size_t, Rank> extents_;
  partita::decomposition<Rank> cuts_;
  partita::grid<partita::dynamic_extents<Rank>> places_;
};

/// A tensor that is given in full or by formula, on one worker alone.
template <std::size_t Rank>
xt::xtensor<double, Rank> whole_of_json(const json& t) {
  auto all = partita::uninitialised<double, Rank>(shape_of_json<Rank>(t.at("s")));
  for (std::size_t k = 0; k < all.size(); ++k) all.data()[k] = element_of_json(t, k);
  return all;
}

}  // namespace conformance
