#include "host.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "text/json_text.hpp"
#include "text/size_text.hpp"

namespace xorder::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// The first line of a file in /sys or /proc; empty if there is none.
std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return trimmed(line);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(line.substr(0, colon));
    if (key == "model name" || key == "Model" || key == "cpu model")
      return text_or_null(trimmed(line.substr(colon + 1)));
  }
  return {};
}

// "48K" or "3", as in /sys.
std::uint64_t number_of_bytes(const std::string& text) {
  std::uint64_t value = 0;
  char unit = 0;
  std::istringstream(text) >> value >> unit;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

Json caches() {
  Json list = Json::array();
  for (int i = 0;; ++i) {
    const fs::path cache = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", i);
    const std::string level = first_line(cache / "level"), kind = first_line(cache / "type");
    const std::uint64_t bytes = number_of_bytes(first_line(cache / "size"));
    if (level.empty()) return list;
    if (kind == "Instruction" || bytes == 0) continue;
    Json ways = Json();
    if (const auto number = number_of_bytes(first_line(cache / "ways_of_associativity"))) ways = number;
    list.push_back({{"level", number_of_bytes(level)}, {"bytes", bytes}, {"ways", ways}});
  }
}

Json memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return {};
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

Json kernel() {
  utsname name{};
  if (uname(&name) != 0) return {};
  return fmt::format("{} {}, {}", name.sysname, name.release, name.machine);
}

// The word in brackets: "always [madvise] never".
Json huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t begin = line.find('['), end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return line.substr(begin + 1, end - begin - 1);
}

// The type of the file system mounted from this device. A line of mountinfo:
// "36 35 98:0 / /data rw - ext4 /dev/sda1 rw".
Json file_system(dev_t device) {
  std::ifstream file("/proc/self/mountinfo");
  const std::string number = fmt::format("{}:{}", major(device), minor(device));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string id, parent, of, word;
    words >> id >> parent >> of;
    if (of != number) continue;
    while (words >> word && word != "-") {
    }
    if (words >> word) return word;
  }
  return {};
}

Json disk(dev_t device) {
  fs::path block = fmt::format("/sys/dev/block/{}:{}", major(device), minor(device));
  std::error_code error;
  block = fs::canonical(block, error);
  if (error) return {};
  if (fs::exists(block / "partition", error)) block = block.parent_path();
  Json found{{"name", block.filename().string()},
             {"model", text_or_null(first_line(block / "device/model"))},
             {"bytes", Json()}};
  const std::string sectors = first_line(block / "size");
  if (!sectors.empty()) found["bytes"] = std::strtoull(sectors.c_str(), nullptr, 10) * 512;
  return found;
}

std::string caches_text(const Json& list) {
  std::string text;
  if (!list.is_array()) return text;
  for (const Json& cache : list) {
    const auto level = value_of<std::uint64_t>(cache, "level"),
               bytes = value_of<std::uint64_t>(cache, "bytes");
    if (level && bytes) text += fmt::format("{}L{} {}", text.empty() ? "" : ", ", *level, size_text(*bytes));
  }
  return text;
}

std::string disk_text(const Json& disk) {
  const auto name = value_of<std::string>(disk, "name");
  if (!name) return {};
  std::string text = *name;
  if (const auto model = value_of<std::string>(disk, "model")) text += fmt::format(" ({})", *model);
  if (const auto bytes = value_of<std::uint64_t>(disk, "bytes")) text += ", " + size_text(*bytes);
  return text;
}

}  // namespace

Json describe_host(const fs::path& directory) {
  Json host{{"processor", processor()},
            {"processors", std::thread::hardware_concurrency()},
            {"caches", caches()},
            {"memory", memory_bytes()},
            {"huge_pages", huge_pages()},
            {"kernel", kernel()},
            {"disk", Json()},
            {"file_system", Json()}};
  struct stat status {};
  if (!directory.empty() && stat(directory.c_str(), &status) == 0) {
    host["disk"] = disk(status.st_dev);
    host["file_system"] = file_system(status.st_dev);
  }
  return host;
}

std::vector<std::pair<std::string, std::string>> host_lines(const Json& host) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) lines.emplace_back(what, value);
  };
  if (!host.is_object()) return lines;
  std::string processor = value_of<std::string>(host, "processor").value_or("");
  if (const auto count = value_of<std::uint64_t>(host, "processors"))
    processor = fmt::format("{} × {}", *count, processor.empty() ? "processor" : processor);
  add("processors", processor);
  add("caches", caches_text(host.value("caches", Json())));
  std::string memory;
  if (const auto bytes = value_of<std::uint64_t>(host, "memory")) memory = size_text(*bytes);
  if (const auto huge = value_of<std::string>(host, "huge_pages"))
    memory += fmt::format(", huge pages: {}", *huge);
  add("memory", memory);
  add("disk", disk_text(host.value("disk", Json())));
  add("file system", value_of<std::string>(host, "file_system").value_or(""));
  add("kernel", value_of<std::string>(host, "kernel").value_or(""));
  return lines;
}

}  // namespace xorder::cli
