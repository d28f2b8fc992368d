#include "work/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <nlohmann/json.hpp>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/file.hpp"
#include "io/kept.hpp"
#include "io/output.hpp"
#include "work/json.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int format = 2, format_in_place = 4;
constexpr std::uint64_t largest_journal = std::uint64_t{64} << 20;

// Where the journal lies, and the names there.
struct Place {
  explicit Place(const fs::path& output)
      : directory(io::directory_of_output(output)),
        opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        name(io::followed_links(output).filename().string()) {}

  std::string kept(const std::string& what) const { return io::kept_name(opened.get(), name, what); }
  fs::path path(const std::string& what) const { return directory / kept(what); }
  void sync(io::Disk& disk) const {
    if (const int code = disk.sync(opened.get()); code != 0 && code != EINVAL && code != ENOTSUP)
      throw IoError(directory.string(), "fsync", code);
  }

  fs::path directory;
  io::Descriptor opened;
  std::string name;
};

std::uint32_t checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

json setting_json(const plan::Setting& s) {
  json all{{"memory", s.memory},
           {"threads", s.threads},
           {"device", s.device.text()},
           {"fresh_memory_rate", s.host.fresh_bytes_per_second},
           {"source_offset", s.source_offset},
           {"target_offset", s.target_offset},
           {"scratch_room", s.scratch_room},
           {"read_alignment", s.read_alignment},
           {"write_alignment", s.write_alignment},
           {"mapped", s.mapped},
           {"keep_cached", s.keep_cached}};
  if (s.source) all["source"] = s.source->text();
  return all;
}

plan::Setting setting_of(const json& all) {
  plan::Setting s;
  s.memory = all.at("memory");
  s.threads = all.at("threads");
  s.device = plan::Device::parse(all.at("device").get<std::string>(), "the journal");
  if (all.contains("source")) s.source = plan::Device::parse(all["source"].get<std::string>(), "the journal");
  s.host.fresh_bytes_per_second = all.at("fresh_memory_rate");
  s.source_offset = all.at("source_offset");
  s.target_offset = all.at("target_offset");
  s.scratch_room = all.at("scratch_room");
  s.read_alignment = all.at("read_alignment");
  s.write_alignment = all.at("write_alignment");
  s.mapped = all.at("mapped");
  s.keep_cached = all.at("keep_cached");
  return s;
}

// Without the device: its number may change when the machine starts again.
json stamp_json(const io::FileStamp& s) {
  return {s.inode, s.size, s.mtime_seconds, s.mtime_nanoseconds, s.ctime_seconds, s.ctime_nanoseconds};
}

io::FileStamp stamp_of(const json& s) { return {0, s.at(0), s.at(1), s.at(2), s.at(3), s.at(4), s.at(5)}; }

}  // namespace

Journal parse_journal(std::string_view text, const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return path + ": " + why + "; to begin again, remove it";
  };
  try {
    const json all = of_whole_numbers(text, {"seconds", "fresh_memory_rate"});
    const bool in_place = all.contains("in_place");
    if (in_place && all.at("format") != format_in_place)
      throw DamagedJournal(
          path +
          ": the journal is of another version of xorder; finish or restore the file with that version");
    if (!in_place && all.at("format") != format)
      throw InputError(wrong("the journal is of another version of xorder"));
    Journal journal;
    journal.exists = true;
    for (const json& word : all.at("words")) journal.words.push_back(text_of(word));
    journal.directory = text_of(all.at("directory"));
    if (all.contains("job")) journal.job = all["job"];
    journal.request = text_of(all.at("request"));
    for (const json& stamp : all.at("inputs")) journal.inputs.push_back(stamp_of(stamp));
    journal.setting = setting_of(all.at("setting"));
    journal.plan = all.at("plan");
    journal.inode = all.at("inode");
    for (const json& name : all.at("scratch")) journal.scratch.emplace_back(text_of(name));
    if (in_place) {
      const json& at = all["in_place"];
      InPlaceProgress& progress = journal.in_place.emplace();
      progress.batches = at.at(0);
      progress.done = at.at(1);
      if (!at.at(2).is_null()) progress.saved = at.at(2).get<std::uint64_t>();
      progress.back = at.at(3);
      progress.phase = at.at(4);
      journal.old_header = text_of(all.at("old_header"));
    }
    journal.pass = all.at("pass");
    journal.steps = all.at("tiles");
    journal.process = all.at("process");
    journal.bytes_done = all.at("bytes_done");
    journal.bytes_total = all.at("bytes_total");
    journal.bytes_before = all.at("bytes_before");
    journal.seconds = all.at("seconds");
    return journal;
  } catch (const json::exception&) {
    throw DamagedJournal(wrong("the journal is damaged"));
  }
}

