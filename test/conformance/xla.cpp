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
#include <partita/rule/broadcast_factors.hpp>
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
  return c.is_object() && c.contains("id") ? c["id"].get<std::string>() : "#" + std::to_string(number);
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
    for (const auto& violation : c["all_violations"])
      if (violation == name) return true;
  return false;
}

// --- values ---------------------------------------------------------------------------------------------------------

template <class T>
xt::xarray<T> array_of_json(const json& shape, const json& values) {
  xt::xarray<T> a = xt::xarray<T>::from_shape(shape.get<shape_vector>());
  expect(a.size() == values.size(), "holds ", values.size(), " values for shape ", shape.dump());
  std::size_t k = 0;
  for (const auto& value : values) a.flat(k++) = value.is_boolean() ? static_cast<T>(value.get<bool>()) : value.get<T>();
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
void run_adjoint(const xt::xarray<T>& lhs, const xt::xarray<T>& rhs, const resolved_broadcast& all,
                 const json& c) {
  const auto& record = c["adjoint"];
  const auto g = array_of_json<T>(c["expect_shape"], record["cotangent"]);
  const broadcast_dimensions_list to_lhs(all.lhs.targets()), to_rhs(all.rhs.targets());
  const shape_vector l(lhs.shape().begin(), lhs.shape().end()), r(rhs.shape().begin(), rhs.shape().end());
  const std::string op = c["op"];
  if (op == "add" || op == "sub") {
    expect_values(broadcast_adjoint(g, l, to_lhs), c["lhs_shape"], record["lhs_grad"], 0, "lhs_grad");
    const xt::xarray<T> gr = op == "add" ? g : xt::xarray<T>(-g);
    expect_values(broadcast_adjoint(gr, r, to_rhs), c["rhs_shape"], record["rhs_grad"], 0, "rhs_grad");
  } else if (op == "mul") {
    // the other operand is brought to the result's shape first; the list of a map is empty only for a scalar
    const auto whole = c["expect_shape"].get<std::vector<std::ptrdiff_t>>();
    const auto by_rhs = multiply(g, broadcast_in_dim(rhs, whole, to_rhs));
    const auto by_lhs = multiply(g, broadcast_in_dim(lhs, whole, to_lhs));
    expect_values(broadcast_adjoint(by_rhs, l, to_lhs), c["lhs_shape"], record["lhs_grad"], 0, "lhs_grad");
    expect_values(broadcast_adjoint(by_lhs, r, to_rhs), c["rhs_shape"], record["rhs_grad"], 0, "rhs_grad");
  } else {
    expect(false, "has an adjoint of the unknown operation ", op);
  }
}

template <class T>
void run_values(const json& c, const resolved_broadcast& all, const broadcast_dimensions_list& dims) {
  const auto lhs = array_of_json<T>(c["lhs_shape"], c["lhs_values"]);
  const auto rhs = array_of_json<T>(c["rhs_shape"], c["rhs_values"]);
  const double tolerance = c.value("values_from", "") == "test" && c.value("dtype", "") == "f32" ? 1e-4 : 0;
  const bool known = with_operation<T>(c["op"], [&](auto f) {
    expect_values(elementwise(f, lhs, rhs, dims), c["expect_shape"], c["expect_values"], tolerance, "the result");
  });
  expect(known, "has the unknown operation ", c["op"].dump(), " on ", c["dtype"].dump());
  if constexpr (!std::is_same_v<T, bool>) {
    if (c.contains("adjoint")) run_adjoint<T>(lhs, rhs, all, c);
  }
}

void expect_reduced_axes(const json& axes, const dimension_map& map, const shape_list& operand, const shape_list& result) {
  std::vector<std::size_t> summed;
  for (std::size_t d = 0; d < result.size(); ++d)
    if (!map.spans(d, operand, result)) summed.push_back(d);
  expect(json(summed) == axes, "sums over ", json(summed).dump(), " and not ", axes.dump());
}

// --- one case of each schema ----------------------------------------------------------------------------------------

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
  const shape_list lhs = shape_of_json(c["lhs_shape"]), rhs = shape_of_json(c["rhs_shape"]);
  const auto dims = dims_of_json(c["broadcast_dimensions"]);
  const auto verdict = judge_array_broadcast(lhs, rhs, dims);
  if (c.value("expect_error", false)) {
    expect(!verdict, "is accepted but should be ", c["error_kind"].dump());
    expect(is_recorded(verdict.fault, c), "is ", name_of(verdict.fault), " and not ", c["error_kind"].dump());
    expect_refused(lhs, rhs, dims);
    return;
  }
  expect(static_cast<bool>(verdict), "is refused as ", name_of(verdict.fault));
  const auto all = resolve_array_broadcast(lhs, rhs, dims);
  expect(json_of(all.result) == c["expect_shape"], "gives ", json_of(all.result).dump());
  if (c.contains("lhs_reduce_axes")) expect_reduced_axes(c["lhs_reduce_axes"], all.lhs, lhs, all.result);
  if (c.contains("rhs_reduce_axes")) expect_reduced_axes(c["rhs_reduce_axes"], all.rhs, rhs, all.result);
  if (!c.contains("expect_values")) return;
  const std::string dtype = c["dtype"];
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
  const shape_list operand = shape_of_json(c["operand_shape"]);
  const auto whole = c["result_shape"].get<std::vector<std::ptrdiff_t>>();
  const auto dims = dims_of_json(c["broadcast_dimensions"]);
  auto verdict = judge_result_extents(whole);
  if (verdict) verdict = judge_broadcast_in_dim(operand, whole, dims, Level);
  if (!c["valid"].at(level).get<bool>()) {
    expect(!verdict, "is accepted at level ", level);
    expect(c["error_kind"].at(level) == name_of(verdict.fault), "at level ", level, " is ", name_of(verdict.fault),
           " and not ", c["error_kind"].at(level).dump());
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
  if (c.contains("reduce_axes")) expect_reduced_axes(c["reduce_axes"], map, operand, whole);
  if (!c.contains("expect_values")) return;
  const auto x = array_of_json<double>(c["operand_shape"], c["operand_values"]);
  expect_values(broadcast_in_dim(x, whole, dims, strictness_t<Level>{}), c["result_shape"], c["expect_values"], 0, level);
  // the same with a lazy operand
  expect_values(broadcast_in_dim(x + 0.0, whole, dims, strictness_t<Level>{}), c["result_shape"], c["expect_values"], 0,
                level);
  if (!c.contains("cotangent")) return;
  const auto g = array_of_json<double>(c["result_shape"], c["cotangent"]);
  expect_values(broadcast_adjoint(g, shape_vector(operand.begin(), operand.end()), dims, strictness_t<Level>{}),
                c["operand_shape"], c["operand_grad"], 0, "operand_grad");
}

void run_in_dim(const json& c, tally&, const std::string&) {
  run_in_dim_at<strictness::client>(c, "client");
  run_in_dim_at<strictness::stablehlo>(c, "stablehlo");
  run_in_dim_at<strictness::hlo>(c, "hlo");
}

void run_chain(const json& c, tally&, const std::string&) {
  std::map<std::string, xt::xarray<double>> named;
  for (const auto& [name, input] : c["inputs"].items())
    named[name] = array_of_json<double>(input["shape"], input["values"]);
  std::string last;
  for (const auto& step : c["steps"]) {
    last = step["out"];
    const bool known = with_operation<double>(step["op"], [&](auto f) {
      const xt::xarray<double> result =
          elementwise(f, named.at(step["lhs"]), named.at(step["rhs"]), dims_of_json(step["broadcast_dimensions"]));
      named[last] = result;
    });
    expect(known, "has the unknown operation ", step["op"].dump());
  }
  expect_values(named.at(last), c["expect_shape"], c["expect_values"], 0, last.c_str());
}

// --- sizes that are bounded or unknown --------------------------------------------------------------------------------

known_extent extent_of_json(const json& extent) {
  if (extent.is_number()) return extent.get<std::size_t>();
  const std::string text = extent;
  if (text == "?") return known_extent::anything();
  if (text.starts_with("<=")) return known_extent::at_most(std::stoul(text.substr(2)));
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
    expect(!verdict, "is accepted but should be ", c["error_kind"].dump());
    expect(is_recorded(verdict.fault, c), "is ", name_of(verdict.fault), " and not ", c["error_kind"].dump());
    return;
  }
  expect(static_cast<bool>(verdict), "is refused as ", name_of(verdict.fault));
  expect(result == extents_of_json(c.at(key)), "gives another shape than ", c.at(key).dump());
}

