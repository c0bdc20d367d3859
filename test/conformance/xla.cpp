// XLA's broadcasting: the recorded cases, judged by the rules and executed by the array operations.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <partita/array/broadcast_in_dim.hpp>
#include <partita/array/elementwise.hpp>
#include <partita/array/numpy.hpp>
#include <partita/array/select_and_clamp.hpp>
#include <partita/io/shardy.hpp>
#include <partita/kernel/partitioned_elementwise.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/elementwise_plan.hpp>
#include <partita/rule/broadcast_factors.hpp>
#include <partita/rule/sharding/bound.hpp>
#include <partita/rule/sharding/reshape_rule.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver.hpp"

namespace {

using conformance::tally;
using nlohmann::json;
using namespace partita;

using shape_vector = std::vector<std::size_t>;

shape_list shape_of_json(const json& shape) { return shape_list(shape.get<std::vector<std::size_t>>()); }
broadcast_dimensions_list dims_of_json(const json& dims) {
  if (dims.is_null()) return {};
  return dims.get<std::vector<std::ptrdiff_t>>();
}
json json_of(const shape_list& shape) { return std::vector<std::size_t>(shape.begin(), shape.end()); }

std::string id_of(const json& c, std::size_t number) {
  return c.is_object() && c.contains("id") ? c.at("id").get<std::string>() : "#" + std::to_string(number);
}

/// What a case must satisfy; the first sentence that is not empty is the reason it failed.
struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
template <class... Part>
void expect(bool holds, const Part&... part) {
  if (holds) return;
  std::ostringstream out;
  (out << ... << part);
  throw failure(out.str());
}

/// Whether a fault is the recorded one, or one that the records list as another violation of the same case.
bool is_recorded(broadcast_fault fault, const json& c) {
  const std::string name = name_of(fault);
  if (c.at("error_kind") == name) return true;
  if (c.contains("all_violations"))
    for (const auto& violation : c.at("all_violations"))
      if (violation == name) return true;
  return false;
}

// --- values ---

template <class T>
xt::xarray<T> array_of_json(const json& shape, const json& values) {
  xt::xarray<T> a = xt::xarray<T>::from_shape(shape.get<shape_vector>());
  expect(a.size() == values.size(), "holds ", values.size(), " values for shape ", shape.dump());
  std::size_t k = 0;
  for (const auto& value : values)
    a.flat(k++) = value.is_boolean() ? static_cast<T>(value.get<bool>()) : value.get<T>();
  return a;
}

template <class E>
void expect_values(const E& computed, const json& shape, const json& values, double tolerance, const char* what) {
  expect(json_of(detail::shape_of(computed)) == shape, what, " has shape ", json_of(detail::shape_of(computed)).dump(),
         " and not ", shape.dump());
  const detail::evaluated_array<E> a(computed);
  expect(a.size() == values.size(), what, " has ", a.size(), " values and not ", values.size());
  std::size_t k = 0;
  for (const auto& value : values) {
    const double wanted = value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>();
    const double got = static_cast<double>(a.flat(k));
    expect(got == wanted || std::abs(got - wanted) <= tolerance * std::abs(wanted), what, " at ", k, " is ", got,
           " and not ", wanted);
    ++k;
  }
  k = 0;  // the lazy expression is read, too: iterating takes another path than assigning
  for (const auto value : computed) {
    expect(value == a.flat(k), what, " differs when it is iterated, at ", k);
    ++k;
  }
}

/// Calls `use` with the element function of a recorded name; false if there is none for this element type.
template <class T, class Use>
bool with_operation(const std::string& op, Use use) {
  if (op == "eq") return use(function::equal_to{}), true;
  if (op == "ne") return use(function::not_equal_to{}), true;
  if (op == "lt") return use(function::less{}), true;
  if (op == "le") return use(function::less_equal{}), true;
  if (op == "gt") return use(function::greater{}), true;
  if (op == "ge") return use(function::greater_equal{}), true;
  if (op == "max") return use(function::maximum{}), true;
  if (op == "min") return use(function::minimum{}), true;
  if constexpr (std::is_integral_v<T>) {
    if (op == "and") return use(function::bitwise_and{}), true;
    if (op == "or") return use(function::bitwise_or{}), true;
    if (op == "xor") return use(function::bitwise_xor{}), true;
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (op == "add") return use(function::add{}), true;
    if (op == "sub") return use(function::subtract{}), true;
    if (op == "mul") return use(function::multiply{}), true;
    if (op == "div") return use(function::divide{}), true;
    if (op == "rem") return use(function::remainder{}), true;
    if (op == "pow") return use(function::power{}), true;
  }
  return false;
}

/// The gradients of add, subtract and multiply by the adjoints of the two broadcasts.
template <class T>
void run_adjoint(const xt::xarray<T>& lhs, const xt::xarray<T>& rhs, const resolved_broadcast& all, const json& c) {
  const auto& record = c.at("adjoint");
  const auto g = array_of_json<T>(c.at("expect_shape"), record.at("cotangent"));
  const broadcast_dimensions_list to_lhs(all.lhs.targets()), to_rhs(all.rhs.targets());
  const shape_vector l(lhs.shape().begin(), lhs.shape().end()), r(rhs.shape().begin(), rhs.shape().end());
  const std::string op = c.at("op");
  if (op == "add" || op == "sub") {
    expect_values(broadcast_adjoint(g, l, to_lhs), c.at("lhs_shape"), record.at("lhs_grad"), 0, "lhs_grad");
    const xt::xarray<T> gr = op == "add" ? g : xt::xarray<T>(-g);
    expect_values(broadcast_adjoint(gr, r, to_rhs), c.at("rhs_shape"), record.at("rhs_grad"), 0, "rhs_grad");
  } else if (op == "mul") {
    // the other operand is brought to the result's shape first; the list of a map is empty only for a scalar
    const auto whole = c.at("expect_shape").get<std::vector<std::ptrdiff_t>>();
    const auto by_rhs = multiply(g, broadcast_in_dim(rhs, whole, to_rhs));
    const auto by_lhs = multiply(g, broadcast_in_dim(lhs, whole, to_lhs));
    expect_values(broadcast_adjoint(by_rhs, l, to_lhs), c.at("lhs_shape"), record.at("lhs_grad"), 0, "lhs_grad");
    expect_values(broadcast_adjoint(by_lhs, r, to_rhs), c.at("rhs_shape"), record.at("rhs_grad"), 0, "rhs_grad");
  } else {
    expect(false, "has an adjoint of the unknown operation ", op);
  }
}

template <class T>
void run_values(const json& c, const resolved_broadcast& all, const broadcast_dimensions_list& dims) {
  const auto lhs = array_of_json<T>(c.at("lhs_shape"), c.at("lhs_values"));
  const auto rhs = array_of_json<T>(c.at("rhs_shape"), c.at("rhs_values"));
  const double tolerance = c.value("values_from", "") == "test" && c.value("dtype", "") == "f32" ? 1e-4 : 0;
  const bool known = with_operation<T>(c.at("op"), [&](auto f) {
    expect_values(elementwise(f, lhs, rhs, dims), c.at("expect_shape"), c.at("expect_values"), tolerance, "the result");
  });
  expect(known, "has the unknown operation ", c.at("op").dump(), " on ", c.at("dtype").dump());
  if constexpr (!std::is_same_v<T, bool>) {
    if (c.contains("adjoint")) run_adjoint<T>(lhs, rhs, all, c);
  }
}

void expect_reduced_axes(const json& axes, const dimension_map& map, const shape_list& operand,
                         const shape_list& result) {
  std::vector<std::size_t> summed;
  for (std::size_t d = 0; d < result.size(); ++d)
    if (!map.equals_result(d, operand, result)) summed.push_back(d);
  expect(json(summed) == axes, "sums over ", json(summed).dump(), " and not ", axes.dump());
}

// --- one case of each schema ---

void expect_refused(const shape_list& lhs, const shape_list& rhs, const broadcast_dimensions_list& dims) {
  const xt::xarray<float> a = xt::zeros<float>(shape_vector(lhs.begin(), lhs.end()));
  const xt::xarray<float> b = xt::zeros<float>(shape_vector(rhs.begin(), rhs.end()));
  try {
    (void)add(a, b, dims);
  } catch (const shape_error&) {
    return;
  }
  expect(false, "is refused by the rule but not by the call");
}

void run_binary(const json& c, tally&, const std::string&) {
  const shape_list lhs = shape_of_json(c.at("lhs_shape")), rhs = shape_of_json(c.at("rhs_shape"));
  const auto dims = dims_of_json(c.at("broadcast_dimensions"));
  const auto verdict = judge_array_broadcast(lhs, rhs, dims);
  if (c.value("expect_error", false)) {
    expect(!verdict, "is accepted but should be ", c.at("error_kind").dump());
    expect(is_recorded(verdict.fault, c), "is ", name_of(verdict.fault), " and not ", c.at("error_kind").dump());
    expect_refused(lhs, rhs, dims);
    return;
  }
  expect(static_cast<bool>(verdict), "is refused as ", name_of(verdict.fault));
  const auto all = resolve_array_broadcast(lhs, rhs, dims);
  expect(json_of(all.result) == c.at("expect_shape"), "gives ", json_of(all.result).dump());
  if (c.contains("lhs_reduce_axes")) expect_reduced_axes(c.at("lhs_reduce_axes"), all.lhs, lhs, all.result);
  if (c.contains("rhs_reduce_axes")) expect_reduced_axes(c.at("rhs_reduce_axes"), all.rhs, rhs, all.result);
  if (!c.contains("expect_values")) return;
  const std::string dtype = c.at("dtype");
  if (dtype == "s32") run_values<std::int32_t>(c, all, dims);
  else if (dtype == "f32") run_values<float>(c, all, dims);
  else if (dtype == "f64") run_values<double>(c, all, dims);
  else if (dtype == "pred") run_values<bool>(c, all, dims);
  else expect(false, "has the unknown element type ", dtype);
}

void run_compact(const json& row, tally&, const std::string&) {
  const shape_list lhs = shape_of_json(row.at(0)), rhs = shape_of_json(row.at(1));
  const auto dims = dims_of_json(row.at(2));
  const auto verdict = judge_array_broadcast(lhs, rhs, dims);
  if (row.at(3).is_string()) {
    expect(row[3] == name_of(verdict.fault), "is ", name_of(verdict.fault), " and not ", row[3].dump());
  } else {
    expect(static_cast<bool>(verdict), "is refused as ", name_of(verdict.fault));
    expect(json_of(broadcast_shape(lhs, rhs, dims)) == row[3], "gives another shape than ", row[3].dump());
  }
}

template <strictness Level>
void run_in_dim_at(const json& c, const char* level) {
  const shape_list operand = shape_of_json(c.at("operand_shape"));
  const auto whole = c.at("result_shape").get<std::vector<std::ptrdiff_t>>();
  const auto dims = dims_of_json(c.at("broadcast_dimensions"));
  auto verdict = judge_result_extents(whole);
  if (verdict) verdict = judge_broadcast_in_dim(operand, whole, dims, Level);
  if (!c.at("valid").at(level).get<bool>()) {
    expect(!verdict, "is accepted at level ", level);
    expect(c.at("error_kind").at(level) == name_of(verdict.fault), "at level ", level, " is ", name_of(verdict.fault),
           " and not ", c.at("error_kind").at(level).dump());
    try {
      (void)broadcast_in_dim(xt::xarray<float>(xt::zeros<float>(shape_vector(operand.begin(), operand.end()))), whole,
                             dims, strictness_t<Level>{});
    } catch (const shape_error&) {
      return;
    }
    expect(false, "is refused by the rule at level ", level, " but not by the call");
  }
  expect(static_cast<bool>(verdict), "is refused at level ", level, " as ", name_of(verdict.fault));
  const dimension_map map(short_list<std::size_t>(dims), whole.size());
  if (c.contains("reduce_axes")) expect_reduced_axes(c.at("reduce_axes"), map, operand, whole);
  if (!c.contains("expect_values")) return;
  const auto x = array_of_json<double>(c.at("operand_shape"), c.at("operand_values"));
  expect_values(broadcast_in_dim(x, whole, dims, strictness_t<Level>{}), c.at("result_shape"), c.at("expect_values"), 0,
                level);
  // the same with a lazy operand
  expect_values(broadcast_in_dim(x + 0.0, whole, dims, strictness_t<Level>{}), c.at("result_shape"),
                c.at("expect_values"), 0, level);
  if (!c.contains("cotangent")) return;
  const auto g = array_of_json<double>(c.at("result_shape"), c.at("cotangent"));
  expect_values(broadcast_adjoint(g, shape_vector(operand.begin(), operand.end()), dims, strictness_t<Level>{}),
                c.at("operand_shape"), c.at("operand_grad"), 0, "operand_grad");
}

void run_in_dim(const json& c, tally&, const std::string&) {
  run_in_dim_at<strictness::xla_builder>(c, "client");
  run_in_dim_at<strictness::stablehlo>(c, "stablehlo");
  run_in_dim_at<strictness::hlo>(c, "hlo");
}

void run_chain(const json& c, tally&, const std::string&) {
  std::map<std::string, xt::xarray<double>> named;
  for (const auto& [name, input] : c.at("inputs").items())
    named[name] = array_of_json<double>(input.at("shape"), input.at("values"));
  std::string last;
  for (const auto& step : c.at("steps")) {
    last = step.at("out");
    const bool known = with_operation<double>(step.at("op"), [&](auto f) {
      const xt::xarray<double> result = elementwise(f, named.at(step.at("lhs")), named.at(step.at("rhs")),
                                                    dims_of_json(step.at("broadcast_dimensions")));
      named[last] = result;
    });
    expect(known, "has the unknown operation ", step.at("op").dump());
  }
  expect_values(named.at(last), c.at("expect_shape"), c.at("expect_values"), 0, last.c_str());
}

// --- sizes that are bounded or unknown ---

known_extent extent_of_json(const json& extent) {
  if (extent.is_number()) return extent.get<std::size_t>();
  const std::string text = extent;
  if (text == "?") return known_extent::any_size();
  if (text.starts_with("<=")) return known_extent::with_upper_bound(std::stoul(text.substr(2)));
  return std::stoul(text);
}
short_list<known_extent> extents_of_json(const json& shape) {
  short_list<known_extent> all;
  for (const auto& extent : shape) all.push_back(extent_of_json(extent));
  return all;
}
void expect_extents(const broadcast_verdict& verdict, const short_list<known_extent>& result, const json& c,
                    const char* key) {
  if (c.value("expect_error", false)) {
    expect(!verdict, "is accepted but should be ", c.at("error_kind").dump());
    expect(is_recorded(verdict.fault, c), "is ", name_of(verdict.fault), " and not ", c.at("error_kind").dump());
    return;
  }
  expect(static_cast<bool>(verdict), "is refused as ", name_of(verdict.fault));
  expect(result == extents_of_json(c.at(key)), "gives another shape than ", c.at(key).dump());
}

void run_dynamic(const json& c, tally&, const std::string&) {
  std::vector<short_list<known_extent>> operands;
  for (const auto& operand : c.at("operands")) operands.push_back(extents_of_json(operand));
  const std::string op = c.at("op");
  if (op == "select" || op == "clamp") {
    expect(operands.size() == 3, "has ", operands.size(), " operands");
    const auto judged = op == "select" ? judge_select(operands[0], operands[1], operands[2])
                                       : judge_clamp(operands[0], operands[1], operands[2]);
    expect_extents(judged.verdict, judged.result, c, "expect");
  } else {
    expect(op == "binary" || op == "logical" || op == "compare" || op == "complex", "is an unknown operation ", op);
    expect(operands.size() == 2, "has ", operands.size(), " operands");
    const auto dims = dims_of_json(c.at("broadcast_dimensions"));
    const auto verdict = judge_array_broadcast(operands[0], operands[1], dims);
    expect_extents(verdict, verdict ? broadcast_shape(operands[0], operands[1], dims) : short_list<known_extent>{}, c,
                   "expect");
  }
}

void run_numpy(const json& c, tally&, const std::string&) {
  std::vector<short_list<known_extent>> operands;
  bool plain = true;
  for (const auto& operand : c.at("operands")) {
    operands.push_back(extents_of_json(operand));
    for (const auto& extent : operand) plain = plain && extent.is_number();
  }
  const auto judged = judge_numpy_broadcast(operands.data(), operands.size());
  expect_extents(judged.verdict, judged.result, c, "expect_shape");
  if (!plain || operands.size() != 2 || c.value("expect_error", false)) return;
  const auto sum = numpy::add(xt::xarray<double>(xt::ones<double>(c.at("operands").at(0).get<shape_vector>())),
                              xt::xarray<double>(xt::ones<double>(c.at("operands")[1].get<shape_vector>())));
  expect_values(sum, c.at("expect_shape"), json(std::vector<double>(sum.size(), 2.0)), 0, "the sum");
}

// --- tensors over workers ---

/// The cases of binary_generated.json by their ids: the distributed records refer to them. Files are read in order of
/// name.
std::map<std::string, json>& binary_cases() {
  static std::map<std::string, json> cases;
  return cases;
}

/// What one worker holds: where its block of an operand starts, and its shape.
struct array_block {
  shape_list start, shape;
};
array_block block_of(const shape_list& extents, const shape_list& partition, const shape_list& position) {
  array_block b;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const interval part = balanced_part(extents[d], partition[d], position[d]);
    b.start.push_back(part.start);
    b.shape.push_back(part.size());
  }
  return b;
}
void expect_block(const array_block& b, const json& record, const char* what) {
  expect(json_of(b.start) == record.at("start") && json_of(b.shape) == record.at("shape"), what, " is ",
         json_of(b.shape).dump(), " from ", json_of(b.start).dump(), " and not ", record.dump());
}
xt::xarray<double> slice(const xt::xarray<double>& whole, const array_block& b) {
  xt::xstrided_slice_vector ranges;
  for (std::size_t d = 0; d < b.start.size(); ++d) ranges.push_back(xt::range(b.start[d], b.start[d] + b.shape[d]));
  return xt::strided_view(whole, ranges);
}

