// Reads whole arrays past the page cache, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "io/file.hpp"
#include "plan/tiles/source_files.hpp"
#include "task/workers.hpp"

namespace xorder::verify {

/// Elements that follow each other in a file, or lie in files as `layout` says.
struct Stored {
  std::vector<io::Location> files;
  std::shared_ptr<const plan::SourceFiles> layout;
  std::uint64_t bytes = 0;  ///< of elements
};

/// What a reading needs besides the files.
struct Means {
  std::uint64_t memory;
  task::Workers& workers;
  std::function<void()> tick;  ///< called many times per second, by this thread
  std::stop_token stop;
};

/// Of the memory that a user allows, what a reading needs: half is enough for the disk; the page cache, where
/// files go through it, has the rest.
inline std::uint64_t buffers(std::uint64_t memory) { return memory / 2; }

/// Called by several threads at once with the bytes [at, at + bytes) of the elements.
using Take = std::function<void(std::uint64_t at, const std::byte* data, std::uint64_t bytes)>;

/// Opens the file again, for reading past the page cache. Where the file system does not allow that, drops
/// its pages, as far as they are on the disk.
io::File opened_past_cache(const io::File& file, io::Disk& disk);

/// Gives every byte once to `take`. Throws InputError if the memory is too small, and as run::execute() does.
void read(const Stored& array, const Take& take, const Means& means);

}  // namespace xorder::verify
