// Plans, reports and arrays as JSON, for the program and the C library. docs/json.md has every key.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

nlohmann::json plan_json(const Summary& plan);
nlohmann::json report_json(const Summary& plan, const Report& report);

nlohmann::json array_json(const io::ArrayDescription& array);
/// The array and its file, by the path of the file in which the elements lie.
nlohmann::json file_json(const io::ArrayFile& array);
/// The type as --dtype takes it. Others, such as structured types, become |V and their size.
std::string option_text(const io::DType& dtype);
/// "C", "Fortran" or "strided".
const char* order_text(const io::ArrayDescription& array);

// Names and words, which need not be UTF-8, and back.
nlohmann::json bytes_json(const std::string& text);
std::string text_of(const nlohmann::json& bytes);

/// Parses JSON, in which numbers with fractions become null but for the values of these keys: a conversion to
/// whole numbers would take any value for them. Throws nlohmann::json::exception.
nlohmann::json of_whole_numbers(std::string_view text,
                                std::initializer_list<std::string_view> fractions = {});

}  // namespace xorder::work