/// One operand of a distributed case: which partition is induced on it, whether it must be broadcast.
shape_list check_route(const json& c, const char* side, const shape_list& operand, const dimension_map& map,
                       const shape_list& partition, const shape_list& result) {
  const shape_list induced = induced_partition(map, operand, result, partition);
  const shape_list lifted = map.lift(induced);
  const std::string name = side;
  expect(json_of(lifted) == c.at(name + "_lifted_partition"), name, " is partitioned ", json_of(lifted).dump());
  expect((lifted == partition) != c.at(name + "_needs_broadcast").get<bool>(), name, " should ",
         lifted == partition ? "" : "not ", "be broadcast");
  return induced;
}

/// Runs a case for real, on the workers there are: the operands start on the partitions that the result's induces, each
/// on the first worker of its group, and this worker's block of the result is compared with its slice.
template <std::size_t Rank>
void run_on_workers(const std::string& op, const xt::xarray<double>& x, const xt::xarray<double>& y,
                    const xt::xarray<double>& z, const resolved_broadcast& all, const shape_list& p_lhs,
                    const shape_list& p_rhs, const shape_list& partition, const world& everyone) {
  using detail::to_dynamic_extents;
  const auto p_z = everyone.partition(to_dynamic_extents<Rank>(partition));
  const auto placed = [&](const xt::xarray<double>& whole, const dimension_map& map, const shape_list& induced) {
    const shape_list shape = detail::shape_of(whole);
    const auto route = plan_operand(grid<dynamic_extents<Rank>>(to_dynamic_extents<Rank>(partition)), shape, map,
                                    p_z.grid(), all.result);
    return on(everyone.partition(to_dynamic_extents<Rank>(map.lift(induced)), workers(route.roots)),
              to_dynamic_extents<Rank>(map.lift(shape)));
  };
  const auto lhs = placed(x, all.lhs, p_lhs), rhs = placed(y, all.rhs, p_rhs);
  const auto own = [&](const auto& placement, const xt::xarray<double>& whole) {
    xt::xtensor<double, Rank> block(placement.block_shape());
    if (!placement.partition.active()) return block;
    const auto where = decomposition<Rank>::balanced(placement.extents.array(), placement.partition.extents().array())
                           .block(placement.partition.index());
    for (std::size_t k = 0; k < block.size(); ++k) {
      auto i = index_of(k, where.shape());
      for (std::size_t d = 0; d < Rank; ++d) i[d] += where.start[d];
      block.data()[k] = whole.data()[flat_index(i, placement.extents.array())];
    }
    return block;
  };
  double (*f)(double, double) = nullptr;
  with_operation<double>(
      op, [&](auto g) { f = [](double a, double b) { return static_cast<double>(decltype(g){}(a, b)); }; });
  expect(f != nullptr, "has the unknown operation ", op);
  const partitioned_elementwise distributed(f, lhs, rhs, broadcast_dimensions<>, p_z);
  const auto here = distributed(own(lhs, x), own(rhs, y));
  expect(here == own(distributed.result(), z), "computes another block on worker ", everyone.id(), " of ",
         everyone.size());
}

