// A saved sharded tensor is loaded correctly with any layout, and an array of one worker can be sharded over all.
#include "../support/folder.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <mpi_test.hpp>
#include <partita/io/sharded_npy.hpp>
#include <random>
#include <string>
#include "../sharded/layouts.hpp"
#include "../support/file_calls.hpp"
#include "refused.hpp"

using namespace partita;

namespace {

/// A file of a matrix of long long whose elements are numbered by their places, written by a plain loop.
std::string file_of(std::size_t rows, std::size_t columns, bool is_foreign, bool is_fortran) {
  const std::size_t n[] = {rows, columns};
  std::string file = make_npy_header(is_foreign ? ">i8" : "<i8", is_fortran, n, 2);
  for (std::size_t k = 0; k < rows * columns; ++k) {
    const long long x = is_fortran ? test::numbered({k % rows, k / rows}) : test::numbered({k / columns, k % columns});
    char bytes[8];
    std::memcpy(bytes, &x, 8);
    if (is_foreign) std::reverse(bytes, bytes + 8);
    file.append(bytes, 8);
  }
  return file;
}
void write_alone(const world& everyone, const std::string& path, const std::string& bytes) {
  everyone.communicator().barrier();
  if (everyone.id() == 0) test::write_bytes(path, bytes);
  everyone.communicator().barrier();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_saved_tensor_is_read_under_any_layout) {
  world everyone(test::workers());
  std::mt19937 random(41);
  const std::size_t workers = everyone.size();
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  const auto number = [](const auto& i) { return test::numbered(i); };
  for (const mesh& m : test::meshes(workers)) {
    const auto all = test::layouts(m, 2);
    const sharding s = all[random() % all.size()].without_partials(), t = all[random() % all.size()];
    const shape_list e{5, 3};
    save_npy<2>(path, shard<long long>(everyone, s, e, number));
    const auto y = load_npy<long long, 2>(path, everyone, t, e);
    BOOST_TEST((y.layout() == t));
    const auto same = reshard(y, sharding(m, 2)).whole<2>();
    for (std::size_t k = 0; k < same.size() && everyone.id() < m.size(); ++k)
      BOOST_TEST(same.data()[k] == test::numbered({k / 3, k % 3}));
    BOOST_CHECK_THROW((load_npy<long long, 2>(path, everyone, t, {5, 4})), shape_error);
    // from one worker
    xt::xtensor<long long, 2> x({5, 3});
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = test::numbered({k / 3, k % 3});
    if (everyone.id() != workers - 1) x = xt::zeros<long long>({1, 1});
    const auto z = reshard(shard_from(everyone, workers - 1, t, e, x), sharding(m, 2)).whole<2>();
    if (everyone.id() < m.size()) BOOST_TEST((z == same));
    BOOST_CHECK_THROW(shard_from(everyone, workers - 1, t, {5, 4}, x), shape_error);
  }
}

/// A file depends on the tensor alone, not on its layout, and is on the disk when the call returns.
BOOST_AUTO_TEST_CASE(a_saved_tensor_is_the_file_that_a_plain_loop_writes) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto all = test::layouts(m, 2);
    for (std::size_t k = 0; k < all.size(); k += 1 + all.size() / 8) {
      const sharding s = all[k].without_partials();
      const auto x = shard<long long>(everyone, s, {5, 3}, [](const auto& i) { return test::numbered(i); });
      const test::file_calls mine = test::file_calls_of([&] { save_npy<2>(path, x); });
      BOOST_TEST((test::bytes_of(path) == file_of(5, 3, false, false)));
      const bool is_leader = everyone.id() == 0;  // the file is small, so that it has one owner
      BOOST_TEST((mine == test::file_calls{0, is_leader ? 248U : 0U, is_leader ? 1U : 0U, is_leader ? 1U : 0U}));
      everyone.communicator().barrier();
    }
  }
  BOOST_TEST(folder.names() == 1U);
}

BOOST_AUTO_TEST_CASE(a_file_of_any_order_of_bytes_and_dimensions_is_read) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  const mesh m{axis{"a", everyone.size()}};
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{5, 3}, {1, 7}, {6, 1}, {0, 4}, {600, 4}})
    for (const bool is_foreign : {false, true})
      for (const bool is_fortran : {false, true}) {
        write_alone(everyone, path, file_of(rows, columns, is_foreign, is_fortran) + "more");
        for (const sharding& layout : {m.layout("a", ""), m.layout("", "a"), m.layout("", "")}) {
          bool is_right = true;
          load_npy<long long, 2>(path, everyone, layout, {rows, columns})
              .for_each_local([&](const auto& i, long long x) { is_right = is_right && x == test::numbered(i); });
          BOOST_TEST(is_right,
                     rows << " x " << columns << (is_foreign ? ", foreign" : "") << (is_fortran ? ", fortran" : ""));
        }
      }
}

