// A tensor as a dataset of an HDF5 file: it is saved on any partition and loaded on any other, and invalid calls throw
// the same error on all workers. Skipped if parallel HDF5 is not installed.
#include "../support/folder.hpp"
#include "mpi_test.hpp"

#if __has_include(<hdf5.h>)
#include "refused.hpp"
#include "resource_limit.hpp"

#include <partita/io/hdf5.hpp>
#include <partita/kernel/block_from.hpp>

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

namespace {

using namespace partita;
using test::refused;

/// This worker's block on p of the tensor whose elements are their positions in C order.
template <class T, class Extents>
xt::xtensor<T, Extents::rank()> numbered(const partition<Extents>& p, const decomposition<Extents::rank()>& cuts) {
  constexpr std::size_t rank = Extents::rank();
  if (!p.active()) return zero_volume<T, rank>();
  const auto box = cuts.block(p.index());
  auto block = uninitialised<T, rank>(box.shape());
  for (std::size_t k = 0; k < block.size(); ++k) {
    auto i = index_of(k, box.shape());
    for (std::size_t d = 0; d < rank; ++d) i[d] += box.start[d];
    const std::size_t n = flat_index(i, cuts.extents());
    if constexpr (std::is_same_v<T, bool>) block.data()[k] = n % 3 == 0;
    else block.data()[k] = static_cast<T>(static_cast<int>(n));
  }
  return block;
}
template <class T, class Extents>
auto numbered(const partition<Extents>& p, const std::array<std::size_t, Extents::rank()>& extents) {
  return numbered<T>(p, decomposition<Extents::rank()>::balanced(extents, p.grid().shape()));
}
template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()) &&
         std::equal(a.data(), a.data() + a.size(), b.data());
}
bool says(const std::string& sentence, const std::string& part) { return sentence.find(part) != std::string::npos; }

constexpr file_options crowded{.owner_bytes = 0, .sync = false};

struct setting {
  world everyone{test::workers()};
  test::folder folder{test::workers()};
  std::string path = folder / "w.h5";
  partition<extents<dynamic, 1>> rows = everyone.partition(extents<dynamic, 1>(everyone.size()));
  partition<extents<1, dynamic>> columns =
      everyone.partition(extents<1, dynamic>(everyone.size() - everyone.size() / 2));
  partition<extents<1, 1>> last = everyone.partition<1, 1>(workers{everyone.size() - 1});

