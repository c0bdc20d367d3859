// Reads the images that examples train on: Fashion-MNIST if it is installed, else the digits in the examples folder.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <partita/core/error.hpp>
#include <string>
#include <vector>
#include <xtensor/xtensor.hpp>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

struct images {
  std::vector<std::uint8_t> pixels{}, labels{};
  std::size_t size() const { return labels.size(); }
};
struct image_set {
  const char* name = "";
  images train{}, test{};
  std::size_t side = 28;
  double brightest = 255;
  bool small = false;  ///< whether the images are the digits
};

/// The bytes of a file, or the unpacked bytes of the gzip file beside it; empty if neither exists.
inline std::vector<std::uint8_t> bytes_of(const std::string& file) {
  std::vector<std::uint8_t> all;
  if (std::ifstream plain(file, std::ios::binary); plain) {
    all.assign(std::istreambuf_iterator<char>(plain), {});
  } else if (std::ifstream(file + ".gz") && file.find('\'') == std::string::npos) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("gzip -dc '" + file + ".gz'").c_str(), "r"), &pclose);
    std::uint8_t result_images[1 << 16];
    for (std::size_t n = 1; pipe && n > 0;) {
      n = std::fread(result_images, 1, sizeof result_images, pipe.get());
      all.insert(all.end(), result_images, result_images + n);
    }
  }
  return all;
}
/// The elements of an idx file, without its header. The header is a magic number, whose last byte is the number of
/// extents, and the extents.
inline std::vector<std::uint8_t> elements_of(const std::string& file) {
  std::vector<std::uint8_t> all = bytes_of(file);
  const std::size_t header = all.size() < 4 ? 0 : 4 + 4 * std::size_t{all[3]};
  if (all.size() < header || header == 0 || all[0] != 0 || all[1] != 0 || all[2] != 8)
    throw partita::io_error((file + ": requires an idx file of bytes").c_str());
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(header));
  return all;
}
inline images idx_of(const std::string& start) {
  return {elements_of(start + "-images-idx3-ubyte"), elements_of(start + "-labels-idx1-ubyte")};
}
inline image_set digits_of(const std::string& folder) {
  const auto raw = xt::load_npy<std::uint8_t>(folder + "/digits_images_u8.npy");
  const auto labels = xt::load_npy<std::int32_t>(folder + "/digits_labels_i32.npy");
  const std::size_t train = 1440;
  const auto cut = [&](std::size_t first, std::size_t last) {
    images result_images{{raw.data() + 64 * first, raw.data() + 64 * last}, {}};
    for (std::size_t k = first; k < last; ++k)
      result_images.labels.push_back(static_cast<std::uint8_t>(labels.data()[k]));
    return result_images;
  };
  return {"digits", cut(0, train), cut(train, labels.size()), 8, 16, true};
}
/// The images in a folder. Without a folder, the images of Debian's dataset-fashion-mnist if it is installed, or else
/// the digits.
inline image_set images_in(const std::string& given) {
  const std::string folder = given.empty() ? "/usr/share/datasets/fashion-mnist" : given;
  for (const char* end : {"", ".gz"})
    if (std::ifstream(folder + "/train-images-idx3-ubyte" + end))
      return {"Fashion-MNIST", idx_of(folder + "/train"), idx_of(folder + "/t10k")};
  return digits_of(given.empty() ? DIGITS_DATA : given);
}
