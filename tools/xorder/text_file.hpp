// Reads matrices from text files, and writes texts to files: drawings, tables.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/output.hpp"
#include "xorder/gf2/affine_map.hpp"

namespace xorder::cli {

/// The matrix in a file (parse_matrix has the format).
gf2::AffineMap read_matrix(const std::filesystem::path& path);

/// A file whose text is known only later. The constructor already ensures that it can be created.
class TextFile {
 public:
  /// Throws InputError as write_text() does.
  TextFile(const std::filesystem::path& path, bool overwrite,
           const std::vector<std::filesystem::path>& made_from = {});
  /// Call this once. Throws IoError.
  void write(const std::string& text);

 private:
  std::filesystem::path path_;
  io::Output output_;
};

/// Creates the file as io::Output does: it gets its name only when it is complete, symbolic links are
/// followed, and it keeps the permissions of a file that it replaces. Throws InputError if it exists and
/// `overwrite` is false, if it is one of the files that it is made from, or if it cannot be
/// created there.
void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite,
                const std::vector<std::filesystem::path>& made_from = {});

/// A file that an option of the command line makes; the path is empty where the option is missing.
struct OutputOption {
  std::string option;
  std::filesystem::path path;
};

/// Throws InputError if the file to be made, `output`, is the file `input` that was read.
void require_not_read(const std::filesystem::path& output, const std::filesystem::path& input);

/// Throws InputError if two options name the same file, by whatever paths, whether or not it exists.
void require_different_files(const std::vector<OutputOption>& outputs);

}  // namespace xorder::cli
