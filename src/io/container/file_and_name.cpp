#include "io/container/container.hpp"

namespace xorder::io {

FileAndName file_and_name(const std::filesystem::path& given) {
  std::error_code ignored;
  if (exists(symlink_status(given, ignored))) return {given};
  const std::string& text = given.native();
  for (std::size_t colon = text.rfind(':'); colon != text.npos && colon != 0;
       colon = text.rfind(':', colon - 1)) {
    std::filesystem::path file = text.substr(0, colon);
    if (is_regular_file(file, ignored)) return {std::move(file), text.substr(colon + 1)};
  }
  return {given};
}

FileAndName output_file_and_name(const std::filesystem::path& given) {
  std::error_code ignored;
  if (exists(symlink_status(given, ignored))) return {given};
  const std::string& text = given.native();
  for (std::size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
    std::filesystem::path file = text.substr(0, colon);
    const KnownFormat* const format = format_of_name(file);
    if (format != nullptr && format->written_as == Format::hdf5)
      return {std::move(file), text.substr(colon + 1)};
  }
  return {given};
}

}  // namespace xorder::io