void run_distributed(const json& c, tally&, const std::string&) {
  const auto found = binary_cases().find(c.at("binary_case"));
  expect(found != binary_cases().end(), "refers to the unknown case ", c.at("binary_case").dump());
  const json& global = found->second;
  const shape_list lhs = shape_of_json(global.at("lhs_shape")), rhs = shape_of_json(global.at("rhs_shape"));
  const auto dims = dims_of_json(global.at("broadcast_dimensions"));
  expect(static_cast<bool>(judge_array_broadcast(lhs, rhs, dims)), "refers to a case that is refused");
  const auto all = resolve_array_broadcast(lhs, rhs, dims);
  const shape_list partition = shape_of_json(c.at("result_partition"));
  const shape_list p_lhs = check_route(c, "lhs", lhs, all.lhs, partition, all.result);
  const shape_list p_rhs = check_route(c, "rhs", rhs, all.rhs, partition, all.result);

  const bool valued = global.value("result_dtype", "pred") != "pred";
  xt::xarray<double> x, y, z;
  if (valued) {
    x = array_of_json<double>(global.at("lhs_shape"), global.at("lhs_values"));
    y = array_of_json<double>(global.at("rhs_shape"), global.at("rhs_values"));
    z = array_of_json<double>(global.at("expect_shape"), global.at("expect_values"));
  }
  for (const auto& worker : c.at("workers")) {
    const shape_list position = shape_of_json(worker.at("index"));
    const auto operand_position = [&](const dimension_map& map, const shape_list& induced) {
      shape_list own = map.restrict_to_operand(position);
      for (std::size_t j = 0; j < own.size(); ++j) own[j] = induced[j] == 1 ? 0 : own[j];
      return own;
    };
    const auto part_z = block_of(all.result, partition, position);
    const auto part_x = block_of(lhs, p_lhs, operand_position(all.lhs, p_lhs));
    const auto part_y = block_of(rhs, p_rhs, operand_position(all.rhs, p_rhs));
    expect_block(part_z, worker.at("result"), "the block of the result");
    expect_block(part_x, worker.at("lhs"), "the block of lhs");
    expect_block(part_y, worker.at("rhs"), "the block of rhs");
    if (!valued) continue;
    // the maps that were decided on global extents also bring the blocks together
    const bool known = with_operation<double>(global.at("op"), [&](auto f) {
      const auto whole = std::vector<std::ptrdiff_t>(part_z.shape.begin(), part_z.shape.end());
      const xt::xarray<double> a =
          broadcast_in_dim(slice(x, part_x), whole, broadcast_dimensions_list(all.lhs.targets()));
      const xt::xarray<double> b =
          broadcast_in_dim(slice(y, part_y), whole, broadcast_dimensions_list(all.rhs.targets()));
      expect(xt::xarray<double>(elementwise(f, a, b)) == slice(z, part_z), "computes another block on worker ",
             worker.at("rank").dump());
    });
    expect(known, "has the unknown operation ", global.at("op").dump());
  }
  int started = 0;
  MPI_Initialized(&started);
  if (!valued || started == 0) return;
  const world everyone;
  if (everyone.size() < c.at("workers").size()) return;
  const auto run = [&]<std::size_t Rank>(std::integral_constant<std::size_t, Rank>) {
    if (partition.size() == Rank)
      run_on_workers<Rank>(global.at("op"), x, y, z, all, p_lhs, p_rhs, partition, everyone);
  };
  expect(partition.size() <= 5, "has rank ", partition.size());
  [&]<std::size_t... R>(std::index_sequence<R...>) {
    (run(std::integral_constant<std::size_t, R + 1>{}), ...);
  }(std::make_index_sequence<5>{});
}

