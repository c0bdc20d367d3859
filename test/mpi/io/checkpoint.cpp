// Checkpoints: tensors that were saved on some partition are loaded and verified on any other; a single changed bit is
// an error on all workers; and a failed save does not change existing checkpoints.
#include "../support/folder.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"
#include "resource_limit.hpp"

#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>

#include <optional>

namespace {

using namespace partita;
using test::refused;

/// This worker's block on p of the tensor whose elements are their positions in C order.
template <class T, class Extents>
xt::xtensor<T, Extents::rank()> numbered(const partition<Extents>& p,
                                         const std::array<std::size_t, Extents::rank()>& extents, T scale = 1) {
  constexpr std::size_t rank = Extents::rank();
  if (!p.active()) return zero_volume<T, rank>();
  const auto box = decomposition<rank>::balanced(extents, p.grid().shape()).block(p.index());
  auto block = uninitialised<T, rank>(box.shape());
  for (std::size_t k = 0; k < block.size(); ++k) {
    auto i = index_of(k, box.shape());
    for (std::size_t d = 0; d < rank; ++d) i[d] += box.start[d];
    block.data()[k] = scale * static_cast<T>(flat_index(i, extents));
  }
  return block;
}
template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()) &&
         std::equal(a.data(), a.data() + a.size(), b.data());
}
bool says(const std::string& sentence, const std::string& part) { return sentence.find(part) != std::string::npos; }

/// Options for small tensors with many owners and small slabs.
constexpr checkpoint_options crowded{.slab_bytes = 64, .files = {.page_bytes = 128, .owner_bytes = 0, .sync = false}};

struct setting {
  world everyone{test::workers()};
  test::folder folder{test::workers()};
  partition<extents<dynamic, 1>> rows = everyone.partition(extents<dynamic, 1>(everyone.size()));
  partition<extents<1, dynamic>> columns =
      everyone.partition(extents<1, dynamic>(everyone.size() - everyone.size() / 2));
  partition<extents<1>> last = everyone.partition<1>(workers{everyone.size() - 1});