void run_dynamic(const json& c, tally&, const std::string&) {
  std::vector<short_list<known_extent>> operands;
  for (const auto& operand : c["operands"]) operands.push_back(extents_of_json(operand));
  const std::string op = c["op"];
  if (op == "select" || op == "clamp") {
    expect(operands.size() == 3, "has ", operands.size(), " operands");
    const auto judged = op == "select" ? judge_select(operands[0], operands[1], operands[2])
                                       : judge_clamp(operands[0], operands[1], operands[2]);
    expect_extents(judged.verdict, judged.result, c, "expect");
  } else {
    expect(op == "binary" || op == "logical" || op == "compare" || op == "complex", "is an unknown operation ", op);
    expect(operands.size() == 2, "has ", operands.size(), " operands");
    const auto dims = dims_of_json(c["broadcast_dimensions"]);
    const auto verdict = judge_array_broadcast(operands[0], operands[1], dims);
    expect_extents(verdict, verdict ? broadcast_shape(operands[0], operands[1], dims) : short_list<known_extent>{}, c,
                   "expect");
  }
}

void run_numpy(const json& c, tally&, const std::string&) {
  std::vector<short_list<known_extent>> operands;
  bool plain = true;
  for (const auto& operand : c["operands"]) {
    operands.push_back(extents_of_json(operand));
    for (const auto& extent : operand) plain = plain && extent.is_number();
  }
  const auto judged = judge_numpy_broadcast(operands.data(), operands.size());
  expect_extents(judged.verdict, judged.result, c, "expect_shape");
  if (!plain || operands.size() != 2 || c.value("expect_error", false)) return;
  const auto sum = numpy::add(xt::xarray<double>(xt::ones<double>(c["operands"][0].get<shape_vector>())),
                              xt::xarray<double>(xt::ones<double>(c["operands"][1].get<shape_vector>())));
  expect_values(sum, c["expect_shape"], json(std::vector<double>(sum.size(), 2.0)), 0, "the sum");
}

// --- the driver -------------------------------------------------------------------------------------------------------

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
};

const schema* schema_of(const json& file) {
  if (file.contains("schema") && file["schema"].is_string())
    for (const auto& s : schemas)
      if (file["schema"] == s.name) return &s;
  return nullptr;
}

void run_file(const json& file, const std::string& file_name, tally& all) {
  const schema* s = schema_of(file);
  std::size_t number = 0;
  for (const auto& c : file.at(s->list)) {
    const std::string id = file_name + ":" + id_of(c, number++);
    try {
      s->run(c, all, id);
      all.pass(id);
    } catch (const std::exception& problem) {
      all.fail(id, problem.what());
    }
  }
}

}  // namespace

conformance::reader xla_reader() {
  return {[](const json& file, const std::string&) { return schema_of(file) != nullptr; }, run_file};
}
