#include "tiles/joints.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

using std::uint64_t;

// Precedes a part's bytes in a message.
struct Heading {
  uint64_t from = 0, bytes = 0;
};

struct Received {
  uint64_t from = 0;
  std::string_view bytes;
};

void append(std::string& message, const io::BlockPart& part) {
  const Heading heading{part.from, part.data.size()};
  message.append(reinterpret_cast<const char*>(&heading), sizeof heading);
  message.append(reinterpret_cast<const char*>(part.data.data()), part.data.size());
}

// Sorts the parts in a message by their blocks.
void sort_parts(std::string_view message, uint64_t block_bytes,
                std::map<uint64_t, std::vector<Received>>& blocks) {
  while (!message.empty()) {
    Heading heading;
    std::memcpy(&heading, message.data(), sizeof heading);
    message.remove_prefix(sizeof heading);
    blocks[heading.from / block_bytes].push_back({heading.from, message.substr(0, heading.bytes)});
    message.remove_prefix(heading.bytes);
  }
}

}  // namespace

void complete_joints(work::Team& team, const io::File& file, uint64_t begin, uint64_t end,
                     uint64_t block_bytes, const std::vector<io::BlockPart>& mine) {
  const auto members = static_cast<uint64_t>(team.size());
  const uint64_t first = begin / block_bytes, count = ceil_div(end, block_bytes) - first;
  const uint64_t each = ceil_div(count, members);
  std::vector<std::string> messages(members);
  for (const io::BlockPart& part : mine) append(messages[(part.from / block_bytes - first) / each], part);
  const std::vector<std::string> received = team.exchange(std::move(messages));

  std::map<uint64_t, std::vector<Received>> blocks;
  for (const std::string& message : received) sort_parts(message, block_bytes, blocks);
  std::string joined;
  for (auto& [block, parts] : blocks) {
    std::ranges::sort(parts, {}, &Received::from);
    joined.clear();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      joined += parts[i].bytes;
      const uint64_t to = parts[i].from + parts[i].bytes.size();
      if (i + 1 < parts.size() && parts[i + 1].from == to) continue;
      // This is a whole block, unless a member had no memory for its part and has already written it.
      file.write_exactly(joined.data(), joined.size(), to - joined.size());
      joined.clear();
    }
  }
}

}  // namespace xorder::tiles
