// What the computer is that the program runs on.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace xorder::cli {

/// An object with the keys of docs/json.md, "host". Of the disk under `directory`; without one, of none. What
/// Linux does not tell is null.
nlohmann::json describe_host(const std::filesystem::path& directory = {});

/// The same for people: what, and its value. `host` may come from a file, so nothing is taken for granted:
/// what is missing or of another type is left out.
std::vector<std::pair<std::string, std::string>> host_lines(const nlohmann::json& host);

}  // namespace xorder::cli
