#include "text_file.hpp"

#include <fmt/format.h>

#include <system_error>

#include "io/disk.hpp"
#include "io/file.hpp"
#include "io/format/text_file.hpp"
#include "io/output.hpp"
#include "session.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::cli {
gf2::AffineMap read_matrix(const std::filesystem::path& path) {
  return parse_matrix(io::read_text(path), path.string());
}

namespace {

void write_and_commit(io::Output& output, const std::filesystem::path& path, const std::string& text) {
  output.file().write_exactly(text.data(), text.size(), 0);
  output.commit();
  session().made.push_back(path.string());
}

io::Output output_for(const std::filesystem::path& path, std::uint64_t bytes, bool overwrite,
                      const std::vector<std::filesystem::path>& made_from) {
  if (path == "-") throw InputError("- (standard output) is not supported as a file; name one");
  for (const std::filesystem::path& input : made_from)
    io::Output::check(path, bytes, overwrite, io::File::open_input(input, io::Access::buffered));
  return io::Output(path, bytes, overwrite, io::Access::buffered, io::system_disk(), nullptr);
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  // Where one does not exist yet, its path decides.
  const auto whole = [&](const auto& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  };
  const auto whole_a = whole(a);
  return !error && whole_a == whole(b) && !error;
}

}  // namespace

TextFile::TextFile(const std::filesystem::path& path, bool overwrite,
                   const std::vector<std::filesystem::path>& made_from)
    : path_(path), output_(output_for(path, 0, overwrite, made_from)) {}

void TextFile::write(const std::string& text) { write_and_commit(output_, path_, text); }

void write_text(const std::filesystem::path& path, const std::string& text, bool overwrite,
                const std::vector<std::filesystem::path>& made_from) {
  io::Output output = output_for(path, text.size(), overwrite, made_from);
  write_and_commit(output, path, text);
}

void require_not_read(const std::filesystem::path& output, const std::filesystem::path& input) {
  if (!same_file(output, input)) return;
  throw InputError(fmt::format("{}: is the same file as the input {}", output.string(), input.string()));
}

void require_different_files(const std::vector<OutputOption>& outputs) {
  for (auto b = outputs.begin(); b != outputs.end(); ++b) {
    for (auto a = outputs.begin(); a != b; ++a) {
      if (a->path.empty() || b->path.empty() || !same_file(a->path, b->path)) continue;
      throw InputError(
          fmt::format("{}: {} is the file of {}; name another", b->option, b->path.string(), a->option));
    }
  }
}

}  // namespace xorder::cli
