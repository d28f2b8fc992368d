// Traces: every engine's transfers are in them, all of them and nothing else, as the run's own report counts
// them.
#include "io/trace/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <thread>

#include "io/disks.hpp"
#include "io/format/on_disk.hpp"
#include "io/scratch.hpp"
#include "work/engines.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

struct Totals {
  std::uint64_t reads = 0, writes = 0, bytes_read = 0, bytes_written = 0;
  bool operator==(const Totals&) const = default;
};

Totals totals(io::TraceReader& trace, const std::function<void(const io::TraceRecord&)>& look) {
  Totals sum;
  for (auto records = trace.next(); !records.empty(); records = trace.next()) {
    for (const io::TraceRecord& record : records) {
      (record.is_write ? sum.writes : sum.reads) += 1;
      (record.is_write ? sum.bytes_written : sum.bytes_read) += record.bytes;
      look(record);
    }
  }
  return sum;
}

class TraceTest : public testing::TestWithParam<std::tuple<test::Engine, AccessChoice>> {};

TEST_P(TraceTest, HasWhatTheReportCounts) {
  const auto& [engine, choice] = GetParam();
  const test::ScratchDirectory directory;
  test::write_file(directory / "in.raw", std::string(engine.elements * 8, 'x'));
  io::RawLayout layout;
  layout.dtype = io::parse_dtype("f8");
  layout.extents = {engine.elements >> 10, 1024};
  const io::ArrayFile in = io::open_array(directory / "in.raw", layout);

  io::Trace trace(directory / "trace", false);
  const Options options{.memory = minimum_memory, .threads = 2, .access = choice};
  const Report report = engine.make(io::on_disk(in, trace), directory / "out.raw", options)->run();
  const double seconds = trace.seconds();
  const auto files = trace.files();
  trace.commit("{}");

  io::TraceReader reader(directory / "trace");
  EXPECT_EQ(reader.description(), "{}");
  const Totals sum = totals(reader, [&](const io::TraceRecord& record) {
    ASSERT_LT(record.file, files.size());
    EXPECT_TRUE(files[record.file].writable || !record.is_write);
    EXPECT_LE(record.end(), seconds + 1e-3);
    // Reads of whole blocks may ask for more than the file has.
    EXPECT_LE(record.offset, files[record.file].bytes);
  });
  EXPECT_EQ(sum, (Totals{report.reads, report.writes, report.bytes_read, report.bytes_written}));
  EXPECT_EQ(reader.records(), report.reads + report.writes);
}

INSTANTIATE_TEST_SUITE_P(Engines, TraceTest,
                         testing::Combine(testing::ValuesIn(test::engines),
                                          testing::Values(AccessChoice::direct, AccessChoice::mapped)),
                         test::name_of_engine);

io::Transfer write_of(const io::File& file, std::string& block, std::uint64_t offset) {
  io::Transfer transfer{.kind = io::Transfer::Kind::write,
                        .file = &file,
                        .offset = offset,
                        .piece_count = 1,
                        .unaligned = true};
  transfer.pieces[0] = {reinterpret_cast<std::byte*>(block.data()), block.size()};
  return transfer;
}

TEST(Trace, ThreadsThatShareItLoseNothing) {
  const test::ScratchDirectory directory;
  io::Trace trace(directory / "trace", false);
  constexpr std::uint64_t threads = 20,
                          each = 3000;  // more threads than buffers, and more records than one holds
  {
    const io::File file =
        io::File::create_nameless(directory.path(), "file", threads * each, io::Access::buffered, trace);
    std::vector<std::jthread> all;
    for (std::uint64_t t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        std::string byte = "x";
        for (std::uint64_t i = 0; i < each; ++i) trace.perform(write_of(file, byte, t * each + i));
      });
    }
  }
  trace.commit("");
  std::vector<int> seen(threads * each);
  io::TraceReader reader(directory / "trace");
  totals(reader, [&](const io::TraceRecord& record) {
    ASSERT_LT(record.offset, seen.size());
    ++seen[record.offset];
    EXPECT_EQ(record.is_partial, 1);
  });
  EXPECT_THAT(seen, testing::Each(1));
}