/// Cases in which blocks would seem to fit although the tensors do not, or the other way round.
void run_hazard(const json& c, tally&, const std::string&) {
  const shape_list lhs = shape_of_json(c.at("lhs_global")), rhs = shape_of_json(c.at("rhs_global"));
  const auto verdict = judge_array_broadcast(lhs, rhs);
  expect(static_cast<bool>(verdict) == c.at("global_valid").get<bool>(), "is ", name_of(verdict.fault));
  if (!verdict) {
    expect(c.at("error_kind") == name_of(verdict.fault), "is ", name_of(verdict.fault));
    return;
  }
  // valid: then each operand comes to the induced partition before blocks meet
  const auto all = resolve_array_broadcast(lhs, rhs);
  const auto partition_of = [&](const shape_list& shape, const char* parts) {
    auto partition = shape_list::filled(shape.size(), 1);
    partition[0] = c.at(parts).get<std::size_t>();
    return partition;
  };
  const shape_list p_lhs = partition_of(lhs, "lhs_parts_dim0"), p_rhs = partition_of(rhs, "rhs_parts_dim0");
  const shape_list* p = finer_partition(p_lhs, p_rhs);
  expect(p != nullptr, "has no finer operand");
  for (std::size_t k = 0; k < (*p)[0]; ++k) {
    auto position = shape_list::filled(lhs.size(), 0);
    position[0] = k;
    const auto z = block_of(all.result, *p, position);
    for (const auto& [operand, map] : {std::pair(lhs, all.lhs), std::pair(rhs, all.rhs)}) {
      const auto induced = induced_partition(map, operand, all.result, *p);
      shape_list own = position;
      for (std::size_t d = 0; d < own.size(); ++d) own[d] = induced[d] == 1 ? 0 : own[d];
      const auto b = block_of(operand, induced, own);
      for (std::size_t d = 0; d < lhs.size(); ++d)
        expect(b.shape[d] == z.shape[d] || operand[d] == 1, "lets a block of extent ", b.shape[d], " meet one of ",
               z.shape[d]);
    }
  }
}

