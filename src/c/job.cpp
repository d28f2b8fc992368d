#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c/arguments.hpp"
#include "c/border.hpp"
#include "c/job.hpp"
#include "c/layout.hpp"
#include "c/options.hpp"
#include "c/permutation.hpp"
#include "c/teller.hpp"
#include "io/container/container.hpp"
#include "text/json_text.hpp"
#include "tiles/state_json.hpp"
#include "work/joined.hpp"
#include "work/json.hpp"
#include "work/notes.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/tiles/in_place.hpp"
#include "xorder/tiles/job.hpp"
#include "xorder/tiles/resume.hpp"

namespace xorder::c {
namespace {

using Made = std::unique_ptr<xorder_job>;

Made job(const xorder_permutation& permutation, io::ArrayFile input, const char* output,
         work::Options options) {
  const ArrayShape shape = input.description.shape();
  auto extents = permutation.result(shape);
  const Reordering what = stored_in(options.output_order, permutation.applied_to(shape), extents);
  return std::make_unique<xorder_job>(std::make_unique<tiles::Job>(
      std::vector{std::move(input)}, what, std::move(extents), output, std::move(options)));
}

Made job(const xorder_permutation* permutation, const xorder_layout* input, const char* output,
         work::Options options) {
  require(permutation, "permutation");
  require(input, "input");
  require(output, "output");
  permutation->check_fits(input->array.path.string(), input->array.description.shape());
  return job(*permutation, input->array, output, std::move(options));
}

void run(xorder_job& job, xorder_progress_function progress, void* user) {
  job.report_json.clear();
  job.note = job.job->summary().note;
  Teller teller(progress, user);
  try {
    const work::Report report = job.job->run(teller.callback(), teller.token());
    job.report_json = json_text(work::report_json(job.job->summary(), report));
    work::add_note(job.note, report.note);
  } catch (const Error&) {
    work::add_note(job.note, job.job->unfinished());
    throw;
  }
}

}  // namespace
}  // namespace xorder::c

using namespace xorder::c;

int xorder_npy_shape(const char* path, int* rank, uint64_t* shape, uint64_t* element_bytes) {
  return guarded([&] {
    require(path, "path");
    const auto array = xorder::io::open_array(path, {}).description;
    if (rank != nullptr) *rank = static_cast<int>(array.extents.size());
    if (shape != nullptr) std::ranges::copy(array.extents, shape);
    if (element_bytes != nullptr) *element_bytes = array.dtype.bytes;
  });
}

int xorder_transpose_file(const char* input, const char* output, int rank, const int* axes,
                          const xorder_options* options) {
  return guarded([&] {
    require(input, "input");
    require(output, "output");
    std::vector<int> order;
    const std::size_t count = checked_rank(rank);
    if (axes != nullptr) order.assign(axes, axes + count);
    xorder::Job(xorder::io::open_array(input), xorder::transposition(std::move(order)), output,
                job_options(options))
        .run();
  });
}

int xorder_job_raw(xorder_job** out, const xorder_permutation* permutation, const char* input,
                   uint64_t input_offset, const char* output, uint64_t output_offset,
                   const xorder_options* options) {
  return made(out, [&] {
    require(permutation, "permutation");
    require(input, "input");
    require(output, "output");
    xorder::work::Options settings = job_options(options);
    settings.output_offset = output_offset;
    const xorder::ArrayShape& shape = permutation->shape;
    const xorder::io::RawLayout layout{xorder::io::parse_dtype(fmt::format("V{}", shape.element_bytes)),
                                       shape.extents, input_offset};
    return job(*permutation, xorder::io::open_raw_array(input, layout), output, std::move(settings));
  });
}

int xorder_job_npy(xorder_job** out, const xorder_permutation* permutation, const char* input,
                   const char* output, const xorder_options* options) {
  return made(out, [&] {
    require(permutation, "permutation");
    require(input, "input");
    require(output, "output");
    xorder::work::Options settings = job_options(options);
    auto file = xorder::io::open_array(input, {});
    permutation->check_fits(file.path.string(), file.description.shape());
    return job(*permutation, std::move(file), output, std::move(settings));
  });
}

int xorder_job_layout(xorder_job** out, const xorder_permutation* permutation, const xorder_layout* input,
                      const char* output, const xorder_options* options) {
  return made(out, [&] { return job(permutation, input, output, job_options(options)); });
}

int xorder_job_into(xorder_job** out, const xorder_permutation* permutation, const xorder_layout* input,
                    const char* output, uint64_t output_offset, const xorder_options* options) {
  return made(out, [&] {
    xorder::work::Options settings = job_options(options);
    settings.into_existing = true;
    settings.output_offset = output_offset;
    return job(permutation, input, output, std::move(settings));
  });
}

