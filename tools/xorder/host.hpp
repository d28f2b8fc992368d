// Describes the computer that the program runs on.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace xorder::cli {

/// An object with the keys that docs/json.md lists for the host. The disk is the one under `directory`, or
/// null without a directory. What Linux does not say is null.
nlohmann::json describe_host(const std::filesystem::path& directory = {});

/// The same for people, as pairs of a name and a value. `host` may come from a file: values that are missing
/// or have another type are left out.
std::vector<std::pair<std::string, std::string>> host_lines(const nlohmann::json& host);

}  // namespace xorder::cli
