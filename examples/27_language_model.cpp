// A transformer that learns a poem; a plan of three axis names decides how it is sharded, on 4 workers.
//
// Usage: language_model [STEPS]
//
// With 8 workers or more the batch, the sequence and the heads are sharded at the same time.
#include <array>
#include <cmath>
#include <cstdio>
#include <partita/partita.hpp>
#include <string>
#include <tuple>

using namespace partita;

namespace {

const std::string poem =  // the poem is The Tyger by William Blake, 1794
    "tyger tyger burning bright in the forests of the night what immortal hand or eye could frame thy fearful symmetry "
    "in what distant deeps or skies burnt the fire of thine eyes on what wings dare he aspire what the hand dare seize "
    "the fire and what shoulder and what art could twist the sinews of thy heart and when thy heart began to beat what "
    "dread hand and what dread feet what the hammer what the chain in what furnace was thy brain what the anvil what "
    "dread grasp dare its deadly terrors clasp when the stars threw down their spears and watered heaven with their "
    "tears did he smile his work to see did he who made the lamb make thee ";

constexpr std::size_t letters = 28, batch = 8, length = 32, features = 32, heads = 4, width = 8, inner = 64, blocks = 2,
                      weights = 3 + 9 * blocks;
using tensor = sharded_tensor<double>;

// [plan]
/// The mesh axes that shard the sequences of a batch, the letters of a sequence, and the heads and inner features.
struct plan {
  const char *data, *sequence, *model;
};
// [/plan]

// [program]
/// For each letter of the text, a score of every letter as the next one. The plan decides only how values are sharded.
const auto network = [](const mesh& m, const plan& p, const auto& letters_read, const auto& w) {
  const sharding rows = m.layout(p.data, p.sequence, ""), all_keys = m.layout(p.data, p.model, "", "");
  auto x = constrain(add(constrain(lookup(w[0], letters_read), rows), w[1], broadcast_dimensions<1, 2>), rows);
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto* v = &w[3 + 9 * b];
    const auto n = normalise(x, v[0], v[1]);
    const auto q = einsum<"bse,ehd->bhsd">(n, v[2]);
    const auto k = constrain(einsum<"bse,ehd->bhsd">(n, v[3]), all_keys);
    const auto u = constrain(einsum<"bse,ehd->bhsd">(n, v[4]), all_keys);
    const auto mixed = einsum<"bhsd,hde->bse">(attention(q, k, u, {.causal = true}), v[5]);
    const auto residual = add(x, constrain(mixed, rows));
    const auto up = gelu(einsum<"bse,ef->bsf">(normalise(residual, v[6], v[7]), transpose(v[8])));
    x = add(residual, constrain(einsum<"bsf,fe->bse">(up, v[8]), rows));
  }
  return einsum<"bse,ve->bsv">(x, w[2]);
};
/// The mean of -log softmax(scores) at the letters that really come next.
const auto mean_loss = [](const auto& scores, const auto& next) {
  return multiply(sum(multiply(log_softmax(scores), next)), -1.0 / double(batch * length));
};
// [/program]

// [layouts]
/// Initial weights. Heads, inner features, positions and the list of letters are sharded as the plan says; features are
/// not sharded.
std::array<tensor, weights> initial(const world& everyone, const mesh& m, const plan& p) {
  std::array<tensor, weights> w;
  std::size_t made_weights = 0;
  const auto make = [&](const sharding& layout, const shape_list& extents, double scale, double centre = 0) {
    const auto element = [=](const auto& i) {
      double salt = double(made_weights + 1);
      for (const std::size_t one : i) salt = 17.31 * salt + double(one);
      const double v = std::sin(salt) * 43758.5453;
      return centre + scale * (2 * (v - std::floor(v)) - 1);
    };
    w[made_weights++] = shard<double>(everyone, layout, extents, element);
  };
  make(m.layout(p.model, ""), {letters, features}, 0.5);
  make(m.layout(p.sequence, ""), {length, features}, 0.5);
  make(m.layout(p.model, ""), {letters, features}, 0.2);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (int k = 0; k < 2; ++k) make(m.layout(""), {features}, 0, 1 - k);
    for (int k = 0; k < 3; ++k) make(m.layout("", p.model, ""), {features, heads, width}, 0.3);
    make(m.layout(p.model, "", ""), {heads, width, features}, 0.2);
    for (int k = 0; k < 2; ++k) make(m.layout(""), {features}, 0, 1 - k);
    make(m.layout(p.model, ""), {inner, features}, 0.2);
  }
  return w;
}
// [/layouts]

