// Runs in place: what they make equals a loop over all elements, and whenever the power fails, another run
// finishes them or restores what was there.
#include "xorder/tiles/in_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/crc.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "byte_units.hpp"
#include "io/disk_filter.hpp"
#include "io/disks.hpp"
#include "io/format/npy.hpp"
#include "io/format/on_disk.hpp"
#include "io/power.hpp"
#include "io/scratch.hpp"
#include "long_form.hpp"
#include "plan/reference.hpp"
#include "plan/tiles/in_place.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "tiles/in_place_batch.hpp"
#include "tiles/in_place_pass.hpp"
#include "work/journal.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/tiles/job.hpp"
#include "xorder/tiles/resume.hpp"

namespace xorder::tiles {
namespace {

namespace fs = std::filesystem;
using test::CutOff;
using test::read_file;
using test::UnsyncedWrites;
using test::write_file;

std::string noise(test::Random& random, std::uint64_t bytes) {
  std::string data(bytes, '\0');
  random.fill(data.data(), bytes);
  return data;
}

// By the definition, behind `header` bytes that stay.
std::string reordered(const Reordering& what, const std::string& data, std::uint64_t header = 0) {
  std::string result = data;
  const std::uint64_t w = what.element_bytes;
  for (std::uint64_t i = 0; i < what.elements(); ++i)
    result.replace(header + what.target_index(i) * w, w, data, header + i * w, w);
  return result;
}

// A random array and what becomes of it, of at most so many elements.
Reordering random_task(test::Random& random, std::uint64_t most) {
  constexpr std::uint64_t sizes[] = {1, 3, 24, 512, 512, 512};
  const std::uint64_t w = sizes[random.in(0, 5)];
  for (;;) {
    Reordering r{w, {}, {}, {}, {}};
    switch (random.in(0, 7)) {
      case 5: {  // matrices of any shape, perhaps of long elements
        r.extents = {random.in(std::uint64_t{1}, std::uint64_t{3}),
                     random.in(std::uint64_t{1}, std::uint64_t{200}),
                     random.in(std::uint64_t{1}, std::uint64_t{200})};
        r.order = {0, 2, 1};
        break;
      }
      case 6: {  // and three axes
        for (int i = 0; i < 3; ++i) r.extents.push_back(random.in(std::uint64_t{1}, std::uint64_t{25}));
        r.order = {0, 1, 2};
        std::ranges::shuffle(r.order, random);
        break;
      }
      case 7: {  // small matrices
        r.extents = {random.in(std::uint64_t{1}, std::uint64_t{700}),
                     random.in(std::uint64_t{1}, std::uint64_t{5}),
                     random.in(std::uint64_t{1}, std::uint64_t{5})};
        r.order = {0, 2, 1};
        break;
      }
      case 0: {  // a square with edges, perhaps one of several
        const std::uint64_t n = random.in(1, 130);
        r.extents = {n, n}, r.order = {1, 0};
        break;
      }
      case 1: {  // equal axes change places in any way
        const std::uint64_t n = random.in(1, 17), m = random.in(1, 9);
        r.extents = {n, m, n, n}, r.order = {0, 1, 2, 3};
        std::vector<int> equal = {0, 2, 3};
        std::ranges::shuffle(equal, random);
        r.order[0] = equal[0], r.order[2] = equal[1], r.order[3] = equal[2];
        break;
      }
      case 2: {  // two pairs of axes
        const std::uint64_t n = random.in(1, 12), m = random.in(1, 12);
        r.extents = {n, m, n, m}, r.order = {2, 3, 0, 1};
        break;
      }
      case 3: {
        const int n = random.in(1, 15);
        r.extents = {std::uint64_t{1} << n}, r.order = {0}, r.mapped = 0, r.map = test::any_map(random, n);
        break;
      }
      default: {  // along an axis
        const int n = random.in(1, 10);
        r.extents = {random.in(std::uint64_t{1}, std::uint64_t{7}), std::uint64_t{1} << n,
                     random.in(std::uint64_t{1}, std::uint64_t{5})};
        r.order = {0, 1, 2}, r.mapped = 1, r.map = test::any_map(random, n);
      }
    }
    if (r.elements() <= most) return r;
  }
}

io::ArrayFile raw(const fs::path& path, const Reordering& what, std::uint64_t header, io::Disk& disk) {
  io::RawLayout layout;
  layout.dtype = io::parse_dtype("V" + std::to_string(what.element_bytes));
  layout.extents = what.extents;
  layout.offset = header;
  layout.ignore_rest = true;
  return io::open_array(path, layout, disk);
}

// Plans for little memory, batch by batch.
TEST(InPlaceTest, TilesInLittleMemoryMakeWhatALoopMakes) {
  test::Random random;
  SEED_TRACE(random);
  const test::ScratchDirectory directory(test::memory());
  int many_batches = 0, many_passes = 0;
  for (int i = 0; i < (test::sanitized ? 20 : 40); ++i) {
    const Reordering what = random_task(random, 1 << 13);
    const std::uint64_t header = random.in(0, 1) * random.in(0, 5000);
    plan::Setting setting;
    setting.memory = random.in(KiB * 300, 3 * MiB);
    setting.group_bytes = random.in(std::uint64_t{64}, 64 * KiB);
    setting.target_offset = header;
    std::optional<plan::InPlacePlan> plan;
    try {
      plan = plan::make_in_place_plan(what, setting);
    } catch (const InputError&) {  // most maps have no small invariant subspace
      continue;
    }
    ASSERT_LE(plan->memory(), setting.memory);
    many_batches += plan->batch_count() > 2;
    many_passes += plan->passes.size() > 1;
    const std::string data = noise(random, header + what.bytes() + random.in(0, 1) * 100);
    write_file(directory / "a", data);
    const io::ArrayFile in = raw(directory / "a", what, header, io::system_disk());
    for (const bool back : {false, true}) {
      const io::File file = in.file->reopen_for_writing(io::Access::direct, io::system_disk());
      const io::File undo =
          io::File::create_nameless(directory.path(), "undo", plan->undo_bytes(), io::Access::direct);
      task::Workers workers(2);
      const auto queue = io::make_queue(io::QueueKind::threads, 16);
      std::optional<InPlaceMover> mover;
      for (std::uint64_t i_batch = 0, before = ~std::uint64_t{0}; i_batch < plan->batch_count(); ++i_batch) {
        const InPlaceBatch batch(*plan, back ? plan->batch_count() - 1 - i_batch : i_batch, back);
        if (std::exchange(before, batch.pass()) != batch.pass())
          mover.emplace(plan->passes[batch.pass()], io::Location{file, header}, undo);
        const auto perform = [&](const std::vector<TileLoad>& loads, const std::vector<TileMove>& moves) {
          mover->perform(loads, moves, *queue, workers, [] {}, {});
        };
        std::vector<TileLoad> loads, again;
        batch.load_saved(TileLoad::From::file_saving, loads);
        batch.load_others(loads);
        perform(loads, {});
        batch.load_saved(TileLoad::From::undo, again);
        perform(again, {});
        perform({}, batch.move(1));
        perform({}, batch.move(2));
      }
      EXPECT_TRUE(read_file(directory / "a") == (back ? data : reordered(what, data, header)))
          << i << ": " << plan->text() << (back ? ", back" : "");
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(many_batches + many_passes, 1);
}

struct Task {
  std::string name;
  Reordering what;
  std::uint64_t header = 0;
  std::size_t passes = 1;
  bool npy = false;

  std::vector<std::uint64_t> target_extents() const {
    std::vector<std::uint64_t> all;
    for (const int axis : what.order) all.push_back(what.extents[static_cast<std::size_t>(axis)]);
    return all;
  }
  std::string header_of(const std::vector<std::uint64_t>& extents) const {
    const std::string type = std::to_string(what.element_bytes);
    return io::npy_header_of(header, io::parse_dtype("V" + type), extents, Order::c);
  }
};

std::vector<Task> tasks() {
  const gf2::AffineMap third = [] {  // three thirds of the bits change places: cycles of three tiles
    std::vector<int> target(15);
    for (int i = 0; i < 15; ++i) target[static_cast<std::size_t>(i)] = (i + 5) % 15;
    return gf2::AffineMap{gf2::BitMatrix::bit_permutation(target), 0};
  }();
  const gf2::AffineMap mixed = bmmc::gray(18) * bmmc::bit_reverse(18) * bmmc::shuffle(18) * bmmc::reverse(18);
  return {{"square", {512, {200, 200}, {1, 0}, {}, {}}, 0},
          {"unaligned", {200, {250, 250}, {1, 0}, {}, {}}, 130},
          {"bit_reversal", {16, {std::uint64_t{1} << 20}, {0}, 0, bmmc::bit_reverse(20)}, 4096},
          {"cycles_of_three", {512, {32768}, {0}, 0, third}, 0},
          {"cube", {512, {32, 32, 32}, {2, 0, 1}, {}, {}}, 0},
          {"tiles_stay", {32, {640, 1024}, {0, 1}, 1, bmmc::bit_reverse(10)}, 77},
          {"long_cycles", {4096, {62, 67}, {1, 0}, {}, {}}, 0},
          {"map_in_passes", {32, {std::uint64_t{1} << 18}, {0}, 0, mixed}, 0, 3},
          {"panels", {8, {52224, 20}, {1, 0}, {}, {}}, 4096, 2},
          {"rectangle", {24, {613, 571}, {1, 0}, {}, {}}, 128, 3, true}};
}

class InPlaceFaultTest : public testing::TestWithParam<Task> {
 protected:
  void SetUp() override {
    const Task& task = GetParam();
    before_ = noise(random_, task.header + task.what.bytes() + 99);
    if (task.npy) before_.replace(0, task.header, task.header_of(task.what.extents));
    after_ = reordered(task.what, before_, task.header);
    if (task.npy) after_.replace(0, task.header, task.header_of(task.target_extents()));
  }
  InPlaceJob job(InPlace how, io::Disk& disk) const {
    const Task& task = GetParam();
    const work::Options options{.memory = 16 * MiB, .threads = 2, .device = plan::Device::tmpfs()};
    if (task.npy) return {io::open_array(path_, {}, disk), transposition(), options, how};
    return {raw(path_, task.what, task.header, disk), task.what, task.target_extents(), options, how};
  }

  test::Random random_;
  test::ScratchDirectory directory_{test::memory()};
  fs::path path_ = directory_ / "a.raw";
  std::string before_, after_;
};

TEST_P(InPlaceFaultTest, TheWholeFileIsReordered) {
  SEED_TRACE(random_);
  write_file(path_, before_);
  const InPlaceJob plan = job(InPlace::begin, io::system_disk());
  EXPECT_LE(plan.summary().peak_memory(), 16 * MiB);
  EXPECT_EQ(plan.summary().passes.size(), GetParam().passes) << plan.describe();
  EXPECT_EQ(read_file(path_), before_);
  const work::Report report = job(InPlace::begin, io::system_disk()).run();
  EXPECT_TRUE(read_file(path_) == after_);
  EXPECT_THAT(directory_.names(), testing::ElementsAre("a.raw"));
  EXPECT_LT(report.bytes_written, 5 * GetParam().passes * before_.size());
  EXPECT_THROW(job(InPlace::resume, io::system_disk()), InputError);
  EXPECT_THROW(job(InPlace::roll_back, io::system_disk()), InputError);
}

TEST_P(InPlaceFaultTest, AnyFailureCanBeFinishedAndRolledBack) {
  SEED_TRACE(random_);
  write_file(path_, before_);
  constexpr long never = 1L << 40;
  long all = 0;
  {
    UnsyncedWrites files;
    CutOff disk(files, never);
    job(InPlace::begin, disk).run();
    all = never - disk.left();
  }
  const int rounds = test::rounds(test::sanitized ? 1 : 3, 34);
  for (int i = 0; i < rounds; ++i) {
    write_file(path_, before_);
    InPlace how = InPlace::begin;
    std::string history;
    for (int cuts = random_.in(1, 4); cuts >= 0; --cuts) {
      UnsyncedWrites files;
      const long first = GetParam().npy && random_.in(0, 1) == 0 ? std::max(0L, all - 12) : 0;  // the header
      CutOff disk(files, cuts == 0 ? never : random_.in(first, all));
      history += how == InPlace::begin ? " begin" : how == InPlace::resume ? " resume" : " rollback";
      bool ended = true;
      try {
        const bool by_journal = cuts == 0 && how != InPlace::begin && random_.in(0, 1) == 0;
        if (by_journal)  // which has all of the job
          (how == InPlace::resume ? resume(path_) : roll_back(path_))->run();
        else
          job(how, disk).run();
      } catch (const Error& error) {
        ASSERT_NE(cuts, 0) << history << ": " << error.what();
        ended = false;
      }
      if (random_.in(0, 3) > 0) files.forget(random_());  // otherwise it was only killed
      const std::optional<work::Journal> journal = work::read_journal(path_);
      const std::string now = read_file(path_);
      if (!journal) {
        EXPECT_TRUE(now == before_ || now == after_) << history;
        EXPECT_TRUE(!ended || now == (how == InPlace::roll_back ? before_ : after_)) << history;
        break;
      }
      EXPECT_FALSE(ended) << history;
      EXPECT_THROW(job(InPlace::begin, io::system_disk()), InputError);
      how = random_.in(0, 1) == 0 ? InPlace::resume : InPlace::roll_back;
    }
    ASSERT_FALSE(HasFailure()) << history;
  }
  test::tally(rounds, "power cuts in place, then resume or rollback, cut off as well");
}

INSTANTIATE_TEST_SUITE_P(Tasks, InPlaceFaultTest, testing::ValuesIn(tasks()),
                         [](const auto& task) { return task.param.name; });

TEST(InPlaceTest, AJournalWithoutItsJobSaysSo) {
  const test::ScratchDirectory directory;
  write_file(directory / "a", "1234");
  work::Journal journal;
  journal.in_place = {.batches = 2, .done = 1};
  work::write_journal(journal, directory / "a", io::system_disk());
  EXPECT_THAT(test::message_of<InputError>([&] { resume(directory / "a"); }),
              testing::HasSubstr("nothing but the same command, or the same job"));
}

TEST(InPlaceTest, PlansOfSmallArraysTakeLittleMemory) {
  plan::Setting setting;
  setting.memory = 16 * GiB;
  const auto memory_for = [&](std::uint64_t n) {
    return plan::make_in_place_plan(transposition({{n, n}, 8, Order::c}, {}), setting).memory();
  };
  EXPECT_LT(memory_for(4), MiB);
  EXPECT_LT(memory_for(256), 4 * MiB);
}

TEST(InPlaceTest, LongCyclesAreCut) {
  plan::Setting setting;
  setting.memory = 16 * MiB;
  setting.device = plan::Device::tmpfs();
  const plan::InPlacePlan plan = plan::make_in_place_plan({4096, {62, 67}, {1, 0}, {}, {}}, setting);
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_LT(plan.passes.front().heads, plan.passes.front().order.size());
}

TEST(InPlaceTest, WhatCannotBeDoneIsRefused) {
  const test::ScratchDirectory directory;
  const auto refusal = [&](const Reordering& what, const std::vector<std::uint64_t>& extents,
                           work::Options options = {.memory = 16 * MiB}) {
    write_file(directory / "a", "");
    fs::resize_file(directory / "a", what.bytes());
    const io::ArrayFile file = raw(directory / "a", what, 0, io::system_disk());
    return test::message_of<InputError>([&] { InPlaceJob(file, what, extents, std::move(options)); });
  };
  const Reordering square{8, {32, 32}, {1, 0}, {}, {}};
  EXPECT_THAT(refusal(square, {32, 32}, {.access = work::AccessChoice::mapped}),
              testing::HasSubstr("not mapped"));
  EXPECT_THAT(refusal(square, {32, 32}, {.overwrite = true}), testing::HasSubstr("there is no output"));
  EXPECT_THAT(refusal(square, {32, 32}, {.scratch_directory = directory / "none"}),
              testing::HasSubstr("none"));
  EXPECT_THAT(refusal({8, {70001, 10007}, {1, 0}, {}, {}}, {10007, 70001}),
              testing::ContainsRegex(": it takes [0-9]+ MiB"));
  const Reordering moved{8, {3, 1 << 20, 5}, {2, 1, 0}, 1, bmmc::gray(20)};
  EXPECT_THAT(refusal(moved, {5, 1 << 20, 3}), testing::HasSubstr("name another file as OUT"));
  EXPECT_THAT(directory.names(), testing::ElementsAre("a"));
}

TEST(InPlaceTest, NothingMovesWithoutRoomForTheUndoArea) {
  test::Random random;
  const test::ScratchDirectory directory;
  const Reordering square{8, {300, 300}, {1, 0}, {}, {}};
  const std::string data = noise(random, square.bytes());
  write_file(directory / "a", data);
  test::FailingDisk disk;
  const io::ArrayFile file = raw(directory / "a", square, 0, disk);
  InPlaceJob job(file, square, square.extents, {.memory = 16 * MiB});
  disk.fail_reservation(0);
  const std::string said = test::message_of<InputError>([&] { job.run(); });
  EXPECT_THAT(said, testing::HasSubstr("undo area"));
  EXPECT_EQ(disk.writes(), 0);
  EXPECT_THAT(directory.names(), testing::ElementsAre("a"));
  EXPECT_TRUE(read_file(directory / "a") == data);
}

TEST(InPlaceTest, AJournalOfAnotherVersionIsNoReasonToReadAHalfDoneFile) {
  const test::ScratchDirectory directory;
  write_file(directory / "a", "1234");
  work::Journal journal;
  journal.in_place = {.batches = 2, .done = 1};
  work::write_journal(journal, directory / "a", io::system_disk());
  std::string text = read_file(directory / ".a.xorder-journal");
  text.replace(text.find("\"format\":4"), 10, "\"format\":3");
  text.resize(text.rfind('\n'));
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  write_file(directory / ".a.xorder-journal", fmt::format("{}\n{:08x}", text, crc.checksum()));
  const Reordering what{1, {2, 2}, {1, 0}, {}, {}};
  const io::ArrayFile file = raw(directory / "a", what, 0, io::system_disk());
  const auto message = [](const auto& body) { return test::message_of<InputError>(body); };
  const auto says = testing::HasSubstr("of another version of xorder; finish or restore the file with that");
  EXPECT_THAT(message([&] { InPlaceJob(file, what, what.extents, {.memory = 16 * MiB}); }), says);
  EXPECT_THAT(message([&] { roll_back(directory / "a"); }), says);
  EXPECT_THAT(message([&] { Job({file}, what, what.extents, directory / "b"); }), says);
}

// The header of an .npy file whose shape changes keeps its length, even if nothing else moves.
TEST(InPlaceTest, HeadersChangeWithTheShape) {
  test::Random random;
  SEED_TRACE(random);
  const test::ScratchDirectory directory;
  const fs::path path = directory / "a.npy";
  for (const Order order : {Order::c, Order::fortran}) {
    for (const auto& shape : std::vector<std::vector<std::uint64_t>>{{70, 30}, {1, 30}, {0, 5}, {7, 1, 9}}) {
      std::vector<std::uint64_t> turned(shape.rbegin(), shape.rend());
      const io::ArrayDescription array =
          io::ArrayDescription::contiguous(io::parse_dtype("f8"), shape, order, 192);
      const std::string data = noise(random, array.bytes());
      write_file(path, io::npy_header_of(192, array.dtype, shape, order) + data);
      InPlaceJob(io::open_array(path), transposition(), {.memory = 16 * MiB}).run();
      const auto [reordering, extents] = transposition()(array.shape());
      const std::string expected = reordered(stored_in(order, reordering, extents), data);
      EXPECT_EQ(read_file(path), io::npy_header_of(192, array.dtype, turned, order) + expected);
    }
  }
  const std::string old =
      std::string("\x93NUMPY\1\0\x36\0", 10) + "{'descr':'<f8','fortran_order':False,'shape':(30,70)}\n";
  write_file(path, old + noise(random, 30 * 70 * 8));
  EXPECT_THAT(test::message_of<InputError>([&] { InPlaceJob(io::open_array(path), transposition()); }),
              testing::HasSubstr("a.npy: its .npy header has 64 bytes, that of the shape (70, 30) takes 72"));
  EXPECT_THAT(directory.names(), testing::ElementsAre("a.npy"));
}

// An .npy file in Fortran order stays in that order; identities and empty arrays stay as they are.
TEST(InPlaceTest, HeadersStay) {
  test::Random random;
  SEED_TRACE(random);
  const test::ScratchDirectory directory;
  for (const auto& [fortran, shape, n] : {std::tuple{"True", "(70, 70)", 70},
                                          {"False", "(70, 70)", 70},
                                          {"True", "(0, 0)", 0},
                                          {"False", "(1, 1)", 1}}) {
    std::string header =
        std::string("{'descr': '<f8', 'fortran_order': ") + fortran + ", 'shape': " + shape + ", }";
    header.resize(117, ' ');
    const std::string data = std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" +
                             noise(random, static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n) * 8);
    write_file(directory / "a.npy", data);
    InPlaceJob(io::open_array(directory / "a.npy"), transposition(), {.memory = 16 * MiB}).run();
    const auto extent = static_cast<std::uint64_t>(n);
    EXPECT_EQ(read_file(directory / "a.npy"), reordered({8, {extent, extent}, {1, 0}, {}, {}}, data, 128));
  }
}

}  // namespace
}  // namespace xorder::tiles
