#include "work/delivery.hpp"

#include <algorithm>

#include "xorder/error.hpp"

namespace xorder::work {
namespace {

constexpr std::uint64_t most_on_the_way = std::uint64_t{32} << 20;

std::vector<io::File> open_all(const Frame& frame, io::Disk& disk) {
  std::vector<io::File> files;
  for (const io::ArrayFile& input : frame.inputs) {
    files.push_back(input.file->reopen(frame.circumstances.source, disk));
    files.back().set_keep_cached(frame.circumstances.keep_cached);
    if (files.back().stamp() != input.stamp) {
      throw IoError(files.back().name(), "the file has changed since it was looked at");
    }
  }
  return files;
}

std::vector<io::FileStamp> stamps_of(const std::vector<io::File>& files) {
  std::vector<io::FileStamp> stamps;
  for (const io::File& file : files) {
    file.write_back_dirty_pages();
    stamps.push_back(file.stamp());
  }
  return stamps;
}

std::size_t write_window(const Frame& frame) {
  return static_cast<std::size_t>(std::min(frame.memory() / 16, most_on_the_way));
}

}  // namespace

Delivery::Delivery(const Frame& frame, io::Disk& disk)
    : frame_(frame),
      disk_(disk),
      sources_(open_all(frame, disk)),
      stamps_(stamps_of(sources_)),
      output_(frame.output.path, frame.output.file_bytes(), frame.options.overwrite,
              frame.circumstances.target, sources_.front()) {
  target().set_write_window(write_window(frame));
  target().set_keep_cached(frame.circumstances.keep_cached);
  const std::string& header = frame.output.header;
  if (!header.empty()) target().write_exactly(header.data(), header.size(), 0);
}

io::File Delivery::scratch(std::uint64_t bytes) const {
  std::filesystem::path directory = frame_.options.scratch_directory;
  if (directory.empty()) directory = frame_.output.path.parent_path();
  if (directory.empty()) directory = ".";
  io::File file =
      io::File::create_nameless(directory, "scratch file", bytes, frame_.circumstances.target, disk_);
  file.set_write_window(write_window(frame_));
  return file;
}

void Delivery::commit(const std::stop_token& stop) {
  const std::vector<io::FileStamp> now = stamps_of(sources_);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (now[i] != stamps_[i]) {
      throw IoError(sources_[i].name(),
                    "the file was changed while it was being read; the output was discarded");
    }
  }
  if (stop.stop_requested()) throw Cancelled();
  output_.commit();
}

}  // namespace xorder::work