  template <class T>
  bool goes_round(const std::string& name, const std::array<std::size_t, 2>& n) const {
    save_hdf5(path, name, rows, dynamic_extents<2>(n), numbered<T>(rows, n), crowded);
    return same(load_hdf5<T, 2>(path, name, columns, crowded), numbered<T>(columns, n)) &&
           same(load_hdf5<T, 2>(path, name, rows), numbered<T>(rows, n)) &&
           same(load_hdf5<T, 2>(path, name, last, crowded), numbered<T>(last, n));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hdf5_files)

/// Numbers have the native types of HDF5, and bool and complex numbers those of h5py.
BOOST_AUTO_TEST_CASE(each_element_has_its_type) {
  const auto has_type = []<class T>(T, hid_t expected) {
    const detail::hdf5_id type(detail::make_hdf5_type<T>(), H5Tclose);
    return type.is_valid() && H5Tequal(type, expected) > 0;
  };
  BOOST_TEST((has_type(std::int8_t(), H5T_NATIVE_INT8) && has_type(std::uint8_t(), H5T_NATIVE_UINT8)));
  BOOST_TEST((has_type(std::int16_t(), H5T_NATIVE_INT16) && has_type(std::uint16_t(), H5T_NATIVE_UINT16)));
  BOOST_TEST((has_type(std::int32_t(), H5T_NATIVE_INT32) && has_type(std::uint32_t(), H5T_NATIVE_UINT32)));
  BOOST_TEST((has_type(std::int64_t(), H5T_NATIVE_INT64) && has_type(std::uint64_t(), H5T_NATIVE_UINT64)));
  BOOST_TEST((has_type(1.0F, H5T_NATIVE_FLOAT) && has_type(1.0, H5T_NATIVE_DOUBLE)));
  BOOST_TEST(has_type(1.0L, H5T_NATIVE_LDOUBLE));
  const auto member = [](hid_t type, unsigned k) {
    char* const name = H5Tget_member_name(type, k);
    const std::string copy(name);
    H5free_memory(name);
    return copy;
  };
  const detail::hdf5_id complex(detail::make_hdf5_type<std::complex<float>>(), H5Tclose);
  BOOST_TEST((H5Tget_nmembers(complex) == 2 && H5Tget_size(complex) == 8));
  BOOST_TEST((member(complex, 0) == "r" && H5Tget_member_offset(complex, 0) == 0));
  BOOST_TEST((member(complex, 1) == "i" && H5Tget_member_offset(complex, 1) == 4));
  const detail::hdf5_id truth(detail::make_hdf5_type<bool>(), H5Tclose), base(H5Tget_super(truth), H5Tclose);
  BOOST_TEST((H5Tequal(base, H5T_NATIVE_INT8) > 0 && H5Tget_nmembers(truth) == 2));
  std::int8_t values[2] = {7, 7};
  for (unsigned k = 0; k < 2; ++k) BOOST_TEST(H5Tget_member_value(truth, k, &values[k]) >= 0);
  BOOST_TEST((member(truth, 0) == "FALSE" && values[0] == 0 && member(truth, 1) == "TRUE" && values[1] == 1));
}

/// What HDF5 prints of errors is silent during a call, and as before after it.
BOOST_AUTO_TEST_CASE(errors_are_thrown_and_not_printed) {
  const setting s;
  static int printed = 0;
  H5E_auto2_t before = nullptr, after = nullptr;
  void *data_before = nullptr, *data_after = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
  const H5E_auto2_t counts = [](hid_t, void*) { return ++printed, herr_t{0}; };
  H5Eset_auto2(H5E_DEFAULT, counts, &printed);
  const auto w = numbered<double>(s.rows, {7, 12});
  save_hdf5(s.path, "w", s.rows, extents<7, 12>{}, w, crowded);
  const std::string made = refused<io_error>([&] { save_hdf5(s.path, "w", s.rows, extents<7, 12>{}, w, crowded); });
  const std::string read = refused<io_error>([&] { load_hdf5<double, 2>(s.path, "none", s.rows); });
  H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
  H5Eset_auto2(H5E_DEFAULT, before, data_before);
  BOOST_TEST((printed == 0 && after == counts && data_after == &printed));
  BOOST_TEST(says(made, "partita::save_hdf5(\"" + s.path +
                            "\", \"w\", p, extents [7, 12], x): worker 0 cannot make the "
                            "dataset in " +
                            s.path + ": "),
             made);
  BOOST_TEST(made.ends_with("; give a name that is not taken yet, where this worker may write and the disk has room"));
  BOOST_TEST(says(read, "partita::load_hdf5(\"" + s.path + "\", \"none\", p): worker 0 cannot find the dataset in " +
                            s.path + ": "),
             read);
  BOOST_TEST(read.ends_with("; ask for a dataset that is there"), read);
}

BOOST_AUTO_TEST_CASE(what_was_saved_on_some_partition_comes_back_on_any_other) {
  const setting s;
  BOOST_TEST(s.goes_round<double>("a", {7, 12}));
  BOOST_TEST(s.goes_round<float>("uneven", {5, 3}));
  BOOST_TEST(s.goes_round<std::int16_t>("small", {1, 2}));
  BOOST_TEST(s.goes_round<std::uint64_t>("empty", {0, 3}));
  BOOST_TEST(s.goes_round<bool>("bool", {9, 4}));
  BOOST_TEST(s.goes_round<std::complex<double>>("complex", {6, 5}));
  // saves irregular blocks, and loads balanced ones
  std::vector<std::size_t> sizes(s.everyone.size(), 0);
  sizes.back() = 7;
  const decomposition<2> cuts{cut::at(sizes), cut::balanced(12, 1)};
  save_hdf5(s.path, "all on one", s.rows, extents<7, 12>{}, numbered<double>(s.rows, cuts), source_cuts(cuts));
  BOOST_TEST(same(load_hdf5<double, 2>(s.path, "all on one", s.rows), numbered<double>(s.rows, {7, 12})));
  BOOST_TEST(same(load_hdf5<double, 2>(s.path, "a", s.rows, result_cuts(cuts)), numbered<double>(s.rows, cuts)));
  // an expression is saved with the policies of its values: row i is on worker i % n, which shapes do not show
  const decomposition<2> dealt{{cut::block_cyclic(7, s.everyone.size(), 1), cut::balanced(12, 1)}};
  const auto x =
      block_from(s.rows, dealt, [](std::size_t i, std::size_t j) { return static_cast<double>(12 * i + j); });
  save_hdf5(s.path, "sum", s.rows, extents<7, 12>{}, x + 0.0, source_cuts(dealt), crowded);
  BOOST_TEST(same(load_hdf5<double, 2>(s.path, "sum", s.rows), numbered<double>(s.rows, {7, 12})));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_saved_or_loaded_is_the_same_sentence_on_all_workers) {
  const setting s;
  const auto w = numbered<double>(s.rows, {7, 12});
  const auto save = [&](const std::string& path, const std::string& name) {
    save_hdf5(path, name, s.rows, extents<7, 12>{}, w, crowded);
  };
  save(s.path, "w");
  BOOST_TEST(says(refused<io_error>([&] { save(s.path, "w"); }), "cannot make the dataset in"));
  BOOST_TEST(says(refused<io_error>([&] { save(s.path, "no/such/group"); }), "cannot make the dataset in"));
  BOOST_TEST(says(refused<io_error>([&] { save("/proc/nothing/w.h5", "w"); }), "cannot open /proc/nothing/w.h5"));
  BOOST_TEST(says(refused<shape_error>([&] { save_hdf5(s.path, "x", s.rows, extents<8, 12>{}, w); }), "save_hdf5"));
  const auto load = [&]<class T>(T, const std::string& path, const std::string& name) {
    load_hdf5<T, 2>(path, name, s.columns);
  };
  BOOST_TEST(says(refused<io_error>([&] { load(1.0, s.folder / "none.h5", "w"); }), "cannot read"));
  BOOST_TEST(says(refused<io_error>([&] { load(1.0, s.path, "other"); }), "cannot find the dataset in"));
  BOOST_TEST(
      says(refused<io_error>([&] { load(1.0F, s.path, "w"); }), "requires elements of the type asked for (<f4)"));
  const auto line = s.everyone.partition(extents(s.everyone.size()));
  BOOST_TEST(says(refused<shape_error>([&] { load_hdf5<double, 1>(s.path, "w", line); }), "one of rank 2"));
  s.everyone.communicator().barrier();
  if (s.everyone.id() == 0) test::write_bytes(s.folder / "garbage.h5", std::string(5000, 'x'));
  s.everyone.communicator().barrier();
  BOOST_TEST(says(refused<io_error>([&] { load(1.0, s.folder / "garbage.h5", "w"); }), "cannot read"));
  BOOST_TEST(says(refused<io_error>([&] { save(s.folder / "garbage.h5", "w"); }), "cannot open"));
  BOOST_TEST(same(load_hdf5<double, 2>(s.path, "w", s.rows), w));  // the file has not changed
}

BOOST_AUTO_TEST_CASE(another_argument_on_one_worker_is_refused_on_all_before_the_file_is_opened, *test::at_least(2)) {
  const setting s;
  const auto w = numbered<double>(s.rows, {7, 12});
  const auto columns = numbered<double>(s.columns, {7, 12});
  const xt::xtensor<float, 2> f = w;
  const std::string other = s.folder / "other.h5";
  save_hdf5(s.path, "w", s.rows, extents<7, 12>{}, w, crowded);
  save_hdf5(s.path, "v", s.rows, extents<7, 12>{}, w, crowded);
  using call = std::function<void(bool odd)>;
  const call saves[] = {
      [&](bool odd) { save_hdf5(odd ? other : s.path, "x", s.rows, extents<7, 12>{}, w); },
      [&](bool odd) { save_hdf5(s.path, odd ? "y" : "x", s.rows, extents<7, 12>{}, w); },
      [&](bool odd) { save_hdf5(s.path, "x", s.rows, odd ? extents(12, 7) : extents(7, 12), w); },
      [&](bool odd) {
        odd ? save_hdf5(s.path, "x", s.rows, extents<7, 12>{}, f) : save_hdf5(s.path, "x", s.rows, extents<7, 12>{}, w);
      },
      [&](bool odd) {
        odd ? save_hdf5(s.path, "x", s.columns, extents<7, 12>{}, columns)
            : save_hdf5(s.path, "x", s.rows, extents<7, 12>{}, w);
      },
      [&](bool odd) {
        save_hdf5(s.path, "x", s.rows, extents<7, 12>{}, w, file_options{.owner_bytes = odd ? 1U : 0U});
      }};
  const call loads[] = {
      [&](bool odd) { (void)load_hdf5<double, 2>(odd ? other : s.path, "w", s.rows); },
      [&](bool odd) { (void)load_hdf5<double, 2>(s.path, odd ? "v" : "w", s.rows); },
      [&](bool odd) {
        odd ? (void)load_hdf5<float, 2>(s.path, "w", s.rows) : (void)load_hdf5<double, 2>(s.path, "w", s.rows);
      },
      [&](bool odd) {
        odd ? (void)load_hdf5<double, 2>(s.path, "w", s.columns) : (void)load_hdf5<double, 2>(s.path, "w", s.rows);
      },
      [&](bool odd) { (void)load_hdf5<double, 2>(s.path, "w", s.rows, file_options{.owner_bytes = odd ? 1U : 0U}); }};
  const auto check = [&](const auto& calls, const std::string& name) {
    for (std::size_t k = 0; k < std::size(calls); ++k)
      for (const std::size_t odd : {std::size_t{0}, s.everyone.size() - 1}) {
        const std::string told = refused<disagreement_error>([&] { calls[k](s.everyone.id() == odd); });
        const std::size_t at = told.find(name);
        BOOST_TEST((at != std::string::npos && told.find(name, at + 1) != std::string::npos), k << ": " << told);
      }
  };
  check(saves, "partita::save_hdf5(");
  check(loads, "partita::load_hdf5(");
  BOOST_TEST(same(load_hdf5<double, 2>(s.path, "w", s.rows), w));
  BOOST_TEST(says(refused<io_error>([&] { load_hdf5<double, 2>(s.path, "x", s.rows); }), "cannot find the dataset in"));
}

BOOST_AUTO_TEST_CASE(a_file_that_another_job_uses_is_waited_for) {
  const setting s;
  const auto w = numbered<double>(s.rows, {7, 12});
  save_hdf5(s.path, "w", s.rows, extents<7, 12>{}, w, crowded);
  for (const bool loads : {true, false}) {
    s.everyone.communicator().barrier();
    detail::posix_file other;  // another process has the file open, as for loading or saving
    if (s.everyone.id() == 0) {
      BOOST_TEST(other.open(s.path, O_RDWR) == 0);
      BOOST_TEST(other.lock(loads) == 0);
    }
    bool unlocked = false;
    std::thread later([&] {
      ::usleep(300000);
      unlocked = true;
      static_cast<void>(other.close());
    });
    if (loads) save_hdf5(s.path, "v", s.rows, extents<7, 12>{}, w, crowded);
    else BOOST_TEST(same(load_hdf5<double, 2>(s.path, "v", s.rows), w));
    later.join();
    BOOST_TEST(unlocked);
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_another_job_does_not_release_is_an_error_on_all_workers) {
  const setting s;
  const auto w = numbered<double>(s.rows, {7, 12});
  save_hdf5(s.path, "w", s.rows, extents<7, 12>{}, w, crowded);
  detail::posix_file other;
  s.everyone.communicator().barrier();
  if (s.everyone.id() == 0) BOOST_TEST((other.open(s.path, O_RDWR) == 0 && other.lock() == 0));
  BOOST_TEST(says(refused<io_error>([&] { save_hdf5(s.path, "v", s.rows, extents<7, 12>{}, w, crowded); }),
                  "another program has it open"));
  static_cast<void>(other.close());
  BOOST_TEST(same(load_hdf5<double, 2>(s.path, "w", s.rows), w));
}

BOOST_AUTO_TEST_CASE(workers_that_see_other_files_under_one_name_all_get_an_error, *test::at_least(2)) {
  const setting s;
  const auto w = numbered<double>(s.rows, {7, 12});
  for (std::size_t k = 0; k < s.everyone.size(); ++k) {
    const std::string own = s.folder / std::to_string(k);
    if (s.everyone.id() == 0) std::filesystem::create_directory(own);
    s.everyone.communicator().barrier();
    save_hdf5(own + "/w.h5", "w", s.rows, extents<7, 12>{}, w, crowded);
  }
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(s.folder / std::to_string(s.everyone.id()));
  const std::string message = refused<io_error>([&] { load_hdf5<double, 2>("w.h5", "w", s.rows); });
  std::filesystem::current_path(before);
  BOOST_TEST(says(message, "not all workers see the same file under this name"));
}

BOOST_AUTO_TEST_CASE(a_limit_on_the_size_of_files_is_an_error_and_no_signal) {
  const setting s;
  const auto w = numbered<double>(s.rows, {70, 120});
  std::string message;
  {
    std::optional<test::file_size_limit> limit;
    if (s.everyone.id() + 1 == s.everyone.size()) limit.emplace(4096);
    message = refused<io_error>([&] { save_hdf5(s.path, "w", s.rows, extents<70, 120>{}, w, crowded); });
  }
  BOOST_TEST(says(message, "cannot write"));
  BOOST_TEST(says(message, "File too large (errno 27)"));
}

BOOST_AUTO_TEST_SUITE_END()

#else

BOOST_AUTO_TEST_SUITE(hdf5_files)

BOOST_AUTO_TEST_CASE(what_was_saved_on_some_partition_comes_back_on_any_other,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result none(false);
                       none.message() << "needs parallel HDF5 (libhdf5-openmpi-dev)";
                       return none;
                     })) {}

BOOST_AUTO_TEST_SUITE_END()

#endif
