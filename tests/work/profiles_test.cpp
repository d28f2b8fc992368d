#include "work/profiles.hpp"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include <cstdlib>
#include <fstream>

#include "io/mounts.hpp"
#include "io/page_cache/residency.hpp"
#include "io/scratch.hpp"
#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::work {
namespace {

class Profiles : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* was = std::getenv("XDG_CACHE_HOME")) before_ = was;
    if (const char* was = std::getenv("HOME")) home_ = was;
    setenv("XDG_CACHE_HOME", (scratch_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    if (before_) {
      setenv("XDG_CACHE_HOME", before_->c_str(), 1);
    } else {
      unsetenv("XDG_CACHE_HOME");
    }
    if (home_) setenv("HOME", home_->c_str(), 1);
  }
  test::ScratchDirectory scratch_;

 private:
  std::optional<std::string> before_, home_;
};

const plan::Device tape{"tape \"A\"", {{4096, 1.5e6, 2e6, 1.25e6}, {65536, 3e6, 4e6, 2e6}}, 7};

TEST_F(Profiles, WhatWasSavedIsLoaded) {
  EXPECT_EQ(load_profile(scratch_.path()), std::nullopt);
  EXPECT_EQ(save_profile(scratch_.path(), tape), profile_path(scratch_.path()));
  const auto loaded = load_profile(scratch_.path());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(*loaded, tape);
}

TEST_F(Profiles, DirectoriesOfOneFileSystemShareIt) {
  std::filesystem::create_directory(scratch_ / "inner");
  save_profile(scratch_ / "inner", tape);
  EXPECT_EQ(load_profile(scratch_.path()), tape);
}

TEST_F(Profiles, ADamagedOneIsNamed) {
  std::ofstream(save_profile(scratch_.path(), tape)) << "{";
  EXPECT_THROW(load_profile(scratch_.path()), InputError);
}

TEST_F(Profiles, OfADirectoryThatIsNotThereThereIsNone) {
  EXPECT_TRUE(profile_path(scratch_ / "missing").empty());
  EXPECT_EQ(load_profile(scratch_ / "missing"), std::nullopt);
  EXPECT_THROW(save_profile(scratch_ / "missing", tape), InputError);
}

TEST_F(Profiles, ARelativeCacheDirectoryIsIgnored) {
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", (scratch_ / "home").c_str(), 1);
  EXPECT_EQ(profile_path(scratch_.path()).parent_path(), scratch_ / "home" / ".cache" / "xorder");
  setenv("HOME", "relative", 1);
  EXPECT_TRUE(profile_path(scratch_.path()).empty());
}

TEST_F(Profiles, AFileSystemWithoutAnIdIsKnownByItsSource) {
  const std::filesystem::path root = scratch_.path();
  std::filesystem::create_directories(root / "proc/self");
  std::ofstream(root / "proc/self/mountinfo")
      << "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
         "40 22 0:51 / /mnt/a rw - fuse.sshfs me@host:/data rw,user_id=0\n"
         "41 22 0:52 /export /mnt/b rw shared:9 master:1 - nfs4 server:/export rw\n"
         "42 22 0:53 / /mnt/c rw -\n";
  EXPECT_EQ(file_system_key(0x12ab, makedev(0, 51), root), "00000000000012ab");
  EXPECT_EQ(file_system_key(0, makedev(0, 51), root), "fuse.sshfs-me-host--data");
  EXPECT_EQ(file_system_key(0, makedev(0, 52), root), "nfs4-server--export");
  EXPECT_EQ(file_system_key(0, makedev(0, 53), root), "");
  EXPECT_EQ(file_system_key(0, makedev(0, 54), root), "");
  EXPECT_EQ(file_system_key(0, makedev(0, 51), scratch_ / "missing"), "");
  EXPECT_EQ(io::mount_point("/mnt/a/missing", root), "/mnt/a");
  EXPECT_EQ(io::mount_point("/mnt/b", root), "/mnt/b");
  EXPECT_EQ(io::mount_point("/mnt/abc", root), "/");
  EXPECT_EQ(io::mount_point("/mnt/a/missing", scratch_ / "missing"), "/mnt/a/missing");
  EXPECT_EQ(profile_name(".").find("the disk of /"), 0);
}

TEST_F(Profiles, OneThatCannotBeSavedLeavesNothing) {
  const std::filesystem::path profile = profile_path(scratch_.path());
  std::filesystem::create_directories(profile / "in the way");
  EXPECT_THROW(save_profile(scratch_.path(), tape), InputError);
  for (const auto& entry : std::filesystem::directory_iterator(profile.parent_path()))
    EXPECT_EQ(entry.path(), profile);
}

