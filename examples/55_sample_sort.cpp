// Sample sort: each worker sorts one bucket of the keys, and a sample gives the bounds of the buckets, on 4 workers.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <partita/kernel/send_to.hpp>
#include <partita/kernel/sort.hpp>
#include <partita/partita.hpp>
#include <random>
#include <vector>

using namespace partita;
using keys = xt::xtensor<double, 1>;

constexpr std::size_t each = 5000, every = 20;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const std::size_t P = everyone.size();
  std::mt19937 random(static_cast<unsigned>(everyone.id()));
  std::exponential_distribution<double> distribution;  // most keys are small
  keys own = xt::zeros<double>({each});
  for (double& key : own) key = distribution(random);

  // [sort]
  const keys sample = xt::view(own, xt::range(0, each, every));
  std::vector<double> shares;
  for (std::size_t k = 1; k < P; ++k) shares.push_back(static_cast<double>(k) / static_cast<double>(P));
  const keys bounds = quantile(everyone, sample, shares);  // all workers get the same bounds

  std::vector<std::size_t> buckets;
  for (const double key : own)
    buckets.push_back(static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), key) - bounds.begin()));
  keys bucket = send_to(everyone, buckets)(own);  // the keys that arrive
  std::sort(bucket.begin(), bucket.end());
  // [/sort]

  // check: the buckets contain the keys in the order of an exact sort, and no bucket is much larger than another
  const keys exact = sort(everyone, own, {.length = bucket.size()});
  const double wrong = sum_over(everyone, bucket == exact ? 0.0 : 1.0),
               largest = maximum_over(everyone, static_cast<double>(bucket.size()));
  if (everyone.id() == 0)
    std::cout << each * P << " keys in " << P << " buckets of at most " << largest << "\n"
              << (wrong == 0 ? "they are sorted\n" : "they are not sorted\n");
  return wrong == 0 && largest < 1.2 * each ? EXIT_SUCCESS : EXIT_FAILURE;
}