/// Our factors, by number, beside the recorded ones, by name: the same if each number has one name and each name one
/// number.
class factor_names {
 public:
  explicit factor_names(const json& sizes) : recorded_sizes_(sizes) {}

  void expect_same(const short_list<std::size_t>& numbers, const short_list<std::size_t>& sizes, const json& names,
                   const std::string& what) {
    expect(numbers.size() == names.size(), what, " has ", numbers.size(), " dimensions and not ", names.size());
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      expect(names[d].size() == 1, what, " has a compound factor in dimension ", d);
      expect_same_factor(numbers[d], sizes[d], names[d].at(0), what + " in dimension " + std::to_string(d));
    }
  }
  /// A tensor of a rule, whose dimensions may be compound.
  void expect_same(const rule& r, std::size_t t, const json& names, const std::string& what) {
    expect(r.rank(t) == names.size(), what, " has ", r.rank(t), " dimensions and not ", names.size());
    for (std::size_t d = 0; d < r.rank(t); ++d) {
      const auto& dimension = r.at(t, d);
      expect(dimension.count == names[d].size(), what, " has ", dimension.count, " factors in dimension ", d,
             " and not ", names[d].dump());
      for (std::size_t k = 0; k < dimension.count; ++k) {
        const std::size_t f = r.term(dimension, k);
        expect_same_factor(f, r.factors[f].size, names[d].at(k), what + " in dimension " + std::to_string(d));
      }
    }
  }

 private:
  void expect_same_factor(std::size_t number, std::size_t size, const std::string& name, const std::string& where) {
    const std::size_t same_number = number_of_.try_emplace(name, number).first->second;
    const std::string& same_name = name_of_.try_emplace(number, name).first->second;
    expect(number == same_number && same_name == name, where, " has another factor than ", name);
    expect(recorded_sizes_.at(name) == size, "factor ", name, " has size ", size);
  }

  const json& recorded_sizes_;
  std::map<std::string, std::size_t> number_of_;
  std::map<std::size_t, std::string> name_of_;
};