std::optional<Journal> read_journal(const fs::path& output) {
  const fs::path path = Place(output).path("journal");
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  const auto wrong = [&](const std::string& why) {
    return InputError(fmt::format("{}: {}; to begin again, remove it", path.string(), why));
  };
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) > largest_journal)
    throw wrong("is not a journal");
  if (status.st_uid != geteuid()) throw wrong("belongs to another user");
  const io::File file = io::File::open_input(path, io::Access::buffered);
  std::string text(file.size(), '\0');
  file.read_exactly(text.data(), text.size(), 0);
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos ||
      text.substr(end + 1) != fmt::format("{:08x}", checksum(text.substr(0, end))))
    throw DamagedJournal(wrong("the journal is damaged").what());
  return parse_journal(std::string_view(text).substr(0, end), path.string());
}

std::string journal_text(const Journal& journal) {
  json all{{"format", journal.in_place ? format_in_place : format},
           {"directory", bytes_json(journal.directory)},
           {"job", journal.job},
           {"request", bytes_json(journal.request)},
           {"setting", setting_json(journal.setting)},
           {"plan", journal.plan},
           {"inode", journal.inode},
           {"pass", journal.pass},
           {"tiles", journal.steps},
           {"process", journal.process},
           {"bytes_done", journal.bytes_done},
           {"bytes_total", journal.bytes_total},
           {"bytes_before", journal.bytes_before},
           {"seconds", journal.seconds},
           {"words", json::array()},
           {"inputs", json::array()},
           {"scratch", json::array()}};
  if (const auto& at = journal.in_place) {
    const json saved = at->saved ? json(*at->saved) : json();
    all["in_place"] = {at->batches, at->done, saved, at->back, at->phase};
    all["old_header"] = bytes_json(journal.old_header);
  }
  for (const std::string& word : journal.words) all["words"].push_back(bytes_json(word));
  for (const io::FileStamp& stamp : journal.inputs) all["inputs"].push_back(stamp_json(stamp));
  for (const fs::path& path : journal.scratch) all["scratch"].push_back(bytes_json(path.string()));
  return all.dump();
}

void write_journal(const Journal& journal, const fs::path& output, io::Disk& disk) {
  std::string text = journal_text(journal);
  text += fmt::format("\n{:08x}", checksum(text));

  const Place place(output);
  const std::string made = place.kept("journal-new"), kept = place.kept("journal");
  {
    const io::File file = io::File::kept(place.directory, made, "the journal", text.size(),
                                         io::Access::buffered, io::Kept::made, disk);
    file.write_exactly(text.data(), text.size(), 0);
    file.sync();
  }
  if (const int code = disk.rename(place.opened.get(), made.c_str(), kept.c_str(), 0))
    throw IoError(place.path("journal").string(), "replace", code);
  place.sync(disk);
}

bool is_complete(const Journal& journal, const fs::path& output) {
  struct stat status;
  return !journal.in_place && stat(output.c_str(), &status) == 0 && status.st_ino == journal.inode &&
         !has_output(output);
}

bool has_output(const fs::path& output) {
  return fs::exists(fs::symlink_status(Place(output).path("output")));
}

bool can_go_on(const Journal& journal, const fs::path& output) {
  struct stat status;
  return lstat(Place(output).path("output").c_str(), &status) == 0 && status.st_ino == journal.inode;
}

bool is_running(const fs::path& output, const Journal* journal) {
  const bool in_place = journal != nullptr && journal->in_place;
  return io::in_use(in_place ? io::followed_links(output) : Place(output).path("output"));
}

void discard(const Journal& journal, const fs::path& output, io::Disk& disk) {
  const Place place(output);
  const auto remove = [&](const fs::path& path) {
    const int code = disk.remove(AT_FDCWD, path.c_str());
    if (code != 0 && code != ENOENT) throw IoError(path.string(), "remove", code);
  };
  for (const fs::path& scratch : journal.scratch) remove(scratch);
  for (const char* const what : {"output", "journal-new", "journal"}) remove(place.path(what));
  place.sync(disk);  // a journal that came back would tell of a run that has ended
}

}  // namespace xorder::work
