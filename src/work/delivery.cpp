#include "work/delivery.hpp"

#include <algorithm>

#include "io/npy.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

constexpr std::size_t most_on_the_way = std::size_t{32} << 20;

std::vector<io::File> open_all(std::span<const io::ArrayFile> inputs, io::Access access) {
  std::vector<io::File> files;
  for (const io::ArrayFile& input : inputs) {
    files.push_back(io::File::open_input(input.path, access));
    if (files.back().stamp() != input.stamp) {
      throw IoError(files.back().name(), "the file has changed since it was looked at");
    }
  }
  return files;
}

std::filesystem::path scratch_directory(const Destination& to, const Options& options) {
  if (!options.scratch_directory.empty()) return options.scratch_directory;
  return to.path.has_parent_path() ? to.path.parent_path() : std::filesystem::path(".");
}

}  // namespace

Destination destination(std::filesystem::path path, const io::ArrayFile& input, const io::DType& dtype,
                        const std::vector<std::uint64_t>& extents) {
  Destination to{std::move(path), {}, dtype.bytes};
  for (const std::uint64_t extent : extents) to.bytes *= extent;
  if (io::output_format(to.path, input.format) == io::Format::npy) to.header = io::npy_header(dtype, extents);
  return to;
}

void check_delivery(const Destination& to, std::span<const io::ArrayFile> inputs, const Options& options) {
  for (const io::ArrayFile& input : inputs) {
    const io::File file = io::File::open_input(input.path, io::Access::buffered);
    io::Output::check(to.path, to.header.size() + to.bytes, options.overwrite, file);
  }
  // Whether or not this run has use for it: that it is wrong must not come out only with a larger file.
  if (!options.scratch_directory.empty()) {
    io::File::check_directory(options.scratch_directory, "scratch files");
  }
}

Delivery::Delivery(const Destination& to, std::span<const io::ArrayFile> inputs, io::Access source,
                   io::Access target, const Options& options, std::uint64_t memory)
    : sources_(open_all(inputs, source)),
      scratch_directory_(scratch_directory(to, options)),
      access_(target),
      write_window_(std::min<std::uint64_t>(memory / 16, most_on_the_way)),
      header_bytes_(to.header.size()),
      output_(to.path, to.header.size() + to.bytes, options.overwrite, target, sources_.front()) {
  for (const io::ArrayFile& input : inputs) stamps_.push_back(input.stamp);
  output_.file().set_write_window(write_window_);
  if (!to.header.empty()) output_.file().write_exactly(to.header.data(), to.header.size(), 0);
}

io::File Delivery::scratch(std::uint64_t bytes) const {
  io::File file = io::File::create_nameless(scratch_directory_, "scratch file", bytes, access_);
  file.set_write_window(write_window_);
  return file;
}

void Delivery::commit(const std::stop_token& stop) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].stamp() != stamps_[i]) {
      throw IoError(sources_[i].name(),
                    "the file was changed while it was being read; the output was discarded");
    }
  }
  if (stop.stop_requested()) throw Cancelled();
  output_.commit();
}

}  // namespace xorder::work
