#include "work/frame.hpp"

#include "io/disk.hpp"
#include "io/npy.hpp"
#include "io/output.hpp"

namespace xorder::work {
namespace {

void check_output(const Destination& to, const std::vector<io::ArrayFile>& inputs, const Options& options) {
  for (const io::ArrayFile& input : inputs) {
    io::Output::check(to.path, to.header.size() + to.bytes, options.overwrite, *input.file);
  }
  // Whether or not this run has use for it: that it is wrong must not come out only with a larger file.
  if (!options.scratch_directory.empty()) {
    io::File::check_directory(options.scratch_directory, "scratch files");
  }
}

}  // namespace

std::uint64_t Frame::input_bytes() const {
  std::uint64_t bytes = 0;
  for (const io::ArrayFile& input : inputs)
    bytes += input.description.elements() * input.description.dtype.bytes;
  return bytes;
}

io::Disk& Frame::disk() const { return options.disk != nullptr ? *options.disk : io::system_disk(); }

Destination destination(std::filesystem::path path, const io::ArrayFile& input, const io::DType& dtype,
                        const std::vector<std::uint64_t>& extents) {
  Destination to{std::move(path), {}, dtype.bytes};
  for (const std::uint64_t extent : extents) to.bytes *= extent;
  if (io::output_format(to.path, input.format) == io::Format::npy) to.header = io::npy_header(dtype, extents);
  return to;
}

Frame settle(std::vector<io::ArrayFile> inputs, std::filesystem::path output, const io::DType& dtype,
             const std::vector<std::uint64_t>& extents, Options options, std::uint64_t working) {
  Frame frame{std::move(inputs), {}, std::move(options), {}};
  const std::uint64_t memory = effective_memory(frame.options.memory);
  frame.output = destination(std::move(output), frame.input(), dtype, extents);
  check_output(frame.output, frame.inputs, frame.options);
  frame.circumstances = circumstances(frame.inputs, frame.output, frame.options, memory, working);
  return frame;
}

}  // namespace xorder::work