  std::string path() const { return folder / "run"; }
  void save(std::uint64_t step, float scale, const checkpoint_options& options = crowded) const {
    const auto w = numbered<float>(rows, {7, 12}, scale);
    const auto b = numbered<double>(last, {5});
    save_checkpoint(path(), step, named("weight", rows, extents<7, 12>{}, w),
                    named("bias", last, extents<5>{}, b + 1.0), options);
  }
  bool holds(const checkpoint& saved, float scale) const {
    const auto right = numbered<float>(columns, {7, 12}, scale);
    return same(saved.load<float, 2>("weight", columns), right) && same(read_alone(saved), right);
  }
  /// Each worker reads runs of a few elements instead of a slab.
  xt::xtensor<float, 2> read_alone(const checkpoint& saved) const {
    return saved.load<float, 2>("weight", columns, file_options{.run_bytes = 1});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoints)

BOOST_AUTO_TEST_CASE(what_was_saved_is_loaded_on_any_partition) {
  const setting s;
  s.save(12, 1);
  const checkpoint saved = load_checkpoint(s.path(), s.everyone);
  BOOST_TEST(saved.step() == 12U);
  BOOST_TEST(saved.tensors().size() == 2U);
  BOOST_TEST((saved.contains("bias") && !saved.contains("other")));
  BOOST_TEST(s.holds(saved, 1));
  const auto line = s.everyone.partition(extents(s.everyone.size()));
  BOOST_TEST(same(saved.load<double, 1>("bias", line),
                  xt::xtensor<double, 1>(numbered<double>(line, {5}) + (line.active() ? 1.0 : 0.0))));
  const decomposition<2> all_first{{cut::at([&] {
                                      std::vector<std::size_t> sizes(s.everyone.size(), 0);
                                      sizes[0] = 7;
                                      return sizes;
                                    }()),
                                    cut::balanced(12, 1)}};
  const auto w = saved.load<float, 2>("weight", s.rows, result_cuts(all_first));
  BOOST_TEST(w.size() == (s.everyone.id() == 0 ? 84U : 0U));
  // each is an ordinary .npy file
  BOOST_TEST(
      same(load_npy<float, 2>(s.path() + "/step-000000000012/weight.npy", s.rows), numbered<float>(s.rows, {7, 12})));
}

BOOST_AUTO_TEST_CASE(files_of_any_length_come_back_from_slabs_of_any_length) {
  const setting s;
  const auto line = s.everyone.partition(extents(s.everyone.size()));
  std::uint64_t step = 0;
  for (const std::size_t slab : {0U, 1U, 31U, 64U, 128U, 129U, 4096U})
    for (const std::size_t n : {0U, 1U, 2U, 7U, 8U, 9U, 15U, 16U, 17U, 63U, 64U, 65U}) {  // behind 128 bytes of header
      checkpoint_options options = crowded;
      options.slab_bytes = slab;
      const auto x = numbered<std::int16_t>(line, {n});
      save_checkpoint(s.path(), ++step, named("x", line, extents(n), x), options);
      const checkpoint saved = load_checkpoint(s.path(), s.everyone, step);
      const std::size_t bytes = slab == 0 ? 1 : slab;  // slabs of no bytes would have no end
      BOOST_TEST(saved.tensors()[0].checksums.size() == (128 + 2 * n + bytes - 1) / bytes);
      BOOST_TEST(same(saved.load<std::int16_t, 1>("x", line), x));
      BOOST_TEST(same(saved.load<std::int16_t, 1>("x", s.last), numbered<std::int16_t>(s.last, {n})));
    }
}

BOOST_AUTO_TEST_CASE(the_latest_is_the_highest_that_was_saved_whole_and_the_last_are_kept) {
  const setting s;
  BOOST_TEST(checkpoint_steps(s.path(), s.everyone).empty());
  BOOST_TEST(says(refused<io_error>([&] { load_checkpoint(s.path(), s.everyone); }), "there is none"));
  for (const std::uint64_t step : {3U, 20U, 100U}) s.save(step, static_cast<float>(step));
  // names that are nearly those of a step, or of one whose saving was not completed
  const std::vector<std::string> of_others{"step-1000",
                                           "step-00000000999",
                                           "step-0000000000999",
                                           "step-00000000099x",
                                           "step-000000000999 ",
                                           "Step-000000000999",
                                           "step-000000000999.tmp",
                                           "step-000000000999.tmp.0123456789abcde",
                                           "step-000000000999.tmp.0123456789abcdef0",
                                           "step-999.tmp.0123456789abcdef"};
  // the files of a job that was killed while it saved, and a folder that is not a checkpoint
  if (s.everyone.id() == 0) {
    std::filesystem::create_directory(s.path() + "/step-000000000999.tmp.0123456789abcdef");
    for (const std::string& name : of_others) std::filesystem::create_directory(s.path() + "/" + name);
    test::write_bytes(s.path() + "/notes", "mine");
  }
  BOOST_TEST((checkpoint_steps(s.path(), s.everyone) == std::vector<std::uint64_t>{3, 20, 100}));
  BOOST_TEST(s.holds(load_checkpoint(s.path(), s.everyone), 100));
  BOOST_TEST(s.holds(load_checkpoint(s.path(), s.everyone, 20), 20));
  checkpoint_options two = crowded;
  two.keep_last = 2;
  s.save(101, 5, two);
  BOOST_TEST((checkpoint_steps(s.path(), s.everyone) == std::vector<std::uint64_t>{100, 101}));
  s.save(50, 6, two);  // saved out of order: the latest save is never removed
  BOOST_TEST((checkpoint_steps(s.path(), s.everyone) == std::vector<std::uint64_t>{50, 100, 101}));
  s.everyone.communicator().barrier();
  BOOST_TEST(!std::filesystem::exists(s.path() + "/step-000000000999.tmp.0123456789abcdef"));
  for (const std::string& name : of_others) BOOST_TEST(std::filesystem::exists(s.path() + "/" + name), name);
  BOOST_TEST(std::filesystem::exists(s.path() + "/step-1000"));
  BOOST_TEST(std::filesystem::exists(s.path() + "/notes"));
}

BOOST_AUTO_TEST_CASE(what_agrees_with_its_checksums_alone_is_refused_too) {
  const setting s;
  s.save(12, 1);
  const std::string step = s.path() + "/step-000000000012";
  const auto alone = [&](auto f) {
    s.everyone.communicator().barrier();
    if (s.everyone.id() == 0) f();
    s.everyone.communicator().barrier();
  };
  // another header, with the manifest written anew: the checksums are right, and the tensor would be another one
  const auto with_header = [&](auto change) {
    alone([&] {
      manifest m = parse_manifest(test::bytes_of(step + "/manifest.json")).manifest;
      auto bytes = test::bytes_of(step + "/weight.npy");
      change(bytes, m.tensors[0]);
      test::write_bytes(step + "/weight.npy", bytes);
      for (std::size_t k = 0; k < m.tensors[0].checksums.size(); ++k) {
        const std::size_t first = k * m.slab_bytes, n = std::min(m.slab_bytes, bytes.size() - first);
        m.tensors[0].checksums[k] = crc32c(bytes.data() + first, n, 0);
      }
      test::write_bytes(step + "/manifest.json", to_json(m));
    });
    return refused<io_error>([&] { load_checkpoint(s.path(), s.everyone).load<float, 2>("weight", s.columns); });
  };
  const auto replace = [](auto& bytes, const std::string& from, const std::string& to) {
    const auto at = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
    std::copy(to.begin(), to.end(), at);
  };
  const char* const sentence = "is not that of a tensor of this type and these extents";
  BOOST_TEST(says(with_header([&](auto& bytes, auto&) { replace(bytes, "False", "True "); }), sentence));
  BOOST_TEST(says(
      with_header([&](auto& bytes, auto&) { replace(bytes, "True ", "False"), replace(bytes, "(7, 12)", "(12, 7)"); }),
      sentence));
  BOOST_TEST(
      says(with_header([&](auto& bytes, auto&) { replace(bytes, "(12, 7)", "(7, 12)"), replace(bytes, "<f4", "<i4"); }),
           sentence));
  BOOST_TEST(with_header([&](auto& bytes, auto&) { replace(bytes, "<i4", "<f4"); }).empty());
  // the folder of another step
  alone([&] { std::filesystem::rename(step, s.path() + "/step-000000000013"); });
  BOOST_TEST(says(refused<io_error>([&] { load_checkpoint(s.path(), s.everyone); }),
                  "requires a checkpoint that is as it was saved; of "));
  BOOST_TEST(says(refused<io_error>([&] { load_checkpoint(s.path(), s.everyone); }),
                  "its manifest is that of step 12: its folder was renamed, or its files moved; load an earlier step"));
  alone([&] { std::filesystem::rename(s.path() + "/step-000000000013", step); });
  // a partition of another world
  const world other(s.everyone.communicator());
  const auto p = other.partition(extents<dynamic, 1>(other.size()));
  BOOST_TEST(says(refused<partition_error>([&] { load_checkpoint(s.path(), s.everyone).load<float, 2>("weight", p); }),
                  "requires a partition of the world that loads the checkpoint"));
  BOOST_TEST(s.holds(load_checkpoint(s.path(), s.everyone), 1));
}

BOOST_AUTO_TEST_CASE(every_changed_byte_is_found_and_the_tensor_and_its_slab_are_named) {
  const setting s;
  s.save(1, 1);
  const std::string folder = s.path() + "/step-000000000001/", file = folder + "weight.npy";
  const std::string whole = test::bytes_of(file), manifest_text = test::bytes_of(folder + "manifest.json");
  const auto put = [&](const std::string& path, const std::string& bytes) {
    s.everyone.communicator().barrier();
    if (s.everyone.id() == 0) test::write_bytes(path, bytes);
    s.everyone.communicator().barrier();
  };
  const checkpoint saved = load_checkpoint(s.path(), s.everyone);
  const std::size_t stride = s.everyone.size() <= 2 ? 1 : 7;
  for (std::size_t byte = 0; byte < whole.size(); byte += stride) {
    std::string other = whole;
    other[byte] = static_cast<char>(other[byte] ^ 1 << byte % 8);
    put(file, other);
    const std::string sentence = byte % 2 == 0 ? refused<io_error>([&] { saved.load<float, 2>("weight", s.columns); })
                                               : refused<io_error>([&] { s.read_alone(saved); });
    BOOST_TEST(says(sentence, "requires what was saved; slab " + std::to_string(byte / 64) +
                                  " of tensor \"weight\" (bytes " + std::to_string(byte / 64 * 64) + " and on of "),
               byte);
  }
  put(file, whole.substr(0, whole.size() - 3));
  BOOST_TEST(says(refused<io_error>([&] { saved.load<float, 2>("weight", s.columns); }), "weight.npy"));
  BOOST_TEST(says(refused<io_error>([&] { s.read_alone(saved); }), "weight.npy"));
  put(file, whole + "more");
  BOOST_TEST(says(refused<io_error>([&] { saved.load<float, 2>("weight", s.columns); }), "has 468 bytes, and had 464"));
  put(file, whole);
  BOOST_TEST(s.holds(saved, 1));
  for (std::size_t byte = 0; byte < manifest_text.size(); byte += 5 * stride) {
    std::string other = manifest_text;
    other[byte] = static_cast<char>(other[byte] ^ 1 << byte % 8);
    put(folder + "manifest.json", other);
    BOOST_TEST(says(refused<io_error>([&] { load_checkpoint(s.path(), s.everyone); }), "its checksum differs"), byte);
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_saved_or_loaded_is_the_same_sentence_on_all_workers) {
  const setting s;
  s.save(1, 1);
  const auto w = numbered<float>(s.rows, {7, 12});
  const auto save_as = [&](const std::string& name, const std::string& other) {
    return refused<io_error>([&] {
      save_checkpoint(s.path(), 2, named(name, s.rows, extents<7, 12>{}, w), named(other, s.rows, extents<7, 12>{}, w),
                      crowded);
    });
  };
  BOOST_TEST(says(refused<io_error>([&] { s.save(1, 2); }), "requires a step that is not there yet"));
  BOOST_TEST(says(save_as("../w", "b"), "requires names of 1 to 100 letters"));
  BOOST_TEST(says(save_as("", "b"), "requires names of 1 to 100 letters"));
  BOOST_TEST(
      says(save_as("b", "b"), "requires a name of its own for each tensor; \"b\" is given twice; choose another name"));
  BOOST_TEST(says(
      refused<io_error>([&] { save_checkpoint("/proc/nothing/here", 2, named("w", s.rows, extents<7, 12>{}, w)); }),
      "cannot make /proc/nothing/here"));
  BOOST_TEST(says(
      refused<shape_error>([&] { save_checkpoint(s.path(), 2, named("w", s.rows, extents<8, 12>{}, w), crowded); }),
      "partita::save_checkpoint(\""));

  // the disk is full for the worker that writes last
  std::optional<test::file_size_limit> limit;
  if (s.everyone.id() + 1 == s.everyone.size()) limit.emplace(100, SIG_IGN);
  const std::string full = refused<io_error>([&] { s.save(2, 2); });
  limit.reset();
  BOOST_TEST(says(full, "File too large"));
  BOOST_TEST(says(full, "the checkpoints saved before are untouched"));
  s.everyone.communicator().barrier();
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(s.path()), std::filesystem::directory_iterator()) == 1);

