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

constexpr std::size_t keys_per_worker = 5000, sample_step = 20;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const std::size_t P = everyone.size();
  std::mt19937 random(static_cast<unsigned>(everyone.id()));
  std::exponential_distribution<double> distribution;  // most keys are small
  keys own_keys = xt::zeros<double>({keys_per_worker});
  for (double& key : own_keys) key = distribution(random);

  // [sort]
  const keys sample = xt::view(own_keys, xt::range(0, keys_per_worker, sample_step));
  std::vector<double> probabilities;
  for (std::size_t k = 1; k < P; ++k) probabilities.push_back(static_cast<double>(k) / static_cast<double>(P));
  const keys bounds = quantile(everyone, sample, probabilities);  // all workers get the same bounds

  std::vector<std::size_t> buckets;
  for (const double key : own_keys)
    buckets.push_back(static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), key) - bounds.begin()));
  keys bucket = send_to(everyone, buckets)(own_keys);  // the keys that this worker receives
  std::sort(bucket.begin(), bucket.end());
  // [/sort]

  // check: the buckets contain the keys in the order of an exact sort, and no bucket is much larger than another
  const keys sorted_keys = sort(everyone, own_keys, {.length = bucket.size()});
  const double wrong_workers = sum_over(everyone, bucket == sorted_keys ? 0.0 : 1.0),
               largest = maximum_over(everyone, static_cast<double>(bucket.size()));
  if (everyone.id() == 0)
    std::cout << keys_per_worker * P << " keys in " << P << " buckets of at most " << largest << "\n"
              << (wrong_workers == 0 ? "they are sorted\n" : "they are not sorted\n");
  return wrong_workers == 0 && largest < 1.2 * keys_per_worker ? EXIT_SUCCESS : EXIT_FAILURE;
}