std::size_t letter(std::size_t at) {
  const char c = poem[at % poem.size()];
  return c == ' ' ? 0 : std::size_t(c - 'a') + 1;
}
/// The position in the poem at which a sequence of a step begins; the same on all workers and for all plans.
std::size_t start(std::size_t step, std::size_t sequence) { return (step * 71 + sequence * 83) % poem.size(); }

/// Trains the network with a plan on a mesh, and returns the losses of all steps.
std::vector<double> train(const world& everyone, const mesh& m, const plan& p, std::size_t steps) {
  auto w = initial(everyone, m, p);
  auto optimiser = std::apply(
      [&](auto&... one) {
        return sharded_adam<double>({one...}, {.learning_rate = 0.01}, optimiser_state_axes{p.data});
      },
      w);
  std::vector<double> losses;
  for (std::size_t step = 0; step < steps; ++step) {
    xt::xtensor<std::size_t, 2> input_letters(std::array{batch, length});
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t s = 0; s < length; ++s) input_letters(b, s) = letter(start(step, b) + s);
    const auto next = shard<double>(everyone, m.layout(p.data, p.sequence, ""), {batch, length, letters},
                                    [&](const auto& i) { return letter(start(step, i[0]) + i[1] + 1) == i[2]; });
    const auto loss = [&](const auto&... v) {
      return mean_loss(network(m, p, input_letters, std::array<tensor, weights>{v...}), next);
    };
    const auto [value, gradients] = std::apply([&](const auto&... v) { return value_and_gradient(loss, v...); }, w);
    optimiser.step(gradients, clip_norm{1});
    losses.push_back(value);
  }
  return losses;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const std::size_t steps = argc > 1 ? std::stoul(argv[1]) : 24;
  const bool prints = everyone.id() == 0, eight = everyone.size() >= 8;
  const mesh one{axis{"a", 1}}, four{axis{"a", 2}, axis{"b", 2}}, cube{axis{"a", 2}, axis{"b", 2}, axis{"c", 2}};
  std::vector<std::tuple<const char*, const mesh*, plan>> runs{{"one worker, nothing cut", &one, {"", "", ""}}};
  if (everyone.size() >= 4) {
    runs.push_back({"data 4", &four, {"a+b", "", ""}});
    runs.push_back({"data 2 x tensor 2", &four, {"a", "", "b"}});
    runs.push_back({"data 2 x sequence 2", &four, {"a", "b", ""}});
    runs.push_back({"tensor 2 x sequence 2", &four, {"", "a", "b"}});
    runs.push_back({"tensor 4", &four, {"", "", "a+b"}});
  }
  if (eight) runs.push_back({"data 2 x sequence 2 x tensor 2", &cube, {"a", "b", "c"}});
  if (prints)
    std::printf(
        "A transformer of two blocks reads a poem, %zu letters a step, and guesses each next letter.\n"
        "One program; of each run only three words differ: what cuts the batch, the sequence, the weights.\n",
        batch * length);
  std::vector<double> first;
  bool runs_agree = true;
  for (const auto& [name, m, p] : runs) {
    const std::vector<double> losses = train(everyone, *m, p, steps);
    if (first.empty()) first = losses;
    double largest_difference = 0;
    for (std::size_t k = 0; k < steps; ++k)
      largest_difference = std::max(largest_difference, std::abs(losses[k] - first[k]));
    runs_agree = runs_agree && (!prints || (largest_difference < 1e-9 && losses.back() < losses.front()));
    if (prints)
      std::printf("  %-31s loss %.4f in the first step, %.4f in the last; at most %.0e from one worker's\n", name,
                  losses.front(), losses.back(), largest_difference);
  }
  if (prints) std::printf("%s\n", runs_agree ? "All runs learn the same, however they are cut." : "THE RUNS DIFFER");
  return runs_agree ? 0 : 1;
}