  const checkpoint saved = load_checkpoint(s.path(), s.everyone);
  BOOST_TEST(s.holds(saved, 1));
  BOOST_TEST(says(refused<io_error>([&] { saved.load<float, 2>("w", s.rows); }),
                  "requires a tensor of that name; there are weight bias; ask for one of them"));
  BOOST_TEST(says(refused<io_error>([&] { saved.load<double, 2>("weight", s.rows); }), "holds <f4"));
  BOOST_TEST(says(refused<shape_error>([&] { saved.load<float, 1>("weight", s.last); }), "holds one of rank 2"));
  BOOST_TEST(says(refused<io_error>([&] { load_checkpoint(s.path(), s.everyone, 7); }), "No such file"));
  s.everyone.communicator().barrier();
  if (s.everyone.id() == 0) std::filesystem::remove(s.path() + "/step-000000000001/bias.npy");
  BOOST_TEST(says(refused<io_error>([&] { saved.load<double, 1>("bias", s.last); }), "bias.npy: No such file"));
}

/// The error for a tensor that is not there names up to 20 of the others, and counts the rest.
BOOST_AUTO_TEST_CASE(an_unknown_name_is_answered_by_the_names_that_there_are) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1>(workers{everyone.size() - 1});
  for (const std::size_t n : {0U, 1U, 19U, 20U, 21U, 40U, 41U, 123U}) {
    manifest contents{7, 64, {}};
    std::string names = "requires a tensor of that name; there are";
    for (std::size_t k = 0; k < n; ++k) {
      contents.tensors.push_back({"t" + std::to_string(k), "<f4", {1}, 132, {0, 0, 0}});
      if (k < 20) names += " t" + std::to_string(k);
    }
    if (n > 20) names += " and " + std::to_string(n - 20) + " others";
    const checkpoint saved(everyone, "none", contents);
    const std::string told = refused<io_error>([&] { saved.load<float, 1>("u", p); });
    BOOST_TEST(told.ends_with(names + "; ask for one of them"), told);
  }
}

