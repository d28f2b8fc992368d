// Small text files that go with the data: matrices, device profiles, drawings, tables.
#pragma once

#include <filesystem>
#include <string>

#include "io/output.hpp"
#include "xorder/gf2/affine_map.hpp"
#include "xorder/plan/device.hpp"

namespace xorder::cli {

/// All of a regular file of at most 1 MiB. Throws InputError if it is larger, or cannot be an input.
std::string read_text(const std::filesystem::path& path);

/// The matrix in a file (parse_matrix has the format).
gf2::AffineMap read_matrix(const std::filesystem::path& path);

/// "ssd", "hdd", or the profile in a file (plan::Device::parse has the format). Throws InputError.
plan::Device read_device(const std::string& name);

/// The profile that was measured of the file system where a file is to be; Device::ssd() if there is none. A damaged one is
/// not used, and said to be.
plan::Device measured_device(const std::filesystem::path& file);

/// A file whose text is known only later: that it can be made is known now.
class TextFile {
 public:
  /// Throws InputError as write_text() does.
  TextFile(const std::filesystem::path& path, bool overwrite, const std::filesystem::path& made_from = {});
  /// To be called once. Throws IoError.
  void write(const std::string& text);

 private:
  io::Output output_;
};

/// Makes the file as io::Output does: it has its name only when it is whole, symbolic links are followed, and what is
/// replaced leaves its permissions. Throws InputError if it exists and `overwrite` is false, if it is the file
/// `made_from` (empty: from none), or if it cannot be written there.
void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite,
                const std::filesystem::path& made_from = {});

}  // namespace xorder::cli
