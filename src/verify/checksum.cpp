#include "xorder/verify/checksum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/file.hpp"
#include "plan/setting.hpp"
#include "rounding.hpp"
#include "verify/reading.hpp"
#include "work/meter.hpp"
#include "work/resuming.hpp"
#include "xorder/error.hpp"

namespace xorder::verify {
namespace {

constexpr std::string_view first_words = "# XXH3 (xxh128sum) of each MiB of ", last_word = " bytes";

// The whole text must be the number, without signs or spaces.
bool parse_whole(std::string_view text, std::uint64_t& value, int base) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

std::vector<std::pair<std::uint64_t, std::uint64_t>> Checksum::differences(const Checksum& other) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  const std::uint64_t end = std::max(bytes, other.bytes);
  for (std::size_t i = 0; i < std::max(hashes.size(), other.hashes.size()); ++i) {
    if (i < hashes.size() && i < other.hashes.size() && hashes[i] == other.hashes[i]) continue;
    const std::uint64_t begin = i * piece_bytes, piece_end = std::min(begin + piece_bytes, end);
    if (!all.empty() && all.back().second == begin)
      all.back().second = piece_end;
    else
      all.emplace_back(begin, piece_end);
  }
  return all;
}

std::string Checksum::text() const {
  std::string text = fmt::format("{}{}{}\n", first_words, bytes, last_word);
  for (const auto& [high, low] : hashes) text += fmt::format("{:016x}{:016x}\n", high, low);
  return text;
}

Checksum parse_checksum(const std::string& text, const std::string& name) {
  const auto refuse = [&](std::size_t line, const std::string& what) -> void {
    throw InputError(fmt::format("{}: line {}: {}", name, line, what));
  };
  Checksum checksum;
  std::size_t line = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view words = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (++line == 1) {
      const std::size_t around = first_words.size() + last_word.size();
      if (!words.starts_with(first_words) || !words.ends_with(last_word) || words.size() < around ||
          !parse_whole(words.substr(first_words.size(), words.size() - around), checksum.bytes, 10))
        refuse(1, "expected \"# XXH3 (xxh128sum) of each MiB of N bytes\", as --checksum writes it");
      continue;
    }
    std::array<std::uint64_t, 2> hash{};
    if (words.size() != 32 || !parse_whole(words.substr(0, 16), hash[0], 16) ||
        !parse_whole(words.substr(16), hash[1], 16))
      refuse(line, "expected a hash of 32 hexadecimal digits");
    checksum.hashes.push_back(hash);
  }
  if (const std::uint64_t pieces = ceil_div(checksum.bytes, Checksum::piece_bytes);
      line == 0 || checksum.hashes.size() != pieces)
    refuse(line, fmt::format("it ends after {} hashes; expected {}", checksum.hashes.size(), pieces));
  return checksum;
}

Checksum checksum(const std::filesystem::path& path, const Options& options,
                  const work::ProgressCallback& progress, std::stop_token stop) {
  work::refuse_half_done(path);
  const io::File given = io::File::open_input(path, io::Access::buffered);
  const io::FileStamp stamp = given.stamp();
  Checksum all{.bytes = given.size()};
  all.hashes.resize(ceil_div(all.bytes, Checksum::piece_bytes));
  work::Meter meter(given.disk());
  const io::File file = opened_past_cache(given, meter);
  task::Workers workers(options.threads);
  work::Progress done{.bytes_total = all.bytes};
  const auto tick = [&] {
    done.bytes_done = std::min(meter.count().bytes_read, done.bytes_total);
    if (progress) progress(done);
  };
  // A unit of read() is a request; the memory suffices for requests of any size.
  static_assert(Checksum::piece_bytes == plan::largest_request &&
                work::minimum_memory / 2 >= 5 * plan::largest_request);
  const auto take = [&](std::uint64_t at, const std::byte* data, std::uint64_t bytes) {
    const XXH128_hash_t hash = XXH3_128bits(data, bytes);
    all.hashes[at / Checksum::piece_bytes] = {hash.high64, hash.low64};
  };
  const std::uint64_t memory = buffers(work::effective_memory(options.memory));
  const auto check = [&] {
    if (given.stamp() != stamp) throw IoError(path.string(), "the file was changed while it was being read");
  };
  try {
    read({{{file, 0}}, nullptr, all.bytes}, take, {memory, workers, tick, std::move(stop)});
  } catch (const IoError&) {
    check();
    throw;
  }
  check();
  return all;
}

}  // namespace xorder::verify