BOOST_AUTO_TEST_CASE(saving_behind_the_back_of_the_program_keeps_what_was_there_at_the_call) {
  const setting s;
  checkpoint_options two = crowded;
  two.keep_last = 2;
  {
    checkpoint_saver saver(s.path(), two);
    auto w = numbered<float>(s.rows, {7, 12});
    auto b = numbered<double>(s.last, {5});
    for (std::uint64_t step = 1; step <= 4; ++step) {
      saver.save(step, named("weight", s.rows, extents<7, 12>{}, w), named("bias", s.last, extents<5>{}, b + 1.0));
      w *= 2.0F, b *= 0.0;  // changed while they are written
      BOOST_TEST((checkpoint_steps(s.path(), s.everyone).size() == std::min<std::size_t>(step - 1, 2)));
    }
    saver.finish(), saver.finish();
    BOOST_TEST((checkpoint_steps(s.path(), s.everyone) == std::vector<std::uint64_t>{3, 4}));
    BOOST_TEST(s.holds(load_checkpoint(s.path(), s.everyone), 8));
    saver.save(5, named("weight", s.rows, extents<7, 12>{}, w));
  }  // the save is finished here
  BOOST_TEST(s.holds(load_checkpoint(s.path(), s.everyone, 5), 16));
  try {
    checkpoint_saver saver(s.path(), two);
    saver.save(6, named("weight", s.rows, extents<7, 12>{}, numbered<float>(s.rows, {7, 12})));
    throw 17;
  } catch (int) {  // left out
  }
  s.everyone.communicator().barrier();
  BOOST_TEST((checkpoint_steps(s.path(), s.everyone) == std::vector<std::uint64_t>{4, 5}));
}

BOOST_AUTO_TEST_CASE(what_could_not_be_saved_behind_the_back_is_told_by_the_next_call_on_all_workers) {
  const setting s;
  checkpoint_saver saver(s.path(), crowded);
  const auto w = numbered<float>(s.rows, {7, 12});
  std::optional<test::file_size_limit> limit(std::in_place, 100, SIG_IGN);
  saver.save(1, named("weight", s.rows, extents<7, 12>{}, w));
  const std::string full = refused<io_error>([&] { saver.finish(); });
  limit.reset();
  BOOST_TEST(says(full, "File too large"), full);
  BOOST_TEST(says(full, "partita::checkpoint_saver::save(\""), full);
  saver.save(1, named("weight", s.rows, extents<7, 12>{}, w));
  saver.finish();
  BOOST_TEST(s.holds(load_checkpoint(s.path(), s.everyone), 1));
  BOOST_TEST(says(refused<io_error>([&] { saver.save(1, named("weight", s.rows, extents<7, 12>{}, w)); }),
                  "requires a step that is not there yet"));
}

BOOST_AUTO_TEST_SUITE_END()