TEST(Trace, TransfersThatFailAreNotInIt) {
  const test::ScratchDirectory directory;
  test::FailingDisk failing;
  failing.fail_transfer(io::Transfer::Kind::write, 1);
  io::Trace trace(directory / "trace", false, failing);
  const io::File file = io::File::create_nameless(directory.path(), "file", 8, io::Access::buffered, trace);
  std::string block = "data";
  EXPECT_EQ(trace.perform(write_of(file, block, 0)).error, 0);
  EXPECT_EQ(trace.perform(write_of(file, block, 4)).error, EIO);
  trace.commit("");
  EXPECT_EQ(io::TraceReader(directory / "trace").records(), 1u);
}

TEST(Trace, MayHaveNoRecords) {
  const test::ScratchDirectory directory;
  for (const std::uint64_t records : {0, 1, 99, 100'000'000}) {
    EXPECT_EQ(io::trace_header(records).size(), io::trace_header_bytes);
  }
  io::Trace trace(directory / "trace", false);
  trace.commit("{}");
  EXPECT_EQ(io::TraceReader(directory / "trace").records(), 0u);
}

TEST(Trace, HasNoNameBeforeItIsComplete) {
  const test::ScratchDirectory directory;
  { const io::Trace trace(directory / "trace", false); }
  EXPECT_THAT(directory.names(), testing::IsEmpty());
}

TEST(Trace, AFullDiskIsSaidAtTheEnd) {
  const test::ScratchDirectory directory;
  const test::TinyFileSystem tiny(directory / "tiny", "size=64k");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  io::Trace trace(directory / "tiny" / "trace", false);
  const io::File file = io::File::create_nameless(directory.path(), "file", 1, io::Access::buffered, trace);
  std::string byte = "x";
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(trace.perform(write_of(file, byte, 0)).error, 0);
  EXPECT_THAT(test::message_of<IoError>([&] { trace.commit(""); }), testing::HasSubstr("trace: write"));
}

class DamagedTrace : public testing::Test {
 protected:
  void write(const std::vector<io::TraceRecord>& records, const std::string& tail = io::trace_trailer("{}")) {
    test::write_file(
        path_, io::trace_header(records.size()) +
                   std::string(reinterpret_cast<const char*>(records.data()), records.size() * 32) + tail);
  }
  std::string refusal() const {
    return test::message_of<InputError>([&] {
      io::TraceReader reader(path_);
      while (!reader.next().empty()) {
      }
    });
  }
  const test::ScratchDirectory directory_;
  const std::filesystem::path path_ = directory_ / "trace";
};

TEST_F(DamagedTrace, IsRefused) {
  const io::TraceRecord good{.begin = 1, .seconds = 1, .bytes = 8};
  write({good, good});
  const std::string whole = test::read_file(path_);
  EXPECT_EQ(io::TraceReader(path_).records(), 2u);
  for (const std::size_t left :
       {std::size_t{0}, std::size_t{20}, std::size_t{4096}, whole.size() - 32, whole.size() - 1}) {
    test::write_file(path_, whole.substr(0, left));
    EXPECT_THAT(refusal(), testing::HasSubstr("is not a trace")) << left;
  }
  write({good}, io::trace_trailer("{}").replace(2, 8, 8, '\xFF'));
  EXPECT_THAT(refusal(), testing::HasSubstr("is not a trace"));
  using Damage = void (*)(io::TraceRecord&);
  for (const Damage damage :
       {Damage([](io::TraceRecord& r) { r.begin = -1; }), Damage([](io::TraceRecord& r) { r.begin = NAN; }),
        Damage([](io::TraceRecord& r) { r.seconds = INFINITY; }),
        Damage([](io::TraceRecord& r) { r.is_write = 2; }),
        Damage([](io::TraceRecord& r) { r.bytes = ~std::uint64_t{0}; })}) {
    io::TraceRecord bad = good;
    damage(bad);
    write({good, bad});
    EXPECT_THAT(refusal(), testing::HasSubstr("record 1 is damaged"));
  }
}

}  // namespace
}  // namespace xorder::work
