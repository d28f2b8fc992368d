// Matrices that are read from text files, and texts that become files: drawings, tables.
#pragma once

#include <filesystem>
#include <string>

#include "xorder/gf2/affine_map.hpp"

namespace xorder::cli {

/// The matrix in a file (parse_matrix has the format).
gf2::AffineMap read_matrix(const std::filesystem::path& path);

/// Makes the file as io::Output does: it has its name only when it is whole, symbolic links are followed, and what is
/// replaced leaves its permissions. Throws InputError if it exists and `overwrite` is false, if it is the file
/// `made_from` (empty: from none), or if it cannot be written there.
void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite,
                const std::filesystem::path& made_from = {});

}  // namespace xorder::cli