int xorder_job_layout_raw(xorder_job** out, const xorder_permutation* permutation, const xorder_layout* input,
                          const char* output, uint64_t output_offset, int fortran,
                          const xorder_options* options) {
  return made(out, [&] {
    require(permutation, "permutation");
    require(input, "input");
    require(output, "output");
    xorder::work::Options settings = job_options(options);
    settings.output_offset = output_offset;
    settings.output_order = fortran != 0 ? xorder::Order::fortran : xorder::Order::c;
    xorder::io::ArrayFile file = input->array;
    permutation->check_fits(file.path.string(), file.description.shape());
    using xorder::io::Format;
    file.format = Format::raw;
    if (xorder::io::output_format(output, Format::raw, output_offset != 0) != Format::raw)
      throw xorder::InputError(fmt::format(
          "{}: a file of that name has a header of its own; a raw one ends in .raw, .bin, .dat or "
          "nothing known",
          output));
    return job(*permutation, std::move(file), output, std::move(settings));
  });
}

int xorder_job_joined(xorder_job** out, const xorder_permutation* permutation, int stacked, int axis,
                      const xorder_layout* const* inputs, size_t count, const char* output,
                      const xorder_options* options) {
  return made(out, [&] {
    require(permutation, "permutation");
    require(inputs, "inputs");
    require(output, "output");
    if (count == 0) throw ArgumentError("no inputs");
    xorder::work::Options settings = job_options(options);
    std::vector<xorder::io::ArrayFile> files;
    for (const xorder_layout* input : std::span(inputs, count)) {
      require(input, "an input");
      files.push_back(input->array);
    }
    const auto all =
        xorder::work::joined(files, {stacked != 0, axis, stacked != 0 ? "stack" : "concatenate"});
    const xorder::ArrayShape whole{all.extents(), all.shape.element_bytes, xorder::Order::c};
    permutation->check_fits(files.front().path.string() + " and the other inputs", whole);
    return std::make_unique<xorder_job>(
        std::make_unique<xorder::Job>(std::move(files), permutation->applied_to(all),
                                      permutation->result(whole), output, std::move(settings)));
  });
}

int xorder_job_in_place(xorder_job** out, const xorder_permutation* permutation, const xorder_layout* file,
                        const xorder_options* options) {
  return made(out, [&] {
    require(permutation, "permutation");
    require(file, "file");
    const xorder::io::ArrayDescription& array = file->array.description;
    const xorder::ArrayShape shape = array.shape();
    permutation->check_fits(file->array.path.string(), shape);
    const auto extents = permutation->result(shape);
    return std::make_unique<xorder_job>(std::make_unique<xorder::InPlaceJob>(
        file->array, stored_in(array.order(), permutation->applied_to(shape), extents), extents,
        job_options(options)));
  });
}

int xorder_job_resume(xorder_job** out, const char* path) {
  return made(out, [&] {
    require(path, "path");
    return std::make_unique<xorder_job>(xorder::resume(path));
  });
}

int xorder_job_roll_back(xorder_job** out, const char* path) {
  return made(out, [&] {
    require(path, "path");
    return std::make_unique<xorder_job>(xorder::roll_back(path));
  });
}

int xorder_journal_json(const char* path, char* text, size_t room, size_t* length) {
  return told(text, room, length, [&] {
    require(path, "path");
    return xorder::tiles::state_json(path, xorder::state_of_run(path));
  });
}

int xorder_journal_discard(const char* path) {
  return guarded([&] {
    require(path, "path");
    xorder::discard_run(path);
  });
}

int xorder_output_format(const char* path, int* npy) {
  return guarded([&] {
    require(path, "path");
    require(npy, "npy");
    using xorder::io::Format;
    const Format format = xorder::io::output_format(xorder::io::output_file_and_name(path).file, Format::npy);
    if (format == Format::hdf5)
      throw xorder::InputError(fmt::format(
          "{}: names an HDF5 file, which is made of an array in a file; write .npy or raw", path));
    *npy = format == Format::npy ? 1 : 0;
  });
}

const char* xorder_job_plan_text(const xorder_job* job) {
  return job == nullptr ? "" : job->plan_text.c_str();
}
const char* xorder_job_plan_json(const xorder_job* job) {
  return job == nullptr ? "" : job->plan_json.c_str();
}

int xorder_job_run(xorder_job* job, xorder_progress_function progress, void* user) {
  return guarded([&] {
    require(job, "job");
    run(*job, progress, user);
  });
}

const char* xorder_job_report_json(const xorder_job* job) {
  return job == nullptr ? "" : job->report_json.c_str();
}
const char* xorder_job_note(const xorder_job* job) { return job == nullptr ? "" : job->note.c_str(); }

void xorder_job_free(xorder_job* job) { delete job; }