/// How the tensors of an operation stand in the one that has all of its dimensions: their maps, operands first.
struct standing {
  shape_list whole;
  std::vector<dimension_map> maps;
};

/// The map that puts dimension j of a tensor in place j.
dimension_map leading_map(std::size_t rank, std::size_t whole_rank) {
  short_list<std::size_t> targets;
  for (std::size_t j = 0; j < rank; ++j) targets.push_back(j);
  return {targets, whole_rank};
}
/// The only place in `whole` where a vector of this extent fits.
dimension_map only_fit(std::size_t extent, const shape_list& whole) {
  std::vector<std::size_t> fits;
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (whole[d] == extent) fits.push_back(d);
  expect(fits.size() == 1, "a vector of ", extent, " fits in ", fits.size(), " dimensions");
  return {short_list<std::size_t>(fits), whole.size()};
}

/// A product of tensors: the result has the dimensions that both share, then those of lhs, then those of rhs; the
/// record's names say which dimensions of the operands are paired, and which pairs are summed.
standing standing_of_product(const json& c, const std::vector<shape_list>& tensors) {
  const auto name = [&](std::size_t k, std::size_t d) { return c.at("operand_factors").at(k).at(d).at(0); };
  const auto is_in = [](const json& list, const json& wanted) {
    for (const auto& entry : list)
      if (entry == wanted) return true;
    return false;
  };
  json names[2] = {json::array(), json::array()};
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t d = 0; d < tensors[k].size(); ++d) names[k].push_back(name(k, d));
  json order = json::array();
  std::vector<std::size_t> extents;
  const auto append = [&](auto chosen) {
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t d = 0; d < names[k].size(); ++d)
        if (chosen(k, names[k][d]) && !is_in(order, names[k][d])) {
          order.push_back(names[k][d]);
          extents.push_back(tensors[k][d]);
        }
  };
  const json& summed = c.at("reduction");
  append([&](std::size_t k, const json& n) { return !is_in(summed, n) && is_in(names[1 - k], n); });
  append([&](std::size_t, const json& n) { return !is_in(summed, n); });
  const std::size_t result_rank = order.size();
  append([&](std::size_t, const json& n) { return is_in(summed, n); });
  standing all{shape_list(extents), {}};
  for (std::size_t k = 0; k < 2; ++k) {
    short_list<std::size_t> targets;
    for (const auto& n : names[k])
      for (std::size_t d = 0; d < order.size(); ++d)
        if (order[d] == n) targets.push_back(d);
    all.maps.push_back(dimension_map(targets, order.size()));
  }
  expect(tensors[2].size() == result_rank, "has a result of rank ", tensors[2].size(), " and not ", result_rank);
  all.maps.push_back(leading_map(result_rank, order.size()));
  return all;
}