TEST_F(Profiles, ADiskThatNobodyHasMeasuredIsLearnt) {
  const std::filesystem::path file = scratch_ / "out";
  EXPECT_EQ(device_for(file).known, io::only_in_memory(scratch_.path()));
  const auto learnt = learn_device(file, {});
  if (!learnt) GTEST_SKIP() << "no direct access here";
  const DeviceChoice choice = device_for(file);
  EXPECT_TRUE(choice.known);
  EXPECT_EQ(choice.device, *learnt);
  EXPECT_GT(learnt->points.front().both_bytes_per_second, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Profiles, TmpfsNeedNotBeMeasured) {
  const test::TinyFileSystem tiny(scratch_ / "tiny", "size=1m");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  const DeviceChoice choice = device_for(scratch_ / "tiny" / "out");
  EXPECT_TRUE(choice.known);
  EXPECT_EQ(choice.device, named_device("tmpfs"));
  save_profile(scratch_ / "tiny", tape);
  EXPECT_EQ(device_for(scratch_ / "tiny" / "out").device, tape);
}

TEST_F(Profiles, AJobWithoutADeviceUsesThem) {
  { std::ofstream(scratch_ / "in") << "12345678"; }
  const auto device_of_job = [&](const std::filesystem::path& input, Options options) {
    const auto array = io::open_raw_array(input, {io::parse_dtype("u1"), {{2, 4}}, 0});
    return Job(array, transposition(), scratch_ / "out", std::move(options)).summary();
  };
  save_profile(scratch_.path(), tape);
  EXPECT_EQ(device_of_job(scratch_ / "in", {}).device, tape.name);
  EXPECT_EQ(device_of_job(scratch_ / "in", {.device = plan::Device::hdd()}).device, "hdd");
  const test::TinyFileSystem tiny(scratch_ / "tiny", "size=1m");
  if (tiny.mounted()) {
    { std::ofstream(scratch_ / "tiny" / "in") << "12345678"; }
    EXPECT_EQ(device_of_job(scratch_ / "tiny" / "in", {}).device, tape.name);
  }
  std::ofstream(profile_path(scratch_.path())) << "{";
  const plan::Summary damaged = device_of_job(scratch_ / "in", {});
  EXPECT_EQ(damaged.device, io::only_in_memory(scratch_.path()) ? "tmpfs" : "ssd");
  EXPECT_NE(damaged.note.find("disk-"), std::string::npos) << damaged.note;
}

TEST_F(Profiles, AreDoubtedAfterRunsThatTookMuchLongerOrShorter) {
  for (const auto& [predicted, seconds] : {std::pair{20.0, 29.0}, {29.0, 20.0}, {20.0, 20.0}, {0.1, 9.0}})
    EXPECT_EQ(prediction_note(tape, predicted, seconds), "") << predicted << ' ' << seconds;
  const std::string slow = prediction_note(tape, 20, 31), fast = prediction_note(tape, 31, 20);
  EXPECT_EQ(slow, "it took 31 s instead of the 20 s predicted for " + tape.name +
                      "; unless something else made it slow, measure the disk again: xorder bench disk");
  EXPECT_NE(fast.find("made it fast"), std::string::npos) << fast;
}

TEST_F(Profiles, AnInputOnAnotherFileSystemHasADiskOfItsOwn) {
  const test::TinyFileSystem tiny(scratch_ / "tiny", "size=1m");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  save_profile(scratch_ / "tiny", plan::Device::hdd());
  save_profile(scratch_.path(), tape);
  const std::filesystem::path here = scratch_ / "here", there = scratch_ / "tiny" / "there";
  for (const auto& path : {here, there}) std::ofstream(path) << "in";
  const io::File in_here = io::File::open_input(here, io::Access::buffered);
  const io::File in_there = io::File::open_input(there, io::Access::buffered);
  const auto out = [](const std::filesystem::path& beside) { return beside.parent_path() / "out"; };
  EXPECT_EQ(disks_of(in_here, out(here)).source, std::nullopt);
  EXPECT_EQ(disks_of(in_there, out(there)).source, std::nullopt);
  EXPECT_EQ(disks_of(in_here, out(there)).source, std::nullopt);  // scratch files would take memory
  EXPECT_EQ(disks_of(in_there, out(here)).target, tape);
  if (io::only_in_memory(scratch_.path())) GTEST_SKIP() << "only tmpfs here";
  EXPECT_EQ(disks_of(in_there, out(here)).source, plan::Device::hdd());
  save_profile(scratch_ / "tiny", tape);
  EXPECT_EQ(disks_of(in_there, out(here)).source, std::nullopt);
}

TEST_F(Profiles, LearningNeedsNoPlaceToKeepIt) {
  unsetenv("HOME");
  setenv("XDG_CACHE_HOME", "/proc/cannot/be", 1);
  if (!learn_device(scratch_ / "out", {})) GTEST_SKIP() << "no direct access here";
  EXPECT_EQ(device_for(scratch_ / "out").known, io::only_in_memory(scratch_.path()));
}

TEST_F(Profiles, WhereADiskCannotBeMeasuredNothingIsLearnt) {
  EXPECT_EQ(learn_device(scratch_ / "missing" / "out", {}), std::nullopt);
}

TEST_F(Profiles, LearningStopsWhenAsked) {
  if (!learn_device(scratch_ / "out", {})) GTEST_SKIP() << "no direct access here";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(learn_device(scratch_ / "out", stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace xorder::work
