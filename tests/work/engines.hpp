// One run of each engine, for what is tested of all of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sanitized.hpp"
#include "xorder/band/transposition.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/machine/scheduled_descend.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::test {

using MakeWork = std::unique_ptr<work::Work> (*)(const io::ArrayFile& in, const std::filesystem::path& out,
                                                 work::Options options);

inline std::unique_ptr<work::Work> tiles_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                              work::Options options) {
  return std::make_unique<tiles::Job>(in, transposition(), out, options);
}

inline std::unique_ptr<work::Work> two_passes(const io::ArrayFile& in, const std::filesystem::path& out,
                                              work::Options options) {
  options.device = plan::Device::hdd();
  auto work = tiles_work(in, out, options);
  EXPECT_GT(work->summary().passes.size(), 1u);
  return work;
}

// Two matrices that fill the array, of 100 and 156 diagonals.
inline std::vector<Band> two_bands(io::ArrayFile& in, BandOrder order) {
  const std::uint64_t columns = in.description.elements() / 256;
  const io::ArrayDescription& d = in.description;
  in.description = io::ArrayDescription::contiguous(d.dtype, {d.elements()}, Order::c, d.offset);
  return {{columns, 59, 40, false, order}, {columns, 100, 55, false, order}};
}

template <BandOrder order>
std::unique_ptr<work::Work> band_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                      work::Options options) {
  io::ArrayFile stored = in;
  const std::vector<Band> bands = two_bands(stored, order);
  return band::transposition({stored}, bands, out, options);
}

// The same two, as inputs of their own.
inline std::vector<io::ArrayFile> two_inputs(const io::ArrayFile& in, const std::vector<Band>& bands) {
  std::vector<io::ArrayFile> both{in, in};
  for (std::size_t i = 0; i < 2; ++i) {
    io::ArrayDescription& d = both[i].description;
    d = io::ArrayDescription::contiguous(d.dtype, bands[i].extents(), Order::c, d.offset);
  }
  both[1].description.offset += both[0].description.bytes();
  return both;
}

inline std::unique_ptr<work::Work> band_inputs_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                                    work::Options options) {
  io::ArrayFile stored = in;
  const std::vector<Band> bands = two_bands(stored, BandOrder::columns);
  return band::transposition(two_inputs(in, bands), bands, out, options);
}

template <machine::ScheduleChoice::Kind kind>
std::unique_ptr<work::Work> scheduled_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                           work::Options options) {
  const ArrayShape shape = in.description.shape();
  return machine::scheduled(in, transposition(shape, {}), transposed_extents(shape, {}), out, options,
                            {.kind = kind});
}

// Several passes within a stage.
inline std::unique_ptr<work::Work> rounds_in_many_passes(const io::ArrayFile& in,
                                                         const std::filesystem::path& out,
                                                         work::Options options) {
  options.device = plan::Device::hdd();
  const ArrayShape shape = in.description.shape();
  auto work =
      machine::scheduled(in, transposition(shape, {}), transposed_extents(shape, {}), out, options,
                         {.kind = machine::ScheduleChoice::Kind::rounds, .processors = 16, .layout = 0});
  EXPECT_EQ(work->summary().passes.size(), options.access == work::AccessChoice::mapped ? 6u : 4u);
  return work;
}

inline std::unique_ptr<work::Work> mesh_in_three_passes(const io::ArrayFile& in,
                                                        const std::filesystem::path& out,
                                                        work::Options options) {
  options.device = plan::Device::hdd();
  const ArrayShape shape = in.description.shape();
  auto work = machine::scheduled(in, transposition(shape, {}), transposed_extents(shape, {}), out, options,
                                 {.kind = machine::ScheduleChoice::Kind::mesh, .processors = 4});
  EXPECT_EQ(work->summary().passes.size(), 3u);
  return work;
}

inline std::unique_ptr<work::Work> scheduled_band_work(const io::ArrayFile& in,
                                                       const std::filesystem::path& out,
                                                       work::Options options) {
  io::ArrayFile stored = in;
  const std::vector<Band> bands = two_bands(stored, BandOrder::columns);
  return machine::scheduled_bands(two_inputs(in, bands), bands, out, options, 8);
}

inline std::unique_ptr<work::Work> descend_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                                work::Options options) {
  return std::make_unique<descend::DescendJob>(std::vector{in}, descend::cyclic_shift(8, 12345),
                                               in.description.dtype, in.description.extents, out, options,
                                               plan::SweepSizes{.processors = 8});
}

// Of a small array, the whole of it in memory.
template <machine::DescendSchedule schedule>
std::unique_ptr<work::Work> scheduled_descend_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                                   work::Options options) {
  return machine::scheduled_descend({in}, descend::cyclic_shift(8, 12345), in.description.dtype,
                                    in.description.extents, out, options, schedule, {.processors = 8});
}

struct Engine {
  const char* name;
  MakeWork make;
  std::uint64_t elements;  // of 8 bytes
  bool resumable = false;

  work::Options options(work::AccessChoice access) const {
    work::Options options{
        .memory = std::uint64_t{16} << 20, .threads = 2, .access = access, .overwrite = true};
    options.resumable = resumable;
    return options;
  }
};

inline const Engine engines[] = {
    {"Tiles", tiles_work, 1 << 18},
    {"TilesInTwoPasses", two_passes, 1 << 21},
    {"BandColumns", band_work<BandOrder::columns>, 1 << 19},
    {"BandDiagonals", band_work<BandOrder::diagonals>, 1 << 19},
    {"BandInputs", band_inputs_work, 1 << 19},
    {"Rounds", scheduled_work<machine::ScheduleChoice::Kind::rounds>, 1 << 19},
    {"Exchange", scheduled_work<machine::ScheduleChoice::Kind::exchange>, 1 << 19},
    {"Mesh", scheduled_work<machine::ScheduleChoice::Kind::mesh>, 1 << 19},
    {"RoundsInManyPasses", rounds_in_many_passes, 1 << 22},
    {"MeshInThreePasses", mesh_in_three_passes, 1 << 22},
    {"BandedSchedule", scheduled_band_work, 1 << 19},
    {"Descend", descend_work, 1 << 19},
    {"Pipelined", scheduled_descend_work<machine::DescendSchedule::pipelined>, 1 << 12},
    {"PipelinedInStripes", scheduled_descend_work<machine::DescendSchedule::pipelined>, 1 << 20},
    {"Aspc", scheduled_descend_work<machine::DescendSchedule::aspc>, 1 << 19}};

// They also write a journal. With sanitizers one of each kind.
inline std::vector<Engine> resumable_engines() {
  std::vector<Engine> all;
  for (Engine engine : engines) {
    const std::string name = engine.name;
    if (sanitized && name != "Tiles" && name != "BandColumns" && name != "Mesh" && name != "Descend")
      continue;
    engine.resumable = true;
    all.push_back(engine);
  }
  return all;
}

/// Of a test with an engine and a choice of access.
inline std::string name_of_engine(
    const testing::TestParamInfo<std::tuple<Engine, work::AccessChoice>>& tested) {
  const bool direct = std::get<work::AccessChoice>(tested.param) == work::AccessChoice::direct;
  const Engine& engine = std::get<Engine>(tested.param);
  return std::string(engine.name) + (engine.resumable ? "Resumable" : "") + (direct ? "Direct" : "Mapped");
}

}  // namespace xorder::test