BOOST_AUTO_TEST_CASE(a_file_that_does_not_fit_is_told_why) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy", start = "partita::load_npy(\"" + path + "\", p): requires ";
  const mesh m{axis{"a", everyone.size()}};
  const auto load = [&] { load_npy<long long, 2>(path, everyone, m.layout("a", ""), {5, 3}); };
  const std::string whole = file_of(5, 3, false, false);
  const std::size_t n[] = {5, 3};
  for (const char* type : {"<f8", "<u8", "<i4", "<c16", "|b1", ">f8"}) {
    write_alone(everyone, path, make_npy_header(type, false, n, 2) + std::string(1000, ' '));
    BOOST_TEST(test::refused<io_error>(load) == start + "elements of the type asked for (<i8), and " + path +
                                                    " holds " + type + "; load what it holds and convert it");
  }
  for (const std::size_t rank : {0U, 1U, 3U}) {
    const std::size_t ones[] = {1, 1, 1};
    write_alone(everyone, path, make_npy_header("<i8", false, ones, rank) + std::string(8, ' '));
    BOOST_TEST(test::refused<shape_error>(load) == start + "a tensor of the rank asked for (2), and " + path +
                                                       " holds one of rank " + std::to_string(rank) +
                                                       "; ask for that rank");
  }
  for (const std::size_t bytes : {std::size_t{128}, std::size_t{247}}) {
    write_alone(everyone, path, whole.substr(0, bytes));
    BOOST_TEST(test::refused<io_error>(load) == start + "a whole file; the header of " + path +
                                                    " promises 248 bytes, and there are " + std::to_string(bytes) +
                                                    "; copy it again from where it came");
  }
  write_alone(everyone, path, whole);
  BOOST_TEST(test::refused(load) == "");
  write_alone(everyone, path, "no array");
  BOOST_TEST(test::refused<io_error>(load) == start + "a .npy file; of " + path + ", it is too short for a .npy file");
  const std::string none = folder / "none.npy";
  BOOST_TEST(test::refused<io_error>([&] {
               load_npy<long long, 2>(none, everyone, m.layout("a", ""), {5, 3});
             }) == "partita::load_npy(\"" + none + "\", p): worker 0 cannot read " + none +
                       ": No such file or directory (errno 2); check the name, and that this worker may read it");
  BOOST_TEST(test::refused<shape_error>([&] {
               detail::extents_as_array<3>({4, 5}, "a call");
             }) == "a call: requires the rank of the tensor, which is 2, not 3; name that");
  BOOST_TEST((detail::extents_as_array<2>({4, 5}, "a call") == std::array<std::size_t, 2>{4, 5}));
}

/// Every worker gets the error, also one that holds no block of the file, and the old file stays.
BOOST_AUTO_TEST_CASE(a_tensor_that_is_partial_or_of_another_rank_or_on_no_mesh_is_not_saved) {
  const world everyone(test::workers());
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  const auto number = [](const auto& i) { return test::numbered(i); };
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto whole = shard<long long>(everyone, m.layout("", ""), {5, 3}, number);
    save_npy<2>(path, whole);
    for (const sharding& s : test::layouts(m, 2))
      if (s.is_partial()) {
        const auto x = shard<long long>(everyone, s, {5, 3}, number);
        const std::string told = test::refused<partition_error>([&] { save_npy<2>(path, x); });
        BOOST_TEST(told == (text("partita::sharded_tensor::save_npy: requires a value whose sums are taken, but it has "
                                 "the layout ")
                            << "" << s << "; reshard it to a layout that is not partial first")
                               .c_str());
      }
    BOOST_TEST(test::refused<shape_error>([&] { save_npy<3>(path, whole); }) ==
               "partita::save_npy<rank>(path, x): requires the rank of the tensor, which is 2, not 3; name that");
  }
  const auto alone =
      detail::tensor_of<long long>(nullptr, sharding(mesh(), 2), {5, 3}, detail::tensor_block<long long>({5, 3}));
  BOOST_TEST(test::refused<partition_error>([&] { save_npy<2>(path, alone); }) ==
             "partita::save_npy(path, x): requires a tensor on a mesh; shard it first");
  everyone.communicator().barrier();
  BOOST_TEST((test::bytes_of(path) == file_of(5, 3, false, false)));
}

