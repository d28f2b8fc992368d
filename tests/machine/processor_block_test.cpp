#include "machine/processor_block.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "io/disks.hpp"
#include "io/scratch.hpp"
#include "plan/processors/processors.hpp"
#include "seed.hpp"
#include "task/workers.hpp"
#include "work/meter.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {
namespace {

using test::Random;
using Use = ProcessorBlock::Use;
using TransferKind = io::Transfer::Kind;

struct ByAccess {
  const char* name;
  io::Access access;
};

class ProcessorBlocks : public testing::TestWithParam<ByAccess> {
 protected:
  /// A file of so many random bytes on this disk.
  io::File file(std::uint64_t bytes, io::Disk& disk) {
    io::File made = io::File::create_nameless(scratch_.path(), "blocks", bytes, GetParam().access, disk);
    content_.resize(bytes);
    random_.fill(content_.data(), bytes);
    made.write_exactly(content_.data(), bytes, 0);
    return made;
  }
  std::string content(const io::File& file) const {
    std::string now(content_.size(), '\0');
    file.read_exactly(now.data(), now.size(), 0);
    return now;
  }
  bool mapped() const { return GetParam().access == io::Access::mapped; }

  Random random_;
  const test::ScratchDirectory scratch_;
  std::string content_;
  task::BufferPool pool_{Room::bytes_for(std::uint64_t{8} << 20)};
  Room room_{pool_};
  Storage storage_{std::stop_token()};
  task::Workers workers_{2};
};

// The reference: the file is a string. Processors' blocks lie side by side from anywhere on and are of any
// size, from a few bytes to more than a request; of each, some ranges are read, and others of another file
// are written.
TEST_P(ProcessorBlocks, AreTheirPartOfTheFile) {
  SEED_TRACE(random_);
  work::Meter meter(io::system_disk());
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t base = random_.in(0U, 9000U);
    const std::uint64_t size = i % 4 == 0   ? random_.in(1U, 5000U)
                               : i % 4 == 1 ? random_.in(1U, 40U) * 4096
                               : i % 4 == 2 ? random_.in(60000U, 70000U)
                                            : random_.in(std::uint64_t{1}, std::uint64_t{3} << 20);
    const std::uint64_t count = random_.in(1U, i % 4 == 3 ? 2U : 20U);
    const std::uint64_t least = i % 3 == 0 ? 1 : plan::least_in_place(0);
    SCOPED_TRACE(testing::Message() << count << " blocks of " << size << " bytes from " << base);
    const io::File from = file(base + count * size + 77, meter);
    const std::string source = content_;
    const io::File to = file(source.size(), meter);
    std::string expected = content_;
    meter.restart();
    std::uint64_t moved = 0;
    workers_.execute([&] {
      std::vector<ProcessorBlock> sources, targets;
      for (std::uint64_t k = 0; k < count; ++k) {
        sources.emplace_back(storage_, io::Location{from, base}, k * size, size, Use::read, least);
        targets.emplace_back(storage_, io::Location{to, base}, k * size, size, Use::write, least);
      }
      for (std::uint64_t k = 0; k < count; ++k) {
        const std::uint64_t begin = random_.in(std::uint64_t{0}, size - 1);
        const std::uint64_t bytes = random_.in(std::uint64_t{1}, size - begin);
        const std::uint64_t other = random_.in(std::uint64_t{0}, size - bytes);
        const std::byte* const content = sources[k].fill(begin, bytes, room_);
        EXPECT_EQ(std::memcmp(content, source.data() + base + k * size + begin, bytes), 0);
        std::memcpy(targets[k].make(other, bytes, room_), content, bytes);
        expected.replace(base + k * size + other, bytes, source, base + k * size + begin, bytes);
        moved += bytes;
      }
      for (ProcessorBlock& target : targets) target.empty();
    });
    room_.clear();
    // What passed the door is what was asked for, byte for byte.
    EXPECT_EQ(meter.count().bytes_read, moved);
    EXPECT_EQ(meter.count().bytes_written, moved);
    ASSERT_TRUE(content(to) == expected);
    ASSERT_TRUE(content(from) == source);
  }
}

// Neighbours that write into one page from two mappings, at the same time.
TEST_P(ProcessorBlocks, ShareThePagesBetweenThem) {
  SEED_TRACE(random_);
  constexpr std::uint64_t size = 70001, count = 16;
  const io::File to = file(size * count + 5000, io::system_disk());
  std::string expected = content_;
  workers_.execute([&] {
    std::vector<ProcessorBlock> blocks;
    for (std::uint64_t k = 0; k < count; ++k)
      blocks.emplace_back(storage_, io::Location{to, 3000}, k * size, size, Use::write, 1);
    task::each(count, [&](std::uint64_t k) {
      std::memset(blocks[k].make(0, size, room_), static_cast<int>(k), size);
      blocks[k].empty();
    });
  });
  for (std::uint64_t k = 0; k < count; ++k)
    expected.replace(3000 + k * size, size, size, static_cast<char>(k));
  EXPECT_TRUE(content(to) == expected);
}

TEST_P(ProcessorBlocks, SayWhatFailed) {
  for (const TransferKind kind : {TransferKind::read, TransferKind::write}) {
    for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{5} << 20}) {
      test::FailingDisk disk;
      const io::File tested = file(size, disk);
      disk.fail_transfer(kind,
                         (kind == TransferKind::read ? disk.reads() : disk.writes()) + (size > 100 ? 3 : 0));
      EXPECT_THROW(workers_.execute([&] {
        ProcessorBlock block(storage_, {tested, 0}, 0, size,
                             kind == TransferKind::read ? Use::read : Use::write, plan::least_in_place(0));
        if (kind == TransferKind::read) {
          block.fill(0, size, room_);
        } else {
          std::memset(block.make(0, size, room_), 1, size);
          block.empty();
        }
      }),
                   IoError);
      room_.clear();
    }
  }
}

// A mapping, and the pages for what will be written, can be refused as well.
TEST_P(ProcessorBlocks, SayThatNothingCouldBeMapped) {
  if (!mapped()) GTEST_SKIP() << "nothing is mapped";
  using Operation = io::DiskFilter::Operation;
  constexpr std::size_t size = 1 << 20;
  class Refusing final : public io::DiskFilter {
   public:
    explicit Refusing(Operation refused) : DiskFilter(io::system_disk()), refused_(refused) {}
    using DiskFilter::before;
    int before(Operation operation) override { return operation == refused_ ? ENOMEM : 0; }

   private:
    Operation refused_;
  };
  for (const Operation refused : {Operation::map, Operation::prepare}) {
    Refusing disk(refused);
    const io::File tested = file(size, disk);
    ProcessorBlock block(storage_, {tested, 0}, 0, size, Use::write, plan::least_in_place(0));
    EXPECT_THROW(workers_.execute([&] { block.make(0, size, room_); }), IoError);
  }
}

INSTANTIATE_TEST_SUITE_P(Access, ProcessorBlocks,
                         testing::Values(ByAccess{"Direct", io::Access::direct},
                                         ByAccess{"Mapped", io::Access::mapped},
                                         ByAccess{"Buffered", io::Access::buffered}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace xorder::machine
