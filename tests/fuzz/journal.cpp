// A journal behind its checksum, and a job that one holds. The job's file is this program, so none by another name is opened.
#include "work/journal.hpp"

#include "fuzz.hpp"
#include "work/remembered.hpp"

namespace xorder::fuzz {

namespace {
constexpr const char* job =
    R"({"inputs":[{"path":"/a","format":1,"member":"","element_bytes":8,"descr":"'<f8'","extents":[4,2],"strides":[16,8],)"
    R"("offset":0,"pieces":[[0,8,true]]}],"element_bytes":8,"source_extents":[4,2],"order":[1,0],"extents":[2,4],)"
    R"("memory":16777216,"threads":2,"access":0,"scratch_directory":"","output_offset":0,"output_order":0,)"
    R"("compact_header":false,"dataset":"","overwrite":false,"resumable":true,)"
    R"("map":{"axis":0,"columns":[2,1],"complement":3}})";
}

std::vector<std::string> seeds() {
  work::Journal journal;
  journal.words = {"transpose", "a.npy", "b\xff.npy"};
  journal.directory = "/";
  journal.job = job;
  journal.inputs.emplace_back();
  journal.setting.device = plan::Device::ssd();
  journal.scratch = {"/tmp/.b.xorder-scratch"};
  const std::string text = journal_text(journal);
  journal.in_place = {.batches = 3, .done = 1, .saved = 1};
  return {text, journal_text(journal), job};
}

void parse(std::string_view input) {
  work::Journal journal;
  if (input.starts_with(R"({"inputs)")) {
    journal.job = input;
    journal.in_place.emplace();
    work::remembered(journal, "/proc/self/exe");
  } else {
    journal = work::parse_journal(input, "it");
    const std::string text = journal_text(journal);
    must(journal_text(work::parse_journal(text, "again")) == text);
  }
}

}  // namespace xorder::fuzz