/// The operations whose factors follow from broadcasting: element-wise ones (also those whose names are not known
/// here), those that repeat or permute, those that sum.
std::optional<standing> standing_of(const json& c, const std::vector<shape_list>& tensors) {
  const std::string op = c.at("op");
  standing all;
  for (const shape_list& t : tensors)
    if (t.size() >= all.whole.size()) all.whole = t;
  const std::size_t rank = all.whole.size();
  if (op == "broadcast_in_dim") {
    all.whole = tensors.at(1);
    const auto dims = dims_of_json(c.at("dims"));
    expect(static_cast<bool>(judge_broadcast_in_dim(tensors[0], all.whole, dims, strictness::stablehlo)), "is refused");
    all.maps = {dimension_map(short_list<std::size_t>(dims), all.whole.size()),
                dimension_map::identity(all.whole.size())};
  } else if (op == "transpose") {  // dimension d of the result is dimension dims[d] of the operand
    all.whole = tensors.at(0);
    all.maps = {dimension_map::identity(rank), dimension_map(shape_of_json(c.at("dims")), rank)};
  } else if (op == "reduce") {  // the adjoint of a repetition: what is summed is unmapped
    short_list<std::size_t> kept;
    for (std::size_t d = 0; d < rank; ++d) {
      bool summed = false;
      for (const auto& name : c.at("reduction")) summed = summed || c.at("operand_factors").at(0).at(d).at(0) == name;
      if (!summed) kept.push_back(d);
    }
    for (const shape_list& t : tensors)
      all.maps.push_back(t.empty()          ? dimension_map({}, rank)
                         : t.size() == rank ? dimension_map::identity(rank)
                                            : dimension_map(kept, rank));
  } else if (op == "dot" || op == "dot_general") {
    all = standing_of_product(c, tensors);
  } else if (op.starts_with("batch_norm")) {  // vectors stand in the feature dimension
    for (const shape_list& t : tensors)
      all.maps.push_back(t.size() == rank ? dimension_map::identity(rank) : only_fit(t[0], all.whole));
  } else if (op == "clamp" || op == "select" || op == "reverse" || op == "cholesky" || op == "bitcast_convert" ||
             op == "dynamic_update_slice" || op == "dynamic_slice") {
    for (const shape_list& t : tensors) all.maps.push_back(leading_map(t.size(), rank));
  } else {
    for (const shape_list& t : tensors) {  // element by element, scalars with all of them
      if (!t.empty() && !(t == all.whole)) return std::nullopt;
      all.maps.push_back(leading_map(t.size(), rank));
    }
  }
  return all;
}

