#include "text_file.hpp"

#include <optional>

#include "io/disk.hpp"
#include "io/file.hpp"
#include "io/output.hpp"
#include "io/text_file.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::cli {
gf2::AffineMap read_matrix(const std::filesystem::path& path) {
  return parse_matrix(io::read_text(path), path.string());
}

namespace {

io::Output output_for(const std::filesystem::path& path, std::uint64_t bytes, bool overwrite,
                      const std::filesystem::path& made_from) {
  if (path == "-") throw InputError("- (standard output) is not supported as a file; name one");
  std::optional<io::File> input;
  if (!made_from.empty()) input = io::File::open_input(made_from, io::Access::buffered);
  return io::Output(path, bytes, overwrite, io::Access::buffered, io::system_disk(),
                    input ? &*input : nullptr);
}

}  // namespace

TextFile::TextFile(const std::filesystem::path& path, bool overwrite, const std::filesystem::path& made_from)
    : output_(output_for(path, 0, overwrite, made_from)) {}

void TextFile::write(const std::string& text) {
  output_.file().write_exactly(text.data(), text.size(), 0);
  output_.commit();
}

void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite,
                const std::filesystem::path& made_from) {
  io::Output output = output_for(path, text.size(), overwrite, made_from);
  output.file().write_exactly(text.data(), text.size(), 0);
  output.commit();
}

}  // namespace xorder::cli