/// Elements with bytes that hold nothing have no other order of bytes.
BOOST_AUTO_TEST_CASE(long_double_of_another_order_of_bytes_is_refused) {
  const world everyone(test::workers());
  const detail::file_call call(everyone, 0, text("a call"), detail::argument_hash());
  npy_header h;
  h.kind = 'f', h.item_bytes = sizeof(long double), h.rank = 1, h.byte_order = '>';
  const auto told = [&]<class T>(T) {
    return std::string(detail::find_mismatch<T, 1>(call, "x.npy", h).sentence.c_str());
  };
  const std::string refusal =
      "a call: cannot read long double written in another order of bytes (x.npy); write double there";
  if (detail::has_padding<long double>()) BOOST_TEST(told(0.0L) == refusal);
  h.byte_order = '<';
  BOOST_TEST(told(0.0L) == "");
  h.kind = 'c', h.item_bytes *= 2;
  BOOST_TEST(told(std::complex<long double>()) == "");
  h.byte_order = '>';
  if (detail::has_padding<long double>()) BOOST_TEST(told(std::complex<long double>()) == refusal);
  h.kind = 'f', h.item_bytes = sizeof(double);
  BOOST_TEST(told(0.0) == "");
}

/// All calls that make a tensor refuse a layout of fewer or of more dimensions than the tensor has.
BOOST_AUTO_TEST_CASE(layouts_of_another_number_of_dimensions_are_refused) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const test::folder folder(test::workers());
  const std::string path = folder / "x.npy";
  const shape_list extents{4, 6};
  const xt::xtensor<double, 2> x = xt::ones<double>({4, 6});
  const auto one = [](const auto&) { return 1.; };
  const sharded_tensor<double> whole = shard(everyone, m.layout("", ""), x);
  save_npy<2>(path, whole);
  for (const sharding& layout : {m.layout("a"), m.layout(""), m.layout("", "a", ""), m.layout("", "", "")}) {
    const std::string words = (text(": requires one entry of the layout for each dimension, but ")
                               << "" << layout << " is given for extents [4, 6]; write")
                                  .c_str();
    const auto refuses = [&](const char* call, auto made) {
      test::expect_refused<shape_error>(made, (call + words).c_str());
    };
    refuses("partita::shard", [&] { shard(everyone, layout, x); });
    refuses("partita::shard", [&] { shard<double>(everyone, layout, extents, one); });
    refuses("partita::shard", [&] { shard_blocks(everyone, layout, extents, x); });
    refuses("partita::shard", [&] { shard_from(everyone, 0, layout, extents, x); });
    refuses("partita::shard", [&] { load_npy<double, 2>(path, everyone, layout, extents); });
    refuses("partita::reshard", [&] { reshard(whole, layout); });
    refuses("partita::reshard", [&] { reshard(whole, placed_mesh(m), layout); });
  }
  BOOST_TEST((reshard(whole, m.layout("a", "")).extents() == extents));  // the world still works
}

BOOST_AUTO_TEST_CASE(an_array_is_of_a_worker_of_the_world) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const xt::xtensor<double, 1> x = xt::ones<double>({6});
  for (const std::size_t worker : {everyone.size(), everyone.size() + 1, ~std::size_t{0}})
    BOOST_TEST(test::refused<partition_error>([&] { shard_from(everyone, worker, m.layout("a"), {6}, x); }) ==
               (text("partita::shard_from: requires a worker below ")
                << everyone.size() << ", got " << worker << "; choose one of the world")
                   .c_str());
  BOOST_TEST((shard_from(everyone, everyone.size() - 1, m.layout("a"), {6}, x).extents() == shape_list{6}));
}

BOOST_AUTO_TEST_CASE(bytes_of_a_complex_number_change_places_within_each_of_its_parts) {
  const std::array<std::complex<float>, 3> z{{{1.5F, -2.25F}, {0.1F, 0.2F}, {-3.7F, 1e-9F}}};
  auto turned = z;
  detail::swap_bytes(turned.data(), turned.size());
  const auto* const from = reinterpret_cast<const unsigned char*>(z.data());
  const auto* const to = reinterpret_cast<const unsigned char*>(turned.data());
  constexpr std::size_t part = sizeof(float);
  for (std::size_t k = 0; k < sizeof z; ++k) BOOST_TEST(to[k] == from[k / part * part + part - 1 - k % part]);
}
