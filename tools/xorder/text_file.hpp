// Matrices that are read from text files, and texts that become files: drawings, tables.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/output.hpp"
#include "xorder/gf2/affine_map.hpp"

namespace xorder::cli {

/// The matrix in a file (parse_matrix has the format).
gf2::AffineMap read_matrix(const std::filesystem::path& path);

/// A file whose text is known only later: that it can be made is known now.
class TextFile {
 public:
  /// Throws InputError as write_text() does.
  TextFile(const std::filesystem::path& path, bool overwrite,
           const std::vector<std::filesystem::path>& made_from = {});
  /// To be called once. Throws IoError.
  void write(const std::string& text);

 private:
  io::Output output_;
};

/// Makes the file as io::Output does: it has its name only when it is whole, symbolic links are followed, and
/// what is replaced leaves its permissions. Throws InputError if it exists and `overwrite` is false, if it is
/// one of the files that it is made from, or if it cannot be written there.
void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite,
                const std::vector<std::filesystem::path>& made_from = {});

/// A file that an option of the command line makes; the path is empty where the option is missing.
struct OutputOption {
  std::string option;
  std::filesystem::path path;
};

/// Throws InputError if two options name the same file, by whatever paths, whether or not it exists.
void require_different_files(const std::vector<OutputOption>& outputs);

}  // namespace xorder::cli
