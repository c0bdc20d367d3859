// The linear layer: prints which partitions fit, which worker holds which weights, and what each algorithm costs.
#pragma once

#include <partita/explain/linear_picture.hpp>
#include <partita/plan/between_nodes.hpp>
#include <partita/plan/linear_cost.hpp>

#include "arguments.hpp"
#include "table.hpp"

namespace tool {

inline partita::linear_algorithm algorithm_named(const std::string& name) {
  if (name == "weight_stationary") return partita::weight_stationary;
  if (name == "column_parallel") return partita::column_parallel;
  if (name == "row_parallel") return partita::row_parallel;
  throw usage_error("--algorithm is weight_stationary, column_parallel or row_parallel");
}

inline const char* reason(partita::linear_algorithm how) {
  return how == partita::weight_stationary
             ? "the features of x are cut as the columns of W, those of y as its rows, and the batch is whole"
         : how == partita::column_parallel
             ? "the features of x and of y are cut as the rows of W, on the same workers; x is gathered on all of them"
             : "the features of x and of y are cut as the columns of W, on the same workers; the sum of y is scattered";
}

inline void print_weights(const partita::linear_problem& of, const place& p_x, const place& p_y, const place& p_w,
                          bool stationary) {
  const std::size_t rows = p_w.shape[0], columns = p_w.shape[1];
  table each(stationary ? std::vector<std::string>{"worker", "weights", "gets x from", "adds y to"}
                        : std::vector<std::string>{"worker", "weights"});
  for (std::size_t k = 0; k < rows * columns && k < most_rows; ++k) {
    const auto r = partita::balanced_part(of.out_features, rows, k / columns),
               c = partita::balanced_part(of.in_features, columns, k % columns);
    partita::text box;
    box << partita::box<2>{{r.start, c.start}, {r.stop, c.stop}};
    std::vector<std::string> row{std::to_string(p_w.first + k),
                                 box.c_str() + std::string(of.bias && k % columns == 0 ? " and the bias" : "")};
    if (stationary) {
      row.push_back("worker " + std::to_string(p_x.first + k % columns));
      row.push_back("worker " + std::to_string(p_y.first + k / columns));
    }
    each.add(std::move(row));
  }
  each.print();
  print_rest(rows * columns);
}

/// The algorithms for x and y: x is broadcast and its gradient summed; y is summed and its gradient broadcast.
inline std::string routes(partita::linear_algorithm how, const partita::linear_problem& of, const place& p_w) {
  using namespace partita;
  if (how != weight_stationary) return how == column_parallel ? "x directly" : "y directly";
  const auto among = [&](std::size_t members, std::size_t features, std::size_t parts) -> std::string {
    const block_routes all{members, of.batch * balanced_part(features, parts, 0).size() * of.element_bytes};
    const auto name = [](block_route one) {
      return one == block_route::along_tree ? "by tree" : one == block_route::direct ? "directly" : "in parts";
    };
    const std::string copied = name(all.broadcast_route()), summed = name(all.sum_route());
    return members < 2 ? "stays" : copied == summed ? copied : copied + " and " + summed;
  };
  return "x " + among(p_w.shape[0], of.in_features, p_w.shape[1]) + ", y " +
         among(p_w.shape[1], of.out_features, p_w.shape[0]);
}

/// Whether x, y or the weights are too large, or the operations on them too many to be counted.
inline bool are_too_large(const partita::linear_problem& of) {
  using shape = std::initializer_list<std::size_t>;
  return is_too_large(shape{of.batch, of.in_features}) || is_too_large(shape{of.batch, of.out_features}) ||
         is_too_large(shape{of.in_features, of.out_features}) ||
         is_too_large(shape{of.batch, of.in_features, of.out_features}, 1e18);
}

inline int explain_linear(int argc, char** argv) {
  using namespace partita;
  const arguments given(argc, argv, {"--batch", "--in", "--out", "--element", "--algorithm", "--svg"}, {"--no-bias"});
  given.require_words(3, "give three partitions: P_X P_Y P_W");
  const place p_x(given.words()[0]), p_y(given.words()[1]), p_w(given.words()[2]);
  const linear_algorithm how = algorithm_named(given.value("--algorithm", "weight_stationary"));
  const linear_problem problem{.batch = given.count("--batch", 64),
                               .in_features = given.count("--in", 1024),
                               .out_features = given.count("--out", 1024),
                               .element_bytes = given.count("--element", 4),
                               .bias = !given.has("--no-bias")};
  if (are_too_large(problem)) throw request_error("tensors of up to 1e15 elements can be explained");
  std::cout << "linear layer, " << problem.in_features << " to " << problem.out_features << " features, batch "
            << problem.batch << ": x on " << written(p_x.shape) << ", y on " << written(p_y.shape) << ", W on "
            << written(p_w.shape) << "\n";
  const int code = with_rank(p_x.shape.size(), [&](auto x) {
    return with_rank(p_y.shape.size(), [&](auto y) {
      return with_rank(p_w.shape.size(), [&](auto w) {
        const auto a = p_x.array<decltype(x)::value>();
        const auto b = p_y.array<decltype(y)::value>();
        const auto c = p_w.array<decltype(w)::value>();
        const auto verdict = judge_linear(a, b, c, how);
        if (verdict) std::cout << "legal: " << reason(how) << "\n\n";
        else std::cout << "not legal: " << explain_verdict(verdict, a, b, c, how) << "\n";
        return verdict ? 0 : 1;
      });
    });
  });
  if (code != 0) return code;
  p_w.grid<2>();  // throws an error for an invalid partition
  print_weights(problem, p_x, p_y, p_w, how == weight_stationary);
  const linear_problem& of = problem;
  const std::array<std::size_t, 2> shape = p_w.array<2>();
  std::cout << "\nthe busiest worker, forward and adjoint: " << to_text(predict(how, of, shape));
  std::cout << "the cheapest for x on " << p_x.size() << " and y on " << p_y.size() << ": "
            << to_text(choose(of, p_x.size(), p_y.size(), std::max(p_w.size(), p_x.size() * p_y.size())));

  std::cout << "\ncost as partitions and features grow together\n";
  table cost({"workers", "W on", "features", "routes", "messages", "bytes sent", "bytes held", "seconds"});
  strategy_changes changes;
  bool too_large = false;
  for_scales(p_w.shape, [&](std::size_t factor) {
    const place larger = p_w.times(factor);
    linear_problem grown = of;
    grown.in_features *= larger.shape[1] / p_w.shape[1];
    grown.out_features *= larger.shape[0] / p_w.shape[0];
    too_large = too_large || are_too_large(grown);
    if (too_large) return;
    const linear_cost one = predict(how, grown, larger.array<2>());
    const std::string workers = std::to_string(larger.size()), by = routes(how, grown, larger);
    changes.add(workers, by);
    cost.add({workers, written(larger.shape),
              std::to_string(grown.in_features) + " to " + std::to_string(grown.out_features), by,
              std::to_string(one.messages), bytes(static_cast<double>(one.sent_bytes)),
              bytes(static_cast<double>(one.peak_bytes)), seconds(network.seconds(one))});
  });
  cost.print();
  if (too_large) std::cout << truncation_note;
  changes.print("the routes");
  print_model();
  if (!given.has("--svg")) return 0;
  if (how != weight_stationary || p_w.size() > 100)
    throw request_error("--svg draws weight_stationary on up to 100 workers");
  const auto row = [](const place& p) {
    return grid(dynamic_extents<2>(std::size_t{1}, p.size()), workers(p.first, p.first + p.size()));
  };
  given.save(to_svg(linear_picture(row(p_x), row(p_y), p_w.grid<2>())));
  return 0;
}

}  // namespace tool
