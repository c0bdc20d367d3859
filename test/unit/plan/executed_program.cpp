// Completed programs, executed on simulated devices with all their reshards, give the results of the original programs.
#include <boost/test/unit_test.hpp>
#include <partita/plan/complete.hpp>
#include "oracle_operations.hpp"
#include "random_cases.hpp"

namespace {

using namespace oracle;

/// A random program on square matrices, and for each operation the mathematics of it.
struct program {
  graph g;
  std::vector<operation_case> of{};

  explicit program(const mesh& m) : g(m) {}
  value apply(const rule& how, std::initializer_list<value> operands, const char* letters,
              operation_case::formula formula, bool by_order = false) {
    operation_case op;
    op.letters = letters;
    op.value = formula;
    op.by_order = by_order;
    for (const value v : operands) op.operands.push_back(g[v].shape);
    const value made = g.apply(how, operands);
    op.results = {g[made].shape};
    of.push_back(op);
    return made;
  }
};

program random_program(const mesh& m, std::size_t n, std::size_t operations, std::mt19937_64& random) {
  program p(m);
  std::vector<value> all, inputs;
  for (std::size_t k = 0; k < 3; ++k) inputs.push_back(p.g.input({n, n}));
  all = inputs;
  const auto any = [&] { return all[random() % all.size()]; };
  const auto lately = [&] { return all[all.size() - 1 - random() % std::min<std::size_t>(all.size(), 3)]; };
  using views = std::vector<view>;
  for (std::size_t k = 0; k < operations; ++k) {
    const value x = lately();
    switch (random() % 7) {
      case 0:
      case 1:
        all.push_back(p.apply("mk,kn->mn", {x, inputs[random() % 3]}, "mk,kn>mn",
                              [](const views& v, std::size_t, const shape_list& i, const ranges& local) {
                                number sum = 0;
                                for (std::size_t c = local['k'].start; c < local['k'].stop; ++c)
                                  sum += v[0](shape_list{i[0], c}) * v[1](shape_list{c, i[1]});
                                return sum;
                              }));
        break;
      case 2:
        all.push_back(
            p.apply(rule("ab,ab->ab").with(linearity::additive), {x, any()}, "ab,ab>ab",
                    [](const views& v, std::size_t, const shape_list& i, const ranges&) { return v[0](i) + v[1](i); }));
        break;
      case 3:
        all.push_back(p.apply(rule("ab->ba").with(linearity::movement), {x}, "ab>ba",
                              [](const views& v, std::size_t, const shape_list& i, const ranges&) {
                                return v[0](shape_list{i[1], i[0]});
                              }));
        break;
      case 4:  // not linear
        all.push_back(p.apply(rule("ab->ab").with(linearity::none), {x}, "ab>ab",
                              [](const views& v, std::size_t, const shape_list& i, const ranges&) {
                                return std::clamp<number>(v[0](i), -2, 2);
                              }));
        break;
      case 5:  // along whole rows
        all.push_back(p.apply(rule("ab->ab").replicate("b").with(linearity::none), {x}, "a_>a_",
                              [n](const views& v, std::size_t, const shape_list& i, const ranges&) {
                                number most = v[0](shape_list{i[0], std::size_t{0}});
                                for (std::size_t c = 1; c < n; ++c) most = std::max(most, v[0](shape_list{i[0], c}));
                                return v[0](i) == most ? number{1} : number{0};
                              }));
        break;
      default: {
        const value flat = p.apply(reshape_rule({n, n}, {std::size_t{2}, n * n / 2}), {x}, "", {}, true);
        all.push_back(p.apply(reshape_rule({std::size_t{2}, n * n / 2}, {n, n}), {flat}, "", {}, true));
      }
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    sharding s = random_sharding(m, 2, random);
    s.open = static_cast<std::uint16_t>(random() % 4);
    p.g.constrain(any(), s, random() % 2);
  }
  return p;
}

/// Moves what devices hold as a plan says, if there is one for tensor t of operation o.
devices moved(const completion& done, std::size_t o, std::size_t t, devices held, const shape_list& shape,
              sharding& now) {
  for (const graph_reshard& move : done.reshards) {
    if (move.operation != o || move.tensor != t) continue;
    if (!(move.from.cuts == now.cuts && move.from.pending == now.pending))
      throw std::runtime_error("a move starts elsewhere");
    for (const reshard_step& one : done.plan(move)) {
      simulated::traffic received(held.size());
      held = simulated::executed(one, now, held, shape, received);
      now = one.after;
    }
  }
  return held;
}

/// How the results of an operation lie before they are moved.
sharding made_by(const completion& done, std::size_t o, std::size_t t, value v) {
  for (const graph_reshard& move : done.reshards)
    if (move.operation == o && move.tensor == t) return move.from;
  return done[v];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(executing_completed_programs)

BOOST_AUTO_TEST_CASE(a_completed_program_gives_on_all_devices_together_what_it_gives_on_one) {
  std::mt19937_64 random(41);
  std::size_t programs = 0, moves = 0, partial = 0;
  const std::size_t cases = test::random_cases(1500);
  for (std::size_t k = 0; k < cases; ++k) {
    const mesh m = random() % 2 == 0 ? mesh{axis{"a", 2}, axis{"b", 2}} : mesh{axis{"a", 3}, axis{"b", 2}};
    const std::size_t n = one_of(random, {4, 6});
    const program p = random_program(m, n, 8, random);
    const completion done = complete(p.g);
    std::vector<tensor> whole(p.g.values());
    std::vector<devices> held(p.g.values());
    std::string why;
    try {
      for (std::uint32_t v = 0; v < p.g.values(); ++v)
        if (p.g[value{v}].producer == graph::none) {
          whole[v] = random_tensor(p.g[value{v}].shape, random, -1, 1);
          held[v] = simulated::cut(whole[v], done[value{v}], random());
        }
      for (std::size_t o = 0; o < p.g.operations(); ++o) {
        const graph::node& node = p.g.operation(o);
        const operation_case& op = p.of[o];
        const value result = p.g.of(node, node.operands);
        std::vector<devices> operands;
        std::vector<sharding> lies;
        std::vector<view> whole_views;
        std::vector<block> whole_blocks;
        for (std::size_t i = 0; i < node.operands; ++i) {
          const value v = p.g.operand(node, i);
          lies.push_back(done[v]);
          operands.push_back(moved(done, o, i, held[v.number], op.operands[i], lies.back()));
          whole_blocks.push_back(whole_block(op.operands[i]));
        }
        for (std::size_t i = 0; i < node.operands; ++i)
          whole_views.push_back({&whole[p.g.operand(node, i).number], &whole_blocks[i]});
        whole[result.number] = oracle::executed(op, whole_views, {whole_block(op.results[0])})[0];
        sharding made = made_by(done, o, node.operands, result);
        partial += made.is_partial();
        devices out;
        for (std::size_t d = 0; d < m.size(); ++d) {
          std::vector<block> blocks;
          std::vector<view> views;
          for (std::size_t i = 0; i < operands.size(); ++i) blocks.push_back(mesh_block(lies[i], op.operands[i], d));
          for (std::size_t i = 0; i < operands.size(); ++i) views.push_back({&operands[i][d], &blocks[i]});
          out.push_back(oracle::executed(op, views, {mesh_block(made, op.results[0], d)})[0]);
        }
        held[result.number] = moved(done, o, node.operands, out, op.results[0], made);
        if (!(reassembled(held[result.number], done[result], op.results[0]) == whole[result.number]))
          throw std::runtime_error("other values");
      }
    } catch (const std::runtime_error& e) {
      why = e.what();
    }
    BOOST_TEST(why == "", "program " << k << ": " << why);
    moves += done.reshards.size();
    ++programs;
  }
  BOOST_TEST(moves > programs);
  BOOST_TEST(partial > programs / 4);
}

BOOST_AUTO_TEST_SUITE_END()
