#include "work/resuming.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <optional>

#include "io/format/npy_header.hpp"
#include "work/frame.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

// What is to be made, as text that is the same only for the same bytes in the same files.
std::string request_of(const Frame& frame, const Reordering& what,
                       const std::vector<std::uint64_t>& extents) {
  // An HDF5 header follows from the rest, but libhdf5 may fill its gaps with anything.
  const bool npy = frame.output.header.starts_with(io::npy_magic);
  std::string text = fmt::format("{} bytes, axes {} in the order {}, shape ({}), {} bytes at {}, header {}",
                                 what.element_bytes, fmt::join(what.extents, " "), fmt::join(what.order, " "),
                                 fmt::join(extents, ", "), frame.output.bytes, frame.output.offset,
                                 npy ? frame.output.header : frame.options.dataset);
  if (what.mapped)
    text += fmt::format("; axis {} by {} and {}", *what.mapped, fmt::join(what.map.matrix.columns(), " "),
                        what.map.complement);
  for (const io::ArrayFile& input : frame.inputs) {
    const io::ArrayDescription& a = input.description;
    text += fmt::format("; {} of shape ({}) at {} by {}", a.dtype.descr, fmt::join(a.extents, ", "), a.offset,
                        fmt::join(a.strides, " "));
    for (const ElementPiece& piece : a.pieces)
      text += fmt::format(", {} bytes from {} by {}", piece.bytes, piece.offset, piece.reversed);
  }
  return text;
}

}  // namespace

void find_journal(Frame& frame) {
  if (frame.options.access == AccessChoice::automatic) frame.options.access = AccessChoice::direct;
  std::optional<Journal> found = read_journal(frame.output.path);
  if (found && !can_go_on(*found, frame.output.path)) found.reset();
  frame.journal = std::make_shared<Journal>(found ? *std::move(found) : Journal{});
}

void settle_journal(Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents) {
  if (!frame.journal) return;
  Journal& journal = *frame.journal;
  const std::string request = request_of(frame, what, extents);
  std::vector<io::FileStamp> stamps;
  for (const io::ArrayFile& input : frame.inputs) stamps.push_back(input.stamp);
  for (const io::ArrayFile& input : frame.inputs) {
    if (input.header) stamps.push_back(input.header_stamp);
  }
  for (io::FileStamp& stamp : stamps) stamp.device = 0;
  const std::string output = frame.output.path.string();
  if (frame.resumes()) {
    const auto refuse = [&](const std::string& why) {
      throw InputError(fmt::format(
          "{}: an earlier run is not finished, but {}; `xorder discard {}` removes it", output, why, output));
    };
    if (journal.request != request) refuse("it makes something else");
    if (journal.inputs.size() != stamps.size()) refuse("it reads other files");
    for (std::size_t i = 0; i < frame.inputs.size(); ++i) {
      if (journal.inputs[i] != stamps[i])
        refuse(fmt::format("{} is another file or has changed since", frame.inputs[i].path.string()));
    }
    if (journal.inputs != stamps) refuse("a header has changed since");
  }
  journal.request = request;
  journal.inputs = std::move(stamps);
  if (!frame.resumes()) journal.setting = frame.setting;
  if (!frame.options.command.empty()) {
    journal.words = frame.options.command;
    journal.directory = std::filesystem::current_path().string();
  }
  journal.process = static_cast<std::uint64_t>(getpid());
  journal.bytes_before = journal.bytes_done;
  journal.seconds = 0;
}

}  // namespace xorder::work