/// The record as Shardy writes the rule, which ours reads and writes again.
rule rule_of_text(const json& c) {
  std::string written;
  const auto tensors = [&](const json& all) {
    written += "(";
    for (std::size_t t = 0; t < all.size(); ++t) {
      written += t > 0 ? ", [" : "[";
      for (std::size_t d = 0; d < all[t].size(); ++d) {
        written += d > 0 ? ", " : "";
        for (const std::string factor : all[t][d]) written += factor;
      }
      written += "]";
    }
    written += ")";
  };
  tensors(c.at("operand_factors"));
  written += "->";
  tensors(c.at("result_factors"));
  std::string sizes;
  for (const auto& [factor, size] : c.at("factor_sizes").items())
    sizes += (sizes.empty() ? "" : ", ") + factor + "=" + size.dump();
  written += " {" + sizes + "}";
  for (const char* kind : {"reduction", "need_replication", "permutation"}) {
    std::string factors;
    for (const std::string factor : c.value(kind, json::array())) factors += (factors.empty() ? "" : ", ") + factor;
    if (!factors.empty()) written += " " + (kind + ("={" + factors + "}"));
  }
  text again;
  const rule read = rule_from_shardy(written.c_str());
  again << as_shardy{read};
  expect(again.c_str() == written, "is read from \"", written, "\" and written as \"", again.c_str(), "\"");
  return read;
}

void run_sharding_rule(const json& c, tally&, const std::string&) {
  const rule written = rule_of_text(c);
  std::vector<shape_list> tensors;
  json names = json::array();
  for (const char* side : {"operand", "result"})
    for (std::size_t k = 0; k < c.at(std::string(side) + "_shapes").size(); ++k) {
      tensors.push_back(shape_of_json(c.at(std::string(side) + "_shapes").at(k)));
      names.push_back(c.at(std::string(side) + "_factors").at(k));
    }
  if (c.at("op") == "reshape") {
    const rule factors = reshape_rule(tensors.at(0), tensors.at(1));
    factor_names recorded(c.at("factor_sizes"));
    for (std::size_t k = 0; k < tensors.size(); ++k)
      recorded.expect_same(factors, k, names[k], "tensor " + std::to_string(k));
    return;
  }
  const auto standing = standing_of(c, tensors);
  if (!standing) {  // an operation that broadcasting does not explain: the written rule has to fit the shapes
    const std::size_t operands = written.operand_count;
    bind_shapes(written, {tensors.data(), operands}, {tensors.data() + operands, tensors.size() - operands});
    return;
  }
  factor_names recorded(c.at("factor_sizes"));
  std::size_t own_factors = most_dimensions;  // factors that only one tensor has are numbered above the shared ones
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const auto factors = factors_of(standing->maps[k], tensors[k], standing->whole);
    short_list<std::size_t> numbers, sizes;
    for (std::size_t j = 0; j < tensors[k].size(); ++j) {
      // a slice that is shorter than what it is cut from has a factor of its own, as an expanded 1 has
      const bool shared =
          factors.operand[j] < standing->whole.size() && tensors[k][j] == standing->whole[factors.operand[j]];
      numbers.push_back(shared ? factors.operand[j] : own_factors++);
      sizes.push_back(tensors[k][j]);
    }
    recorded.expect_same(numbers, sizes, names[k], "tensor " + std::to_string(k));
  }
}

// --- the driver ---

struct schema {
  const char* name;
  const char* list;
  void (*run)(const json&, tally&, const std::string&);
};
constexpr schema schemas[] = {
    {"binary", "cases", run_binary},
    {"compact: [lhs_shape, rhs_shape, broadcast_dimensions, result_shape | error_kind]", "rows", run_compact},
    {"broadcast_in_dim", "cases", run_in_dim},
    {"chain", "cases", run_chain},
    {"shape_only_dynamic_and_ternary", "cases", run_dynamic},
    {"numpy_style", "cases", run_numpy},
    {"distributed_binary (derived proposal, not XLA's)", "cases", run_distributed},
    {"hazards", "cases", run_hazard},
    {"sharding_rule", "cases", run_sharding_rule},
};

const schema* schema_of(const json& file) {
  if (file.contains("schema") && file.at("schema").is_string())
    for (const auto& s : schemas)
      if (file.at("schema") == s.name) return &s;
  return nullptr;
}

void run_file(const json& file, const std::string& file_name, tally& all) {
  const schema* s = schema_of(file);
  std::size_t number = 0;
  for (const auto& c : file.at(s->list)) {
    const std::string id = file_name + ":" + id_of(c, number++);
    if (s->run == run_binary) binary_cases()[id_of(c, number - 1)] = c;
    try {
      s->run(c, all, id);
      all.pass(id);
    } catch (const std::exception& problem) {
      all.fail(id, problem.what());
    }
  }
}

}  // namespace

namespace conformance {

reader xla_reader() {
  return {[](const json& file, const std::string&) { return schema_of(file) != nullptr; }, run_file,
          // the distributed records run on the workers there are, and every worker needs the cases that they refer to
          [](const std::string& name) {
            return name == "distributed_binary_generated.json" || name == "binary_generated.json";
          }};
}

}  // namespace conformance
