// --trace: the record of a run's transfers.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "io/trace/trace.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::cli {

class Tracing {
 public:
  /// Throws InputError if the file cannot be created, is an input or the output, or exists and `overwrite` is
  /// false.
  Tracing(const std::filesystem::path& path, bool overwrite, std::span<const io::ArrayFile> inputs,
          const std::filesystem::path& output);

  io::Disk& disk() { return trace_; }
  /// After the run. Throws IoError.
  void commit(const nlohmann::json& plan, const nlohmann::json& report);

 private:
  std::filesystem::path output_;
  std::string started_;
  io::Trace trace_;
};

}  // namespace xorder::cli
